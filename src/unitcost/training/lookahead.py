"""The best choice of a job on one zone, by time left, slack, what it holds and how long capacity has been there or away.

Stochastic dynamic programming, backwards from the deadline. Costs are counted in hours on demand. Slack is the time
left less the work left; waiting and change-overs use it up. What the model leaves out: a state that comes and goes
within one step, and that prices move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from unitcost.training.market import BoolArray, FloatArray
from unitcost.training.outlook import AGES_S, STEP_S, Outlook
from unitcost.units import SECONDS_PER_HOUR

#: Bits of a table: no capacity and holding nothing: wait rather than buy; no capacity and on-demand: stop; capacity and
#: holding nothing: take it; capacity and on-demand: change to it.
WAIT, STOP, TAKE, CHANGE = 1, 2, 4, 8
#: A table has at most this many steps of time left, and a job at least so many where ticks allow.
_MOST_STEPS, _LEAST_STEPS = 700, 72
#: Stands for "cannot be done". [hours on demand]
_NEVER = 1e6
#: Costs closer than this are equal. [hours on demand]
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a table is made for.

    Parameters
    ----------
    spot_share
        Price of spot over on-demand.
    changeover_s, longest_s, most_slack_s
        Change-over, longest time left and largest slack of the jobs. [s]
    """

    outlook: Outlook
    spot_share: float
    changeover_s: float
    longest_s: float
    most_slack_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Choices as bits, by steps of time left, age class and steps of slack, and the cost that each start expects.

    `expected_hours` is for a job that holds nothing: (capacity away, there) x age class x slack at the longest time left.
    [hours on demand]
    """

    step_s: float
    choices: NDArray[np.uint8]
    expected_hours: FloatArray


def step_for(longest_s: float, shortest_s: float, gap_s: float) -> float:
    """Step of a table for jobs between two lengths on ticks of `gap_s`. [s]."""
    return max(gap_s, min(STEP_S, shortest_s / _LEAST_STEPS), longest_s / _MOST_STEPS)


@lru_cache(maxsize=64)
def look_ahead(ask: Ask, *, zones: int = 1, step_s: float = STEP_S) -> Table:
    """Table of best choices; in several zones, capacity counts as away when all of them have none."""
    solver = _Backward(ask, ask.outlook.stretched(step_s, zones=zones))
    steps = int(np.ceil(ask.longest_s / step_s)) + 1
    choices = np.zeros((steps, len(AGES_S), solver.slacks), np.uint8)
    for left in range(1, steps):
        choices[left] = solver.step(left)
    return Table(step_s=step_s, choices=choices, expected_hours=np.stack([solver.idle_away, solver.idle_there]))


class _Backward:
    """Expected costs at one time left, age class x slack, and the step to the time before."""

    def __init__(self, ask: Ask, outlook: Outlook) -> None:
        self.step_s, self.changeover_s, self.share = outlook.step_s, ask.changeover_s, ask.spot_share
        self.slacks = int(np.ceil(ask.most_slack_s / self.step_s)) + 2
        self.slack_s = np.arange(self.slacks) * self.step_s
        self.safe = (self.slack_s >= ask.changeover_s - _EQUAL)[None, :]
        self.hours = self.step_s / SECONDS_PER_HOUR
        self.away_ends = np.array(outlook.away_ends)[:, None]
        self.there_ends = np.array(outlook.there_ends)[:, None]
        widths = np.diff(np.append(AGES_S, np.inf))
        self.older = np.minimum(1.0, self.step_s / widths)[:, None]
        #: Steps of a change-over; a job that starts on spot capacity passes through all of them.
        self.change_steps = int(np.ceil(ask.changeover_s / self.step_s - _EQUAL))
        zero = np.zeros((len(AGES_S), self.slacks))
        self.idle_away, self.idle_there = zero, zero
        self.bought_away, self.bought_there = zero, zero
        self.spot = [zero] * (self.change_steps + 1)

    def step(self, left: int) -> NDArray[np.uint8]:
        """Go one step back in time; answers the choices there, as bits."""
        left_s = left * self.step_s
        part = np.clip((left_s - self.slack_s) / self.step_s, 0.0, 1.0)[None, :]
        buy_away = self.hours * part + self.next_away(self.bought_away, self.bought_there)
        buy_there = self.hours * part + self.next_there(self.bought_there, self.bought_away)
        wait_away = self.only_safe(self.with_less(self.next_away(self.idle_away, self.idle_there), self.step_s))
        wait_there = self.only_safe(self.with_less(self.next_there(self.idle_there, self.idle_away), self.step_s))
        running, starting = self.spot_costs(part)
        start_away, start_there = (self.with_less(cost, self.changeover_s) for cost in (buy_away, buy_there))
        begin = self.only_safe(starting[-1]) if starting else self.only_safe(running)
        bits: NDArray[np.uint8] = (
            WAIT * (wait_away < start_away - _EQUAL) + STOP * (wait_away < buy_away - _EQUAL)
            + TAKE * (begin < start_there - _EQUAL) + CHANGE * (np.minimum(begin, wait_there) < buy_there - _EQUAL)
        ).astype(np.uint8)  # fmt: skip
        done = self.slack_s >= left_s - _EQUAL
        self.idle_away = _finished(np.minimum(wait_away, start_away), done)
        self.idle_there = _finished(np.minimum(np.minimum(wait_there, begin), start_there), done)
        self.bought_away = _finished(np.minimum(buy_away, wait_away), done)
        self.bought_there = _finished(np.minimum(np.minimum(buy_there, begin), wait_there), done)
        self.spot = [_finished(running, done), *(_finished(self.only_safe(cost), done) for cost in starting)]
        return bits

    def spot_costs(self, part: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Cost of a step on spot capacity: at work, and with 1, 2 ... steps of the change-over to go."""
        running = self.share * self.hours * part + self.next_there(self.spot[0], self.idle_away)
        rest_s = self.changeover_s - (self.change_steps - 1) * self.step_s
        starting = [
            self.share * self.hours
            + self.with_less(self.next_there(self.spot[k - 1], self.idle_away), rest_s if k == 1 else self.step_s)
            for k in range(1, self.change_steps + 1)
        ]
        return running, starting

    def next_away(self, away: FloatArray, there: FloatArray) -> FloatArray:
        """Expected cost a step later, from a time without capacity."""
        return (1 - self.away_ends) * self.aged(away) + self.away_ends * there[:1]

    def next_there(self, there: FloatArray, away: FloatArray) -> FloatArray:
        """Expected cost a step later, from a time with capacity."""
        return (1 - self.there_ends) * self.aged(there) + self.there_ends * away[:1]

    def aged(self, costs: FloatArray) -> FloatArray:
        """Costs a step older: some of an age class pass to the next."""
        older: FloatArray = (1 - self.older) * costs + self.older * np.vstack([costs[1:], costs[-1:]])
        return older

    def with_less(self, costs: FloatArray, slack_s: float) -> FloatArray:
        """Costs for a job that has so much less slack; what has none left cannot be done."""
        steps = slack_s / self.step_s
        whole = int(np.ceil(steps - _EQUAL))
        part = max(whole - steps, 0.0)
        less = np.full_like(costs, _NEVER)
        kept = self.slacks - whole
        if kept > 0:
            less[:, whole:] = (1 - part) * costs[:, :kept] + part * costs[:, 1 : kept + 1] if part else costs[:, :kept]
        return less

    def only_safe(self, costs: FloatArray) -> FloatArray:
        """Costs where a job may be without on-demand: there is slack for one more change-over."""
        return np.where(self.safe, costs, _NEVER)


def _finished(costs: FloatArray, done: BoolArray) -> FloatArray:
    return np.where(done[None, :], 0.0, costs)
