"""What kind of line of the bill a charge is."""

from __future__ import annotations

from typing import Literal

from unitcost.facts.charges import Facet

Line = Literal["usage", "unused commitment", "purchase", "tax", "credit", "refund", "adjustment", "marketplace"]
_BY_CATEGORY: dict[str, Line] = {
    "tax": "tax",
    "credit": "credit",
    "refund": "refund",
    "adjustment": "adjustment",
    "purchase": "purchase",
}
_MARKETPLACES = ("marketplace",)


def line_of(facet: Facet) -> Line:
    """Line of a facet: its charge category, unused commitments and marketplace charges told apart.

    A charge is a marketplace charge when its publisher says so; commitments that nobody used are a line of
    their own, whoever bought them.
    """
    if (facet.get("commitment_discount_status") or "").casefold() == "unused":
        return "unused commitment"
    category = (facet.get("charge_category") or "usage").casefold()
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    publisher = (facet.get("publisher_name") or "").casefold()
    return "marketplace" if any(word in publisher for word in _MARKETPLACES) else "usage"
