"""Counters and states by hand: the worked example of a restart, gaps, edges."""

from __future__ import annotations

from decimal import Decimal
from math import nan

from hypothesis import given
from hypothesis import strategies as st

from unitcost.attribution.measured import Counted, State, counted, state

COUNTERS = st.dictionaries(st.integers(0, 1_000), st.integers(0, 10**6).map(Decimal), max_size=10)


def test_after_a_drop_it_counts_from_zero() -> None:
    points = {0: Decimal(5_000), 30: Decimal(6_000), 35: Decimal(0), 60: Decimal(700)}
    assert counted(points, 0, 60) == Counted(quantity=Decimal(1_700), restarts=1)


def test_what_a_counter_shows_right_after_a_restart_counts() -> None:
    assert counted({0: Decimal(900), 10: Decimal(40)}, 0, 10) == Counted(quantity=Decimal(40), restarts=1)


def test_one_sample_tells_nothing() -> None:
    assert counted({5: Decimal(7)}, 0, 10) is None


def test_a_step_across_an_edge_is_apportioned_by_time() -> None:
    points = {0: Decimal(0), 10: Decimal(7)}
    assert [counted(points, start, start + 5).quantity for start in (0, 5)] == [3, 4]  # type: ignore[union-attr]


@given(points=COUNTERS, cut=st.integers(1, 999))
def test_two_windows_add_up(points: dict[int, Decimal], cut: int) -> None:
    whole, left, right = (counted(points, *window) for window in ((0, 1_001), (0, cut), (cut, 1_001)))
    quantities = [part.quantity for part in (left, right) if part]
    assert sum(quantities) == (whole.quantity if whole else 0)
    assert all(quantity >= 0 for quantity in quantities)


def test_a_state_holds_until_the_next_sample() -> None:
    assert state({0: 10.0, 10: 30.0, 20: 0.0}, 0, 20) == State(mean=20.0, known_us=20)


def test_a_gap_and_no_number_are_unknown() -> None:
    points = {0: 8.0, 10: 8.0, 20: 8.0, 100: 2.0, 110: nan, 120: 2.0}
    assert state(points, 0, 120) == State(mean=(3 * 8.0 + 2.0) / 4, known_us=40)
    assert state({0: 8.0}, 0, 10) is None
