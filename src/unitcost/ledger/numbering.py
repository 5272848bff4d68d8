"""Row numbers of charges and calls whose file the engine read by itself.

Counting rows while a csv is read would keep the engine to one core. It stores them in the order of the file, so they
are numbered afterwards, by their place. Where none of them has been taken out that happens after the load is
committed, because changing rows before would make the engine store them twice; a process that is killed in between
leaves a whole load whose numbers are filled in when the ledger is next opened to write.
"""

from __future__ import annotations

from typing import Literal

import duckdb

from unitcost.ledger.transaction import transaction

Numbered = Literal["charges", "calls"]
_PENDING: dict[Numbered, str] = {"charges": "rows to number", "calls": "calls to number"}
#: Rows numbered in one transaction; what the engine must remember until it ends grows with them.
_BATCH = 2_000_000


def number_now(con: duckdb.DuckDBPyConnection, load_id: int, table: Numbered = "charges") -> None:
    """Number the rows of a load, of which none has been taken out yet."""
    query = (
        f"UPDATE {table} SET row_number = rowid - (SELECT min(rowid) FROM {table} WHERE load_id = $load) + 1 "
        "WHERE load_id = $load"
    )
    con.execute(query, {"load": load_id})


def number_later(con: duckdb.DuckDBPyConnection, load_id: int, table: Numbered = "charges") -> None:
    """Note that the rows of a load want numbers; none of them may be taken out before `number_pending`."""
    con.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [_PENDING[table], str(load_id)])


def number_pending(con: duckdb.DuckDBPyConnection) -> None:
    """Fill in the numbers that are still wanted."""
    wanted = dict(
        con.execute("SELECT key, value FROM meta WHERE list_contains(?, key)", [[*_PENDING.values()]]).fetchall()
    )
    for table, key in _PENDING.items():
        if key in wanted:
            _number(con, table, int(wanted[key]))
            con.execute("DELETE FROM meta WHERE key = ?", [key])


def _number(con: duckdb.DuckDBPyConnection, table: Numbered, load_id: int) -> None:
    query = f"SELECT min(rowid), max(rowid) FROM {table} WHERE load_id = ?"
    first, last = con.execute(query, [load_id]).fetchall()[0]
    for start in range(first, last + 1, _BATCH) if first is not None else ():
        with transaction(con):
            con.execute(
                f"UPDATE {table} SET row_number = rowid - ? + 1 WHERE load_id = ? AND rowid BETWEEN ? AND ?",
                [first, load_id, start, start + _BATCH - 1],
            )
