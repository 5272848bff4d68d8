"""How often to save: known formulas, a schedule that grows with age, and what each loses.

References
----------
.. [1] J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17 (1974).
.. [2] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22 (2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unitcost.errors import BadSetting
from unitcost.training.market import FloatArray
from unitcost.training.uptimes import SHIPPED, UpTimeShape

#: A schedule reaches to this many mean up-times; its last interval is repeated from there on.
_HORIZON_MEANS = 40.0
_MOST_INTERVALS = 100_000
#: Steps of the fixed point that finds an interval.
_ROUNDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What saving and coming back cost.

    Parameters
    ----------
    write_s
        From the decision to save until the checkpoint would survive. [s]
    blocking_s
        Part of it in which the job stands still; None = all of it (a synchronous checkpoint). [s]
    restart_s
        From new capacity until the job works again. [s]
    notice_s
        Warning before capacity goes; one that is long enough for a write saves the work done up to it. [s]
    """

    write_s: float
    blocking_s: float | None = None
    restart_s: float = 0.0
    notice_s: float = 0.0

    def __post_init__(self) -> None:
        values = (self.write_s, self.stop_s, self.restart_s, self.notice_s)
        if not all(math.isfinite(v) and v >= 0 for v in values) or self.stop_s > self.write_s:
            raise BadSetting(
                f"a write of {self.write_s:g} s that blocks {self.stop_s:g} s cannot be",
                mend="give seconds of zero or more; the blocking part is at most the write",
            )

    @property
    def stop_s(self) -> float:
        """Time that the job stands still for a checkpoint. [s]."""
        return self.write_s if self.blocking_s is None else self.blocking_s

    @property
    def warned(self) -> bool:
        """Whether the notice is long enough to save."""
        return self.notice_s > 0 and self.notice_s >= self.write_s


def young_s(stop_s: float, mean_up_s: float) -> float:
    """Interval that loses least, to first order. [s].

    Notes
    -----
    ``sqrt(2 * write * mean)``, [1]_ of the module.
    """
    _check(stop_s, mean_up_s)
    return math.sqrt(2 * stop_s * mean_up_s)


def daly_s(stop_s: float, mean_up_s: float) -> float:
    """Interval of work between two saves that loses least when ends come at a constant rate. [s].

    Notes
    -----
    ``sqrt(2 w M) * (1 + sqrt(w / 2M) / 3 + (w / 2M) / 9) - w``, or M when w is 2M or more; [2]_ of the module, equation
    37. The time of a restart does not move it.
    """
    _check(stop_s, mean_up_s)
    if stop_s >= 2 * mean_up_s:
        return mean_up_s
    part = stop_s / (2 * mean_up_s)
    return young_s(stop_s, mean_up_s) * (1 + math.sqrt(part) / 3 + part / 9) - stop_s


def _check(stop_s: float, mean_up_s: float) -> None:
    if not (math.isfinite(stop_s) and math.isfinite(mean_up_s) and stop_s >= 0 and mean_up_s > 0):
        raise BadSetting(
            f"a write of {stop_s:g} s and a mean up-time of {mean_up_s:g} s cannot be",
            mend="give a write time of zero or more and a mean time between interruptions above zero",
        )


def growing_s(saving: Saving, mean_up_s: float, shape: UpTimeShape = SHIPPED) -> FloatArray:
    """Intervals of work between saves, from the beginning of an up-time on; the last one is repeated. [s].

    Capacity that has lasted long will last longer, so intervals grow with age: each is Young's for the rate at which
    up-times of its age end.
    """
    _check(saving.stop_s, mean_up_s)
    stop_s = max(saving.stop_s, mean_up_s / _MOST_INTERVALS)
    intervals: list[float] = []
    age_s, interval_s = 0.0, math.sqrt(2 * stop_s * mean_up_s)
    while age_s < _HORIZON_MEANS * mean_up_s and len(intervals) < _MOST_INTERVALS:
        for _ in range(_ROUNDS):
            rate = float(shape.ends_per_s(np.array([age_s + interval_s / 2]), mean_up_s)[0])
            interval_s = math.sqrt(2 * stop_s / rate)
        interval_s = max(interval_s, saving.write_s - saving.stop_s)
        intervals.append(interval_s)
        age_s += interval_s + saving.stop_s
    return np.array(intervals)


def lost_share(up_times: FloatArray, intervals: FloatArray | Sequence[float], saving: Saving) -> float:
    """Share of recorded up-time that was no lasting work: saves, restarts, and work since the last save."""
    kept_s = kept_work_s(up_times, np.asarray(intervals, float), saving)
    return 1.0 - float(kept_s.sum() / up_times.sum())


def kept_work_s(up_times: FloatArray, intervals: FloatArray, saving: Saving) -> FloatArray:
    """Work that survives each up-time. [s].

    Parameters
    ----------
    intervals
        Work between saves; the last is repeated. Empty = no saves.
    """
    worked_s = np.maximum(up_times - saving.restart_s, 0.0)
    if not len(intervals):
        return np.where(saving.warned, np.maximum(worked_s - saving.notice_s, 0.0), np.zeros(len(up_times)))
    cycles_s = np.cumsum(intervals + saving.stop_s)
    late_s = saving.write_s - saving.stop_s
    saved = np.searchsorted(cycles_s + late_s, worked_s, side="right")
    beyond = np.floor(np.maximum(worked_s - late_s - cycles_s[-1], 0.0) / (intervals[-1] + saving.stop_s))
    done_s = np.concatenate([[0.0], np.cumsum(intervals)])
    kept_s = done_s[saved] + np.where(saved == len(intervals), beyond * intervals[-1], 0.0)
    if saving.warned:
        kept_s = np.maximum(kept_s, _work_at(worked_s - saving.notice_s, intervals, saving))
    return np.asarray(kept_s, np.float64)


def _work_at(time_s: FloatArray, intervals: FloatArray, saving: Saving) -> FloatArray:
    """Work done up to a time after the restart, saves taken off. [s]."""
    time_s = np.maximum(time_s, 0.0)
    cycles_s = np.concatenate([[0.0], np.cumsum(intervals + saving.stop_s)])
    done_s = np.concatenate([[0.0], np.cumsum(intervals)])
    last = cycles_s[-1]
    extra = np.floor(np.maximum(time_s - last, 0.0) / (intervals[-1] + saving.stop_s))
    place = np.searchsorted(cycles_s, np.minimum(time_s, last), side="right") - 1
    base_s = done_s[place] + extra * intervals[-1]
    since_s = time_s - cycles_s[place] - extra * (intervals[-1] + saving.stop_s)
    length_s = np.append(intervals, intervals[-1])[place]
    return np.asarray(base_s + np.minimum(since_s, length_s), np.float64)


def best_fixed_s(up_times: FloatArray, saving: Saving, *, steps: int = 600) -> tuple[float, float]:
    """Fixed interval that would have lost least on recorded up-times, [s], and the share it would have lost."""
    tried = np.geomspace(max(saving.stop_s / 4, 1.0), max(float(up_times.max()), saving.stop_s, 2.0), steps)
    lost = [lost_share(up_times, [interval], saving) for interval in tried]
    best = int(np.argmin(lost))
    return float(tried[best]), lost[best]


def expected_lost_share(interval_s: float, saving: Saving, mean_up_s: float, shape: UpTimeShape = SHIPPED) -> float:
    """Share of up-time that a fixed interval loses when up-times have a usual shape around their mean.

    Notes
    -----
    ``1 - interval * sum over k of P(up-time > k (interval + stop) + late) / mean``, over a fine survival curve. A restart
    is lost once an up-time.
    """
    ages_s = np.geomspace(mean_up_s / 2000, mean_up_s * _HORIZON_MEANS, 4000)
    left = shape.survival(ages_s, mean_up_s)
    curve, points_s = np.append(1.0, left), np.append(0.0, ages_s)
    real_mean_s = float(((curve[1:] + curve[:-1]) / 2 * np.diff(points_s)).sum())
    cycle_s = interval_s + saving.stop_s
    saves_s = np.arange(cycle_s, ages_s[-1], cycle_s) + saving.write_s - saving.stop_s + saving.restart_s
    kept_s = interval_s * float(np.interp(saves_s, ages_s, left, left=1.0, right=0.0).sum())
    return 1.0 - kept_s / real_mean_s
