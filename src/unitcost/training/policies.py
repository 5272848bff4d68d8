"""Known policies for a job with a deadline, as plain functions.

They look at one zone at a time: the first that has capacity, in order of price. `planner` in `planning` is ours.

References
----------
.. [1] Z. Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI 2024: greedy, uniform
   progress and its hysteresis of two change-overs.
"""

from __future__ import annotations

import numpy as np

from unitcost.training.market import FloatArray, IntArray
from unitcost.training.replay import IDLE, ON_DEMAND, Policy, View

#: How far behind its line a job falls before it buys on-demand, and how far ahead it gets before it stops. [change-overs]
ENTER, LEAVE = 1.0, 2.0


def on_demand(view: View) -> IntArray:
    """On-demand capacity from start to finish."""
    return np.full(len(view.left_s), ON_DEMAND)


def greedy(view: View) -> IntArray:
    """Spot when there is any, else wait; the safety net of the replay buys on-demand when it must."""
    return spot_or(view, np.full(len(view.left_s), IDLE))


def uniform_progress(view: View) -> IntArray:
    """Spot when there is any; without, on-demand while the job is behind an even pace to its deadline."""
    line_s = view.jobs.work_s * view.elapsed_s / view.deadline_s
    return spot_or(view, _catch_up(view, view.done_s - line_s))


def late_line(jobs: int, *, share: float = 0.5) -> Policy:
    """Policy that is greedy until a share of the slack is used, and then keeps an even pace to the deadline.

    Parameters
    ----------
    jobs
        How many jobs the replay has: the policy remembers when each reached its line.
    share
        Part of the slack that is used first, from 0 to 1.
    """
    since_s = np.full(jobs, np.inf)
    from_s = np.zeros(jobs)

    def choose(view: View) -> IntArray:
        slack_s = view.deadline_s - view.jobs.work_s
        reached = np.isinf(since_s[view.number]) & (view.elapsed_s - view.done_s >= share * slack_s)
        since_s[view.number[reached]] = view.elapsed_s
        from_s[view.number[reached]] = view.done_s[reached]
        begun_s, base_s = since_s[view.number], from_s[view.number]
        on_line = np.isfinite(begun_s)
        span_s = np.where(on_line, view.deadline_s - begun_s, 1.0)
        gone_s = np.where(on_line, view.elapsed_s - begun_s, 0.0)
        line_s = base_s + (view.jobs.work_s - base_s) * gone_s / np.maximum(span_s, 1.0)
        buy = np.where(on_line, _catch_up(view, view.done_s - line_s), IDLE)
        return spot_or(view, buy)

    return choose


def spot_or(view: View, otherwise: IntArray) -> IntArray:
    """Zone held now while it lasts, else the cheapest that has capacity, else another choice.

    Capacity that costs more than on-demand counts as none.
    """
    best = np.where(view.board.some[view.at], view.board.cheapest[view.at], otherwise)
    return np.where(view.kept, view.held, best) if len(view.board.market.zones) > 1 else best


def _catch_up(view: View, ahead_s: FloatArray) -> IntArray:
    changeover_s = view.jobs.changeover_s
    behind = np.where(view.held == ON_DEMAND, ahead_s < LEAVE * changeover_s, ahead_s < -ENTER * changeover_s)
    return np.where(behind, ON_DEMAND, IDLE)
