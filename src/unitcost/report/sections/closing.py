"""Whether the ledger agrees with the invoices, and what lies between effective and billed cost."""

from __future__ import annotations

from decimal import Decimal

from unitcost import money
from unitcost.facts.spend import ClosingRow
from unitcost.figure import Figure, Rows, figure_id
from unitcost.figure import total as sum_of
from unitcost.report.figures import Made
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import remarked

_COSTS = "Bought is billed cost; used and unused are effective cost. The difference is used + unused - bought."
_TERM = "It is zero once the whole term is loaded; until then it is what is still to be used."


def difference(row: ClosingRow) -> Decimal | None:
    """Billed cost in the ledger less what the invoice says, None where no invoice is known."""
    return None if row.invoice_total is None else money.subtract(row.billed, row.invoice_total)


def closes(given: ReportInput) -> bool:
    """Whether every known invoice agrees with the ledger."""
    return not any(difference(row) for row in given.closing)


def messages(given: ReportInput) -> list[str]:
    """One line per invoice that differs."""
    return [text for row in given.closing if (text := message(row))]


def message(row: ClosingRow) -> str:
    """How an invoice differs from the ledger, and why where that is known; empty when it does not."""
    gap = difference(row)
    if not gap:
        return ""
    month = f" ({row.billing_month})" if row.billing_month else ""
    says = f"the invoice says {money.text(row.invoice_total or money.ZERO)} {row.currency}"
    if not row.row_count:
        nothing = f"Invoice {row.invoice_id}{month}: {says}, the ledger has nothing for it: {row.reason}"
        return nothing if nothing.endswith("?") else f"{nothing}."
    why = f" ({row.reason})" if row.reason else ""
    has = f"the ledger has {money.text(row.billed)}; it differs by {money.text(gap)}"
    return f"Invoice {row.invoice_id}{month}: {says}, {has}{why}."


def closing(given: ReportInput) -> Section:
    """Billed cost beside the invoice totals, one table per currency, and the bridge from effective to billed."""
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for number, row in enumerate(given.closing):
        rows.setdefault(row.currency, []).append(_row(given, row, number))
    columns = (
        Column(name="month"), Column(name="provider"), Column(name="account", spare=True), Column(name="invoice"),
        Column(name="billed", kind="money"), Column(name="invoice says", kind="money"),
        Column(name="difference", kind="money"), Column(name=""),
    )  # fmt: skip
    invoices = []
    for unit, found in sorted(rows.items()):
        shown, cells, _ = remarked(columns, found)
        invoices.append(Table(columns=shown, rows=cells, unit=unit, caption=f"Invoices in {unit}"))
    checked = sum(row.invoice_total is not None for row in given.closing)
    note = (
        f"{checked} of {len(given.closing)} are checked against an invoice total. "
        "Give the others under [[invoice]], or load the provider's invoice detail."
    )
    return Section(
        key="closing", title="Closing", question="Does the ledger agree with the invoices?",
        tables=(*invoices, *_bridges(given)), notes=(note,) if checked < len(given.closing) else (),
    )  # fmt: skip


def _row(given: ReportInput, row: ClosingRow, number: int) -> tuple[Cell, ...]:
    at = given.billed.selection.tag
    name = (row.invoice_id or row.provider or "all", row.billing_account, row.billing_month, row.currency, str(number))
    parts = tuple(
        Figure(
            id=figure_id("rows", "closing", *name, *(f"{k}={v}" for k, v in part.where), at=at), value=part.billed,
            unit=row.currency, basis="billed", op="rows", formula=f"sum of billed_cost over {part.row_count} charges",
            rows=Rows(
                table="charges", column="billed_cost", where=part.where, currency=row.currency, row_count=part.row_count
            ),
            label=", ".join(f"{k}={v}" for k, v in part.where),
        )
        for part in row.parts
    )  # fmt: skip
    billed = sum_of(figure_id("closing", *name, "billed", at=at), parts, unit=row.currency, label="billed")
    says, gap, verdict = None, None, ""
    if row.invoice_total is not None:
        says = Figure(
            id=figure_id("closing", *name, "invoice", at=at), value=row.invoice_total, unit=row.currency, basis="billed",
            op="given", formula="total of the invoice", label="invoice total",
        )  # fmt: skip
        gap = Figure(
            id=figure_id("closing", *name, "difference", at=at), value=difference(row), unit=row.currency,
            basis="derived", op="difference", formula="billed - invoice total", inputs=(billed, says), label="difference",
        )  # fmt: skip
        verdict = "" if not gap.value else f"differs by {money.text(gap.value)}" if row.row_count else "no charges"
    return (
        row.billing_month, row.provider or None, row.billing_account or None, _name(row), billed, says, gap, verdict,
    )  # fmt: skip


def _name(row: ClosingRow) -> str | None:
    """Invoice, or the account whose charges name none."""
    return row.invoice_id or (f"account {row.billing_account}" if row.billing_account else None)


def _bridges(given: ReportInput) -> list[Table]:
    billed = given.billed.by_unit("bridge", ("bridge_step",), given.bridge_billed)
    effective = given.effective.by_unit("bridge", ("bridge_step",), given.bridge_effective)
    return [_bridge(given, unit, billed[unit], effective.get(unit, {})) for unit in billed]


def _bridge(
    given: ReportInput,
    unit: str,
    billed: dict[tuple[str | None, ...], Figure],
    effective: dict[tuple[str | None, ...], Figure],
) -> Table:
    at = given.billed.selection.tag
    start = given.effective.total("bridge-effective", unit, list(effective.values()), label="effective cost")
    end = given.billed.total("bridge-billed", unit, list(billed.values()), label="billed cost")
    rows: list[tuple[Cell, ...]] = [("effective cost", start)]
    for key in sorted({*billed, *effective}, key=lambda k: k[0] or ""):
        if key[0] is None or key not in billed or key not in effective:
            continue
        step = Figure(
            id=figure_id("bridge-step", key[0], unit, at=at),
            value=money.subtract(billed[key].value or money.ZERO, effective[key].value or money.ZERO), unit=unit,
            basis="derived", op="difference", formula="billed - effective cost", inputs=(billed[key], effective[key]),
            label=key[0],
        )  # fmt: skip
        rows.append((key[0], step))
    return Table(
        columns=(Column(name="from effective to billed"), Column(name=unit, kind="money")), rows=tuple(rows),
        total=("billed cost", end), unit=unit, caption="Bridge from effective to billed cost",
    )  # fmt: skip


def commitments(made: Made) -> Section:
    """What was committed to, what was used of it, and what was paid for nothing, one table per currency."""
    rows: dict[str, list[tuple[Cell, ...]]] = {}
    for one in made.commitments:
        cells = (one.name, one.bought, one.used, one.unused, one.utilisation, one.difference)
        rows.setdefault(one.unit, []).append(cells)
    columns = (
        Column(name="commitment"), Column(name="bought", kind="money"), Column(name="used", kind="money"),
        Column(name="unused", kind="money"), Column(name="utilisation", kind="share"),
        Column(name="difference", kind="money"),
    )  # fmt: skip
    return Section(
        key="commitments", title="Commitments", question="What was committed to, and was it used?",
        tables=tuple(
            Table(columns=columns, rows=tuple(found), unit=unit, caption=f"Commitments in {unit}")
            for unit, found in rows.items()
        ),
        notes=(_COSTS, _TERM) if rows else ("No commitments in this range.",),
    )  # fmt: skip
