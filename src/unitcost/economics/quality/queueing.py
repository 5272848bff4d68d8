"""The rate that a replica takes inside a latency target, from how long its calls take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import UnitcostError

#: Calls of a replay; the p99 of so many is known to a few percent.
_CALLS = 40_000
_HALVINGS = 14


def highest_rate_per_s(quantiles_s: Sequence[float], share: float, limit_s: float, *, seed: int = 0) -> float | None:
    """Highest rate of calls that come on their own, at which a percentile of latency stays inside a limit. [1/s].

    Parameters
    ----------
    quantiles_s
        Service times at even shares from 0 to 1. [s]
    share
        Percentile as a share: 0.99.
    limit_s
        Its limit, waiting included. [s]

    Returns
    -------
    float or None
        None when the limit is missed even without waiting.

    Notes
    -----
    One server, first come first served, Poisson arrivals: ``wait[n+1] = max(0, wait[n] + service[n] - gap[n])``
    (Lindley, 1952), replayed with the same random numbers at each rate, so that latency rises with the rate. It supposes
    calls whose lengths do not depend on each other, and no batching of calls that wait.

    Raises
    ------
    UnitcostError
        When a service time is not above zero.
    """
    points = np.asarray(quantiles_s, dtype=np.float64)
    if not len(points) or points[0] <= 0 or not np.isfinite(points).all():
        raise UnitcostError("service times must be above zero", mend="measure again")
    rng = np.random.default_rng(seed)
    service = np.interp(rng.random(_CALLS), np.linspace(0, 1, len(points)), points)
    gaps = rng.exponential(1.0, _CALLS)
    if float(np.quantile(service, share)) > limit_s:
        return None
    low, high = 0.0, 1.0 / float(service.mean())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        late = float(np.quantile(_latencies(service, gaps / middle), share))
        low, high = (middle, high) if late <= limit_s else (low, middle)
    return low


def _latencies(service: NDArray[np.float64], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Waiting and service of each call: the walk of ``service - gap`` above its lowest point so far."""
    walk = np.concatenate([[0.0], np.cumsum(service[:-1] - gaps[1:])])
    return np.asarray(walk - np.minimum.accumulate(walk) + service)
