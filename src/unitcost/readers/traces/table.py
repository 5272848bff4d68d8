"""Traces as csv: `timestamp, input_tokens, output_tokens[, hashes, key, tenant, model, status]`; Azure's by their own names.

A timestamp is seconds, or a date and time (UTC unless it has an offset); since 1970 it may be milliseconds and less. Hashes
are numbers parted by spaces, commas, semicolons or bars. Rows with a status that says failed, or an HTTP status from 400 on,
are left out.
"""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.arrivals import RawArrivals
from unitcost.readers.traces.cells import seconds, tokens
from unitcost.readers.traces.opened import text_of
from unitcost.readers.traces.rows import HASH_TOKENS, NAMES, NEEDED, Rows

_APART = re.compile(r"[\s,;|\[\]]+")
_CELL_LIMIT = 1 << 27
_NAMED = ("key", "tenant", "model")


def names_of(head: str) -> tuple[str, ...]:
    """Names of the header."""
    line = re.split(r"[\r\n]", head.lstrip(), maxsplit=1)[0].strip()
    return tuple(next(csv.reader([line], delimiter=_delimiter(line)), []))


def _delimiter(header: str) -> str:
    return max(",;\t|", key=header.count)


def sniff(names: tuple[str, ...]) -> bool:
    """Whether the header names the three columns that are needed."""
    return all(name in _columns(names) for name in NEEDED)


def read(path: Path, *, hash_tokens: int = 0) -> RawArrivals:
    """Requests of the table; rows that say nothing usable are refused with their numbers."""
    rows = Rows()
    csv.field_size_limit(_CELL_LIMIT)
    with text_of(path) as file:
        header = file.readline()
        columns = _columns(names_of(header))
        whole = itertools.chain([header], (line.replace("\0", "�") for line in file))
        lines = csv.reader(whole, delimiter=_delimiter(header))
        next(lines, None)
        try:
            for cells in lines:
                reason = _take(cells, columns, rows, lines.line_num) if any(cells) else ""
                if reason:
                    rows.refuse(lines.line_num, reason)
        except csv.Error as error:
            raise BadFile(f"cannot be read: {error}", where=f"{path}:{lines.line_num}") from error
    return rows.columns(path.name, hash_tokens or HASH_TOKENS)


def _columns(header: tuple[str, ...]) -> dict[str, int]:
    places = {name.strip().casefold(): i for i, name in reversed(list(enumerate(header)))}
    return {
        column: next(places[name] for name in names if name in places)
        for column, names in NAMES.items()
        if any(name in places for name in names)
    }


def _take(cells: list[str], columns: dict[str, int], rows: Rows, row: int) -> str:
    """Put one row into the columns; the reason when it cannot be."""
    if len(cells) <= max(columns.values()):
        return f"has {len(cells)} cells, the header more"
    values: list[float] = []
    for name, parse in (("at", seconds), ("input", tokens), ("output", tokens)):
        try:
            values.append(parse(cells[columns[name]]))
        except (ValueError, OverflowError):
            return f"{name} is {cells[columns[name]].strip()[:60]!r}"
    try:
        listed = [int(text) for text in _APART.split(cells[columns["hashes"]]) if text] if "hashes" in columns else []
    except ValueError:
        return f"hashes are {cells[columns['hashes']].strip()[:60]!r}"
    if any(abs(number) >= 2**62 for number in listed):
        return "hashes are larger than can be held"
    key, tenant, model = (cells[columns[name]].strip() if name in columns else "" for name in _NAMED)
    status = cells[columns["status"]] if "status" in columns else ""
    rows.add(
        row, values[0], (int(values[1]), int(values[2])), hashes=listed, names=(key, tenant, model), status=status
    )  # fmt: skip
    return ""
