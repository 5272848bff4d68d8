"""Small tables that people give: csv, JSON lines, JSON records, and MLflow's tables of evaluation results."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile

Row = Mapping[str, Any]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a file; cells of csv are text, those of JSON are as written.

    Raises
    ------
    BadFile
        When it is no table, or has no rows.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot be read as text: {error}", where=str(path), mend="give a csv or JSON file") from error
    rows = _rows(text, path)
    if not rows:
        raise BadFile("has no rows", where=str(path), mend="give a table with a header and at least one row")
    return rows


def column(rows: Sequence[Row], names: Sequence[str]) -> str:
    """First of some columns that a table has; empty when it has none of them."""
    return next((name for name in names if name in rows[0]), "")


def _rows(text: str, path: Path) -> list[dict[str, Any]]:
    if text.lstrip()[:1] not in ("{", "["):
        return _csv_rows(text, path)
    try:
        if path.suffix == ".jsonl" or "\n{" in text.strip():
            return _records([json.loads(line) for line in text.splitlines() if line.strip()], path)
        return _records(json.loads(text), path)
    except json.JSONDecodeError as error:
        raise BadFile(f"is not JSON: {error}", where=str(path), mend="write it again") from error


def _csv_rows(text: str, path: Path) -> list[dict[str, Any]]:
    reader = csv.DictReader(text.splitlines(keepends=True))
    rows = []
    for row in reader:
        if None in row or None in row.values():
            raise BadFile(
                "a row has another number of cells than the header", where=f"{path}:{reader.line_num}",
                mend="quote cells that hold commas",
            )  # fmt: skip
        rows.append({name.strip(): (value or "").strip() for name, value in row.items()})
    return rows


def _records(data: Any, path: Path) -> list[dict[str, Any]]:
    """Rows of JSON: a list of objects, or columns and data as pandas splits a table."""
    if isinstance(data, dict) and {"columns", "data"} <= data.keys():
        return [dict(zip(data["columns"], cells, strict=True)) for cells in data["data"]]
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise BadFile("is no list of objects", where=str(path), mend="write one object per row")
    return data
