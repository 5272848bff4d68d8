"""Parquet files: their columns, and their rows as text, in blocks."""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unitcost.errors import BadFile
from unitcost.readers.opening import Source

if TYPE_CHECKING:
    import duckdb

_NESTED = ("list", "struct", "map", "array", "union")


def columns(path: Path, name: str) -> tuple[str, ...]:
    """Columns of a parquet file as its schema names them.

    Raises
    ------
    BadFile
        When the file is cut off or damaged.
    """
    return tuple(_open(path, name).columns)


def rows(source: Source, most: int = 0) -> Iterator[list[str]]:
    """Rows as text: numbers as the engine prints them, nested values as JSON, null as the empty text.

    Parameters
    ----------
    most
        Only so many rows; 0 = all. All of them go over the disk, so that memory is bounded.

    Raises
    ------
    BadFile
        When a part of the file cannot be read.
    """
    import duckdb

    relation = _open(source.path, source.name)
    texts = relation.project(*(_as_text(n, t) for n, t in zip(relation.columns, relation.types, strict=True)))
    try:
        if most:
            yield from (["" if cell is None else cell for cell in row] for row in texts.limit(most).fetchall())
            return
        with tempfile.TemporaryDirectory(prefix="unitcost-") as scratch:
            copy = Path(scratch) / "rows.csv"
            texts.to_csv(str(copy), header=False)
            csv.field_size_limit(sys.maxsize)  # the engine has held the cell already
            with copy.open(encoding="utf-8", newline="") as stream:
                yield from csv.reader(stream)
    except duckdb.Error as error:
        raise _damaged(source.name, error) from error


def _open(path: Path, name: str) -> duckdb.DuckDBPyRelation:
    import duckdb

    try:
        return duckdb.connect(config={"memory_limit": "512MB"}).read_parquet(str(path))
    except duckdb.Error as error:
        raise _damaged(name, error) from error


def _as_text(name: str, kind: object) -> duckdb.Expression:
    import duckdb

    cell = duckdb.ColumnExpression(name)
    if getattr(kind, "id", "") in _NESTED:
        return duckdb.FunctionExpression("to_json", cell).cast("VARCHAR").alias(name)
    return cell.cast("VARCHAR").alias(name)


def _damaged(name: str, error: Exception) -> BadFile:
    return BadFile(
        f"the parquet file is cut off or damaged ({str(error).splitlines()[0]})",
        where=name,
        mend="fetch the file again",
    )
