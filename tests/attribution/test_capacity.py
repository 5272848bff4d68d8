"""Laws of capacity: whatever is held, the parts add up to what was paid for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from unitcost.attribution.capacity import Held, Use, cut, merged, shares_of, sole_holders, use_weights

MICRO = 1_000_000
TIMES = st.integers(0, 60)
QUANTITIES = st.integers(0, 3 * MICRO).map(lambda steps: Decimal(steps).scaleb(-6))
HELD = st.lists(
    st.builds(
        lambda name, quantity, start, length: Held(workload=name, quantity=quantity, start_us=start, end_us=start + length),
        st.sampled_from("abcd"), QUANTITIES, TIMES, TIMES,
    ),
    max_size=8,
)  # fmt: skip
PERIODS = st.lists(st.tuples(TIMES, TIMES), max_size=5)


@given(capacity=QUANTITIES | st.none(), periods=PERIODS, held=HELD)
def test_the_parts_add_up_to_capacity_times_paid_time(
    capacity: Decimal | None, periods: list[tuple[int, int]], held: list[Held]
) -> None:
    found = shares_of(capacity, periods, held)
    paid = sum(end - start for start, end in merged(periods))
    assert found.whole == int(found.capacity * MICRO) * paid
    assert found.unallocated >= 0
    assert all(part > 0 for part in found.held.values())
    assert capacity is None or found.capacity == capacity


@given(periods=PERIODS, held=HELD)
def test_holdings_that_fit_count_as_they_are(periods: list[tuple[int, int]], held: list[Held]) -> None:
    found = shares_of(Decimal(1000), periods, held)
    expected: dict[str, Fraction] = {}
    for holding in held:
        for start, end in merged(periods):
            overlap = max(0, min(end, holding.end_us) - max(start, holding.start_us))
            expected[holding.workload] = expected.get(holding.workload, Fraction(0)) + overlap * Fraction(
                holding.quantity
            )
    assert found.held == {name: int(part * MICRO) for name, part in expected.items() if part}
    assert found.over_us == 0


@given(periods=PERIODS, held=HELD, cut=TIMES)
def test_cutting_the_periods_loses_nothing(periods: list[tuple[int, int]], held: list[Held], cut: int) -> None:
    parts = [
        shares_of(Decimal(2), [(start, min(end, cut)) for start, end in periods], held),
        shares_of(Decimal(2), [(max(start, cut), end) for start, end in periods], held),
    ]
    whole = shares_of(Decimal(2), periods, held)
    assert sum(part.unallocated for part in parts) == whole.unallocated
    names = {name for part in parts for name in part.held}
    assert {name: sum(part.held.get(name, 0) for part in parts) for name in names} == whole.held


@given(held=st.permutations([
    Held(workload="a", quantity=Decimal("0.75"), start_us=0, end_us=10),
    Held(workload="b", quantity=Decimal("0.5"), start_us=5, end_us=15),
    Held(workload="a", quantity=Decimal("0.25"), start_us=5, end_us=8),
]))  # fmt: skip
def test_more_than_a_card_is_scaled_down_in_any_order(held: list[Held]) -> None:
    found = shares_of(Decimal(1), [(0, 20)], held)
    # 0-5: a .75; 5-8: a 1.0 and b .5 on one card; 8-10: a .75 and b .5; 10-15: b .5; then nobody.
    a = 5 * 750_000 + 3 * 666_667 + 2 * 600_000
    b = 3 * 333_333 + 2 * 400_000 + 5 * 500_000
    assert found.held == {"a": a, "b": b}
    assert found.over_us == 5


def test_an_unknown_capacity_is_the_most_that_was_held_at_once() -> None:
    held = [Held(workload="a", quantity=Decimal(4), start_us=0, end_us=10)]
    found = shares_of(None, [(0, 20)], held)
    assert (found.capacity, found.capacity_known) == (Decimal(4), False)
    assert (found.held["a"], found.unallocated) == (40 * MICRO, 40 * MICRO)


@given(busy=st.decimals(-1, 2, places=4), watched=st.decimals(-1, 2, places=4))
def test_used_idle_and_unknown_are_the_whole(busy: Decimal, watched: Decimal) -> None:
    weights = use_weights(Use(busy_share=busy, watched_share=watched))
    assert sum(weights) == 1
    assert min(weights) >= 0


def test_what_nobody_watched_is_not_idle() -> None:
    assert use_weights(None) == (Decimal(0), Decimal(0), Decimal(1))


PERIODS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5)


@given(periods=PERIODS, told=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_what_was_told_of_and_what_was_not_are_all_that_was_paid(
    periods: list[tuple[int, int]], told: tuple[int, int]
) -> None:
    inside, outside_us = cut(periods, told)
    assert sum(end - start for start, end in inside) + outside_us == sum(end - start for start, end in merged(periods))
    assert all(told[0] <= start < end <= told[1] for start, end in inside)
    assert cut(periods, None) == (merged(periods), 0)


SPANS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20), st.integers(0, 20)), max_size=6)


@given(spans=SPANS)
def test_who_holds_alone_is_who_is_there_alone(spans: list[tuple[str, int, int]]) -> None:
    held = [Held(workload=name, quantity=Decimal(1), start_us=start, end_us=end) for name, start, end in spans]
    alone = sole_holders(held)
    for moment in range(20):
        there = {name for name, start, end in spans if start <= moment < end}
        found = [name for name, start, end in alone if start <= moment < end]
        assert found == (sorted(there) if len(there) == 1 else [])


@given(parts=st.integers(1, 16))
def test_equal_parts_of_a_card_are_no_more_than_the_card(parts: int) -> None:
    each = (Decimal(1) / parts).quantize(Decimal("1e-12"))
    held = [Held(workload=f"w{number:02}", quantity=each, start_us=0, end_us=10) for number in range(parts)]
    found = shares_of(Decimal(1), [(0, 10)], held)
    assert (found.over_us, sum(found.held.values()) + found.unallocated) == (0, 10 * MICRO)
    more = Held(workload="more", quantity=Decimal("0.001"), start_us=0, end_us=10)
    assert shares_of(Decimal(1), [(0, 10)], [*held, more]).over_us == 10
