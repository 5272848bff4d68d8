"""What kind of line of the bill a charge is."""

from __future__ import annotations

import re

from unitcost.facts.charges import Facet
from unitcost.facts.spend import Line

_BY_CATEGORY: dict[str, Line] = {
    "tax": "tax",
    "credit": "credit",
    "refund": "refund",
    "adjustment": "adjustment",
    "purchase": "purchase",
}
#: First words under which a provider appears as seller or issuer.
_FAMILIES = (
    frozenset({"aws", "amazon"}),
    frozenset({"microsoft", "azure"}),
    frozenset({"google", "gcp"}),
    frozenset({"oracle", "oci"}),
)
_WORDS = re.compile(r"[^\W_]+")


def line_of(facet: Facet) -> Line:
    """Line of a facet: its charge category, unused commitments and marketplace charges told apart.

    What nobody used of a commitment is a line of its own, whoever bought it. A marketplace charge is usage whose
    publisher is not the provider; where either is not named it is plain usage.
    """
    if (facet.get("commitment_discount_status") or "").casefold() == "unused":
        return "unused commitment"
    category = (facet.get("charge_category") or "usage").casefold()
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    return "marketplace" if _sold_by_another(facet) else "usage"


def _sold_by_another(facet: Facet) -> bool:
    publisher, provider = facet.get("publisher_name"), facet.get("service_provider_name")
    if not publisher:
        return False
    if "marketplace" in publisher.casefold():
        return True
    return bool(provider) and not _same_house(publisher, str(provider))


def _same_house(publisher: str, provider: str) -> bool:
    """Whether two names mean one company: `AWS` and `Amazon Web Services EMEA SARL`, `Acme` and `Acme, Inc.`."""
    ours, theirs = _WORDS.findall(publisher.casefold()), _WORDS.findall(provider.casefold())
    if not ours or not theirs:
        return True
    if ours[0] == theirs[0]:
        return True
    return any(ours[0] in family and theirs[0] in family for family in _FAMILIES)
