"""Loading a plan: one transaction, rejects apart, sums written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import duckdb

from unitcost.errors import BadFile
from unitcost.facts.charges import FACET_COLUMNS
from unitcost.facts.source import LoadRecord, Plan, ReadOptions, Reject
from unitcost.facts.work import WorkPlan
from unitcost.ledger import restate
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.calls import load_calls
from unitcost.ledger.numbering import number_later, number_now, number_pending
from unitcost.ledger.outputs import load_invoices, load_outputs
from unitcost.ledger.progress import watched
from unitcost.ledger.restate import Claim
from unitcost.ledger.statement import Statement, compile_charges, counts_rows, insert_charges
from unitcost.ledger.tagsets import member
from unitcost.ledger.totals import Sums, sums_of
from unitcost.ledger.transaction import transaction
from unitcost.ledger.work import load_work

_READ_ANEW = "What is said about reading it has changed; it was read anew and replaces what was read before."
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A file on its way into the ledger: how it is called and where it comes from.

    Parameters
    ----------
    said
        What the user said about reading it, as text: when that changes, known content is read anew.
    claim
        How far its restatement reaches.
    """

    file: str
    sha256: str
    source: str
    options: ReadOptions
    now: datetime
    said: str = ""
    claim: Claim = field(default_factory=Claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What the rows of a file became: how many there were, how many were set aside, exact sums and residues."""

    rows_read: int
    rows_rejected: int
    totals: Sums = field(default_factory=dict)
    residues: Sums = field(default_factory=dict)
    flags: tuple[str, ...] = ()


def load_plan(
    con: duckdb.DuckDBPyConnection, plan: Plan | WorkPlan, arrival: Arrival, progress: Progress | None
) -> LoadRecord:
    """Load one file in one transaction.

    Raises
    ------
    BadFile
        When the engine cannot take the file apart.
    PartOrRestatement
        When most of its rows are known from another file.
    """
    try:
        with transaction(con):
            record = (
                _load_work(con, plan, arrival) if isinstance(plan, WorkPlan) else _load(con, plan, arrival, progress)
            )
        number_pending(con)
    except (duckdb.InvalidInputException, duckdb.OutOfRangeException, duckdb.ConversionException) as error:
        raise BadFile(
            f"cannot be taken apart: {str(error).splitlines()[0]}", where=arrival.file, mend="check that it is whole"
        ) from error
    return record


def _load(con: duckdb.DuckDBPyConnection, plan: Plan, arrival: Arrival, progress: Progress | None) -> LoadRecord:
    row = con.execute("SELECT nextval('load_ids')").fetchall()
    load_id = int(row[0][0])
    older = restate.same_path(con, arrival.file)
    filled = _fill(con, plan, load_id, arrival.options, progress)
    write_rejects(con, load_id, plan.rejects)
    record = LoadRecord(
        load_id=load_id, file=arrival.file, sha256=arrival.sha256, reader=plan.reader, dialect=plan.dialect,
        dataset=plan.dataset, conventions=plan.conventions, flags=(*plan.flags, *filled.flags),
        rows_read=filled.rows_read + len(plan.rejects), rows_accepted=filled.rows_read - filled.rows_rejected,
        rows_rejected=filled.rows_rejected + len(plan.rejects), totals=filled.totals, residues=filled.residues,
        outcome="replaced" if older else "loaded", loaded_at=_stamp(arrival.now),
    )  # fmt: skip
    write_record(con, record, arrival)
    again = restate.same_content(con, older, arrival.sha256)
    notes = restate.settle(con, plan, arrival.options, record, older, replace(arrival.claim, source=arrival.source))
    return replace(record, notes=(*([_READ_ANEW] if again else []), *notes))


def _load_work(con: duckdb.DuckDBPyConnection, plan: WorkPlan, arrival: Arrival) -> LoadRecord:
    load_id = int(con.execute("SELECT nextval('load_ids')").fetchall()[0][0])
    older = restate.same_path(con, arrival.file)
    load_work(con, plan, load_id)
    write_rejects(con, load_id, plan.rejects)
    rejected = len({reject.row for reject in plan.rejects})
    record = LoadRecord(
        load_id=load_id, file=arrival.file, sha256=arrival.sha256, reader=plan.reader, dialect=plan.dialect,
        dataset="work", conventions=plan.conventions, flags=plan.flags, rows_read=plan.rows_read,
        rows_accepted=plan.rows_read - rejected, rows_rejected=rejected, totals={}, residues={},
        outcome="replaced" if older else "loaded", loaded_at=_stamp(arrival.now),
    )  # fmt: skip
    write_record(con, record, arrival)
    again = restate.same_content(con, older, arrival.sha256)
    restate.retire_all(con, older, load_id)
    return replace(record, notes=(_READ_ANEW,) if again else ())


def _fill(
    con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int, options: ReadOptions, progress: Progress | None
) -> Filled:
    if plan.dataset == "charges":
        return _load_charges(con, plan, load_id, options, progress)
    if plan.dataset == "calls":
        rows_read, rows_rejected = load_calls(con, plan, cell_types(con, plan), load_id)
        return Filled(rows_read=rows_read, rows_rejected=rows_rejected)
    fill = load_outputs if plan.dataset == "outputs" else load_invoices
    rejects, rows_read = fill(con, plan, load_id)
    write_rejects(con, load_id, rejects)
    return Filled(rows_read=rows_read, rows_rejected=len(rejects))


def _load_charges(
    con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int, options: ReadOptions, progress: Progress | None
) -> Filled:
    statement = compile_charges(plan, cell_types(con, plan))
    with watched(con, progress):
        rows_read = int(con.execute(insert_charges(statement, load_id)).fetchall()[0][0])
    bad = con.execute("SELECT count(*) FROM charges WHERE load_id = ? AND facet_id = 0", [load_id]).fetchall()[0][0]
    if not counts_rows(plan.scan):
        number_now(con, load_id) if bad or options.replace else number_later(con, load_id)
    if bad:
        con.execute(f"INSERT INTO rejects SELECT ?, * FROM ({statement.rejects})", [load_id])
        con.execute("DELETE FROM charges WHERE load_id = ? AND facet_id = 0", [load_id])
    add_facets(con, load_id)
    totals, residues = sums_of(con, load_id, statement.fine_columns)
    return Filled(
        rows_read=rows_read,
        rows_rejected=bad,
        totals=totals,
        residues=residues,
        flags=_tag_flags(con, load_id, statement),
    )


def cell_types(con: duckdb.DuckDBPyConnection, plan: Plan) -> list[str]:
    """Engine type of each cell column of the scan."""
    if plan.scan.format == "csv":
        return ["VARCHAR"] * len(plan.scan.columns)
    rows = con.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(plan.scan.path)]).description
    return [str(column[1]) for column in rows or []]


def _tag_flags(con: duckdb.DuckDBPyConnection, load_id: int, statement: Statement) -> tuple[str, ...]:
    """What is to be said about tags that could not be read; their rows count all the same."""
    if not statement.tag_columns:
        return ()
    counts = ", ".join("count(*) FILTER (contains(extra, ?))" for _ in statement.tag_columns)
    query = f"SELECT {counts} FROM charges WHERE load_id = ?"
    found = con.execute(query, [*map(member, statement.tag_columns), load_id]).fetchall()[0]
    return tuple(
        f"{count} rows have tags in '{column}' that cannot be read; the text is kept, the rows count."
        for column, count in zip(statement.tag_columns, found, strict=True)
        if count
    )


def add_facets(con: duckdb.DuckDBPyConnection, load_id: int) -> None:
    """Fill `facets` with those of a load that are new."""
    con.execute(
        f"INSERT INTO facets SELECT facet_id, {', '.join(FACET_COLUMNS)} FROM charges WHERE rowid IN (SELECT min(rowid) "
        "FROM charges WHERE load_id = ? AND facet_id NOT IN (SELECT facet_id FROM facets) GROUP BY facet_id)",
        [load_id],
    )


def write_rejects(con: duckdb.DuckDBPyConnection, load_id: int, rejects: Sequence[Reject]) -> None:
    """Set rows aside."""
    insert_columns(
        con,
        "INSERT INTO rejects SELECT CAST(load_id AS BIGINT), CAST(row AS BIGINT), \"column\", value, reason, raw FROM given",
        {
            "load_id": [load_id] * len(rejects), "row": [r.row for r in rejects],
            "column": [r.column for r in rejects], "value": [r.value for r in rejects],
            "reason": [r.reason for r in rejects], "raw": [r.raw for r in rejects],
        },
    )  # fmt: skip


def write_record(con: duckdb.DuckDBPyConnection, record: LoadRecord, arrival: Arrival) -> None:
    """Write down what a load did."""
    con.execute(
        "INSERT INTO loads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        [
            record.load_id, record.file, record.sha256, arrival.source, arrival.options.version, record.reader,
            record.dialect, record.dataset, list(record.conventions), list(record.flags), record.rows_read,
            record.rows_accepted, record.rows_rejected, json.dumps(record.totals), json.dumps(record.residues),
            arrival.now.astimezone(UTC).replace(tzinfo=None), arrival.said, arrival.options.replace,
        ],
    )  # fmt: skip


LOAD_COLUMNS = (
    "load_id, file, sha256, reader, dialect, dataset, conventions, flags, rows_read, rows_accepted, rows_rejected, "
    "totals, residues, loaded_at"
)


def record_of(row: tuple[Any, ...], outcome: Literal["loaded", "unchanged", "replaced"] = "loaded") -> LoadRecord:
    """Load record of a row of `loads` (columns as in LOAD_COLUMNS)."""
    return LoadRecord(
        load_id=row[0], file=row[1], sha256=row[2], reader=row[3], dialect=row[4], dataset=row[5],
        conventions=tuple(row[6]), flags=tuple(row[7]), rows_read=row[8], rows_accepted=row[9], rows_rejected=row[10],
        totals=json.loads(row[11]), residues=json.loads(row[12]), outcome=outcome,
        loaded_at=_stamp(row[13].replace(tzinfo=UTC)),
    )  # fmt: skip


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
