"""Pruners of our own: plain functions of what runs have reported, and pausing with a budget for the most promising.

Pausing keeps the checkpoint of a run that falls behind. When every trial has been looked at, part of what was saved is spent on
going on with those that can still be expected to end best. A run that starts slowly is then not lost.
"""

from __future__ import annotations

import math

import numpy as np

from unitcost.training.market import FloatArray
from unitcost.training.sweeps import Board, Laddered, Pruner, Replay, replay_sweep

#: Runs that must have come to a rung before any is stopped there.
_LEAST_PEERS = 4
#: The best part of those that came to a rung goes on. [share]
KEEP_SHARE = 0.15
#: Part of the whole sweep's time that may be spent, the paused runs that go on included. [share]
BUDGET_SHARE = 0.49


def never(run: int, rung: int, board: Board) -> bool:
    """Let every run come to its end."""
    return False


def percentile(keep_share: float, *, first_rung: int = 0) -> Pruner:
    """Stop a run whose best value is not among the best share of those that came to the same rung."""

    def prune(run: int, rung: int, board: Board) -> bool:
        peers = [value for other, value in board.reports[rung].items() if other != run]
        if rung < first_rung or len(peers) < _LEAST_PEERS:
            return False
        return board.reports[rung][run] < float(np.quantile(peers, 1 - keep_share))

    return prune


def pause_and_resume(
    laddered: Laddered, order: list[int], *, workers: int = 8, keep_share: float = KEEP_SHARE,
    budget_share: float = BUDGET_SHARE,
) -> Replay:  # fmt: skip
    """Outcome of a sweep in which runs that fall behind are paused, and the most promising of them go on at the end.

    Parameters
    ----------
    budget_share
        Part of the expected cost of the whole sweep that may be spent. What a paused run would have cost is expected from the
        runs that came to their end.
    """
    replay = replay_sweep(laddered, order, percentile(keep_share), workers=workers)
    paused = np.flatnonzero(~replay.complete)
    if not replay.complete.any() or not len(paused):
        return replay
    expected_s = {int(run): _expected_s(laddered, replay, int(run)) for run in paused}
    budget_s = budget_share * (float(laddered.total_s[replay.complete].sum()) + sum(expected_s.values()))
    promise = {run: _expected_end(laddered, replay, run) for run in expected_s}
    ended = replay.complete.copy()
    for run in sorted(expected_s, key=lambda r: (-promise[r], r)):
        if float(replay.spent_s.sum()) + expected_s[run] - float(replay.spent_s[run]) <= budget_s:
            replay.spent_s[run], ended[run] = laddered.total_s[run], True
    replay.complete = ended
    return replay


def _expected_s(laddered: Laddered, replay: Replay, run: int) -> float:
    """Time that a paused run would have taken in all, by the runs that came to their end. [s]."""
    rung = int(replay.rung[run])
    at_s = laddered.seconds[replay.complete, rung]
    known = np.isfinite(at_s) & (at_s > 0)
    rungs = laddered.values.shape[1]
    longer = (
        float(np.median(laddered.total_s[replay.complete][known] / at_s[known])) if known.any() else rungs / (rung + 1)
    )
    return float(replay.spent_s[run]) * longer


def _expected_end(laddered: Laddered, replay: Replay, run: int) -> float:
    """Value that a paused run can be expected to end at: what it had, and what others still gained from there."""
    rung = int(replay.rung[run])
    best: FloatArray = laddered.best
    gains = laddered.final[replay.complete] - best[replay.complete, rung]
    gains = gains[np.isfinite(gains)]
    value = float(best[run, rung]) + (float(np.median(gains)) if len(gains) else 0.0)
    return value if math.isfinite(value) else -math.inf
