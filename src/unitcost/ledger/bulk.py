"""Putting many rows that Python made into a table at once; row by row the engine takes a millisecond each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np


def insert_columns(con: duckdb.DuckDBPyConnection, sql: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Run an INSERT ... SELECT whose FROM clause names the table `given`, made of the columns.

    Integers and texts keep their type; anything else is given as text, so that the statement can cast it exactly.
    """
    _run(con, sql, {name: _array(values) for name, values in columns.items()})


def _run(con: duckdb.DuckDBPyConnection, sql: str, given: dict[str, Any]) -> None:
    # The engine finds `given` by its name among the variables of this function.
    if any(len(values) for values in given.values()):
        con.execute(sql)


def _array(values: Sequence[Any]) -> Any:
    if all(type(value) is int for value in values):
        return np.array(values, dtype=np.uint64 if max(values, default=0) > np.iinfo(np.int64).max else np.int64)
    return np.array([value if value is None else str(value) for value in values], dtype=object)
