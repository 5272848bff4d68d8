"""Traces as csv: `timestamp, input_tokens, output_tokens[, hashes, key]`; Azure's LLM traces by their own names.

A timestamp is seconds, or a date and time (UTC unless it has an offset). Hashes are numbers parted by spaces, commas,
semicolons or bars.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.arrivals import RawArrivals, RefusedRow
from unitcost.readers.traces.cells import seconds, tokens

#: Column -> its names, in lower case; the first found is taken.
NAMES = {
    "at": ("timestamp", "arrival_s", "arrival_time", "arrived_at", "time", "t"),
    "input": ("contexttokens", "input_tokens", "input_length", "prompt_tokens", "input", "num_prefill_tokens"),
    "output": ("generatedtokens", "output_tokens", "output_length", "completion_tokens", "output", "num_decode_tokens"),
    "hashes": ("hash_ids", "hashes", "prefix_hashes"),
    "key": ("key", "request_key", "prompt_hash"),
}
_NEEDED = ("at", "input", "output")
_HASH_TOKENS = 512
_APART = re.compile(r"[\s,;|\[\]]+")


def sniff(head: bytes) -> bool:
    """Whether the first line names the three columns that are needed."""
    line = head.decode("utf-8-sig", "replace").partition("\n")[0]
    return all(name in _columns(next(csv.reader([line]), [])) for name in _NEEDED)


def read(path: Path, *, hash_tokens: int = 0) -> RawArrivals:
    """Requests of the table; rows that say nothing usable are refused with their numbers."""
    found = RawArrivals(name=path.name)
    hashes: list[list[int] | None] = []
    keys: list[str] = []
    refused: list[RefusedRow] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        columns = _columns(next(lines, []))
        try:
            for cells in lines:
                reason = _take(cells, columns, found, hashes, keys, lines.line_num) if cells else ""
                if reason:
                    refused.append(RefusedRow(row=lines.line_num, reason=reason))
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadFile(f"cannot be read: {error}", where=f"{path}:{lines.line_num}") from error
    any_hash = any(hashes)
    return RawArrivals(
        name=path.name, at_s=found.at_s, input_tokens=found.input_tokens, output_tokens=found.output_tokens, rows=found.rows,
        hashes=hashes if any_hash else (), hash_tokens=(hash_tokens or _HASH_TOKENS) if any_hash else 0, keys=keys,
        refused=refused,
    )  # fmt: skip


def _columns(header: list[str]) -> dict[str, int]:
    places = {name.strip().casefold(): i for i, name in reversed(list(enumerate(header)))}
    return {
        column: next(places[name] for name in names if name in places)
        for column, names in NAMES.items()
        if any(name in places for name in names)
    }


def _take(
    cells: list[str], columns: dict[str, int], found: RawArrivals, hashes: list[list[int] | None], keys: list[str], row: int
) -> str:  # fmt: skip
    """Put one row into the columns; the reason when it cannot be."""
    if len(cells) <= max(columns.values()):
        return f"has {len(cells)} cells, the header more"
    values: list[float] = []
    for name, parse in (("at", seconds), ("input", tokens), ("output", tokens)):
        try:
            values.append(parse(cells[columns[name]]))
        except ValueError:
            return f"{name} is {cells[columns[name]].strip()!r}"
    try:
        listed = [int(text) for text in _APART.split(cells[columns["hashes"]]) if text] if "hashes" in columns else []
    except ValueError:
        return f"hashes are {cells[columns['hashes']].strip()!r}"
    found.at_s.append(values[0])
    found.input_tokens.append(int(values[1]))
    found.output_tokens.append(int(values[2]))
    found.rows.append(row)
    hashes.append(listed or None)
    if "key" in columns:
        keys.append(cells[columns["key"]])
    return ""
