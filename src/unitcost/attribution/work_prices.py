"""What an hour of capacity costs where no bill says: the price that was in force, most exactly named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase

from unitcost.facts.accelerators import accelerator_name, family_of
from unitcost.facts.rules import WorkPrice


def price_in_force(prices: Sequence[WorkPrice], accelerator: str, pricing_category: str, day: date) -> WorkPrice | None:
    """Price of an accelerator on a day, None when the settings name none.

    A price for the very accelerator wins over one for its family (`H100` for an `H100-80GB`), that over one for a
    pattern, then one for the pricing category over one for any, then the newest that had begun, then the earlier entry.

    Parameters
    ----------
    accelerator
        Its one name; see `facts.accelerators`. Prices may name it in any spelling.
    """
    fitting = [
        (closeness, bool(price.pricing_category), price.since or date.min, price)
        for price in prices
        if price.pricing_category in ("", pricing_category)
        and (price.since is None or price.since <= day)
        and (closeness := _closeness(price.accelerator, accelerator))
    ]
    return max(fitting, key=lambda found: found[:3])[3] if fitting else None


def _closeness(said: str, accelerator: str) -> int:
    """How exactly a price names an accelerator, 0 when it does not."""
    if any(sign in said for sign in "*?["):
        names = (accelerator.casefold(), family_of(accelerator).casefold())
        return int(any(fnmatchcase(name, said.casefold()) for name in names))
    name = accelerator_name(said)
    if name.casefold() == accelerator.casefold():
        return 3
    return 2 if name == family_of(accelerator) else 0


def price_days(prices: Sequence[WorkPrice]) -> list[date]:
    """Days on which some price begins, in order."""
    return sorted({price.since for price in prices if price.since})
