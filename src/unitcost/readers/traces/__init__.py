"""Readers of request traces: csv, Azure's LLM traces, Mooncake's JSON lines, rate curves with length quantiles."""

from __future__ import annotations

from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.arrivals import RawArrivals
from unitcost.readers.traces import mooncake, table

#: First bytes that are looked at.
_HEAD_BYTES = 65536


def read(path: Path, *, hash_tokens: int = 0) -> RawArrivals:
    """Requests of a trace, chosen by content.

    Parameters
    ----------
    hash_tokens
        Tokens of a hashed block where the format does not say; 0: what the format says.

    Raises
    ------
    BadFile
        When the file is no trace that is known, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise BadFile(f"cannot be opened: {error.strerror}", where=str(path)) from error
    if mooncake.sniff(head):
        return mooncake.read(path, hash_tokens=hash_tokens)
    if table.sniff(head):
        return table.read(path, hash_tokens=hash_tokens)
    raise BadFile(
        "is no request trace that is known here", where=str(path),
        mend="give a csv with timestamp, input_tokens, output_tokens, or Mooncake's JSON lines",
    )  # fmt: skip
