"""Paired decisions: published values, coverage, and what more items do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost.economics.quality.paired import (
    accepted_by_point,
    bounds,
    decide,
    disagreements,
    items_needed,
    more_items,
    score,
)
from unitcost.economics.quality.several import holm, is_for_choice
from unitcost.errors import UnitcostError

MARGIN = 0.01


def drawn(items: int, loss: float, spread: float, times: int, seed: int = 5) -> Counter[tuple[int, int]]:
    """Discordant counts of many studies -> how often they came."""
    shares = [(spread + loss) / 2, (spread - loss) / 2, 1 - spread]
    counts = np.random.default_rng(seed).multinomial(items, shares, size=times)
    return Counter((int(b), int(c)) for b, c, _ in counts)


def accepted_share(items: int, loss: float, spread: float, times: int = 20_000) -> float:
    found = drawn(items, loss, spread, times)
    return sum(k for (b, c), k in found.items() if decide(b, c, items, MARGIN).outcome == "not worse") / times


@pytest.mark.parametrize(
    ("b", "c", "items", "loss"), [(20, 15, 500, 0.01), (1, 0, 44, 0.1), (12, 30, 800, -0.02), (0, 0, 90, 0.03)]
)
def test_the_score_is_that_at_the_likeliest_shares(b: int, c: int, items: int, loss: float):
    # the share that only the option has right, found by trying all of them, in place of the root of Tango 1998
    only_option = np.linspace(max(0, -loss), (1 - loss) / 2, 400_001)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [
            k * np.log(p) if k else 0 * p
            for k, p in ((b, only_option + loss), (c, only_option), (items - b - c, 1 - 2 * only_option - loss))
        ]
    best = only_option[np.nanargmax(sum(terms))]
    expected = (b - c - items * loss) / np.sqrt(items * (2 * best + loss * (1 - loss)))
    assert score(b, c, items, loss) == pytest.approx(expected, rel=1e-3)


def test_bounds_are_where_the_score_is_the_normal_quantile():
    low, high = bounds(20, 15, 500)
    assert score(20, 15, 500, low) == pytest.approx(1.6449, abs=1e-4)
    assert score(20, 15, 500, high) == pytest.approx(-1.6449, abs=1e-4)


@pytest.mark.parametrize("items", [500, 1000, 3000])
@pytest.mark.parametrize("spread", [0.04, 0.08])
def test_a_model_as_bad_as_the_margin_is_accepted_about_one_time_in_twenty(items: int, spread: float):
    # 20,000 studies: the standard error of the share is 0.15 points
    assert 0.035 <= accepted_share(items, MARGIN, spread) <= 0.055


def test_the_point_estimate_accepts_it_half_of_the_time():
    items, spread, times = 1000, 0.06, 20_000
    by_point = sum(k for (b, c), k in drawn(items, MARGIN, spread, times).items() if (b - c) / items <= MARGIN) / times
    assert by_point == pytest.approx(0.5, abs=0.06)  # ties count as accepted
    assert accepted_by_point(spread, items, MARGIN, MARGIN) == pytest.approx(0.5)


def test_items_needed_is_618_times_the_disagreement_over_the_squared_margin():
    assert items_needed(0.05, 0.01) == pytest.approx(6.18 * 0.05 / 0.01**2, rel=0.001)
    # with so many items an equally good option is found so four times in five (20,000 studies; 0.3 points)
    needed = items_needed(0.06, MARGIN)
    assert accepted_share(needed, 0.0, 0.06) == pytest.approx(0.80, abs=0.015)


def test_undecided_says_how_many_items_are_missing():
    found = decide(20, 15, 500, MARGIN)
    assert found.outcome == "undecided"
    assert found.needs_more == items_needed(0.07, MARGIN) - 500
    assert "needs" in found.in_words()
    assert more_items(0.0001, MARGIN, 500) == 500


def test_clear_cases_are_decided():
    assert decide(3, 4, 3000, MARGIN).outcome == "not worse"
    assert decide(200, 20, 3000, MARGIN).outcome == "worse"
    assert decide(0, 0, 1000, MARGIN).outcome == "not worse"
    assert decide(0, 0, 100, MARGIN).outcome == "undecided"


def test_twenty_bad_options_pass_together_at_most_one_time_in_twenty():
    rng = np.random.default_rng(11)
    items, spread, studies = 1000, 0.06, 400
    shares = [(spread + MARGIN) / 2, (spread - MARGIN) / 2, 1 - spread]
    passed = alone = 0
    for _ in range(studies):
        counts = rng.multinomial(items, shares, size=20)
        verdicts = {str(n): decide(int(b), int(c), items, MARGIN) for n, (b, c, _) in enumerate(counts)}
        alone += any(v.outcome == "not worse" for v in verdicts.values())
        passed += any(v.outcome == "not worse" for v in holm(verdicts).values())
    assert passed / studies <= 0.05 + 0.02  # two standard errors of 400 studies
    assert alone / studies > 0.5


def test_holm_keeps_the_order_and_never_turns_a_bad_one_good():
    verdicts = {
        "good": decide(1, 6, 3000, MARGIN),
        "bad": decide(200, 20, 3000, MARGIN),
        "open": decide(40, 20, 3000, MARGIN),
    }
    found = holm(verdicts)
    assert list(found) == list(verdicts)
    assert [v.outcome for v in found.values()] == ["not worse", "worse", "undecided"]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 5000), st.floats(0, 1), st.floats(0, 1), st.floats(-0.99, 0.99))
def test_bounds_hold_the_point_between_them(items: int, one: float, other: float, at: float):
    b = int(one * items)
    c = int(other * (items - b))
    low, high = bounds(b, c, items)
    assert low - 1e-9 <= (b - c) / items <= high + 1e-9
    assert score(b, c, items, at) >= score(b, c, items, min(at + 0.005, 1.0)) - 1e-9


def test_swapping_the_two_turns_the_bounds_round():
    low, high = bounds(30, 12, 800)
    assert bounds(12, 30, 800) == pytest.approx((-high, -low))


@pytest.mark.parametrize(
    ("b", "c", "items", "margin"), [(1, 1, 0, 0.01), (5, 6, 10, 0.01), (-1, 0, 10, 0.01), (1, 1, 10, 0.0)]
)
def test_what_cannot_be_is_refused(b: int, c: int, items: int, margin: float):
    with pytest.raises(UnitcostError):
        decide(b, c, items, margin)


def test_disagreements_are_counted_on_the_same_items():
    assert disagreements([True, True, False, False], [True, False, True, False]) == (1, 1)
    with pytest.raises(ValueError, match="shorter"):
        disagreements([True], [])


def test_about_half_of_the_items_are_for_the_choice():
    assert 450 < sum(is_for_choice(str(n)) for n in range(1000)) < 550
