"""Our policy for jobs with a deadline on spot capacity in one zone or many.

Whether to wait, buy or take is read from tables made by `look_ahead`. Which zone to take, and when to move, weighs
price, how long the zone will last and what a move costs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unitcost.training.lookahead import CHANGE, STOP, TAKE, WAIT, Ask, Table, look_ahead, step_for
from unitcost.training.market import BoolArray, FloatArray, IntArray, Market
from unitcost.training.outlook import Outlook, age_class
from unitcost.training.replay import IDLE, ON_DEMAND, Jobs, Policy, View
from unitcost.units import SECONDS_PER_HOUR

#: Classes of the price of spot over on-demand that tables are made for.
PRICE_CLASSES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)


def planner(market: Market, jobs: Jobs, outlook: Outlook | None = None) -> Policy:
    """Policy that finishes each job at the least expected cost under an outlook; the shipped one by default."""
    return _Planner(market, jobs, outlook or Outlook()).choose


def tables(market: Market, jobs: Jobs, outlook: Outlook) -> tuple[IntArray, list[Table]]:
    """Number of the table of each job, and the tables."""
    deadline_s = jobs.ticks * market.gap_s
    longest_s, most_slack_s = float(deadline_s.max()), float((deadline_s - jobs.work_s).max())
    step_s = step_for(longest_s, float(deadline_s.min()), market.gap_s)
    first = market.spot_usd_per_hour[:, jobs.start].min(axis=0) / market.on_demand_usd_per_hour
    classes = np.abs(first[:, None] - np.array(PRICE_CLASSES)).argmin(axis=1)
    kinds, number = np.unique(np.stack([classes, jobs.changeover_s]), axis=1, return_inverse=True)
    made = [
        look_ahead(
            Ask(
                outlook=outlook, spot_share=PRICE_CLASSES[int(price)], changeover_s=float(changeover_s),
                longest_s=longest_s, most_slack_s=most_slack_s,
            ),
            zones=len(market.zones), step_s=step_s,
        )
        for price, changeover_s in kinds.T
    ]  # fmt: skip
    return number.reshape(-1), made


class _Planner:
    def __init__(self, market: Market, jobs: Jobs, outlook: Outlook) -> None:
        self.table, made = tables(market, jobs, outlook)
        self.step_s = made[0].step_s
        self.choices: NDArray[np.uint8] = np.stack([t.choices for t in made])
        self.stays_s = outlook.remaining_s()
        self.classes = age_class(market.ages_s())
        self.zones = len(market.zones)
        names = sorted(set(market.regions))
        self.region = np.array([names.index(r) for r in market.regions])
        self.egress_usd = np.array(market.egress_usd)
        #: Class of age by tick: of the capacity that is there, or of the zone that went last.
        self.youngest = self.classes.min(axis=0)

    def choose(self, view: View) -> IntArray:
        """Choice of each job."""
        there, bought = view.board.some[view.at], view.held == ON_DEMAND
        if self.zones == 1:
            zone = np.zeros(len(view.held), np.int64)
            age, kept = self.youngest[view.at], view.held == 0
        else:
            kept = view.kept
            zone = self.zone(view, kept)
            age = np.where(there, self.classes[zone, view.at], self.youngest[view.at])
        bits = self.bits(view, age)
        on_spot = kept | (bits & np.where(bought, CHANGE, TAKE) != 0)
        waits = bits & np.where(bought, STOP, WAIT) != 0
        return np.where(there, np.where(on_spot, zone, ON_DEMAND), np.where(waits, IDLE, ON_DEMAND))

    def bits(self, view: View, age: IntArray) -> NDArray[np.uint8]:
        """Entry of the table for each job."""
        _, steps, _, slacks = self.choices.shape
        left = np.minimum((view.remaining_s / self.step_s).astype(np.int64), steps - 1)
        slack = ((view.remaining_s - view.left_s) / self.step_s + 0.5).astype(np.int64)
        bits: NDArray[np.uint8] = self.choices[
            self.table[view.number], left, age, np.minimum(np.maximum(slack, 0), slacks - 1)
        ]
        return bits

    def zone(self, view: View, kept: BoolArray) -> IntArray:
        """Zone to hold, were spot capacity to be held: the one where an hour of work costs least.

        A zone is left for a better one only if that pays within the time that both can be expected to last. A
        change-over is then counted at the price of on-demand, since the slack that it uses may have to be bought back.
        """
        everyone, board = np.arange(len(view.held)), view.board
        change_s, on_demand = view.jobs.changeover_s, board.market.on_demand_usd_per_hour
        usd = np.where(board.worth[: self.zones, view.at], board.market.spot_usd_per_hour[:, view.at], on_demand)
        stays_s = np.minimum(self.stays_s[self.classes[:, view.at]], view.left_s + change_s)
        egress = self.egress(view) * SECONDS_PER_HOUR
        best = ((usd * stays_s + egress) / np.maximum(stays_s - change_s, 1.0)).argmin(axis=0)
        held = np.where(kept, view.held, best)
        horizon_s = np.minimum(stays_s[held, everyone], stays_s[best, everyone])
        saved = (usd[held, everyone] - usd[best, everyone]) * horizon_s
        pays = saved > (usd[best, everyone] + on_demand) * change_s + egress[best, everyone]
        return np.where(kept & ~pays, held, best)

    def egress(self, view: View) -> FloatArray:
        """Cost of taking each job's checkpoint to each zone, zones x jobs. [USD]."""
        elsewhere = (view.lies >= 0) & (self.region[view.lies] != self.region[:, None])
        return np.where(elsewhere, self.egress_usd[view.lies], 0.0)
