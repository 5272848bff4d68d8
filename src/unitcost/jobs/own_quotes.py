"""Prices of machines that the user states, against what bills charge for an hour of these machines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from unitcost import money
from unitcost.economics.capacity import hourly_rate
from unitcost.economics.quotes import QuoteCheck, check_quote
from unitcost.facts.prices import OWN, PriceRecord
from unitcost.facts.spend import Selection
from unitcost.facts.token_charges import MeteredQuantity
from unitcost.jobs.prices import open_book, wanted
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Ledger
from unitcost.prices import PriceBook

_HOURS = frozenset({"h", "hr", "hrs", "hour", "hours"})


def quote_checks(workspace: Workspace, ledger: Ledger, selection: Selection) -> list[tuple[str, QuoteCheck]]:
    """Own prices of machines on the bill that look like those of one accelerator, or of all; by machine."""
    if not workspace.settings.prices.files:
        return []
    book = open_book(workspace)
    standard = wanted(kind="instance", category="Standard")
    records = [item.record for item in book.in_force(standard, workspace.now) if item.record.source.licence == OWN]
    charges = ledger.work.metered(selection) if records else []
    found = {record.sku: check for record in records if (check := _check(book, record, charges)) is not None}
    return sorted((name, check) for name, check in found.items() if check.finding.startswith("per_"))


def _check(book: PriceBook, record: PriceRecord, charges: Sequence[MeteredQuantity]) -> QuoteCheck | None:
    shape = book.shape(record.provider, record.sku, record.region)
    billed = _billed_per_hour(record, charges)
    if shape is None or not shape.accelerator_count or not billed:
        return None
    quoted = hourly_rate(record, shape.accelerator_count).usd_per_machine_hour
    return check_quote(quoted, billed, shape.accelerator_count) if quoted > 0 else None


def _billed_per_hour(record: PriceRecord, charges: Sequence[MeteredQuantity]) -> Decimal | None:
    """Billed cost over hours of the charges that name the machine; None where none counts hours."""
    named = re.compile(rf"(?<![\w.-]){re.escape(record.sku)}(?![\w.-])", re.IGNORECASE)
    sums: dict[str, list[Decimal]] = defaultdict(list)
    for charge in charges:
        hours = _hours(charge)
        names = " ".join((charge.meter, charge.usage_type, charge.description))
        if hours and charge.billed_cost and charge.currency == record.currency and named.search(names):
            sums["cost"].append(charge.billed_cost)
            sums["hours"].append(hours)
    hours = money.add(sums["hours"])
    return money.divide(money.add(sums["cost"]), hours) if hours > 0 else None


def _hours(charge: MeteredQuantity) -> Decimal | None:
    if charge.unit.strip().casefold() in _HOURS:
        return charge.quantity
    return charge.pricing_quantity if charge.pricing_unit.strip().casefold() in _HOURS else None
