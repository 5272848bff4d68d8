"""Bounds from measurements that do not share their items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.economics.quality.unpaired import cache_verdict, unpaired, unpaired_bounds
from unitcost.errors import UnitcostError
from unitcost.facts.qualities import CacheHits


def test_the_example_of_newcombe_1998():
    # 56 of 70 against 48 of 80, two-sided 95 %: 0.0524 to 0.3339 (method 10, table II, row a).
    low, high = unpaired_bounds((56 / 70, 70), (48 / 80, 80), alpha=0.025)
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 5000), st.integers(1, 5000), st.floats(0.001, 0.5))
def test_the_bound_and_the_probability_tell_the_same(p1: float, p2: float, n1: int, n2: int, margin: float):
    found = unpaired((p1, n1), (p2, n2), margin)
    assert found.low - 1e-12 <= found.loss <= found.high + 1e-12
    if abs(found.high - margin) > 1e-6:
        assert (found.p_not_worse < 0.05) == (found.high < margin)


def test_false_accepts_at_the_margin_are_about_one_in_twenty():
    rng = np.random.default_rng(2)
    items, studies = 4000, 1500
    counts = rng.binomial(items, [0.93, 0.92], size=(studies, 2)) / items
    accepted = np.mean([unpaired((p1, items), (p2, items), 0.01).outcome == "not worse" for p1, p2 in counts])
    assert 0.033 < accepted < 0.067  # three standard errors of 1,500 studies


def test_what_cannot_be_is_refused():
    with pytest.raises(UnitcostError, match="cannot be compared"):
        unpaired((1.2, 100), (0.9, 100), 0.01)
    with pytest.raises(UnitcostError, match="cannot be compared"):
        unpaired((0.9, 0), (0.9, 100), 0.01)


def test_a_cache_adds_what_it_changes():
    hits = CacheHits(threshold=0.9, requests=10_000, hits=2_000, changed=20)
    model = unpaired((0.95, 20_000), (0.949, 20_000), 0.02)
    alone, both = cache_verdict(None, hits, 0.02), cache_verdict(model, hits, 0.02)
    assert alone.loss == pytest.approx(0.002)
    assert both.loss == pytest.approx(model.loss + 0.002)
    assert max(alone.high, model.high) < both.high < alone.high + model.high
    assert both.outcome == "not worse"
    assert both.p_not_worse < 0.05
    assert cache_verdict(model, hits, 0.003).outcome == "undecided"
