"""Plan how often a job saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from unitcost.jobs.spot_answers import SavingPlan
from unitcost.training.checkpoints import Saving, daly_s, expected_lost_share, growing_s, lost_share, young_s
from unitcost.training.market import FloatArray
from unitcost.training.uptimes import mean_s
from unitcost.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

#: Intervals of the loss curve, as multiples of Daly's.
_CURVE = (0.1, 0.15, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0, 6.0)
_SHOWN_INTERVALS = 6


def measured_saving(saving: Saving, ups_s: FloatArray) -> SavingPlan:
    """How often to save on recorded up-times."""
    alone = replace(saving, restart_s=0.0)
    return _plan(alone, mean_s(ups_s), "measured", lambda intervals: lost_share(ups_s, intervals, alone))


def assumed_saving(saving: Saving, mean_up_s: float) -> SavingPlan:
    """How often to save when only the mean up-time is known; up-times then have their usual shape around it."""
    alone = replace(saving, restart_s=0.0)
    return _plan(
        alone, mean_up_s, "assumed", lambda intervals: expected_lost_share(float(intervals[0]), alone, mean_up_s)
    )  # fmt: skip


def _plan(
    saving: Saving, mean_up_s: float, basis: str, lost: Callable[[Sequence[float] | FloatArray], float]
) -> SavingPlan:  # fmt: skip
    daly, growing = daly_s(saving.stop_s, mean_up_s), growing_s(saving, mean_up_s)
    tried = [daly * times for times in _CURVE if daly > 0]
    daly_lost = lost([daly]) if daly > 0 else 0.0
    return SavingPlan(
        mean_up_hours=mean_up_s / SECONDS_PER_HOUR, young_minutes=young_s(saving.stop_s, mean_up_s) / SECONDS_PER_MINUTE,
        daly_minutes=daly / SECONDS_PER_MINUTE,
        growing_minutes=tuple(float(interval) / SECONDS_PER_MINUTE for interval in growing[:_SHOWN_INTERVALS]),
        daly_lost_share=daly_lost, growing_lost_share=lost(growing) if basis == "measured" else daly_lost,
        curve=tuple((interval / SECONDS_PER_MINUTE, lost([interval])) for interval in tried), basis=basis,
    )  # fmt: skip
