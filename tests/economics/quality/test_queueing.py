"""The rate inside a target against what queueing theory knows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unitcost.economics.quality.queueing import highest_rate_per_s
from unitcost.errors import UnitcostError


def test_exponential_service_is_that_of_m_m_1():
    # latency of M/M/1 is exponential with rate mu - lambda: p99 = ln(100) / (mu - lambda)
    mean_s, limit_s = 0.01, 0.2
    quantiles = [-mean_s * math.log(1 - share) + 1e-9 for share in np.linspace(0, 0.99999, 2001)]
    expected = 1 / mean_s - math.log(100) / limit_s
    assert highest_rate_per_s(quantiles, 0.99, limit_s) == pytest.approx(expected, rel=0.06)  # 40,000 calls


def test_a_wider_target_takes_more_and_never_more_than_service_allows():
    rates = [highest_rate_per_s([0.003, 0.003], 0.99, limit_s) for limit_s in (0.006, 0.015, 0.1, 10.0)]
    assert all(rate is not None for rate in rates)
    assert rates == sorted(rates)
    assert rates[-1] < 1 / 0.003


def test_a_service_slower_than_the_target_takes_nothing():
    assert highest_rate_per_s([0.02, 0.02], 0.99, 0.015) is None
    with pytest.raises(UnitcostError):
        highest_rate_per_s([0.0, 0.0], 0.99, 1.0)
