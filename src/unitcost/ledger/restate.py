"""Which rows count when a file is loaded again, restates a period, or repeats what is known."""

from __future__ import annotations

import re
from dataclasses import dataclass

import duckdb

from unitcost.errors import PartOrRestatement
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.facts.work import WORK_COLUMNS
from unitcost.units import PERCENT

_NAMED = "coalesce(service_provider_name, '') || coalesce(billing_account_id, '') <> ''"
_PART = "coalesce(service_provider_name, ''), coalesce(billing_account_id, ''), billing_period_start"
#: Share of known rows from which a new file is taken for a restatement.
_MOSTLY = 0.5
_MEND_REPEATED = (
    "is it a further part or a restatement? Say `part = true` (`--part`) to add it, or "
    '`replace = "period"` (`--replace period`) to let it replace that period'
)
_MEND_RESTATED = (
    "it does not replace them: they are of the same version, of another [[load]] entry, or name no provider and no "
    "account; give another version, let one entry state both, or say `part = true` in place of `replace` to add it"
)
NOTHING = "Nothing else states its billing periods of that provider and account, so there was nothing to replace."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How far a restatement reaches.

    A file restates what its own source states, and what others state except those that are `apart`. Charges that
    name neither provider nor account are restated by their own source alone: nothing tells that others mean the same.

    Parameters
    ----------
    source
        The `[[load]]` entry or the call that the file is a part of.
    apart
        Sources that add up with it: the other entries of the settings.
    beside
        Files of the same call. Without a version these may be parts of one statement.
    insists
        Whether the user says now, for this file, that it restates, rather than once in the settings.
    known
        Whether the file was in the ledger before.
    """

    source: str = ""
    apart: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    insists: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rival:
    """Another load that states the same (provider, account, billing period)."""

    load_id: int
    file: str
    version: str
    same_source: bool


def same_path(con: duckdb.DuckDBPyConnection, file: str) -> list[int]:
    """Loads of the same path that count now."""
    rows = con.execute("SELECT load_id FROM loads WHERE file = ? AND replaced_by IS NULL", [file]).fetchall()
    return [int(row[0]) for row in rows]


def same_content(con: duckdb.DuckDBPyConnection, load_ids: list[int], sha256: str) -> bool:
    """Whether one of some loads is of this content."""
    query = "SELECT count(*) FROM loads WHERE list_contains(?, load_id) AND sha256 = ?"
    return bool(con.execute(query, [load_ids, sha256]).fetchall()[0][0])


def settle(
    con: duckdb.DuckDBPyConnection, plan: Plan, options: ReadOptions, record: LoadRecord, older: list[int], claim: Claim
) -> list[str]:
    """Let the new load take the place of what it restates; returns what is to be said about that.

    Raises
    ------
    PartOrRestatement
        When it repeats mostly rows of other files and nobody said what it is.
    """
    retire_all(con, older, record.load_id)
    if plan.dataset != "charges":
        return []
    notes = replace_periods(con, record, options, claim) if options.replace else []
    if not options.part:
        _refuse_repeats(con, record, options)
    if older or options.replace:
        drop_orphans(con)
    return notes or ([NOTHING] if options.replace and claim.insists else [])


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


def replace_periods(
    con: duckdb.DuckDBPyConnection, record: LoadRecord, options: ReadOptions, claim: Claim
) -> list[str]:
    """Let one load state each (provider, account, billing period): that of the highest version.

    Without versions the later load wins; files of the same version are parts of one statement and add up. What
    loses is kept as history, the new rows too if they are older. Returns a sentence for each load that lost.

    Raises
    ------
    PartOrRestatement
        When versions do not tell whether two files of one call are parts or statements of their own.
    """
    notes = []
    for rival in _rivals(con, record.load_id, claim):
        if _adds_up(rival, options, claim):
            continue
        if not rival.version and (rival.file in claim.beside or (claim.known and not claim.insists)):
            _refuse_parts(con, record, rival)
        if _is_newer(rival, record, options, claim):
            months, count = _move(con, rival, loser=record.load_id, winner=rival.load_id)
            notes.append(f"{rival.file} is the newer statement of {months}: {count} rows of this file are history.")
        else:
            months, count = _move(con, rival, loser=rival.load_id, winner=record.load_id)
            notes.append(f"It restates {months}: {count} rows of {rival.file} are history now.")
    return notes


def _rivals(con: duckdb.DuckDBPyConnection, load_id: int, claim: Claim) -> list[_Rival]:
    rows = con.execute(
        f"SELECT DISTINCT c.load_id, l.file, l.version, l.source = $source FROM charges c JOIN loads l USING (load_id) "
        f"WHERE c.load_id <> $load AND (l.source = $source OR ({_NAMED} AND NOT list_contains($apart, l.source))) "
        f"AND ({_PART}) IN (SELECT ({_PART}) FROM charges WHERE load_id = $load)",
        {"source": claim.source, "load": load_id, "apart": sorted(claim.apart)},
    ).fetchall()
    return [_Rival(load_id=int(i), file=file, version=v, same_source=same) for i, file, v, same in sorted(rows)]


def _adds_up(rival: _Rival, options: ReadOptions, claim: Claim) -> bool:
    """Whether a rival is of the same version, or is about to get its version in the same call."""
    if rival.version:
        return rival.version == options.version
    return claim.known and bool(options.version) and rival.file in claim.beside


def _is_newer(rival: _Rival, record: LoadRecord, options: ReadOptions, claim: Claim) -> bool:
    theirs, ours = _version_key(rival.version), _version_key(options.version)
    if theirs != ours:
        return theirs > ours
    return rival.load_id > record.load_id and (not claim.insists or rival.file in claim.beside)


def _move(con: duckdb.DuckDBPyConnection, rival: _Rival, *, loser: int, winner: int) -> tuple[str, int]:
    """Move what both loads state from the loser into history; returns the months and the number of rows."""
    reach = "" if rival.same_source else f" AND {_NAMED}"
    moved = f"load_id = ? AND ({_PART}) IN (SELECT ({_PART}) FROM charges WHERE load_id = ?){reach}"
    months = con.execute(
        f"SELECT strftime(billing_period_start, '%Y-%m') AS month, count(*) FROM charges WHERE {moved} "
        "GROUP BY month ORDER BY month",
        [loser, winner],
    ).fetchall()
    con.execute(f"INSERT INTO charges_history SELECT *, ? FROM charges WHERE {moved}", [winner, loser, winner])
    con.execute(f"DELETE FROM charges WHERE {moved}", [loser, winner])
    left = con.execute("SELECT count(*) FROM charges WHERE load_id = ?", [loser]).fetchall()[0][0]
    if not left:
        con.execute("UPDATE loads SET replaced_by = ? WHERE load_id = ?", [winner, loser])
    return ", ".join(month for month, _ in months), sum(count for _, count in months)


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Versions in their natural order: numbers by value, the rest as text."""
    parts = re.findall(r"\d+|\D+", version)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def _refuse_parts(con: duckdb.DuckDBPyConnection, record: LoadRecord, rival: _Rival) -> None:
    """Refuse to let a file replace one that it hardly repeats: these may be parts of one statement."""
    known, mine, theirs = con.execute(
        f"WITH mine AS (SELECT DISTINCT row_hash, ({_PART}) AS part FROM charges WHERE load_id = $load), "
        f"theirs AS (SELECT DISTINCT row_hash, ({_PART}) AS part FROM charges WHERE load_id = $rival), "
        "shared AS (SELECT part FROM mine INTERSECT SELECT part FROM theirs) "
        "SELECT (SELECT count(*) FROM mine JOIN theirs USING (row_hash, part)), "
        "(SELECT count(*) FROM mine SEMI JOIN shared USING (part)), "
        "(SELECT count(*) FROM theirs SEMI JOIN shared USING (part))",
        {"load": record.load_id, "rival": rival.load_id},
    ).fetchall()[0]
    if known <= _MOSTLY * min(mine, theirs):
        raise PartOrRestatement(
            f"it states billing periods that {rival.file} states too, and hardly repeats its rows: are they parts of "
            "one statement, or an older and a newer one?",
            where=record.file,
            mend=(
                "for parts name one version for all of them (`--export-version`, `version`); "
                "load statements one by one, the newest last"
            ),
        )


def _refuse_repeats(con: duckdb.DuckDBPyConnection, record: LoadRecord, options: ReadOptions) -> None:
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
        mend=_MEND_RESTATED if options.replace else _MEND_REPEATED,
    )
