"""Charges for tokens: what a bill counts, and what its meter says."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from unitcost.facts.calls import Variant
from unitcost.facts.tokens import TokenClass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredQuantity:
    """What the charges of one meter add up to.

    Parameters
    ----------
    meter, usage_type, description, service
        As the bill names them; empty where it does not.
    provider
        Who sells it.
    unit, quantity
        What is counted, and how often; None where a charge does not say.
    pricing_unit, pricing_quantity
        The same in the unit of the price.
    currency, billed_cost, effective_cost
        What it cost.
    """

    meter: str
    usage_type: str
    description: str
    service: str
    provider: str
    unit: str
    quantity: Decimal | None
    pricing_unit: str
    pricing_quantity: Decimal | None
    currency: str
    billed_cost: Decimal | None
    effective_cost: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMeter:
    """What a meter counts.

    Parameters
    ----------
    model
        As the bill calls it; empty where it names none.
    token_class
        Class of the tokens. Bills count fresh input: what a cache had has meters of its own.
    variant
        How the model was called.
    """

    model: str
    token_class: TokenClass
    variant: Variant
