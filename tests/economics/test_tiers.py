"""Tiers: graduated prices rise without jumps, whole-request prices jump at the threshold."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.tiers import tier_of, tier_parts, tiered_amount
from unitcost.errors import BadPrice
from unitcost.facts.prices import Tier

prices = st.decimals(min_value=0, max_value=100, places=6)
quantities = st.decimals(min_value=0, max_value=10**7, places=3)
ladders = st.lists(st.tuples(st.integers(1, 10**6), prices), max_size=5, unique_by=lambda pair: pair[0]).flatmap(
    lambda steps: prices.map(
        lambda first: tuple(
            Tier(over=Decimal(over), price=price) for over, price in [(0, first), *sorted(steps, key=lambda s: s[0])]
        )
    )
)
SMALL = Decimal("0.001")


@given(ladders, quantities, quantities)
def test_a_graduated_amount_never_falls(tiers: tuple[Tier, ...], one: Decimal, two: Decimal) -> None:
    low, high = sorted([one, two])
    assert tiered_amount(low, tiers, mode="graduated") <= tiered_amount(high, tiers, mode="graduated")


@given(ladders, quantities)
def test_a_graduated_amount_has_no_jumps(tiers: tuple[Tier, ...], quantity: Decimal) -> None:
    more = money.add([quantity, SMALL])
    step = money.subtract(
        tiered_amount(more, tiers, mode="graduated"), tiered_amount(quantity, tiers, mode="graduated")
    )
    assert step <= money.multiply(SMALL, max(tier.price for tier in tiers))


@given(ladders, quantities)
def test_the_parts_add_up_to_the_quantity(tiers: tuple[Tier, ...], quantity: Decimal) -> None:
    parts = tier_parts(quantity, tiers, mode="graduated")
    assert money.add(part.quantity for part in parts) == quantity
    assert all(part.quantity >= 0 for part in parts)


@given(ladders, quantities)
def test_one_tier_prices_a_whole_request(tiers: tuple[Tier, ...], quantity: Decimal) -> None:
    [part] = tier_parts(quantity, tiers, mode="whole-request")
    assert part.quantity == quantity
    assert part.amount == money.multiply(quantity, tier_of(tiers, quantity).price)


TWO = (Tier(over=Decimal(0), price=Decimal(3)), Tier(over=Decimal(200_000), price=Decimal(6)))


@pytest.mark.parametrize(("whole", "price"), [(0, 3), (199_999, 3), (200_000, 3), (200_001, 6)])
def test_a_threshold_is_passed_by_more_than_it(whole: int, price: int) -> None:
    assert tier_of(TWO, Decimal(whole)).price == price


def test_the_whole_chooses_the_tier_of_a_part() -> None:
    amount = tiered_amount(Decimal(5_000), TWO, mode="whole-request", whole=Decimal(215_000), per=Decimal(1_000_000))
    assert amount == Decimal("0.03")


def test_a_negative_quantity_is_refused() -> None:
    with pytest.raises(BadPrice, match="no price"):
        tiered_amount(Decimal(-1), TWO, mode="graduated")


def test_nothing_costs_nothing() -> None:
    assert tiered_amount(Decimal(0), TWO, mode="graduated") == 0
