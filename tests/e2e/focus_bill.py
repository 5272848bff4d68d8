"""Small FOCUS bills for tests of the front door."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

_LAST_DAY = 28


def row(number: int = 0, *, cost: str = "1.00", month: int = 6, **changed: str) -> dict[str, str]:
    """A charge of one day of a month of 2031; `changed` names FOCUS columns."""
    start, end = (f"2031-{m:02}-01T00:00:00Z" for m in (month, month + 1))
    day = f"2031-{month:02}-{1 + number % _LAST_DAY:02}"
    found = {
        "BilledCost": cost, "EffectiveCost": cost, "BillingCurrency": "USD", "BillingAccountId": "main",
        "BillingPeriodStart": start, "BillingPeriodEnd": end, "ChargePeriodStart": f"{day}T00:00:00Z",
        "ChargePeriodEnd": f"{day}T12:00:00Z", "ChargeCategory": "Usage", "ServiceName": "Compute",
        "ResourceId": f"machine-{number}", "InvoiceId": f"INV-{month}", "ProviderName": "Cloud",
        "Tags": '{"team": "risk"}',
    }  # fmt: skip
    return found | changed


def text(rows: Sequence[dict[str, str]]) -> str:
    """Bill as csv."""
    stream = io.StringIO()
    columns = dict.fromkeys([*row(), *(name for charge in rows for name in charge)])
    writer = csv.DictWriter(stream, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
