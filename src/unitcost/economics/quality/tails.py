"""How many samples a percentile of latency needs, and what can be said with fewer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from unitcost.errors import UnitcostError

#: Confidence of MLPerf's early stopping.
CONFIDENCE = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """A percentile of latency as far as the samples show it.

    Parameters
    ----------
    share
        Which percentile: 0.99 for p99.
    latency_s
        The sample percentile. [s]
    bound_s
        What the percentile does not exceed with 99 % confidence; None where there are too few samples. [s]
    missing
        Samples that are missing for the bound.
    """

    share: float
    latency_s: float
    bound_s: float | None
    missing: int


@cache
def samples_needed(share: float, misses: int = 0, *, confidence: float = CONFIDENCE) -> int:
    """Samples of which `misses` may be slower than a limit, so that the percentile lies inside it.

    Notes
    -----
    The least ``n`` with ``P[Binomial(n, 1 - share) <= misses] <= 1 - confidence``: MLPerf's early stopping with no
    tolerance [1]_. 459 for p99 and no miss, 662 with one, 64 for p90 with one, 4,603 for p99.9 and none.

    References
    ----------
    .. [1] MLCommons, "MLPerf Inference Rules", appendix "Early Stopping".
    """
    low, high = misses + 1, 2 * (misses + 1)
    while _tail(high, misses, 1 - share) > 1 - confidence:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if _tail(middle, misses, 1 - share) <= 1 - confidence:
            high = middle
        else:
            low = middle + 1
    return low


def misses_allowed(share: float, samples: int, *, confidence: float = CONFIDENCE) -> int | None:
    """Most samples that may be slower than a limit; None when there are too few samples to say anything."""
    low, high = -1, samples
    while high - low > 1:
        middle = (low + high) // 2
        if _tail(samples, middle, 1 - share) <= 1 - confidence:
            low = middle
        else:
            high = middle
    return None if low < 0 else low


def percentile(ordered: Sequence[float], share: float) -> float:
    """Smallest sample that at least `share` of the samples do not exceed; `ordered` rises.

    Raises
    ------
    UnitcostError
        When there is no sample.
    """
    if not ordered:
        raise UnitcostError("there is no sample", mend="measure at least once")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def tail(latencies_s: Sequence[float], share: float, *, misses: int = 1) -> Tail:
    """What samples show of a percentile.

    Parameters
    ----------
    latencies_s
        Samples in any order. [s]
    misses
        Misses that must be allowed before the percentile counts as measured: one for p99 asks for 662 samples, so that a
        single hiccup of the machine does not decide.
    """
    ordered = sorted(latencies_s)
    needed = samples_needed(share, misses)
    allowed = misses_allowed(share, len(ordered)) if len(ordered) >= needed else None
    return Tail(
        share=share, latency_s=percentile(ordered, share), missing=max(needed - len(ordered), 0),
        bound_s=None if allowed is None else ordered[len(ordered) - 1 - allowed],
    )  # fmt: skip


def _tail(samples: int, misses: int, miss_share: float) -> float:
    """Chance of at most `misses` misses."""
    return math.fsum(
        math.exp(
            math.lgamma(samples + 1) - math.lgamma(k + 1) - math.lgamma(samples - k + 1)
            + k * math.log(miss_share) + (samples - k) * math.log1p(-miss_share)
        )
        for k in range(misses + 1)
    )  # fmt: skip
