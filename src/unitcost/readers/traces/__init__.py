"""Readers of request traces: csv, Azure's LLM traces, JSON lines of Mooncake and vLLM, vLLM's log, rate curves."""

from __future__ import annotations

from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.arrivals import RawArrivals
from unitcost.readers.traces import json_lines, table, vllm_log
from unitcost.readers.traces.opened import head_of

#: Columns of logs of calls: where both stand, the readers of calls know better than a trace what is counted in what.
_CALL_TIMES = frozenset({"called_at", "time", "start", "starttime", "start_time"})
_CALL_COUNTS = frozenset({"cache_read", "cache_read_tokens", "cache_write", "input_convention", "status", "call_id"})


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
    found = read_known(path, hash_tokens=hash_tokens)
    if found is None:
        raise BadFile(
            "is no request trace that is known here", where=str(path),
            mend="give a csv with timestamp, input_tokens, output_tokens, JSON lines of Mooncake or vLLM, or a log of calls",
        )  # fmt: skip
    return found


def read_known(path: Path, *, hash_tokens: int = 0) -> RawArrivals | None:
    """The same; None for a file of another kind, such as a log of calls."""
    head = head_of(path)
    if vllm_log.sniff(head):
        return vllm_log.read(path)
    is_json = head.lstrip()[:1] in ("{", "[")
    names = json_lines.names_of(head) if is_json else table.names_of(head)
    if _is_log_of_calls(names):
        return None
    if is_json:
        return json_lines.read(path, hash_tokens=hash_tokens) if json_lines.sniff(names) else None
    return table.read(path, hash_tokens=hash_tokens) if table.sniff(names) else None


def _is_log_of_calls(names: tuple[str, ...]) -> bool:
    folded = {name.strip().casefold() for name in names}
    return "model" in folded and bool(folded & _CALL_TIMES) and bool(folded & _CALL_COUNTS)
