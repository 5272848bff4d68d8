"""Replay of jobs with a deadline on recorded spot capacity, many starts at once.

In each tick a job waits, holds a zone's spot capacity, or holds on-demand capacity. Each start on another capacity takes
a change-over, which is paid and makes no progress; the first one too. Capacity that goes away takes effect at the
start of a tick and loses what of the change-over was done; work counts as saved (`checkpoints` prices what is
lost between saves). The last tick is paid by the second.

A safety net stands under every policy: a choice after which the deadline could be missed, were spot capacity to go
away for good, becomes on-demand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from unitcost.errors import BadSetting
from unitcost.training.market import BoolArray, FloatArray, IntArray, Market
from unitcost.units import SECONDS_PER_HOUR

#: Choices of a policy beside the number of a zone. Tables by choice and tick have a row for each, behind the zones.
IDLE, ON_DEMAND = -1, -2
#: Times shorter than this are rounding. [s]
_TINY_S = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Jobs to replay, as columns.

    Parameters
    ----------
    start
        First tick.
    ticks
        Whole ticks until the deadline.
    work_s
        Time the job takes without any interruption. [s]
    changeover_s
        Time that each start on another capacity takes. [s]
    """

    start: IntArray
    ticks: IntArray
    work_s: FloatArray
    changeover_s: FloatArray

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: IntArray | BoolArray) -> Jobs:
        """Some of the jobs."""
        return Jobs(**{f.name: getattr(self, f.name)[which] for f in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A market as policies look at it, worked out once for all ticks.

    Parameters
    ----------
    worth
        Where there is spot capacity that is cheaper than on-demand, (zones, ON_DEMAND, IDLE) x ticks; never in the
        last two rows.
    some, cheapest
        Whether any zone is worth taking, and the cheapest that is; by tick.
    ages_s
        Time since each zone last came or went, zones x ticks. [s]
    """

    market: Market
    worth: BoolArray
    some: BoolArray
    cheapest: IntArray
    ages_s: FloatArray


def board_of(market: Market) -> Board:
    """Board of a market."""
    zones = market.available & (market.spot_usd_per_hour < market.on_demand_usd_per_hour)
    cheapest = np.where(zones, market.spot_usd_per_hour, np.inf).argmin(axis=0)
    worth = np.concatenate([zones, np.zeros((2, market.ticks), bool)])
    some: BoolArray = np.any(worth, axis=0)
    return Board(market=market, worth=worth, some=some, cheapest=cheapest, ages_s=market.ages_s())


@dataclass(slots=True, kw_only=True)
class View:
    """What a policy sees at the start of a tick: no future. One entry for each job that still runs.

    Parameters
    ----------
    board, at
        The market, and the tick of it that each job is at; what lies behind `at` is not to be looked at.
    number
        Place of each job among the jobs of the replay, for policies that remember.
    remaining_s, left_s
        Time until the deadline, and work that is left. [s]
    deadline_s
        From start to deadline. [s]
    held
        What each job holds: the number of a zone, IDLE or ON_DEMAND.
    lies
        Zone whose region has the checkpoint of each job; -1 before there is one.
    """

    board: Board
    at: IntArray
    number: IntArray
    elapsed_s: float
    remaining_s: FloatArray
    left_s: FloatArray
    jobs: Jobs
    deadline_s: FloatArray
    held: IntArray
    lies: IntArray

    @property
    def done_s(self) -> FloatArray:
        """Work done so far. [s]."""
        return self.jobs.work_s - self.left_s

    @property
    def kept(self) -> BoolArray:
        """Whether the zone that each job holds is still worth having."""
        kept: BoolArray = self.board.worth[self.held, self.at]
        return kept


#: Answers each job's choice: the number of a zone, IDLE or ON_DEMAND.
Policy = Callable[[View], IntArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of each job.

    Parameters
    ----------
    cost_usd
        Paid for capacity and for moving checkpoints. [USD]
    spot_s, on_demand_s
        Paid time on either. [s]
    finished_s
        From start to finish, [s]; infinite when the job is late.
    changeovers
        Starts on another capacity.
    """

    cost_usd: FloatArray
    spot_s: FloatArray
    on_demand_s: FloatArray
    finished_s: FloatArray
    changeovers: IntArray

    @property
    def late(self) -> int:
        """Jobs that did not make their deadline."""
        return int(np.isinf(self.finished_s).sum())


def replay(market: Market, jobs: Jobs, policy: Policy) -> Outcome:
    """Outcome of each job under a policy.

    Raises
    ------
    BadSetting
        When a job ends behind the recording, or could not make its deadline on demand.
    """
    _check(market, jobs)
    run = _Run(market, jobs)
    for tick in range(int(jobs.ticks.max(initial=0))):
        if not run.step(tick, policy):
            break
    return run.outcome()


def _check(market: Market, jobs: Jobs) -> None:
    if len(jobs) and (int((jobs.start + jobs.ticks).max()) > market.ticks or int(jobs.start.min()) < 0):
        raise BadSetting("a job ends behind the recording", mend="start it earlier, or give a longer trace")
    if not (np.all(jobs.work_s > 0) and np.all(jobs.changeover_s >= 0)):
        raise BadSetting("a job has no work, or a negative change-over", mend="give hours above zero")
    if np.any(jobs.work_s + jobs.changeover_s > jobs.ticks * market.gap_s + _TINY_S):
        raise BadSetting(
            "the deadline cannot be met even on demand", mend="allow at least the job's hours and one change-over"
        )


class _Run:
    """State of a replay. Jobs that have finished leave the columns, so that long replays stay quick."""

    _COLUMNS = (
        "who", "left_s", "over_s", "held", "lies", "deadline_s", "cost_usd", "spot_s", "on_demand_s", "changeovers",
    )  # fmt: skip

    def __init__(self, market: Market, jobs: Jobs) -> None:
        self.market, self.jobs, self.board = market, jobs, board_of(market)
        always = np.ones((2, market.ticks))
        self.there = np.concatenate([market.available, always.astype(bool)])
        other_usd_per_hour = always * np.array([[market.on_demand_usd_per_hour], [0.0]])
        self.usd_per_s = np.concatenate([market.spot_usd_per_hour, other_usd_per_hour]) / SECONDS_PER_HOUR
        self.egress_usd = np.array(market.egress_usd)
        self.names = sorted(set(market.regions))
        self.region = np.array([self.names.index(r) for r in market.regions])
        count = len(jobs)
        self.out = Outcome(
            cost_usd=np.zeros(count), spot_s=np.zeros(count), on_demand_s=np.zeros(count),
            finished_s=np.full(count, np.inf), changeovers=np.zeros(count, np.int64),
        )  # fmt: skip
        self.cost_usd, self.spot_s, self.on_demand_s = np.zeros(count), np.zeros(count), np.zeros(count)
        self.changeovers = np.zeros(count, np.int64)
        self.who = np.arange(count)
        self.left_s = jobs.work_s.copy()
        self.over_s = np.zeros(count)
        self.held = np.full(count, IDLE)
        #: Zone whose region has the checkpoint; -1 when there is none yet.
        self.lies = np.full(count, -1)
        self.deadline_s: FloatArray = jobs.ticks.astype(np.float64) * market.gap_s

    def step(self, tick: int, policy: Policy) -> bool:
        """Advance all jobs by one tick; False when none is left."""
        if not len(self.who):
            return False
        at = self.jobs.start + tick
        remaining_s: FloatArray = self.deadline_s - tick * self.market.gap_s
        view = View(
            board=self.board, at=at, number=self.who, elapsed_s=tick * self.market.gap_s, remaining_s=remaining_s,
            left_s=self.left_s, jobs=self.jobs, deadline_s=self.deadline_s, held=self.held,
            lies=self.lies,
        )  # fmt: skip
        self.advance(self.safe(policy(view), at, remaining_s), at)
        self.leave(tick)
        return True

    def safe(self, wanted: IntArray, at: IntArray, remaining_s: FloatArray) -> IntArray:
        """The choice, or on-demand where the choice could make the job late."""
        gap_s, changeover_s = self.market.gap_s, self.jobs.changeover_s
        chosen = np.where(self.there[wanted, at], wanted, IDLE)
        over_s = np.where(chosen == self.held, self.over_s, changeover_s)
        made_s = np.maximum(gap_s - over_s, 0.0) * (chosen >= 0)
        spare_s = remaining_s - gap_s - self.left_s + made_s
        risky = (spare_s < changeover_s - _TINY_S) & (self.left_s - made_s > _TINY_S)
        return np.where(risky, ON_DEMAND, chosen)

    def advance(self, chosen: IntArray, at: IntArray) -> None:
        """Hold what was chosen for a tick, and pay for it."""
        running, bought = chosen != IDLE, chosen == ON_DEMAND
        started = running & (chosen != self.held)
        over_s = np.where(started, self.jobs.changeover_s, self.over_s) * running
        over_now_s = np.minimum(over_s, self.market.gap_s)
        made_s = np.minimum(self.left_s, self.market.gap_s - over_now_s) * running
        paid_s = over_now_s + made_s
        bought_s = paid_s * bought
        self.cost_usd += paid_s * self.usd_per_s[chosen, at]
        self.on_demand_s += bought_s
        self.spot_s += paid_s - bought_s
        self.changeovers += started
        if len(self.names) > 1:
            self.move(chosen, started & (chosen >= 0))
        self.left_s = self.left_s - made_s
        self.over_s = over_s - over_now_s
        self.held = chosen

    def move(self, zone: IntArray, started: BoolArray) -> None:
        """Pay for taking the checkpoint to another region. On-demand capacity is had where the checkpoint lies."""
        moved = started & (self.lies >= 0) & (self.region[self.lies] != self.region[zone])
        self.cost_usd += np.where(moved, self.egress_usd[self.lies], 0.0)
        self.lies = np.where(started, zone, self.lies)

    def leave(self, tick: int) -> None:
        """Note the jobs that have finished and drop them, and those whose time is over, from the columns."""
        done = self.left_s <= _TINY_S
        gone = done | (self.jobs.ticks <= tick + 1)
        if not gone.any():
            return
        who = self.who[gone]
        for name in ("cost_usd", "spot_s", "on_demand_s", "changeovers"):
            getattr(self.out, name)[who] = getattr(self, name)[gone]
        self.out.finished_s[self.who[done]] = (tick + 1) * self.market.gap_s
        stay = ~gone
        self.jobs = self.jobs.take(stay)
        for name in self._COLUMNS:
            setattr(self, name, getattr(self, name)[stay])

    def outcome(self) -> Outcome:
        return self.out
