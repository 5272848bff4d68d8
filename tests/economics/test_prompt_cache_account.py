"""What a prompt cache saved is what its tokens would have cost as fresh input, less what they cost."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.prompt_cache import PROMPT, prompt_cache

PRICES = {
    "input": Decimal("0.000003"), "cache_read": Decimal("0.0000003"), "cache_write_5m": Decimal("0.00000375"),
    "cache_write_1h": Decimal("0.000006"), "cache_write": Decimal("0.00000375"),
}  # fmt: skip
COUNTS = st.fixed_dictionaries({c: st.integers(0, 10**9) for c in PROMPT})


@given(COUNTS)
def test_saved_and_lost_add_up_to_the_ceiling(tokens: dict[str, int]) -> None:
    found = prompt_cache(tokens, PRICES)  # type: ignore[arg-type]
    assert found is not None
    prompt = sum(tokens.values())
    paid = money.add(money.multiply(Decimal(n), PRICES[c]) for c, n in tokens.items())
    assert found.saved == money.subtract(money.multiply(Decimal(prompt), PRICES["input"]), paid)
    assert money.add([found.saved, found.lost]) == found.ceiling
    assert found.saved <= found.ceiling
    assert found.prompt_tokens == prompt


def test_a_cache_that_is_written_and_never_read_costs_more_than_none() -> None:
    found = prompt_cache({"input": 1_000, "cache_write_1h": 1_000_000}, PRICES)
    assert found is not None
    assert found.saved == Decimal(-3)
    assert (found.earned_by, found.hit_share) == ("caller", 0)


def test_a_provider_that_caches_by_itself_earns_what_it_saves() -> None:
    found = prompt_cache({"input": 3_000, "cache_read": 9_000}, PRICES)
    assert found is not None
    assert found.earned_by == "provider"
    assert found.hit_share == Decimal("0.75")
    assert prompt_cache({"input": 3_000}, PRICES).earned_by == "nobody"  # type: ignore[union-attr]


def test_without_a_price_of_fresh_input_there_is_no_account() -> None:
    assert prompt_cache({"input": 1}, {"output": Decimal(1)}) is None


def test_without_a_prompt_no_share_is_read() -> None:
    found = prompt_cache({"output": 5}, PRICES)
    assert found is not None
    assert found.hit_share is None
    assert found.ceiling == 0
