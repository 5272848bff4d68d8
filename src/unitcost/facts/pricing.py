"""How capacity is priced: one vocabulary, whatever a bill, a scheduler or a cloud calls it."""

from __future__ import annotations

import re
from typing import Literal

from unitcost.errors import UnknownName

#: As FOCUS names them: Standard = on-demand, Dynamic = spot, Committed = under a promise to pay.
PricingCategory = Literal["Standard", "Dynamic", "Committed", "Other"]
CATEGORIES: tuple[PricingCategory, ...] = ("Standard", "Dynamic", "Committed", "Other")
#: Words of clouds, schedulers and people, without case and separators.
_WORDS: dict[str, PricingCategory] = {
    "standard": "Standard", "ondemand": "Standard", "dedicated": "Standard", "regular": "Standard",
    "payasyougo": "Standard",
    "dynamic": "Dynamic", "spot": "Dynamic", "preemptible": "Dynamic", "lowpriority": "Dynamic",
    "interruptible": "Dynamic",
    "committed": "Committed", "reserved": "Committed", "reservation": "Committed", "savingsplan": "Committed",
    "other": "Other",
}  # fmt: skip
_SEPARATORS = re.compile(r"[\s_-]+")
#: What people write, for messages.
SPELLINGS = ("on-demand", "spot", "reserved", "other", *CATEGORIES)


def category_named(word: str) -> PricingCategory | None:
    """Category that a word means; None when it is no such word."""
    return _WORDS.get(_SEPARATORS.sub("", word.casefold()))


def pricing_category(word: str) -> PricingCategory:
    """Category that a word means.

    Raises
    ------
    UnknownName
        When it is no such word; the message names the near ones.
    """
    found = category_named(word)
    if found is None:
        raise UnknownName("pricing category", word, SPELLINGS)
    return found


def spot_or_not(spot: bool | None) -> PricingCategory | None:
    """Category of capacity that may, or may not, be taken away; None when that is not known."""
    return None if spot is None else "Dynamic" if spot else "Standard"
