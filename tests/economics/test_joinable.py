"""Which share of the money for machines is joined to work."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost.economics.joinable import EXPORTS, joined_money

AMOUNTS = st.dictionaries(
    st.sampled_from([*EXPORTS, "storage", "LLM API"]), st.decimals(0, 10**6, places=2, allow_nan=False)
)


def test_the_largest_gap_comes_first_with_its_share() -> None:
    found = joined_money(
        {"training": Decimal(60), "serving": Decimal(30), "evaluation": Decimal(10), "storage": Decimal(500)},
        {"training": Decimal(50)},
    )
    assert (found.whole, found.joined, found.share) == (Decimal(100), Decimal(50), Decimal("0.5"))
    assert [(amount, share) for _, amount, share in found.missing] == [
        (Decimal(30), Decimal("0.3")), (Decimal(20), Decimal("0.2")),
    ]  # fmt: skip
    assert "kubectl" in found.missing[0][0]


def test_nothing_paid_for_machines_is_no_share() -> None:
    assert joined_money({"storage": Decimal(5)}, {}).share is None


@given(drivers=AMOUNTS, matched=AMOUNTS)
def test_what_is_joined_and_what_is_missing_are_the_whole(
    drivers: dict[str, Decimal], matched: dict[str, Decimal]
) -> None:
    found = joined_money(drivers, matched)
    assert found.joined + sum(amount for _, amount, _ in found.missing) == found.whole
