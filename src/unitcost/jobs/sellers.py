"""Who sells what a bill, a call or a machine names, as price lists call it."""

from __future__ import annotations

from unitcost.prices.entries import provider_id

#: First word of a provider in bills -> provider of the price lists.
_BILLERS = {"aws": "aws", "amazon": "aws", "microsoft": "azure", "azure": "azure", "google": "google", "gcp": "google"}


def seller(name: str) -> str:
    """Provider of the price lists that a name in a bill or a call means."""
    words = name.strip().casefold().split()
    return _BILLERS.get(words[0]) or provider_id(name.strip()) if words else ""
