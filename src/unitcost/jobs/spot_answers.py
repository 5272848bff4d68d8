"""What is asked about a job on spot capacity, and what is answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate
from unitcost.readers.spot_traces import Means
from unitcost.training.checkpoints import Saving
from unitcost.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotAsk:
    """A job to be planned.

    Parameters
    ----------
    hours, deadline_hours
        Work without interruption, and time from start to deadline. [h]
    nodes
        Size of the job; it runs only while all are up, unless it is elastic.
    changeover_s
        From new capacity until the job works again. [s]
    saving
        What a checkpoint costs; None = the job makes none.
    traces
        Recordings; empty = a two-state model by the mean times below, which are then assumed.
    means, gap_s
        What a file does not say: what a 1 means, how long a tick is.
    mean_up_hours, mean_down_hours
        How long capacity stays, and stays away. [h]
    on_demand_usd_per_hour, spot_usd_per_hour
        Price of one node where the recording has none. [USD / hour]
    checkpoint_gb, egress_usd_per_gb, storage_usd_per_gb_month
        Size of a checkpoint, and what moving it to another region and keeping it costs.
    """

    hours: float
    deadline_hours: float
    nodes: int = 1
    changeover_s: float = 720.0
    saving: Saving | None = None
    traces: tuple[Path, ...] = ()
    means: Means | None = None
    gap_s: float | None = None
    mean_up_hours: float | None = None
    mean_down_hours: float = 1.0
    on_demand_usd_per_hour: Decimal | None = None
    spot_usd_per_hour: Decimal | None = None
    checkpoint_gb: float = 0.0
    egress_usd_per_gb: Decimal = Decimal(0)
    storage_usd_per_gb_month: Decimal = Decimal(0)
    elastic: bool = False

    def __post_init__(self) -> None:
        positive = (self.hours, self.deadline_hours, self.mean_down_hours, self.mean_up_hours or 1.0)
        if not all(math.isfinite(value) and value > 0 for value in positive) or self.nodes < 1:
            raise BadSetting(
                "hours, deadline, nodes and the times of --mean-up and --mean-down must be above zero",
                mend="correct the one that is not",
            )
        if self.on_demand_usd_per_hour is not None and self.on_demand_usd_per_hour <= 0:
            raise BadSetting("an hour on demand costs nothing, so nothing can be saved", mend="correct --on-demand-usd")
        if self.changeover_s < 0 or self.checkpoint_gb < 0 or not math.isfinite(self.changeover_s + self.checkpoint_gb):
            raise BadSetting("a change-over or a checkpoint size is negative", mend="give zero or more")
        if self.hours + self.changeover_s / SECONDS_PER_HOUR > self.deadline_hours:
            raise BadSetting(
                f"{self.hours:g} h of work and a change-over cannot be done in {self.deadline_hours:g} h, even on demand",
                mend="allow more time with --deadline, or more nodes",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotOption:
    """A way to run the job.

    Parameters
    ----------
    usd, on_demand_share
        Cost, [USD], and as a share of the job's hours on demand; None when it was not worked out.
    spot_share
        Part of the paid time that was on spot; None when it was not replayed.
    changeovers
        Starts on other capacity, on average; None when it was not replayed.
    """

    name: str
    usd: Estimate | None = None
    on_demand_share: Estimate | None = None
    spot_share: float | None = None
    changeovers: float | None = None
    ruled_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingPlan:
    """How often to save.

    Parameters
    ----------
    mean_up_hours
        Mean completed up-time. [h]
    young_minutes, daly_minutes, growing_minutes
        Intervals of work between saves; the last one is the first few of a schedule that grows with age. [min]
    daly_lost_share, growing_lost_share
        Share of up-time that saves and repeated work take.
    curve
        Interval, [min], and the share lost.
    """

    mean_up_hours: float
    young_minutes: float
    daly_minutes: float
    growing_minutes: tuple[float, ...]
    daly_lost_share: float
    growing_lost_share: float
    curve: tuple[tuple[float, float], ...]
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotPlan:
    """Answer.

    Parameters
    ----------
    options
        Cheapest first, then those that are ruled out.
    best
        Name of the option to take.
    bound
        What knowing the future would have cost; None without a recording.
    could_still_save_points
        How many points of on-demand a better policy could save at most.
    storage_usd
        Keeping the checkpoints for the time of the job, part of each cost but on-demand's.
    """

    ask: SpotAsk
    zones: tuple[str, ...]
    starts: int
    options: tuple[SpotOption, ...]
    best: str
    bound: SpotOption | None
    could_still_save_points: float | None
    saving: SavingPlan | None
    on_demand_usd: float
    storage_usd: float
    messages: tuple[str, ...]
