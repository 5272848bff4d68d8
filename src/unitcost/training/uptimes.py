"""How long spot capacity lasts: completed up-times of a recording, and their usual shape.

The mean decides, not the median: up-times have heavy tails, and most of the work is done in the few long ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.training.market import BoolArray, FloatArray

#: Where the age classes of a shape begin, and the age that stands for each, in mean up-times.
EDGES = (0.0, 1 / 24, 1 / 12, 1 / 6, 1 / 3, 2 / 3, 4 / 3, 8 / 3, 16 / 3)
MIDDLES = (1 / 48, 1 / 16, 1 / 8, 0.236, 0.472, 0.944, 1.889, 3.778, 7.556)
#: A class counts at least so many ends a recording, so that none has an end rate of zero.
_LEAST_ENDS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class UpTimeShape:
    """Ends per mean up-time, by age in mean up-times (`MIDDLES`); straight between them in logarithms."""

    ends: tuple[float, ...]

    def ends_per_s(self, age_s: FloatArray, mean_s: float) -> FloatArray:
        """Chance per second that an up-time of that age ends. [1 / s]."""
        ages = np.log(np.maximum(age_s / mean_s, MIDDLES[0] / EDGES[-1]))
        rates: FloatArray = np.exp(np.interp(ages, np.log(MIDDLES), np.log(self.ends))) / mean_s
        return rates

    def survival(self, age_s: FloatArray, mean_s: float) -> FloatArray:
        """Share of up-times that last longer than each age; ages ascend from the first up-time's beginning."""
        steps = np.diff(age_s, prepend=0.0)
        middles = age_s - steps / 2
        left: FloatArray = np.exp(-np.cumsum(self.ends_per_s(middles, mean_s) * steps))
        return left


#: Counted in twelve single-node zones of skypilot-org/spot-traces (AWS, 2022 and 2023), each with equal weight.
SHIPPED = UpTimeShape(ends=(2.68, 3.87, 2.75, 1.72, 1.27, 0.73, 0.50, 0.38, 0.215))


def up_times_s(there: BoolArray, gap_s: float) -> FloatArray:
    """Completed up-times of a recording. [s].

    An up-time that had begun before the recording, or goes on behind it, is not complete; one that was first seen at the
    first tick counts from there. The end lies somewhere inside the last tick: ends are spread evenly over it, in order.
    """
    edges = np.diff(np.concatenate([[False], there, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    complete = ends < len(there)
    ticks = (ends - begins)[complete].astype(np.float64)
    inside = (np.arange(len(ticks)) + 0.5) / max(len(ticks), 1)
    lasted: FloatArray = (ticks - 1 + inside) * gap_s
    return lasted


def mean_s(up_times: FloatArray) -> float:
    """Mean completed up-time. [s].

    Raises
    ------
    UnitcostError
        When there is none: then nothing is known about how long capacity lasts.
    """
    if not len(up_times) or not np.all(np.isfinite(up_times)) or up_times.min() <= 0:
        raise UnitcostError(
            "there is no completed up-time to take a mean of",
            mend="give a longer recording, or the mean time between interruptions",
        )
    return float(up_times.mean())


def shape_of(recordings: Sequence[FloatArray]) -> UpTimeShape:
    """Shape counted in the up-times of several recordings, each scaled to its mean, with equal weight."""
    ends, spent = np.zeros(len(EDGES)), np.zeros(len(EDGES))
    upper = np.append(EDGES[1:], np.inf)
    for recording in recordings:
        ages = recording / mean_s(recording)
        for place, (low, high) in enumerate(zip(EDGES, upper, strict=True)):
            ends[place] += float(((ages >= low) & (ages < high)).mean())
            spent[place] += float((np.clip(ages, low, high) - low).mean())
    rates = (ends + _LEAST_ENDS) / np.maximum(spent, _LEAST_ENDS)
    return UpTimeShape(ends=tuple(float(rate) for rate in rates))
