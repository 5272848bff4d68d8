"""Closing the books: billed cost against invoices, the bridge from effective, commitments, outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

import duckdb

from unitcost import money
from unitcost.facts.spend import ClosingPart, ClosingRow, CommitmentRow, OutputRow, Selection
from unitcost.ledger.spend import BRIDGE_STEP, billing_range, query
from unitcost.ledger.unmet import Seen, Stated, other_currencies, seen, why_unmet


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Charges of one kind of step, as the query gives them."""

    provider: str
    billing_account: str
    invoice_id: str
    currency: str
    month: str
    step: str
    billed: Decimal
    effective: Decimal
    row_count: int


def closing(con: duckdb.DuckDBPyConnection, selection: Selection) -> list[ClosingRow]:
    """Closing rows in the order of month, provider, account, invoice and currency.

    An invoice is met by the charges that carry its id, or, when no charge does, by those of its billing
    period (and provider, if it names one) that carry no id. An invoice that no charge meets still makes a
    row: its total, and nothing billed against it.
    """
    billing = Selection(cost=selection.cost, start=selection.start, end=selection.end)
    parts = [
        _Part(
            provider=row[0], billing_account=row[1], invoice_id=row[2], currency=row[3], month=row[4] or "",
            step=row[5], billed=row[6], effective=row[7], row_count=row[8],
        )
        for row in con.execute(query("closing").format(step=BRIDGE_STEP, range=billing_range(billing))).fetchall()
    ]  # fmt: skip
    stated = _stated(con, selection)
    with_id = {part.invoice_id for part in parts if part.invoice_id}
    groups: dict[tuple[str, ...], list[_Part]] = defaultdict(list)
    met: dict[tuple[str, ...], Stated] = {}
    for part in parts:
        invoice = next((s for s in stated if _meets(part, s, with_id)), None)
        if invoice:
            key: tuple[str, ...] = (invoice.invoice_id, invoice.currency, invoice.month, invoice.provider)
            met[key] = invoice
        elif part.invoice_id:
            key = (part.invoice_id, part.currency, part.month)
        else:
            key = (part.provider, part.billing_account, "", part.currency, part.month)
        groups[key].append(part)
    pairs = [(_closing_row(found, met.get(key)), met.get(key)) for key, found in groups.items()]
    pairs += [(_unmet(invoice), invoice) for invoice in stated if invoice not in met.values()]
    rows = [row for row, _ in pairs]
    if any(row.invoice_total not in (None, row.billed) for row in rows):
        named = seen(con)
        rows = [_explained(row, invoice, named) for row, invoice in pairs]
    return sorted(rows, key=lambda r: (r.billing_month, r.provider, r.billing_account, r.invoice_id, r.currency))


def _meets(part: _Part, invoice: Stated, with_id: set[str]) -> bool:
    if part.currency != invoice.currency or (invoice.month and part.month != invoice.month):
        return False
    if invoice.provider and invoice.provider.casefold() not in part.provider.casefold():
        return False
    if part.invoice_id:
        return part.invoice_id == invoice.invoice_id
    return bool(invoice.month) and invoice.invoice_id not in with_id


def _closing_row(parts: list[_Part], invoice: Stated | None) -> ClosingRow:
    steps: dict[str, Decimal] = {}
    for part in parts:
        if part.step != "none":
            steps[part.step] = money.add([steps.get(part.step, money.ZERO), part.billed, -part.effective])
    return ClosingRow(
        provider=_joined(part.provider for part in parts),
        billing_account=_joined(part.billing_account for part in parts),
        invoice_id=invoice.invoice_id if invoice else parts[0].invoice_id,
        currency=parts[0].currency,
        billing_month=_joined(part.month for part in parts),
        billed=money.add(part.billed for part in parts),
        effective=money.add(part.effective for part in parts),
        steps=tuple(sorted(steps.items())),
        invoice_total=invoice.total if invoice else None,
        row_count=sum(part.row_count for part in parts),
        parts=tuple(_closing_parts(parts)),
    )


def _closing_parts(parts: list[_Part]) -> Iterable[ClosingPart]:
    groups: dict[tuple[tuple[str, str | None], ...], list[_Part]] = defaultdict(list)
    for part in parts:
        where: tuple[tuple[str, str | None], ...] = (
            ("provider", part.provider or None),
            ("billing_account", part.billing_account or None),
            ("invoice", part.invoice_id or None),
            ("billing_month", part.month or None),
        )
        groups[where].append(part)
    for key, found in groups.items():
        billed = money.add(part.billed for part in found)
        yield ClosingPart(where=key, billed=billed, row_count=sum(part.row_count for part in found))


def _unmet(invoice: Stated) -> ClosingRow:
    return ClosingRow(
        provider=invoice.provider, billing_account="", invoice_id=invoice.invoice_id, currency=invoice.currency,
        billing_month=invoice.month, billed=money.ZERO, effective=money.ZERO, steps=(),
        invoice_total=invoice.total, row_count=0,
    )  # fmt: skip


def _explained(row: ClosingRow, invoice: Stated | None, found: list[Seen]) -> ClosingRow:
    """Row with the reason why it differs from its invoice, where one is known."""
    if invoice is None or row.invoice_total == row.billed:
        return row
    return replace(row, reason=other_currencies(invoice, found) if row.row_count else why_unmet(invoice, found))


def _joined(texts: Iterable[str]) -> str:
    return " + ".join(sorted(set(texts)))


def _stated(con: duckdb.DuckDBPyConnection, selection: Selection) -> list[Stated]:
    """Invoice totals of the range; one without a month only where charges with its id fall into the range."""
    rows = con.execute(
        "SELECT invoice_id, currency, billing_month, provider, sum(total) FROM invoices GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    first = selection.start.strftime("%Y-%m") if selection.start else ""
    last = selection.end.strftime("%Y-%m") if selection.end else "9999"
    ids = {
        row[0]
        for row in con.execute(f"SELECT DISTINCT invoice_id FROM charges WHERE {billing_range(selection)}").fetchall()
    }
    everything = not (selection.start or selection.end)
    return [
        Stated(invoice_id=invoice, currency=currency, month=month, provider=provider, total=total)
        for invoice, currency, month, provider, total in rows
        if (first <= month < last if month else everything or invoice in ids)
    ]


def commitments(con: duckdb.DuckDBPyConnection, selection: Selection) -> list[CommitmentRow]:
    """Commitment rows in the order of their ids."""
    billing = Selection(cost=selection.cost, start=selection.start, end=selection.end)
    rows = con.execute(query("commitments").format(range=billing_range(billing))).fetchall()
    return [
        CommitmentRow(
            commitment_id=row[0], currency=row[1], purchased_billed=row[2], used_effective=row[3],
            unused_effective=row[4], used_list=row[5], term_start=row[6], term_end=row[7],
        )
        for row in rows
    ]  # fmt: skip


def outputs(con: duckdb.DuckDBPyConnection, selection: Selection) -> list[OutputRow]:
    """Output rows in the order of service, day and unit."""
    bounds = [selection.start, selection.start, selection.end, selection.end]
    return [
        OutputRow(service=service, day=day, unit=unit, quantity=quantity, attempts=attempts)
        for service, day, unit, quantity, attempts in con.execute(query("outputs"), bounds).fetchall()
    ]
