"""Which rows count when a file is loaded again, restates a period, or repeats what is known."""

from __future__ import annotations

import re

import duckdb

from unitcost.errors import PartOrRestatement
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.units import PERCENT

_PART = "coalesce(service_provider_name, ''), coalesce(billing_account_id, ''), billing_period_start"
#: Share of known rows from which a new file is taken for a restatement.
_MOSTLY = 0.5


def same_path(con: duckdb.DuckDBPyConnection, file: str) -> list[int]:
    """Loads of the same path that count now."""
    rows = con.execute("SELECT load_id FROM loads WHERE file = ? AND replaced_by IS NULL", [file]).fetchall()
    return [int(row[0]) for row in rows]


def settle(
    con: duckdb.DuckDBPyConnection, plan: Plan, options: ReadOptions, record: LoadRecord, older: list[int], source: str
) -> None:
    """Let the new load take the place of what it restates.

    Raises
    ------
    PartOrRestatement
        When it repeats mostly rows of other files and nobody said what it is.
    """
    for load_id in older:
        _retire(con, load_id, record.load_id)
    if plan.dataset != "charges":
        return
    if options.replace == "period":
        _replace_periods(con, options, record.load_id, source)
    elif not options.part:
        _refuse_repeats(con, record)


def _retire(con: duckdb.DuckDBPyConnection, old: int, new: int) -> None:
    """Move all rows of a load into history; what it held besides charges goes."""
    con.execute("INSERT INTO charges_history SELECT *, ? FROM charges WHERE load_id = ?", [new, old])
    for table in ("charges", "outputs", "invoices", "rejects"):
        con.execute(f"DELETE FROM {table} WHERE load_id = ?", [old])
    con.execute("UPDATE loads SET replaced_by = ? WHERE load_id = ?", [new, old])


def _replace_periods(con: duckdb.DuckDBPyConnection, options: ReadOptions, new: int, source: str) -> None:
    """Each (provider, account, billing period) is stated by one load: the one of the highest version.

    Without versions the later load wins. What loses is kept as history, the new rows too if they are older.
    """
    rivals = con.execute(
        f"SELECT DISTINCT c.load_id, l.version FROM charges c JOIN loads l USING (load_id) "
        f"WHERE l.source = ? AND c.load_id <> ? AND ({_PART}) IN (SELECT ({_PART}) FROM charges WHERE load_id = ?)",
        [source, new, new],
    ).fetchall()
    for load_id, version in sorted(rivals):
        newer = _version_key(version) > _version_key(options.version)
        loser, winner = (new, int(load_id)) if newer else (int(load_id), new)
        moved = f"load_id = ? AND ({_PART}) IN (SELECT ({_PART}) FROM charges WHERE load_id = ?)"
        con.execute(f"INSERT INTO charges_history SELECT *, ? FROM charges WHERE {moved}", [winner, loser, winner])
        con.execute(f"DELETE FROM charges WHERE {moved}", [loser, winner])
        left = con.execute("SELECT count(*) FROM charges WHERE load_id = ?", [loser]).fetchall()[0][0]
        if not left:
            con.execute("UPDATE loads SET replaced_by = ? WHERE load_id = ?", [winner, loser])


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Versions in their natural order: numbers by value, the rest as text."""
    parts = re.findall(r"\d+|\D+", version)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _refuse_repeats(con: duckdb.DuckDBPyConnection, record: LoadRecord) -> None:
    known = con.execute(
        "WITH new_rows AS (SELECT row_hash, billing_period_start FROM charges WHERE load_id = ?), "
        "others AS (SELECT row_hash, load_id FROM charges WHERE load_id <> ? "
        "AND billing_period_start IN (SELECT DISTINCT billing_period_start FROM new_rows)) "
        "SELECT o.load_id, count(DISTINCT n.row_hash) FROM new_rows n JOIN others o USING (row_hash) "
        "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1",
        [record.load_id, record.load_id],
    ).fetchall()
    if not known or not record.rows_accepted:
        return
    distinct = con.execute(
        "SELECT count(DISTINCT row_hash) FROM charges WHERE load_id = ?", [record.load_id]
    ).fetchall()[0][0]
    share = known[0][1] / distinct
    if share > _MOSTLY:
        other = con.execute("SELECT file FROM loads WHERE load_id = ?", [known[0][0]]).fetchall()[0][0]
        raise PartOrRestatement(
            f"{round(share * int(PERCENT))} % of its rows are in the ledger already, from {other}",
            where=record.file,
            mend=(
                "is it a further part or a restatement? Say `part = true` (`--part`) to add it, or "
                '`replace = "period"` (`--replace period`) to let it replace that period'
            ),
        )
