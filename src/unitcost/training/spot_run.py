"""A job without a deadline on recorded spot capacity, with its saves: money, and the work that was done twice.

It holds capacity whenever it can. A gang runs while all its nodes are up. An elastic job runs on what is there, at a speed
in proportion: when nodes go it comes back smaller from its last save, when nodes come it saves and comes back larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unitcost.errors import BadSetting
from unitcost.training.checkpoints import Saving, kept_work_s
from unitcost.training.market import FloatArray, IntArray
from unitcost.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Nodes up by tick and what all of a job's nodes would cost by tick.

    Parameters
    ----------
    usd_per_hour
        Price of one node by tick. [USD / hour]
    """

    gap_s: float
    counts: IntArray
    usd_per_hour: FloatArray
    on_demand_usd_per_hour: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotRun:
    """What a job came to.

    Parameters
    ----------
    finished
        Whether it was done before the recording ended.
    cost_usd
        Paid for capacity. [USD]
    wall_s
        From the beginning to the end of the job, or of the recording. [s]
    lost_s, saving_s, starting_s
        Time of the whole job spent on work that was lost, on saves, and on starts. [s]
    interruptions
        How often capacity went.
    on_demand_usd
        What the same work costs on demand without interruption, one start included. [USD]
    """

    finished: bool
    cost_usd: float
    wall_s: float
    lost_s: float
    saving_s: float
    starting_s: float
    interruptions: int
    on_demand_usd: float

    @property
    def on_demand_share(self) -> float:
        """Cost over that of on-demand."""
        return self.cost_usd / self.on_demand_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spell:
    """Ticks with one number of nodes; `grows` when the next spell has more."""

    begin: int
    end: int
    nodes: int
    grows: bool


def run_on_spot(
    capacity: Capacity, *, nodes: int, work_s: float, intervals: Sequence[float] | FloatArray, saving: Saving,
    elastic: bool = False,
) -> SpotRun:  # fmt: skip
    """Run of a job from the first tick on.

    Parameters
    ----------
    nodes
        Size of the job; an elastic one uses fewer where there are fewer.
    work_s
        Time that the job takes on all its nodes without interruption. [s]
    intervals
        Work between saves from the beginning of each up-time, the last repeated; empty = no saves. [s]

    Raises
    ------
    BadSetting
        When there is no work.
    """
    if not work_s > 0 or nodes < 1:
        raise BadSetting("a job has no work or no nodes", mend="give hours above zero and at least one node")
    job = _Job(capacity, nodes, work_s, np.asarray(intervals, np.float64), saving)
    for spell in _spells(np.minimum(capacity.counts, nodes), nodes, elastic):
        if job.hold(spell):
            break
    return job.run()


def _spells(counts: IntArray, nodes: int, elastic: bool) -> list[_Spell]:
    held = counts if elastic else np.where(counts >= nodes, nodes, 0)
    edges = [0, *(np.flatnonzero(np.diff(held)) + 1).tolist(), len(held)]
    spells = []
    for begin, end in pairwise(edges):
        if held[begin] > 0:
            grows = end < len(held) and held[end] > held[begin]
            spells.append(_Spell(begin=begin, end=end, nodes=int(held[begin]), grows=grows))
    return spells


class _Job:
    def __init__(self, capacity: Capacity, nodes: int, work_s: float, intervals: FloatArray, saving: Saving) -> None:
        self.capacity, self.nodes, self.work_s, self.intervals, self.saving = capacity, nodes, work_s, intervals, saving
        self.left_s = work_s
        self.cost_usd = self.lost_s = self.saving_s = self.starting_s = self.wall_s = 0.0
        self.interruptions = 0

    def hold(self, spell: _Spell) -> bool:
        """Hold the capacity of a spell; True when the job is done."""
        gap_s, speed = self.capacity.gap_s, spell.nodes / self.nodes
        length_s = (spell.end - spell.begin) * gap_s
        need_s = self.saving.restart_s + self.needs(self.left_s / speed)
        if need_s <= length_s:
            self.pay(spell, need_s)
            self.starting_s += self.saving.restart_s * speed
            self.saving_s += (need_s - self.saving.restart_s) * speed - self.left_s
            self.left_s = 0.0
            return True
        self.pay(spell, length_s)
        kept_s = self.keeps(length_s, spell)
        starting_s = min(self.saving.restart_s, length_s)
        saves_s = min(self.saves(length_s - starting_s) * self.saving.stop_s, length_s - starting_s)
        self.left_s -= kept_s * speed
        self.starting_s += starting_s * speed
        self.saving_s += saves_s * speed
        self.lost_s += (length_s - starting_s - saves_s - kept_s) * speed
        self.interruptions += not spell.grows
        return False

    def keeps(self, length_s: float, spell: _Spell) -> float:
        """Work of a spell that lasts: all of it when the job grows, for then it saves in time. [s]."""
        if spell.grows and len(self.intervals):
            worked_s = max(length_s - self.saving.restart_s - self.saving.stop_s, 0.0)
            return worked_s - min(self.saves(worked_s) * self.saving.stop_s, worked_s)
        return float(kept_work_s(np.array([length_s]), self.intervals, self.saving)[0])

    def needs(self, work_s: float) -> float:
        """Time that some work takes with its saves; none is made at the end. [s]."""
        if not len(self.intervals):
            return work_s
        done_s = np.cumsum(self.intervals)
        saves = int(np.searchsorted(done_s, work_s, side="left"))
        if saves == len(done_s):
            saves += max(0, int(np.ceil((work_s - done_s[-1]) / self.intervals[-1])) - 1)
        return work_s + saves * self.saving.stop_s

    def saves(self, time_s: float) -> int:
        """Saves that are done within a time of work and saves."""
        if not len(self.intervals):
            return 0
        cycles_s = np.cumsum(self.intervals + self.saving.stop_s)
        beyond = max(0.0, time_s - float(cycles_s[-1])) // (self.intervals[-1] + self.saving.stop_s)
        return int(np.searchsorted(cycles_s, time_s, side="right")) + int(beyond)

    def pay(self, spell: _Spell, time_s: float) -> None:
        """Pay for the nodes of a spell over a time from its beginning, at the price of each tick."""
        gap_s = self.capacity.gap_s
        ticks = np.arange(spell.begin, spell.end)
        part_s = np.clip(time_s - (ticks - spell.begin) * gap_s, 0.0, gap_s)
        usd = self.capacity.usd_per_hour[spell.begin : spell.end] * part_s / SECONDS_PER_HOUR
        self.cost_usd += float(usd.sum()) * spell.nodes
        self.wall_s = spell.begin * gap_s + time_s

    def run(self) -> SpotRun:
        finished = self.left_s <= 0
        alone_s = self.work_s + self.saving.restart_s
        return SpotRun(
            finished=finished, cost_usd=self.cost_usd,
            wall_s=self.wall_s if finished else len(self.capacity.counts) * self.capacity.gap_s,
            lost_s=self.lost_s, saving_s=self.saving_s, starting_s=self.starting_s, interruptions=self.interruptions,
            on_demand_usd=alone_s / SECONDS_PER_HOUR * self.capacity.on_demand_usd_per_hour * self.nodes,
        )  # fmt: skip
