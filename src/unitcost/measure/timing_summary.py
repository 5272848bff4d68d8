"""What was timed, in the numbers that a result file keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from unitcost.economics.quality.tails import tail
from unitcost.measure.rounds import Timed, medians

SHARES = {"p50": 0.50, "p90": 0.90, "p99": 0.99}
#: Points of the quantile function that is kept, so that rates at other targets can be told later.
_POINTS = 201


def timing(found: Timed, reference: tuple[Timed, int] | None, batch: int) -> dict[str, Any] | None:
    """Numbers of a subject; None when it was never timed.

    Parameters
    ----------
    reference
        Subject that its speed per item is compared with, turn by turn, and its batch; None = none.
    batch
        Items of one call.
    """
    latencies = np.array(found.latencies_s)
    if not len(latencies):
        return None
    middle = medians(found.rounds)
    ratios = _ratios(found, reference, batch)
    quantiles = np.quantile(latencies, np.linspace(0, 1, _POINTS))
    return {
        "calls": len(latencies), "rounds": len(found.rounds),
        "percentiles": {
            name: {"latency_s": late.latency_s, "bound_s": late.bound_s, "missing": late.missing}
            for name, share in SHARES.items() for late in [tail(latencies.tolist(), share)]
        },
        "min_s": float(latencies.min()), "mean_s": float(latencies.mean()), "p50_low_s": min(middle), "p50_high_s": max(middle),
        "per_s": batch / float(latencies.mean()), "cpu_s_per_item": found.cpu_s / (len(latencies) * batch),
        "ratio": ratios, "quantiles_s": [float(f"{value:.6g}") for value in quantiles],
    }  # fmt: skip


def _ratios(found: Timed, reference: tuple[Timed, int] | None, batch: int) -> dict[str, float] | None:
    """How much faster per item than the reference, from the medians of the same turns: the median and the range of most turns."""
    if reference is None or not reference[0].rounds:
        return None
    pairs = zip(medians(reference[0].rounds), medians(found.rounds), strict=False)
    ratios = np.array([theirs / reference[1] / (ours / batch) for theirs, ours in pairs])
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    return {"low": float(low), "median": float(middle), "high": float(high)}
