"""Laws of exact money."""

from __future__ import annotations

import decimal
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.errors import CurrencyMix, UnitcostError
from unitcost.units import CENT

amounts = st.decimals(min_value=-(10**26), max_value=10**26, places=12, allow_nan=False, allow_infinity=False)
fine_amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=20, allow_nan=False, allow_infinity=False)
weights = st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(any)


@given(st.lists(amounts, max_size=30), st.randoms())
def test_a_sum_is_the_same_in_any_order(values: list[Decimal], random) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert money.add(values) == money.add(shuffled)


def test_a_sum_keeps_digits_that_the_default_context_drops() -> None:
    big, small = Decimal("12345678901234567890123456"), Decimal("0.000000000001")
    assert money.subtract(money.add([big, small]), big) == small


@given(amounts, amounts)
def test_a_difference_undoes_a_sum(left: Decimal, right: Decimal) -> None:
    assert money.subtract(money.add([left, right]), right) == left


@given(amounts)
def test_text_is_read_back(amount: Decimal) -> None:
    written = money.text(amount)
    assert money.parse_amount(written) == amount
    assert "E" not in written


@pytest.mark.parametrize("written", ["12.50", " 3 ", "-.5", "+1e-7", "5.", "0"])
def test_plain_numbers_are_read(written: str) -> None:
    assert money.parse_amount(written) == Decimal(written.strip())


@pytest.mark.parametrize("written", ["", "NaN", "Infinity", "1_000", "1,000", "12,50", "$5", "1e9999", "--1", "٣"])
def test_anything_else_is_no_amount(written: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        money.parse_amount(written)


@given(st.integers(-(10**15), 10**15), weights)
def test_a_split_loses_no_cent(cents: int, parts: list[int]) -> None:
    amount = money.multiply(Decimal(cents), CENT)
    split = money.split_amount(amount, [Decimal(w) for w in parts], places=2)
    assert money.add(split) == amount
    assert all(part == 0 for part, weight in zip(split, parts, strict=True) if weight == 0)


@given(fine_amounts, weights, st.integers(0, 12))
def test_a_split_of_more_places_than_its_steps_loses_nothing(amount: Decimal, parts: list[int], places: int) -> None:
    split = money.split_amount(amount, [Decimal(w) for w in parts], places=places)
    assert money.add(split) == amount
    last = max(i for i, weight in enumerate(parts) if weight)
    for i, part in enumerate(split):
        if i != last:
            assert money.round_places(part, places) == part


@given(st.integers(0, 10**9), weights)
def test_no_part_is_a_whole_step_from_its_quota(total: int, parts: list[int]) -> None:
    for part, weight in zip(money.split_units(total, parts), parts, strict=True):
        assert abs(part * sum(parts) - total * weight) < sum(parts)


@given(st.integers(0, 10**9), weights)
def test_a_negative_total_is_split_like_a_positive_one(total: int, parts: list[int]) -> None:
    assert money.split_units(-total, parts) == [-part for part in money.split_units(total, parts)]


def test_the_last_cent_goes_to_the_last_of_equals() -> None:
    parts = money.split_amount(Decimal(100), [Decimal(1)] * 3, places=2)
    assert parts == [Decimal("33.33"), Decimal("33.33"), Decimal("33.34")]


@pytest.mark.parametrize("parts", [[], [0, 0], [1, -1]])
def test_a_split_needs_somebody(parts: list[int]) -> None:
    with pytest.raises(UnitcostError, match="weights"):
        money.split_units(5, parts)


@given(st.lists(amounts, max_size=20), st.integers(0, 6))
def test_a_printed_column_adds_up_to_its_printed_total(values: list[Decimal], places: int) -> None:
    printed = money.round_to_total(values, places=places)
    assert money.add(printed) == money.round_places(money.add(values), places)
    step = Decimal(1).scaleb(-places)
    assert all(abs(money.subtract(p, v)) < step for p, v in zip(printed, values, strict=True))


@given(amounts)
def test_units_are_counted_back(amount: Decimal) -> None:
    assert money.from_units(money.to_units(amount)) == amount


def test_units_refuse_to_round() -> None:
    with pytest.raises(decimal.Inexact):
        money.to_units(Decimal("0.0000000000001"))


@given(st.lists(st.tuples(st.sampled_from(["USD", "EUR", "JPY"]), amounts), max_size=20))
def test_currencies_are_summed_apart(rows: list[tuple[str, Decimal]]) -> None:
    totals = money.add_by_currency(rows)
    assert list(totals) == sorted(totals)
    for currency, total in totals.items():
        assert total == money.add(amount for name, amount in rows if name == currency)


def test_two_currencies_are_no_one_currency() -> None:
    assert money.only_currency({"USD": Decimal(1)}) == "USD"
    with pytest.raises(CurrencyMix, match="EUR, USD"):
        money.only_currency({"USD": Decimal(1), "EUR": Decimal(1)})


def test_an_opposite_keeps_every_digit() -> None:
    amount = Decimal("10000000000000000.0000000000011")
    assert str(money.negate(amount)) == "-10000000000000000.0000000000011"
