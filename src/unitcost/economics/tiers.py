"""What a quantity costs when the price depends on the quantity. Exact decimals, no rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.prices import Tier, TierMode


@dataclass(frozen=True, slots=True, kw_only=True)
class TierPart:
    """The part of a quantity that one tier prices."""

    tier: Tier
    quantity: Decimal
    amount: Decimal


def tier_of(tiers: Sequence[Tier], whole: Decimal) -> Tier:
    """The highest tier that `whole` passes: more than its threshold, not at least; the first one for nothing."""
    passed = [tier for tier in tiers if whole > tier.over]
    return passed[-1] if passed else tiers[0]


def tier_parts(
    quantity: Decimal, tiers: Sequence[Tier], *, mode: TierMode, whole: Decimal | None = None, per: Decimal = Decimal(1)
) -> tuple[TierPart, ...]:
    """Split a quantity over its tiers and price each part.

    Parameters
    ----------
    quantity
        How much is priced, in units; not negative.
    tiers
        Ascending, the first over zero.
    mode
        `graduated`: each tier prices what lies inside it. `whole-request`: one tier prices all.
    whole
        What chooses the tier of a whole request, such as the tokens of the prompt; None = the quantity itself.
    per
        Units that the prices are for.

    Returns
    -------
    tuple of TierPart
        Parts that add up to the quantity, lowest tier first; tiers that price nothing are left out.

    Raises
    ------
    BadPrice
        When the quantity is negative.
    """
    if quantity < 0:
        raise BadPrice(f"a quantity of {quantity} has no price", mend="credits and corrections are charges, not use")
    if mode == "whole-request":
        tier = tier_of(tiers, quantity if whole is None else whole)
        return (_part(tier, quantity, per),)
    ends: list[Decimal | None] = [*(tier.over for tier in tiers[1:]), None]
    parts = []
    for tier, end in zip(tiers, ends, strict=True):
        top = quantity if end is None else min(quantity, end)
        if top > tier.over or tier is tiers[0]:
            parts.append(_part(tier, money.subtract(top, tier.over), per))
    return tuple(parts)


def tiered_amount(
    quantity: Decimal, tiers: Sequence[Tier], *, mode: TierMode, whole: Decimal | None = None, per: Decimal = Decimal(1)
) -> Decimal:
    """What a quantity costs, exact; see `tier_parts`.

    Notes
    -----
    In `graduated` mode the amount rises with the quantity and has no jumps. In `whole-request` mode it jumps at each
    threshold, because the higher price then applies to everything.
    """
    return money.add(part.amount for part in tier_parts(quantity, tiers, mode=mode, whole=whole, per=per))


def _part(tier: Tier, quantity: Decimal, per: Decimal) -> TierPart:
    amount = money.divide_exactly(money.multiply(quantity, tier.price), per)
    return TierPart(tier=tier, quantity=quantity, amount=amount)
