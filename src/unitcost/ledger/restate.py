"""Which rows count when a file is loaded again, restates a period, or repeats what is known."""

from __future__ import annotations

import re

import duckdb

from unitcost.errors import PartOrRestatement
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.facts.work import WORK_COLUMNS
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
    retire_all(con, older, record.load_id)
    if plan.dataset != "charges":
        return
    if options.replace == "period":
        _replace_periods(con, options, record.load_id, source)
    elif not options.part:
        _refuse_repeats(con, record)
    if older or options.replace:
        drop_orphans(con)


def retire_all(con: duckdb.DuckDBPyConnection, older: list[int], new: int) -> None:
    """Let a load take the place of older ones of the same path."""
    for load_id in older:
        _retire(con, load_id, new)


def drop_orphans(con: duckdb.DuckDBPyConnection) -> None:
    """Forget facets that no charge has any more, so that nobody is asked who owns them."""
    for table in ("attributions", "facets"):
        con.execute(f"DELETE FROM {table} WHERE facet_id NOT IN (SELECT facet_id FROM charges)")


def _retire(con: duckdb.DuckDBPyConnection, old: int, new: int) -> None:
    """Move all rows of a load into history; what it held besides charges goes."""
    con.execute("INSERT INTO charges_history SELECT *, ? FROM charges WHERE load_id = ?", [new, old])
    for table in ("charges", "invoices", "rejects", *WORK_COLUMNS):
        con.execute(f"DELETE FROM {table} WHERE load_id = ?", [old])
    con.execute("UPDATE loads SET replaced_by = ? WHERE load_id = ?", [new, old])


def _replace_periods(con: duckdb.DuckDBPyConnection, options: ReadOptions, new: int, source: str) -> None:
    """Each (provider, account, billing period) is stated by one load: the one of the highest version.

    Without versions the later load wins; files of the same version are parts of one statement and add up. What
    loses is kept as history, the new rows too if they are older.
    """
    rivals = con.execute(
        f"SELECT DISTINCT c.load_id, l.version FROM charges c JOIN loads l USING (load_id) "
        f"WHERE l.source = ? AND c.load_id <> ? AND ({_PART}) IN (SELECT ({_PART}) FROM charges WHERE load_id = ?)",
        [source, new, new],
    ).fetchall()
    for load_id, version in sorted(rivals):
        if version and version == options.version:
            continue
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
    """Refuse a load of which some (provider, account, billing period) stands mostly in another file already."""
    query = "SELECT count(*) FROM (SELECT 1 FROM charges WHERE load_id <> ? LIMIT 1)"
    if not con.execute(query, [record.load_id]).fetchall()[0][0]:
        return
    known = con.execute(
        f"WITH fresh AS (SELECT DISTINCT row_hash, ({_PART}) AS part FROM charges WHERE load_id = $load), "
        "sizes AS (SELECT part, count(*) AS size FROM fresh GROUP BY part), "
        "repeats AS (SELECT part, o.load_id, count(DISTINCT row_hash) AS known "
        "FROM fresh JOIN charges o USING (row_hash) WHERE o.load_id <> $load GROUP BY ALL) "
        "SELECT load_id, known, size FROM repeats JOIN sizes USING (part) ORDER BY known / size DESC, load_id LIMIT 1",
        {"load": record.load_id},
    ).fetchall()
    if not known or known[0][1] <= _MOSTLY * known[0][2]:
        return
    share = round(PERCENT * known[0][1] / known[0][2])
    other = con.execute("SELECT file FROM loads WHERE load_id = ?", [known[0][0]]).fetchall()[0][0]
    raise PartOrRestatement(
        f"{share} % of its rows of an account and billing period are in the ledger already, from {other}",
        where=record.file,
        mend=(
            "is it a further part or a restatement? Say `part = true` (`--part`) to add it, or "
            '`replace = "period"` (`--replace period`) to let it replace that period'
        ),
    )
