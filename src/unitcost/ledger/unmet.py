"""Why no charge, or not every charge, meets an invoice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import duckdb

from unitcost.errors import near_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """An invoice total, from a file or from the settings."""

    invoice_id: str
    currency: str
    month: str
    provider: str
    total: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What charges name of an invoice; without one the id is empty."""

    invoice_id: str
    currency: str
    month: str
    provider: str


def seen(con: duckdb.DuckDBPyConnection) -> list[Seen]:
    """What all charges of the ledger name, whatever the range of a report."""
    rows = con.execute(
        "SELECT DISTINCT coalesce(invoice_id, ''), coalesce(billing_currency, ''), "
        "coalesce(strftime(billing_period_start, '%Y-%m'), ''), "
        "coalesce(service_provider_name, invoice_issuer_name, publisher_name, '') FROM charges ORDER BY ALL"
    ).fetchall()
    return [Seen(invoice_id=i, currency=currency, month=month, provider=p) for i, currency, month, p in rows]


def why_unmet(invoice: Stated, found: Sequence[Seen]) -> str:
    """Why no charge meets an invoice, in words that follow "the ledger has nothing for it:"."""
    named = [one for one in found if one.invoice_id == invoice.invoice_id]
    if not found:
        return "no charge is loaded"
    if named:
        return f"its charges are {_unlike(invoice, named)}"
    ids = sorted({one.invoice_id for one in found if one.invoice_id})
    near = near_names(invoice.invoice_id, ids)
    hint = f"; did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
    unnamed = [one for one in found if not one.invoice_id]
    if not invoice.month:
        if unnamed and not ids:
            return "charges name no invoices here; give its `period`"
        return f"no charge names this invoice{hint}"
    if unnamed:
        return f"no charge names it{hint or ';'} those without an invoice are {_unlike(invoice, unnamed)}"
    return f"no charge names it, and none is without an invoice{hint}"


def other_currencies(invoice: Stated, found: Sequence[Seen]) -> str:
    """What to say of charges that name an invoice in a currency that is not its own; empty when there are none."""
    others = sorted({one.currency for one in found if one.invoice_id == invoice.invoice_id} - {invoice.currency})
    return f"other charges that name it are billed in {_listed(others)}" if others else ""


def _unlike(invoice: Stated, charges: Sequence[Seen]) -> str:
    """In what charges differ from an invoice: the first of currency, month and provider that sets all of them apart."""
    in_currency = [one for one in charges if one.currency == invoice.currency]
    if not in_currency:
        return f"billed in {_listed(one.currency for one in charges)}, not in {invoice.currency}"
    in_month = [one for one in in_currency if invoice.month in ("", one.month)]
    if not in_month:
        return f"of {_listed(one.month for one in in_currency)}, not of {invoice.month}"
    if any(invoice.provider.casefold() in one.provider.casefold() for one in in_month):
        return "met by another invoice"
    return f"of {_listed(one.provider or '(no provider)' for one in in_month)}, not of {invoice.provider}"


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(set(names))
    shown = ", ".join(ordered[:3])
    return f"{shown} and {len(ordered) - 3} more" if len(ordered) > 3 else shown
