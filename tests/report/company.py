"""A small invented company's bill, summed in memory, and the report that is built from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.attribution.owners import owned_shares
from unitcost.facts.answers import Comparison, Firmness, NearMiss, Owned, OwnerShare, UnitCost
from unitcost.facts.rules import OWNER_KINDS, FxRate, OwnerKind, Settings
from unitcost.facts.source import LoadRecord
from unitcost.facts.spend import ClosingPart, ClosingRow, Selection, SpendRow
from unitcost.figure import Figure, Rows, figure_id, ratio
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.build import build
from unitcost.report.inputs import COMMITMENTS, DIMS, ReportInput, shown_owner
from unitcost.report.model import Report

#: Whole months, as `--month 2026-09..2026-10` selects them.
SELECTION = Selection(start=date(2026, 9, 1), end=date(2026, 11, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One charge: what it cost, and where it stands in each dimension."""

    effective: Decimal
    billed: Decimal
    currency: str
    places: dict[str, str | None]


def charge(
    effective: str, day: str = "2026-09-01", *, billed: str = "", currency: str = "USD", **places: str | None
) -> Charge:
    """Charge of a day; what is not said about it is the plain case."""
    plain: dict[str, str | None] = {
        "team": None, "team_how": "untagged", "project": None, "project_how": "untagged",
        "experiment": None, "experiment_how": "untagged", "driver": "unknown", "driver_rule": "no rule matched",
        "line": "usage", "provider": "AWS", "service": "compute", "account": "111", "region": "eu-west-1",
        "resource": None, "commitment": None, "commitment_status": None, "charge_category": "Usage",
        "bridge_step": None, "day": day, "month": day[:7], "billing_month": day[:7],
    }  # fmt: skip
    for kind in OWNER_KINDS:
        if kind in places:
            plain[f"{kind}_how"] = "tag"
    return Charge(
        effective=Decimal(effective), billed=Decimal(billed or effective), currency=currency, places=plain | places
    )


def bill() -> list[Charge]:
    """Two months of three teams, with tax, a credit, a commitment half used, and charges that nobody tagged."""
    train = {"driver": "training", "driver_rule": "aws/sagemaker-training"}
    serve = {"driver": "serving", "driver_rule": "aws/sagemaker-serving"}
    plan = {"commitment": "plan-1"}
    return [
        charge("700.005", "2026-09-02", team="search", project="ranking", **train),
        charge("300.005", "2026-09-03", team="risk", project="fraud", **train),
        charge("120.004", "2026-09-04", team="search", project="ranking", provider="GCP", service="vertex", **serve),
        charge("80", "2026-09-05", resource="i-1"),
        charge("45.5", "2026-09-30", line="tax", charge_category="Tax"),
        charge("-20.25", "2026-09-30", line="credit", charge_category="Credit"),
        charge("0", "2026-09-01", billed="100", line="purchase", charge_category="Purchase", bridge_step="purchase", **plan),
        charge("60", "2026-09-10", billed="0", team="search", commitment_status="Used", bridge_step="amortisation", **plan, **serve),
        charge("40", "2026-09-10", billed="0", line="unused commitment", commitment_status="Unused",
               bridge_step="amortisation", **plan),
        charge("910.10", "2026-10-02", team="search", project="ranking", **train),
        charge("55.333333333333", "2026-10-03", team="ads", project="bidding", **serve),
        charge("12.5", "2026-10-04", resource="i-2", region=None),
    ]  # fmt: skip


def spend(
    charges: Iterable[Charge], dims: tuple[str, ...], cost: str, rates_since: Sequence[date] = ()
) -> list[SpendRow]:
    """Sums over the charges that agree in the dimensions, as the ledger gives them."""
    groups: dict[tuple[str, date | None, tuple[str | None, ...]], list[Decimal]] = {}
    for found in charges:
        day = date.fromisoformat(str(found.places["day"]))
        since = max((start for start in rates_since if start <= day), default=None)
        keys = tuple(found.places[name] for name in dims)
        amount = found.billed if cost == "billed" else found.effective
        groups.setdefault((found.currency, since, keys), []).append(amount)
    return [
        SpendRow(keys=keys, currency=currency, rate_since=since, amount=money.add(amounts), row_count=len(amounts))
        for (currency, since, keys), amounts in groups.items()
    ]


def amounts_of(selection: Selection, settings: Settings) -> Amounts:
    """Maker of figures with the newest rate in force."""

    def rate_of(currency: str, since: date | None) -> FxRate | None:
        return next((rate for rate in settings.fx if rate.currency == currency and rate.since == since), None)

    return Amounts(selection=selection, currency=settings.currency, rate_of=rate_of)


def given(charges: Sequence[Charge] | None = None, settings: Settings | None = None, **changes: Any) -> ReportInput:
    """Input of a report over the charges; `changes` replace fields of it."""
    charges = bill() if charges is None else charges
    settings = settings or Settings()
    since = sorted({rate.since for rate in settings.fx})
    amounts = amounts_of(SELECTION, settings)
    groups = {name: spend(charges, dims, "effective", since) for name, dims in DIMS.items()}
    direct = {kind: _direct(amounts, kind, groups[kind]) for kind in OWNER_KINDS}
    made = ReportInput(
        selection=SELECTION, settings=settings, as_of="2026-11-02", amounts=amounts, movers=amounts_of(SELECTION, settings),
        spend=groups, owners={kind: _owners(amounts, kind, direct[kind]) for kind in OWNER_KINDS}, owner_direct=direct,
        owned={kind: _owned(amounts, kind, direct[kind]) for kind in OWNER_KINDS},
        closing=[closing_row(charges)] if charges else [], billed=amounts_of(replace(SELECTION, cost="billed"), settings),
        effective=amounts_of(SELECTION, settings), bridge_billed=spend(charges, ("bridge_step",), "billed", since),
        bridge_effective=spend(charges, ("bridge_step",), "effective", since),
        commitments_billed=spend(charges, COMMITMENTS, "billed", since),
        commitments_effective=spend(charges, COMMITMENTS, "effective", since), unit_costs=[unit_cost("0", "100")],
        comparisons=[Comparison(unit="run", cheapest="", reason="not comparable: no quality bar is given")],
        firmness={"driver": {"USD": Firmness(largest="training", firm=True, overtaking=())},
                  "team": {"USD": Firmness(largest="search", firm=False, overtaking=("risk",))}},
        near_misses=[NearMiss(kind="team", what="value", found="serach", near=("search",))], dividing=frozenset(),
        split_notes=[], loads=[load()],
    )  # fmt: skip
    return replace(made, **changes)


def report(charges: Sequence[Charge] | None = None, settings: Settings | None = None, **changes: Any) -> Report:
    """Report over the charges."""
    return build(given(charges, settings, **changes))


def leaf(charges: Sequence[Charge], rows: Rows) -> Decimal:
    """Sum of the charges that a leaf figure names, found again one by one."""
    where = [(name, value) for name, value in rows.where if name != "rate_since"]
    found = [
        c for c in charges if c.currency == rows.currency and all(c.places[name] == value for name, value in where)
    ]
    return money.add(c.billed if rows.column == "billed_cost" else c.effective for c in found)


def closing_row(charges: Sequence[Charge], invoice_total: str = "") -> ClosingRow:
    """Invoice of all charges in their first currency."""
    currency = charges[0].currency
    mine = [found for found in charges if found.currency == currency]
    billed = money.add(found.billed for found in mine)
    months = sorted({str(found.places["billing_month"]) for found in mine})
    parts = tuple(
        ClosingPart(
            where=(("billing_month", month),),
            billed=money.add(found.billed for found in mine if found.places["billing_month"] == month),
            row_count=sum(found.places["billing_month"] == month for found in mine),
        )
        for month in months
    )
    return ClosingRow(
        provider="AWS", billing_account="payer", invoice_id="INV-1", currency=currency, billing_month="2026-09",
        billed=billed, effective=money.add(found.effective for found in mine), steps=(), row_count=len(mine),
        invoice_total=Decimal(invoice_total) if invoice_total else billed, parts=parts,
    )  # fmt: skip


def unit_cost(quantity: str, cost: str) -> UnitCost:
    """Unit cost of a service named `ranking`."""
    paid = _stated("cost", cost, "USD")
    made = _stated("quantity", quantity, "runs")
    each = ratio("unit-cost/ranking@x", paid, made, unit="USD/run", label="ranking per run", empty="no useful unit")
    return UnitCost(service="ranking", unit="run", cost=paid, quantity=made, per_unit=each)


def load(file: str = "bill.csv") -> LoadRecord:
    """Record of a file with one row set aside and a residue."""
    return LoadRecord(
        load_id=1, file=file, sha256="0" * 64, reader="focus", dialect="FOCUS 1.2", dataset="charges", conventions=(),
        flags=("amounts carry a currency sign",), rows_read=13, rows_accepted=12, rows_rejected=1,
        totals={"USD": {"billed_cost": "2303.1"}}, residues={"USD": {"billed_cost": "0.0000000000001"}},
        outcome="loaded", loaded_at="2026-11-02T00:00:00Z",
    )  # fmt: skip


def _stated(name: str, value: str, unit: str) -> Figure:
    return Figure(
        id=f"stated/{name}@x",
        value=Decimal(value),
        unit=unit,
        basis="measured",
        op="given",
        formula="stated",
        label=name,
    )


def _direct(amounts: Amounts, kind: OwnerKind, rows: Sequence[SpendRow]) -> ByUnit:
    raw = amounts.by_unit(f"{kind}-part", DIMS[kind], rows)
    return amounts.regroup(f"{kind}-direct", raw, lambda key: (shown_owner(key[0], key[2]), key[1]))


def _owned(amounts: Amounts, kind: OwnerKind, direct: ByUnit) -> dict[str, Owned]:
    by_how = amounts.regroup(f"{kind}-how", direct, lambda key: (key[1],))
    return {
        unit: owned_shares({str(key[0]): f for key, f in found.items()}, unit=unit, at=amounts.selection.tag, kind=kind)
        for unit, found in by_how.items()
    }


def _owners(amounts: Amounts, kind: OwnerKind, direct: ByUnit) -> dict[str, list[OwnerShare]]:
    owned = amounts.regroup(f"{kind}-own", direct, lambda key: (key[0],))
    return {
        unit: [
            OwnerShare(
                owner=str(key[0]), direct=figure, shared=(),
                amount=Figure(
                    id=figure_id("owner", kind, str(key[0]), unit, at=amounts.selection.tag), value=figure.value, unit=unit,
                    basis="derived", op="sum", formula="own", inputs=(figure,), label=str(key[0]),
                ),
            )
            for key, figure in figures.items()
        ]
        for unit, figures in owned.items()
    }  # fmt: skip
