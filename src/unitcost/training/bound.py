"""What a policy that knew the future would have paid: the least cost of a job on recorded capacity, by the same billing.

Backward dynamic programme over the work that is left. Ticks between two changes of capacity or price are taken together:
within such a stretch ticks of one kind can be swapped, so a best schedule holds one kind of capacity there, at its
beginning, at its end or all through (two kinds in one stretch are never better than the cheaper one for both). What is
held at the beginning needs no start if it was held before. So a stretch costs a few sliding minima instead of a step for
each of its ticks, and the answer is still exact; `tests/training/test_bound.py` holds it against the plain programme.

A start on capacity counts as work: a change-over of d seconds raises what is left by d. So a segment that is too
short for its change-over only adds work, and no best schedule has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from unitcost.training.market import FloatArray, IntArray, Market
from unitcost.training.replay import Jobs
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

#: Finest division of a job's work. A job that needs a finer one gets its work and change-over rounded down to it, which
#: keeps the answer a lower bound.
_MOST_UNITS = 400_000


def least_usd(market: Market, jobs: Jobs) -> FloatArray:
    """Least cost of each job, had its future been known. [USD].

    Infinite for a job that cannot make its deadline.
    """
    return np.array([_Search(market, jobs, place).least_usd() for place in range(len(jobs))])


@dataclass(slots=True, kw_only=True)
class _Costs:
    """Least cost to finish by work left, from `first` units on; an entry for each place where the checkpoint can lie.

    Work left below zero costs nothing, work left behind the last entry cannot be done.
    """

    first: int
    idle: list[FloatArray]
    bought: list[FloatArray]
    spot: list[FloatArray]


class _Search:
    def __init__(self, market: Market, jobs: Jobs, place: int) -> None:
        start, self.ticks = int(jobs.start[place]), int(jobs.ticks[place])
        self.there = market.available[:, start : start + self.ticks]
        self.usd = market.spot_usd_per_hour[:, start : start + self.ticks] * (market.gap_s / SECONDS_PER_HOUR)
        self.bought_usd = market.on_demand_usd_per_hour * (market.gap_s / SECONDS_PER_HOUR)
        self.gap, self.work, self.change = _lattice(
            market.gap_s, float(jobs.work_s[place]), float(jobs.changeover_s[place])
        )
        free = not any(market.egress_usd)
        names = ["everywhere"] if free else ["nowhere yet", *sorted(set(market.regions))]
        self.lies = [0 if free else names.index(region) for region in market.regions]
        #: Cost of taking the checkpoint from each place to each zone.
        egress = dict(zip(market.regions, market.egress_usd, strict=True))
        self.move_usd = [[0.0 if at == region else egress.get(at, 0.0) for region in market.regions] for at in names]

    def least_usd(self) -> float:
        """Cost of the best schedule. [USD]."""
        costs = _Costs(
            first=0, idle=[np.zeros(1)] * len(self.move_usd), bought=[np.zeros(1)] * len(self.move_usd),
            spot=[np.zeros(1)] * len(self.lies),
        )  # fmt: skip
        edges = self.edges()
        for begin, end in zip(edges[-2::-1], edges[:0:-1], strict=True):
            costs = _Stretch(self, costs, int(begin), int(end)).costs()
        place = self.work - costs.first
        return float(costs.idle[0][place]) if 0 <= place < len(costs.idle[0]) else float("inf")

    def edges(self) -> IntArray:
        """Ticks at which capacity, or the price of capacity that is there, changes; the first and the end too."""
        there = self.there
        changed = (there[:, 1:] != there[:, :-1]) | ((self.usd[:, 1:] != self.usd[:, :-1]) & there[:, 1:])
        return np.concatenate([[0], np.flatnonzero(changed.any(axis=0)) + 1, [self.ticks]])


class _Stretch:
    """Ticks from `begin` to `end`, over which nothing changes."""

    def __init__(self, search: _Search, after: _Costs, begin: int, end: int) -> None:
        self.search, self.after, self.begin, self.ticks = search, after, begin, end - begin
        self.gap, self.change = search.gap, search.change
        span = self.ticks * self.gap
        #: Work that can be left here: not less than after working all the time, not more than can still be done.
        self.last = min(search.work + self.change, (search.ticks - begin) * self.gap)
        self.first = min(max(0, search.work - begin * self.gap), self.last)
        self.base = max(0, self.first - span)
        self.left = np.arange(self.first, self.last + 1)

    def costs(self) -> _Costs:
        """Costs at the beginning of the stretch."""
        search, after = self.search, self.after
        zones = [z for z in range(len(search.lies)) if search.there[z, self.begin]]
        usd = {zone: float(search.usd[zone, self.begin]) for zone in zones}
        started = {zone: self.started(after.spot[zone], usd[zone]) for zone in zones}
        idle = []
        for at, move_usd in enumerate(search.move_usd):
            options = [self.at(after.idle[at]), self.started(after.bought[at], search.bought_usd)]
            options += [started[zone] + move_usd[zone] for zone in zones]
            idle.append(np.where(self.left <= 0, 0.0, np.minimum.reduce(options)))
        bought = [
            np.minimum(idle[at], self.kept(after.bought[at], after.idle[at], search.bought_usd))
            for at in range(len(idle))
        ]
        spot = [
            np.minimum(idle[at], self.kept(after.spot[zone], after.idle[at], usd[zone])) if zone in usd else idle[at]
            for zone, at in enumerate(search.lies)
        ]
        return _Costs(first=self.first, idle=idle, bought=bought, spot=spot)

    def started(self, held: FloatArray, usd: float) -> FloatArray:
        """Cost when capacity is started here, for the last ticks of the stretch or until the job is done."""
        base = self.base - self.change if self.base == 0 else self.base
        later = self.slide(self.window(held, base + self.change, self.last + self.change), usd)
        needed = self.left + self.change
        return np.minimum(later[self.first - base :], self.finish(needed, usd))

    def kept(self, held: FloatArray, idle: FloatArray, usd: float) -> FloatArray:
        """Cost when capacity that was held before is kept for the first ticks, for all, or until the job is done."""
        stop = self.slide(self.window(idle, self.base, self.last), usd)
        span = self.ticks * self.gap
        through = self.window(held, self.first - span, self.last - span) + usd * self.ticks
        return np.minimum(np.minimum(stop[self.first - self.base :], through), self.finish(self.left, usd))

    def finish(self, needed: IntArray, usd: float) -> FloatArray:
        """Cost of all that is needed, when it can be done within the stretch; its last tick is paid in part."""
        return np.where(needed <= self.ticks * self.gap, needed * (usd / self.gap), np.inf)

    def at(self, costs: FloatArray) -> FloatArray:
        return self.window(costs, self.first, self.last)

    def window(self, costs: FloatArray, first: int, last: int) -> FloatArray:
        """Costs after the stretch, by work left from `first` to `last`: none below zero, infinite beyond what is known."""
        found = np.full(last - first + 1, np.inf)
        offset = self.after.first - first
        begin, end = max(0, offset), min(len(found), offset + len(costs))
        if end > begin:
            found[begin:end] = costs[begin - offset : end - offset]
        if self.after.first == 0 and offset > 0:
            found[: min(offset, len(found))] = 0.0
        return found

    def slide(self, costs: FloatArray, usd: float) -> FloatArray:
        """Least over 0, 1 ... all ticks of the stretch of: those ticks paid, and the cost of what is then left."""
        fill = 0.0 if self.base == 0 else np.inf
        width = 1
        while width <= self.ticks:
            more = min(width, self.ticks + 1 - width)
            costs = np.minimum(costs, _moved(costs, more * self.gap, fill) + usd * more)
            width += more
        return costs


def _moved(costs: FloatArray, by: int, fill: float) -> FloatArray:
    """Costs moved up by some units; what comes in from below is `fill`."""
    moved = np.empty_like(costs)
    moved[:by] = fill
    moved[by:] = costs[: max(len(costs) - by, 0)]
    return moved


def _lattice(gap_s: float, work_s: float, changeover_s: float) -> tuple[int, int, int]:
    """Tick, work and change-over as whole numbers of one unit, the largest that divides them all."""
    whole = [round(Fraction(value) * MICROSECONDS_PER_SECOND) for value in (gap_s, work_s, changeover_s)]
    unit = gcd(*whole)
    if whole[1] // unit <= _MOST_UNITS:
        return whole[0] // unit, whole[1] // unit, whole[2] // unit
    parts = max(1, _MOST_UNITS * whole[0] // whole[1])
    return parts, whole[1] * parts // whole[0], whole[2] * parts // whole[0]
