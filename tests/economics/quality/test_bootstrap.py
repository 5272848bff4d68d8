"""The paired bootstrap: near the score bound where both can be had, and honest where little is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.economics.quality.bootstrap import PERCENTILE, Pair, resampled_verdict, verdict
from unitcost.economics.quality.metrics import Metric, metric
from unitcost.economics.quality.paired import TANGO, decide
from unitcost.economics.quality.tilting import grouped
from unitcost.errors import UnitcostError
from unitcost.facts.verdicts import Verdict

MARGIN = 0.01


def scores(only_reference: int, only_option: int, items: int) -> Pair:
    reference, option = np.ones(items), np.ones(items)
    option[:only_reference] = 0
    reference[only_reference : only_reference + only_option] = 0
    return Pair(reference=reference, option=option, truth=np.ones(items))


def drawn(only_reference: int, only_option: int, items: int, seed: int = 0) -> Verdict:
    return resampled_verdict(metric("score"), scores(only_reference, only_option, items), MARGIN, seed=seed)


@pytest.mark.parametrize("items", [500, 1000, 3000])
def test_both_bounds_are_those_of_the_score_test_within_a_tenth_of_a_point(items: int):
    rng = np.random.default_rng(3)
    for seed, (b, c, _) in enumerate(rng.multinomial(items, [0.035, 0.025, 0.94], size=8)):
        exact, found = decide(int(b), int(c), items, MARGIN), drawn(int(b), int(c), items, seed)
        assert found.loss == pytest.approx(exact.loss)
        assert found.high == pytest.approx(exact.high, abs=0.001)
        assert found.low == pytest.approx(exact.low, abs=0.001)
        assert found.p_not_worse == pytest.approx(exact.p_not_worse, abs=0.02)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(200, 2000), st.integers(0, 99))
def test_the_probability_and_the_bound_tell_the_same(b: int, c: int, items: int, seed: int):
    found = drawn(b, c, items, seed)
    assert found.low <= found.loss <= found.high
    if abs(found.high - MARGIN) > 1e-6:
        assert (found.p_not_worse < 0.05) == (found.high < MARGIN)


def test_swapping_the_two_turns_the_bounds_round():
    one, other = drawn(30, 12, 800), drawn(12, 30, 800)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.002)  # the noise of the samples


def test_scores_of_right_and_wrong_are_counted_and_not_resampled():
    assert verdict(metric("score"), scores(5, 7, 900), MARGIN).method == TANGO
    labels = Pair(
        reference=np.array([0.0, 1.0, 1.0]), option=np.array([0.0, 1.0, 0.0]), truth=np.array([0.0, 1.0, 1.0])
    )
    assert verdict(metric("mae"), labels, MARGIN).loss == pytest.approx(1 / 3)


@pytest.mark.parametrize(("items", "outcome"), [(1, "undecided"), (10, "undecided"), (3000, "not worse")])
@pytest.mark.parametrize("name", ["score", "mae", "rmse", "f1"])
def test_answers_that_are_all_equal_prove_something_only_in_number(items: int, outcome: str, name: str):
    said = np.full(items, 0.5) if name != "f1" else np.array(["a", "b"] * items)[:items]
    truth = said + 0.25 if name in ("mae", "rmse") else said
    found = resampled_verdict(metric(name), Pair(reference=said, option=said.copy(), truth=truth), MARGIN)
    assert found.outcome == outcome
    assert found.low < 0 < found.high
    assert (found.p_not_worse < 0.05) == (outcome == "not worse")


def test_a_long_tail_widens_the_bound_on_its_side():
    rng = np.random.default_rng(5)
    lost = rng.exponential(0.1, 300) - 0.1
    pair = Pair(reference=np.ones(300), option=1 - lost, truth=np.ones(300))
    found = resampled_verdict(metric("score"), pair, MARGIN)
    assert found.high - found.loss > found.loss - found.low


def test_many_values_are_put_together_without_moving_their_mean():
    values = np.random.default_rng(6).normal(size=20_011)
    groups = grouped(values)
    assert groups.items == 20_011
    assert float(groups.counts @ groups.values) / groups.items == pytest.approx(float(values.mean()), abs=1e-12)
    few = grouped(np.array([0.0, 1.0, 0.0, -1.0]))
    assert few.values.tolist() == [-1.0, 0.0, 1.0]
    assert few.counts.tolist() == [1, 2, 1]


def test_texts_and_numbers_have_the_same_f1():
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 4, 400)
    option = np.where(rng.random(400) < 0.1, (truth + 1) % 4, truth)
    numbers = Pair(reference=truth, option=option, truth=truth)
    names = np.array(["zero", "one", "two", "three"])
    texts = Pair(reference=names[truth], option=names[option], truth=names[truth])
    one, other = (resampled_verdict(metric("f1"), pair, 0.2, resamples=500) for pair in (numbers, texts))
    assert one.high == pytest.approx(other.high)
    assert one.outcome == "not worse"


def test_with_very_many_items_percentiles_of_smaller_samples_are_scaled():
    rng = np.random.default_rng(8)
    items = 45_000
    truth = rng.normal(size=items)
    reference, option = truth + rng.normal(0, 0.2, items), truth + rng.normal(0, 0.2, items)
    found = resampled_verdict(
        metric("rmse"), Pair(reference=reference, option=option, truth=truth), MARGIN, resamples=400
    )
    error = 0.2 * 2**0.5 / (2 * items) ** 0.5  # of the difference of two independent spreads
    assert found.method == PERCENTILE
    assert found.high - found.loss == pytest.approx(1.645 * error, rel=0.2)


def test_a_metric_without_a_value_on_most_samples_is_refused():
    truth = np.array([1.0, 0.0, 0.0, 0.0])
    pair = Pair(reference=np.arange(4.0), option=np.arange(4.0)[::-1], truth=truth)
    with pytest.raises(UnitcostError, match="auc has no value in"):
        resampled_verdict(metric("auc"), pair, MARGIN)


def test_a_metric_of_the_user_is_resampled_too():
    rng = np.random.default_rng(9)
    truth = rng.normal(size=600)
    own = Metric(name="own", score=lambda answers, right: -float(np.median(np.abs(answers - right))))
    good, bad = truth + rng.normal(0, 0.1, 600), truth + rng.normal(0, 0.5, 600)
    found = verdict(own, Pair(reference=good, option=bad, truth=truth), 0.05, resamples=500)
    assert found.outcome == "worse"
