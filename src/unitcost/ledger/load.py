"""Loading a plan: one transaction, rejects apart, sums written down."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import duckdb

from unitcost import money
from unitcost.errors import BadFile
from unitcost.facts.charges import FACET_COLUMNS, MONEY_COLUMNS
from unitcost.facts.source import LoadRecord, Plan, ReadOptions, Reject
from unitcost.ledger import restate
from unitcost.ledger.outputs import load_invoices, load_outputs
from unitcost.ledger.progress import watched
from unitcost.ledger.statement import Statement, compile_charges, insert_charges, scan_sql

Progress = Callable[[int, int], None]
_REASONS = {
    "cost": ("", "has no cost"),
    "currency": ("", "has a cost but no currency"),
    "period": ("", "has no charge period"),
    "order": ("", "ends before it starts"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A file on its way into the ledger: how it is called and where it comes from."""

    file: str
    sha256: str
    source: str
    options: ReadOptions
    now: datetime


def load_plan(con: duckdb.DuckDBPyConnection, plan: Plan, arrival: Arrival, progress: Progress | None) -> LoadRecord:
    """Load one file in one transaction.

    Raises
    ------
    BadFile
        When the engine cannot take the file apart.
    PartOrRestatement
        When most of its rows are known from another file.
    """
    con.execute("BEGIN")
    try:
        record = _load(con, plan, arrival, progress)
        con.execute("COMMIT")
    except duckdb.InvalidInputException as error:
        _roll_back(con)
        raise BadFile(
            f"cannot be taken apart: {str(error).splitlines()[0]}", where=arrival.file, mend="check that it is whole"
        ) from error
    except BaseException:
        _roll_back(con)
        raise
    return record


def _roll_back(con: duckdb.DuckDBPyConnection) -> None:
    try:
        con.execute("ROLLBACK")
    except duckdb.TransactionException:
        return  # the engine has rolled back by itself


def _load(con: duckdb.DuckDBPyConnection, plan: Plan, arrival: Arrival, progress: Progress | None) -> LoadRecord:
    row = con.execute("SELECT nextval('load_ids')").fetchall()
    load_id = int(row[0][0])
    older = restate.same_path(con, arrival.file)
    if plan.dataset == "charges":
        rejects, rows_read = _load_charges(con, plan, load_id, progress)
        totals, residues, accepted = sums_of(con, load_id)
    else:
        fill = load_outputs if plan.dataset == "outputs" else load_invoices
        rejects, rows_read, accepted = fill(con, plan, load_id)
        totals, residues = {}, {}
    record = LoadRecord(
        load_id=load_id, file=arrival.file, sha256=arrival.sha256, reader=plan.reader, dialect=plan.dialect,
        dataset=plan.dataset, conventions=plan.conventions, flags=plan.flags,
        rows_read=rows_read + len(plan.rejects), rows_accepted=accepted,
        rows_rejected=len(rejects) + len(plan.rejects), totals=totals, residues=residues,
        outcome="replaced" if older else "loaded", loaded_at=_stamp(arrival.now),
    )  # fmt: skip
    write_rejects(con, load_id, [*plan.rejects, *rejects])
    write_record(con, record, arrival)
    restate.settle(con, plan, arrival.options, record, older, arrival.source)
    return record


def _load_charges(
    con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int, progress: Progress | None
) -> tuple[list[Reject], int]:
    types = cell_types(con, plan)
    statement = compile_charges(plan, types, counted=False)
    with watched(con, progress):
        inserted = con.execute(insert_charges(statement, load_id)).fetchall()
    rows_read = int(inserted[0][0])
    if plan.scan.format == "csv" and not plan.scan.numbered:
        _number_rows(con, load_id)
    bad = con.execute("SELECT count(*) FROM charges WHERE load_id = ? AND facet_id = 0", [load_id]).fetchall()[0][0]
    rejects = _diagnose(con, plan, compile_charges(plan, types)) if bad else []
    if bad:
        con.execute("DELETE FROM charges WHERE load_id = ? AND facet_id = 0", [load_id])
    add_facets(con, load_id)
    return rejects, rows_read


def _number_rows(con: duckdb.DuckDBPyConnection, load_id: int) -> None:
    """Number the rows of a load by the order they were stored in, which is that of the file."""
    con.execute(
        "UPDATE charges SET row_number = rowid - (SELECT min(rowid) FROM charges WHERE load_id = ?) + 1 WHERE load_id = ?",
        [load_id, load_id],
    )


def cell_types(con: duckdb.DuckDBPyConnection, plan: Plan) -> list[str]:
    """Engine type of each cell column of the scan."""
    if plan.scan.format == "csv":
        return ["VARCHAR"] * len(plan.scan.columns)
    rows = con.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(plan.scan.path)]).description
    return [str(column[1]) for column in rows or []]


def _diagnose(con: duckdb.DuckDBPyConnection, plan: Plan, statement: Statement) -> list[Reject]:
    """Read the file once more to say, for each row with a problem, which cell it was."""
    cells = ", ".join(f"CAST(c{i} AS VARCHAR)" for i in range(len(plan.scan.columns)))
    raws = f"SELECT row_number, [{cells}] AS raw FROM {scan_sql(plan.scan)}"
    firsts = " ".join(f"WHEN coalesce({check.bad}, false) THEN {i}" for i, check in enumerate(statement.checks))
    first = f"CASE {firsts} ELSE -1 END" if firsts else "-1"
    texts = ", ".join(f"CAST({check.cell} AS VARCHAR)" for check in statement.checks) or "NULL"
    query = (
        f"SELECT p.row_number, p.problem, {first}, [{texts}], r.raw FROM ({statement.reads}) s "
        f"JOIN (SELECT row_number, problem FROM ({statement.mapped}) WHERE problem IS NOT NULL) p "
        f"ON s.row_number = p.row_number JOIN ({raws}) r ON r.row_number = p.row_number ORDER BY p.row_number"
    )
    rejects = []
    for row_number, problem, index, values, raw in con.execute(query).fetchall():
        column, reason, value = *_REASONS.get(problem, ("", "")), ""
        if problem == "cost":
            column = plan.cost_column
        if problem == "cell":
            check = statement.checks[index]
            column, reason, value = check.column, check.reason, str(values[index])
        shown = json.dumps(dict(zip(plan.scan.columns, raw, strict=True)), ensure_ascii=False)
        rejects.append(Reject(row=row_number, column=column, value=value, reason=reason, raw=shown))
    return rejects


def add_facets(con: duckdb.DuckDBPyConnection, load_id: int) -> None:
    """Fill `facets` with those of a load that are new."""
    columns = ", ".join(FACET_COLUMNS)
    firsts = ", ".join(f"first({name}) AS {name}" for name in FACET_COLUMNS)
    con.execute(
        f"INSERT INTO facets SELECT facet_id, {columns} FROM (SELECT facet_id, {firsts} FROM charges "
        "WHERE load_id = ? AND facet_id NOT IN (SELECT facet_id FROM facets) GROUP BY facet_id)",
        [load_id],
    )


def sums_of(
    con: duckdb.DuckDBPyConnection, load_id: int
) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]], int]:
    """Exact sums and residues of a load per currency and money column, and its number of rows."""
    sums = ", ".join(f"sum({name}), sum({name}_residue)" for name in MONEY_COLUMNS)
    totals: dict[str, dict[str, str]] = {}
    residues: dict[str, dict[str, str]] = {}
    accepted = 0
    query = f"SELECT billing_currency, count(*), {sums} FROM charges WHERE load_id = ? GROUP BY ALL ORDER BY 1"
    for currency, count, *values in con.execute(query, [load_id]).fetchall():
        accepted += count
        totals[currency] = _texts(values[0::2])
        residues[currency] = {name: value for name, value in _texts(values[1::2]).items() if value != "0"}
    return totals, residues, accepted


def _texts(values: list[Decimal | None]) -> dict[str, str]:
    return {name: money.text(v) for name, v in zip(MONEY_COLUMNS, values, strict=True) if v is not None}


def write_rejects(con: duckdb.DuckDBPyConnection, load_id: int, rejects: list[Reject]) -> None:
    """Set rows aside."""
    if rejects:
        con.executemany(
            "INSERT INTO rejects VALUES (?, ?, ?, ?, ?, ?)",
            [[load_id, r.row, r.column, r.value, r.reason, r.raw] for r in rejects],
        )


def write_record(con: duckdb.DuckDBPyConnection, record: LoadRecord, arrival: Arrival) -> None:
    """Write down what a load did."""
    con.execute(
        "INSERT INTO loads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        [
            record.load_id, record.file, record.sha256, arrival.source, arrival.options.version, record.reader,
            record.dialect, record.dataset, list(record.conventions), list(record.flags), record.rows_read,
            record.rows_accepted, record.rows_rejected, json.dumps(record.totals), json.dumps(record.residues),
            arrival.now.astimezone(UTC).replace(tzinfo=None),
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
