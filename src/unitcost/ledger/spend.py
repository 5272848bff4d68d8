"""Sums by dimensions, and the rows behind a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from math import gcd
from typing import Any

import duckdb

from unitcost.errors import UnitcostError
from unitcost.facts.charges import COST_COLUMNS
from unitcost.facts.rules import OWNER_KINDS
from unitcost.facts.spend import LedgerRow, Placement, Selection, SpendRow, check_dimensions
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.facet_sums import DIMENSIONS, FacetSums, Wanted
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

#: What makes billed and effective cost of a charge differ; null where they do not.
BRIDGE_STEP = (
    "CASE WHEN billed_cost IS NULL THEN 'charges without a billed cost' "
    "WHEN effective_cost IS NULL THEN 'charges without an effective cost' "
    "WHEN billed_cost = effective_cost THEN NULL "
    "WHEN commitment_discount_status = 'Unused' THEN 'commitments left unused' "
    "WHEN charge_category = 'Purchase' THEN 'commitments bought' "
    "WHEN commitment_discount_id IS NOT NULL OR pricing_category = 'Committed' THEN 'use covered by commitments' "
    "ELSE 'other differences' END"
)
#: Throughput of models that is paid for by time, used or not; null for everything else.
THROUGHPUT = (
    "CASE WHEN regexp_matches(lower(concat_ws(' ', usage_type, sku_meter, service_subcategory, charge_description)), "
    "'provisioned[ _-]?(throughput|managed|model)|model[ _-]?units?|[0-9 _-]ptus?([^a-z]|$)|scale[ _-]tier') THEN 'reserved' END"
)
#: Dimension -> expression over a placed charge. Only these ever become part of a statement.
_DIMENSIONS = {
    "provider": "coalesce(service_provider_name, invoice_issuer_name, publisher_name)",
    "service": "service_name",
    "category": "service_category",
    "account": "sub_account_id",
    "billing_account": "billing_account_id",
    "region": "region_id",
    "resource": "resource_id",
    "resource_type": "resource_type",
    "charge_category": "charge_category",
    "commitment": "commitment_discount_id",
    "commitment_status": "commitment_discount_status",
    "invoice": "invoice_id",
    "publisher": "publisher_name",
    "currency": "billing_currency",
    "billing_month": "strftime(billing_period_start, '%Y-%m')",
    "month": "bucket",
    "day": "bucket",
    "throughput": THROUGHPUT,
    "bridge_step": BRIDGE_STEP,
    "file": "(SELECT file FROM loads WHERE loads.load_id = placed.load_id)",
}
_OWNED = (
    "team", "team_how", "project", "project_how", "experiment", "experiment_how", "driver", "driver_rule", "line",
)  # fmt: skip
#: Cost of an hour of the charge period, to six digits; a name for charges of the same price, nothing to compute with.
_HOURLY_RATE = (
    f"printf('%.6g', CAST({{cost}} AS DOUBLE) * {SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND} / "
    "nullif(epoch_us(charge_period_end) - epoch_us(charge_period_start), 0))"
)
#: What a placed charge has from its attribution; nobody is null.
_ATTRIBUTED = ", ".join(f"nullif(a.{name}, '') AS {name}" if name in OWNER_KINDS else f"a.{name}" for name in _OWNED)
_BUCKETS = {"month", "day"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


#: Values of the dimensions of a question, None = is null, and the currency of a sum whose rows are wanted.
WantedRows = tuple[tuple[str | None, ...], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: a selection, dimensions, and (dimension, value) pairs that must hold."""

    selection: Selection
    dims: tuple[str, ...]
    placements: Sequence[Placement] = ()
    rates_since: Sequence[date] = ()
    where: tuple[tuple[str, str | None], ...] = ()
    currency: str = ""
    resources: tuple[str, ...] | None = None  # only charges of these

    @property
    def names(self) -> set[str]:
        """All dimensions that are grouped by or filtered on."""
        return {*self.dims, *(name for name, _ in self.where)}

    @property
    def by_parts(self) -> bool:
        """Whether charges count in the buckets of their charge period."""
        return self.selection.place == "charge" or bool(self.names & _BUCKETS)


@cache
def query(name: str) -> str:
    """Text of a query file."""
    text = resources.files("unitcost.ledger").joinpath("queries", f"{name}.sql").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def ask_spend(con: duckdb.DuckDBPyConnection, question: Question, sums: FacetSums | None = None) -> list[SpendRow]:
    """Sums by the dimensions of the question, ordered by their keys; out of the sums per facet where these can tell."""
    check_dimensions(tuple(question.names))
    keys = "".join(f"{_expression(name, question)} AS {name}, " for name in question.dims)
    condition, values = _conditions(question)
    rate_since = _rate_since(question.rates_since)
    if sums is not None and not question.by_parts and question.resources is None and question.names <= DIMENSIONS:
        placed = _summed(con, question, sums, rate_since)
        sql = query("spend_of_facets").format(keys=keys, placed=placed, where=condition)
    else:
        placed = _placed(con, question)
        sql = query("spend").format(keys=keys, rate_since=rate_since, placed=placed, where=condition)
    count = len(question.dims)
    return [
        SpendRow(
            keys=tuple(row[:count]), currency=row[count], rate_since=row[count + 1], amount=row[count + 2],
            row_count=row[count + 3], unknown_rows=row[count + 4],
        )
        for row in con.execute(sql, values).fetchall()
    ]  # fmt: skip


def ask_periods(con: duckdb.DuckDBPyConnection, question: Question) -> list[tuple[Any, ...]]:
    """Charge periods behind each sum, those that touch or overlap made one: its keys, then start and end."""
    check_dimensions(tuple(question.names))
    placed = _placed(con, question)
    condition, values = _conditions(question)
    keys = "".join(f"{_expression(name, question)} AS {name}, " for name in question.dims)
    sql = query("paid_periods").format(keys=keys, names=", ".join(question.dims), placed=placed, where=condition)
    return con.execute(sql, values).fetchall()


def ask_rows(
    con: duckdb.DuckDBPyConnection, question: Question, wanted: Sequence[WantedRows], limit: int | None
) -> list[list[LedgerRow]]:
    """Charges behind each of some sums by the dimensions of the question, largest part first."""
    check_dimensions(tuple(question.names))
    condition, values = _conditions(question)
    placed = _placed(con, question)
    _fill_row_sums(con, wanted, len(question.dims))
    keys = "".join(f", {_expression(name, question)} AS w_key{i}" for i, name in enumerate(question.dims))
    on = [f"placed.w_key{i} IS NOT DISTINCT FROM w.key{i}" for i in range(len(question.dims))]
    sql = query("rows").format(
        placed=placed, where=condition, cost=COST_COLUMNS[question.selection.cost], keys=keys,
        on=" AND ".join(["placed.billing_currency = w.currency", *on]), limit=limit if limit is not None else 2**62,
    )  # fmt: skip
    found: list[list[LedgerRow]] = [[] for _ in wanted]
    for row in con.execute(sql, values).fetchall():
        found[row[0]].append(
            LedgerRow(
                file=row[1], row_number=row[2], currency=row[3], cost=row[4], amount=row[5], service=row[6],
                resource=row[7], charge_period_start=row[8], charge_period_end=row[9], description=row[10],
            )
        )  # fmt: skip
    return found


def _fill_row_sums(con: duckdb.DuckDBPyConnection, wanted: Sequence[WantedRows], width: int) -> None:
    """Fill the table of the sums whose rows are asked for."""
    names = ["currency", *(f"key{i}" for i in range(width))]
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE row_sums (number BIGINT, {', '.join(f'{name} VARCHAR' for name in names)})"
    )
    cells = [(currency, *keys) for keys, currency in wanted]
    columns = {"number": [*range(len(wanted))]} | {name: [row[i] for row in cells] for i, name in enumerate(names)}
    texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    insert_columns(con, f"INSERT INTO row_sums SELECT number, {texts} FROM given", columns)


def ask_tag_keys(con: duckdb.DuckDBPyConnection, question: Question) -> list[tuple[str, ...]]:
    """Sets of tag keys on the charges that the question selects, each once."""
    condition, values = _conditions(question)
    sql = query("tag_keys").format(placed=_placed(con, question), where=condition)
    return [tuple(keys) for (keys,) in con.execute(sql, [*values, question.currency, question.currency]).fetchall()]


def billing_range(selection: Selection) -> str:
    """Condition on `billing_period_start` that a selection by billing period makes."""
    conditions = ["true"]
    if selection.place == "billing":
        if selection.start:
            conditions.append(f"billing_period_start >= TIMESTAMP '{selection.start.isoformat()}'")
        if selection.end:
            conditions.append(f"billing_period_start < TIMESTAMP '{selection.end.isoformat()}'")
    return " AND ".join(conditions)


def _placed(con: duckdb.DuckDBPyConnection, question: Question) -> str:
    owned = bool(question.names & set(_OWNED))
    if owned:
        _demand_attributions(con)
    if question.by_parts:
        _fill_placements(con, question.placements)
    queries = ["placed_bucket"] if question.by_parts else ["placed_whole"]
    if question.by_parts and any(p.overlap_us != p.total_us for p in question.placements):
        queries.append("placed_parts")
    return "\nUNION ALL BY NAME\n".join(
        query(name).format(
            owners=_ATTRIBUTED if owned else "NULL AS team",
            join_owners="JOIN attributions a USING (facet_id)" if owned else "",
            cost="c." + COST_COLUMNS[question.selection.cost],
            range=billing_range(question.selection),
        )
        for name in queries
    )


def _summed(con: duckdb.DuckDBPyConnection, question: Question, sums: FacetSums, rate_since: str) -> str:
    owned = bool(question.names & set(_OWNED))
    if owned and not sums.attributed:
        _demand_attributions(con)
        sums.attributed = True
    wanted = Wanted(
        cost=COST_COLUMNS[question.selection.cost],
        billing_range=billing_range(question.selection),
        rate_since=rate_since,
    )
    return sums.placed(con, wanted, _ATTRIBUTED if owned else "")


def _expression(name: str, question: Question) -> str:
    if name == "rate_since":
        return f"strftime({_rate_since(question.rates_since)}, '%Y-%m-%d')"
    if name == "hourly_rate":
        return _HOURLY_RATE.format(cost=COST_COLUMNS[question.selection.cost])
    return name if name in _OWNED else _DIMENSIONS[name]


def _conditions(question: Question) -> tuple[str, list[Any]]:
    conditions = ["true", *(f"{_expression(name, question)} IS NOT DISTINCT FROM ?" for name, _ in question.where)]
    selection = question.selection
    if selection.place == "charge":
        if selection.start:
            conditions.append(f"bucket >= '{selection.start:%Y-%m}'")
        if selection.end:
            conditions.append(f"bucket < '{selection.end:%Y-%m}'")
    values: list[Any] = [value for _, value in question.where]
    if question.resources is not None:
        conditions.append("resource_id IN (SELECT unnest(?::VARCHAR[]))")
        values.append(list(question.resources))
    return " AND ".join(conditions), values


def _rate_since(days: Sequence[date]) -> str:
    whens = " ".join(
        f"WHEN charge_period_start >= TIMESTAMP '{day.isoformat()}' THEN DATE '{day.isoformat()}'"
        for day in sorted(set(days), reverse=True)
    )
    return f"CASE {whens} END" if whens else "CAST(NULL AS DATE)"


def _demand_attributions(con: duckdb.DuckDBPyConnection) -> None:
    missing = con.execute(
        "SELECT count(*) FROM facets WHERE facet_id NOT IN (SELECT facet_id FROM attributions)"
    ).fetchall()[0][0]
    if missing:
        raise UnitcostError(f"{missing} kinds of charges have no owner or driver yet", mend="run the report anew")


def _fill_placements(con: duckdb.DuckDBPyConnection, placements: Sequence[Placement]) -> None:
    con.execute(
        "CREATE OR REPLACE TEMP TABLE placements (period_start TIMESTAMP, period_end TIMESTAMP, bucket VARCHAR, "
        "sequence INTEGER, overlap BIGINT, total BIGINT)"
    )
    if not placements:
        if not con.execute("SELECT count(*) FROM charges").fetchall()[0][0]:
            return
        raise UnitcostError("charges are asked for by month or day, but nobody said where their periods lie")
    steps = [gcd(p.overlap_us, p.total_us) or 1 for p in placements]
    insert_columns(
        con,
        "INSERT INTO placements SELECT make_timestamp(period_start), make_timestamp(period_end), bucket, sequence, overlap, total "
        "FROM given",
        {
            "period_start": [(p.start - _EPOCH) // _MICROSECOND for p in placements],
            "period_end": [(p.end - _EPOCH) // _MICROSECOND for p in placements],
            "bucket": [p.bucket for p in placements],
            "sequence": list(range(len(placements))),
            "overlap": [p.overlap_us // s for p, s in zip(placements, steps, strict=True)],
            "total": [p.total_us // s for p, s in zip(placements, steps, strict=True)],
        },
    )
