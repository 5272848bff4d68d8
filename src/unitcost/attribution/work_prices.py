"""What an hour of capacity costs where no bill says: the price that was in force, most exactly named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase

from unitcost.facts.rules import WorkPrice


def price_in_force(prices: Sequence[WorkPrice], accelerator: str, pricing_category: str, day: date) -> WorkPrice | None:
    """Price of an accelerator on a day, None when the settings name none.

    A price for the very name wins over one for a pattern, then one for the pricing category over one for any, then the
    newest that had begun, then the earlier entry.
    """
    fitting = [
        price
        for price in prices
        if fnmatchcase(accelerator.casefold(), price.accelerator.casefold())
        and price.pricing_category in ("", pricing_category)
        and (price.since is None or price.since <= day)
    ]
    return max(fitting, key=_exactness, default=None)


def _exactness(price: WorkPrice) -> tuple[bool, bool, date]:
    pattern = any(sign in price.accelerator for sign in "*?[")
    return not pattern, bool(price.pricing_category), price.since or date.min


def price_days(prices: Sequence[WorkPrice]) -> list[date]:
    """Days on which some price begins, in order."""
    return sorted({price.since for price in prices if price.since})
