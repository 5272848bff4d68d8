"""Runs and sweeps: what their attempts held and did, and what came of it in money."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from unitcost.figure import Figure
from unitcost.units import MICROSECONDS_PER_SECOND

_MICROSECOND = timedelta(microseconds=1)
NEVER_STARTED = "never started"


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One attempt of a run: what it held, at which price, and which steps it made.

    Parameters
    ----------
    quantity
        Accelerators held, or cores where there are none. [accelerators]
    usd_per_hour
        Price of one of them at that time; None = not priced. [USD / accelerator-hour]
    startup_s
        From the start to the first step; None = not known. [s]
    start_step, end_step
        Counted from the start of the run: where it began, and how far it came.
    kept_step
        What it had saved last; None = nothing, or not known.
    """

    attempt: int
    status: str
    quantity: Decimal
    started_at: datetime | None
    ended_at: datetime | None
    usd_per_hour: Decimal | None
    startup_s: Decimal | None = None
    start_step: int | None = None
    end_step: int | None = None
    kept_step: int | None = None

    @property
    def held_us(self) -> int | None:
        """How long it held them; none at all when it never started, None when its end is not known. [microseconds]."""
        if self.status == NEVER_STARTED:
            return 0
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0, (self.ended_at - self.started_at) // _MICROSECOND)

    @property
    def startup_us(self) -> Fraction | None:
        """Time before the first step. [microseconds]."""
        return None if self.startup_s is None else Fraction(self.startup_s) * MICROSECONDS_PER_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What the time of a run went into; the four parts are all of it.

    Useful steps stand in the result. Repeated steps were made again by a later attempt. Lost steps were neither saved
    nor made again. Hours are accelerator-hours, each a part of those of the run.
    """

    useful_steps: int
    repeated_steps: int
    lost_steps: int
    useful_hours: Decimal
    repeated_hours: Decimal
    lost_hours: Decimal
    startup_hours: Decimal
    useful_usd: Decimal
    repeated_usd: Decimal
    lost_usd: Decimal
    startup_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What a run cost over all its attempts.

    Parameters
    ----------
    usd, gpu_hours
        Of the attempts that have ended; money of those that have a price. [USD], [accelerator-hours]
    open_attempts
        Those without an end ("still running?"); their time and money are not known and not in the sums.
    unpriced_attempts
        Those without a price; their time counts, their money is not known.
    effort
        None when `no_effort` says why it cannot be told.
    """

    usd: Decimal
    gpu_hours: Decimal
    open_attempts: tuple[int, ...] = ()
    unpriced_attempts: tuple[int, ...] = ()
    effort: Effort | None = None
    no_effort: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotSaving:
    """What spot saved against on-demand capacity without interruptions, for the same useful steps.

    `share` may be negative: then the interruptions cost more than the lower price saved.
    """

    usd: Decimal
    on_demand_usd: Decimal
    share: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A workload that is meant to end in a result, as its tracker or scheduler tells of it.

    `parent` and `workload` are keys `source:id`.
    """

    workload: str
    kind: str
    name: str
    parent: str | None
    experiment: str
    project: str
    status: str
    accepted: bool | None
    started_at: datetime | None
    ended_at: datetime | None
    config_key: str
    metrics: dict[str, str]
    tags: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLife:
    """What one attempt held, before it has a price."""

    attempt: int
    status: str
    accelerator: str
    pricing_category: str
    quantity: Decimal
    started_at: datetime | None
    ended_at: datetime | None
    startup_s: float | None
    start_step: int | None
    end_step: int | None
    kept_step: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemand:
    """Price of one accelerator without interruptions, how well it is known, and who says so. [USD / accelerator-hour]."""

    usd_per_hour: Decimal
    basis: Literal["measured", "estimated"]
    source: str


#: What the time of a run goes into; see `Effort`.
EffortPart = Literal["useful", "repeated", "lost", "start-up"]
EFFORT_PARTS: tuple[EffortPart, ...] = ("useful", "repeated", "lost", "start-up")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEffort:
    """What a run's time and cost went into; `cost` is empty where the cost is not known."""

    useful_steps: int
    repeated_steps: int
    lost_steps: int
    hours: dict[EffortPart, Figure]
    cost: dict[EffortPart, Figure]
    per_1k_steps: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotFigures:
    """What the same useful steps would have cost on demand, and what spot saved of it; `price` is that of an accelerator."""

    price: Figure
    on_demand: Figure
    saved: Figure
    share: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """What a run cost, and what became of it.

    Parameters
    ----------
    group
        Experiment, sweep or project that it belongs to.
    outcome
        `completed`, `failed`, `pruned` ... as in `STATUSES`, or `duplicate` of a configuration that was completed before.
    cost
        What the bill says that it held, else what that costs at prices of the settings; without a value, and with the
        reason, where neither is known.
    from_bill
        Which of the two it is.
    effort
        What its time went into; None when `no_effort` says why it cannot be told.
    spot
        What spot capacity saved; None where none was held, or its saving cannot be told.
    shared_by
        How many runs name the same job; its cost is divided among them by how long each lasted.
    lasted_us
        Over all attempts; None when that is not known. [microseconds]
    pruning_saved
        What a pruned run would have cost more at the full length of its sweep's trials, without a value where that is not
        known; None for other runs.
    """

    run: Run
    group: str
    outcome: str
    accepted: bool | None
    cost: Figure
    from_bill: bool
    gpu_hours: Decimal
    effort: RunEffort | None = None
    no_effort: str = ""
    spot: SpotFigures | None = None
    shared_by: int = 1
    lasted_us: int | None = None
    pruning_saved: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAnswer:
    """What all runs of a group cost, whatever became of them, over those that were accepted.

    `pruning_saved` adds up what is known of pruned runs; None when nothing is.
    """

    group: str
    runs: int
    accepted: Figure
    cost: Figure
    per_accepted: Figure
    unpriced: int
    pruning_saved: Figure | None = None
