"""Small tables that people give: csv, JSON lines, JSON records, and MLflow's tables of evaluation results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile

Row = Mapping[str, Any]
#: Rows of csv that are turned into columns at once.
_BATCH = 50_000


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a file; cells of csv are text, those of JSON are as written.

    Raises
    ------
    BadFile
        When it is no table, or has no rows.
    """
    text = _text(path)
    if _is_json(text):
        rows = _json_rows(text, path)
    else:
        names, cells = _csv(text, path)
        rows = [dict(zip(names, row, strict=True)) for row in cells]
    if not rows:
        raise _no_rows(path)
    return rows


def read_columns(path: Path) -> dict[str, list[Any]]:
    """Columns of a file of very many rows; a cell that a row of JSON lacks is None.

    Raises
    ------
    BadFile
        When it is no table, or has no rows.
    """
    text = _text(path)
    if _is_json(text):
        rows = _json_rows(text, path)
        found = {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    else:
        names, cells = _csv(text, path)
        found = {name: [] for name in names}
        seen: dict[str, str] = {}
        while block := list(islice(cells, _BATCH)):
            for name, column in zip(names, zip(*block, strict=True), strict=True):
                found[name].extend([seen.setdefault(cell, cell) if len(seen) < _BATCH else cell for cell in column])
    if not found or not next(iter(found.values())):
        raise _no_rows(path)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot be read as text: {error}", where=str(path), mend="give a csv or JSON file") from error


def _no_rows(path: Path) -> BadFile:
    return BadFile("has no rows", where=str(path), mend="give a table with a header and at least one row")


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def column(rows: Sequence[Row], names: Sequence[str]) -> str:
    """First of some columns that a table has; empty when it has none of them."""
    return next((name for name in names if name in rows[0]), "")


def _json_rows(text: str, path: Path) -> list[dict[str, Any]]:
    try:
        if path.suffix == ".jsonl" or "\n{" in text.strip():
            return _records([json.loads(line) for line in text.splitlines() if line.strip()], path)
        return _records(json.loads(text), path)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadFile(f"is not JSON: {error}", where=str(path), mend="write it again") from error


def _csv(text: str, path: Path) -> tuple[list[str], Iterator[list[str]]]:
    """Names of the columns, and the cells of each row, trimmed."""
    reader = csv.reader(io.StringIO(text, newline=""))
    names = [name.strip() for name in next(reader, [])]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise BadFile(f"two columns are called {twice!r}", where=str(path), mend="give each column a name of its own")
    return names, _cells(reader, len(names), path)


def _cells(reader: Any, width: int, path: Path) -> Iterator[list[str]]:
    try:
        for row in reader:
            if row and len(row) != width:
                raise BadFile(
                    "a row has another number of cells than the header", where=f"{path}:{reader.line_num}",
                    mend="quote cells that hold commas",
                )  # fmt: skip
            if row:
                yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise BadFile(f"is not csv: {error}", where=f"{path}:{reader.line_num}", mend="write it again") from error


def _records(data: Any, path: Path) -> list[dict[str, Any]]:
    """Rows of JSON: a list of objects, or columns and data as pandas splits a table."""
    if isinstance(data, dict) and {"columns", "data"} <= data.keys():
        if any(len(cells) != len(data["columns"]) for cells in data["data"]):
            raise BadFile(
                "a row has another number of cells than there are columns", where=str(path), mend="write it again"
            )
        return [dict(zip(data["columns"], cells, strict=True)) for cells in data["data"]]
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise BadFile("is no list of objects", where=str(path), mend="write one object per row")
    return data
