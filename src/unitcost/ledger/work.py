"""Loading what is known about work: rows that a reader has checked and written anew."""

from __future__ import annotations

import duckdb

from unitcost.facts.work import WORK_COLUMNS, TableFile, WorkKind, WorkPlan
from unitcost.units import MICROSECONDS_PER_SECOND

#: Kind of a column -> its value, made of the text cell.
_CASTS: dict[WorkKind, str] = {
    "text": "{0}",
    "word": "coalesce({0}, '')",
    "time": "CAST({0} AS TIMESTAMP)",
    "epoch": f"make_timestamp(CAST(CAST({{0}} AS DECIMAL(30, 6)) * {MICROSECONDS_PER_SECOND} AS BIGINT))",
    "whole": "CAST({0} AS BIGINT)",
    "decimal": "CAST({0} AS DECIMAL(38, 12))",
    "number": "CAST({0} AS DOUBLE)",
    "truth": "CAST({0} AS BOOLEAN)",
    "labels": """from_json({0}, '"MAP(VARCHAR,VARCHAR)"')""",
}
_ROW = "row_number"


def load_work(con: duckdb.DuckDBPyConnection, plan: WorkPlan, load_id: int) -> None:
    """Fill the tables of a plan."""
    for file in plan.tables:
        con.execute(_insert(file), [load_id, str(file.path)])


def _insert(file: TableFile) -> str:
    columns = WORK_COLUMNS[file.table]
    given = ", ".join(f"'{name}': 'VARCHAR'" for name in (_ROW, *(name for name, _ in columns)))
    values = ", ".join(_CASTS[kind].format(f'"{name}"') for name, kind in columns)
    names = ", ".join(f'"{name}"' for name, _ in columns)
    return (
        f"INSERT INTO {file.table} (load_id, {_ROW}, {names}) SELECT ?, CAST({_ROW} AS BIGINT), {values} FROM "
        f"read_csv(?, header = false, auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = '', "
        f"new_line = '\\r\\n', columns = {{{given}}}, max_line_size = 16777216)"
    )
