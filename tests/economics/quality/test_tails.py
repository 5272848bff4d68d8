"""How many samples a percentile needs."""

from __future__ import annotations

import pytest

from unitcost.economics.quality.tails import misses_allowed, percentile, samples_needed, tail
from unitcost.errors import UnitcostError


@pytest.mark.parametrize(
    ("share", "misses", "needed"), [(0.99, 0, 459), (0.99, 1, 662), (0.9, 1, 64), (0.999, 0, 4603)]
)
def test_counts_are_those_of_mlperf_early_stopping(share: float, misses: int, needed: int):
    assert samples_needed(share, misses) == needed
    assert misses_allowed(share, needed) == misses
    assert misses_allowed(share, needed - 1) == (misses - 1 if misses else None)


def test_many_samples_allow_almost_the_share_itself():
    allowed = misses_allowed(0.99, 100_000)
    assert allowed is not None
    assert 900 < allowed < 1000


def test_too_few_samples_give_the_order_statistic_and_what_is_missing():
    found = tail([n / 1000 for n in range(1, 101)], 0.99)
    assert (found.bound_s, found.latency_s, found.missing) == (None, 0.099, 562)


def test_enough_samples_give_a_bound_above_the_sample_percentile():
    samples = [n / 1000 for n in range(1000, 0, -1)]
    found = tail(samples, 0.99)
    assert found.latency_s == percentile(sorted(samples), 0.99) == 0.99
    assert found.bound_s is not None
    assert 0.99 < found.bound_s < 1.0


def test_no_sample_has_no_percentile():
    with pytest.raises(UnitcostError):
        percentile([], 0.5)
