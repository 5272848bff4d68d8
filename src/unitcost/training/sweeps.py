"""Early stopping replayed on recorded learning curves: what it would have saved, and what it would have lost.

A sweep runs on W workers under a simulated clock. Runs report at rungs, equally spaced steps up to the longest run; at each a
pruner may stop the run. Saved time alone says nothing, so what was kept stands beside it, always.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from unitcost.errors import BadSetting
from unitcost.facts.sweeps import Sweep
from unitcost.training.market import BoolArray, FloatArray

#: Rungs of a sweep.
RUNGS = 27
_TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Laddered:
    """A sweep cut at its rungs.

    Parameters
    ----------
    values, best, seconds
        Last value seen at each rung, best value up to it, points between rungs included, and training time up to it, [s];
        runs x rungs. NaN behind the end of a run, and where it was not evaluated yet.
    total_s, final
        Training time of each whole run, [s], and its best value.
    accepted
        Whether each run's result was accepted.
    """

    sweep: Sweep
    values: FloatArray
    best: FloatArray
    seconds: FloatArray
    total_s: FloatArray
    final: FloatArray
    accepted: BoolArray

    def __len__(self) -> int:
        return len(self.total_s)


def ladder(sweep: Sweep, rungs: int = RUNGS) -> Laddered:
    """Sweep cut at equally spaced steps up to its longest run."""
    steps = np.arange(1, rungs + 1) * max(run.steps[-1] for run in sweep.runs) / rungs
    values, best, seconds = (np.full((len(sweep.runs), rungs), math.nan) for _ in range(3))
    for place, run in enumerate(sweep.runs):
        reached = steps <= run.steps[-1] * (1 + _TINY)
        at = np.searchsorted(run.steps, steps * (1 + _TINY), side="right") - 1
        known = np.array([math.nan if value is None else value for value in run.values])
        seen, at = reached & (at >= 0), np.maximum(at, 0)
        values[place] = np.where(seen, known[at], math.nan)
        best[place] = np.where(seen, np.fmax.accumulate(known)[at], math.nan)
        when = np.interp(steps, [0.0, *run.steps], [0.0, *run.seconds])
        seconds[place] = np.where(reached, when, math.nan)
    return Laddered(
        sweep=sweep, values=values, best=best, seconds=seconds, total_s=np.array([run.seconds[-1] for run in sweep.runs]),
        final=np.array([run.best for run in sweep.runs]), accepted=np.array([run.accepted for run in sweep.runs]),
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Board:
    """What a pruner sees: reports up to now, by rung and run, in the order of the clock.

    Parameters
    ----------
    reports
        Best value of each run that has come to a rung.
    last
        Value reported last by each run.
    done
        Runs that have come to their end.
    """

    reports: list[dict[int, float]] = field(default_factory=lambda: [{} for _ in range(RUNGS)])
    last: dict[int, float] = field(default_factory=dict)
    done: list[int] = field(default_factory=list)


#: Answers whether to stop a run that has just reported at a rung (from 0).
Pruner = Callable[[int, int, Board], bool]


@dataclass(slots=True, kw_only=True)
class Replay:
    """What became of each run.

    Parameters
    ----------
    spent_s
        Training time spent on it. [s]
    rung
        Last rung it reported at; -1 before the first.
    complete
        Whether it came to its end.
    """

    spent_s: FloatArray
    rung: np.ndarray
    complete: BoolArray


def replay_sweep(laddered: Laddered, order: Sequence[int], pruner: Pruner, *, workers: int = 8) -> Replay:
    """Outcome of a sweep whose runs start in an order, as workers become free.

    Raises
    ------
    BadSetting
        When there is no worker.
    """
    if workers < 1:
        raise BadSetting(f"{workers} workers cannot run a sweep", mend="give at least one")
    count = len(laddered)
    out = Replay(spent_s=np.zeros(count), rung=np.full(count, -1), complete=np.zeros(count, bool))
    board = Board(reports=[{} for _ in range(laddered.values.shape[1])])
    waiting = list(reversed(list(order)))
    clock: list[tuple[float, int, int]] = []
    for _ in range(min(workers, count)):
        _next(laddered, clock, 0.0, waiting.pop(), -1)
    while clock:
        now, run, rung = heapq.heappop(clock)
        if rung < laddered.values.shape[1]:
            value = float(laddered.values[run, rung])
            board.last[run], board.reports[rung][run], out.rung[run] = value, float(laddered.best[run, rung]), rung
            if not pruner(run, rung, board):
                _next(laddered, clock, now, run, rung)
                continue
            out.spent_s[run] = laddered.seconds[run, rung]
        else:
            out.spent_s[run], out.complete[run] = laddered.total_s[run], True
            board.done.append(run)
        if waiting:
            _next(laddered, clock, now, waiting.pop(), -1)
    return out


def _next(laddered: Laddered, clock: list[tuple[float, int, int]], now: float, run: int, rung: int) -> None:
    """Put the next report of a run, or its end, on the clock."""
    spent_s = float(laddered.seconds[run, rung]) if rung >= 0 else 0.0
    for later in range(rung + 1, laddered.values.shape[1]):
        if math.isfinite(laddered.values[run, later]):
            heapq.heappush(clock, (now + float(laddered.seconds[run, later]) - spent_s, run, later))
            return
    heapq.heappush(clock, (now + float(laddered.total_s[run]) - spent_s, run, laddered.values.shape[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What stopping early came to.

    Parameters
    ----------
    saved
        Share of the sweep's training time that was not spent.
    kept
        Share of its accepted results that were kept; NaN when it had none.
    lost_all
        Whether it had accepted results and kept none.
    top3_kept
        Share of its three best runs that came to their end.
    regret
        How far the best value found is below the best there was, as a share of it.
    """

    saved: float
    kept: float
    lost_all: bool
    top3_kept: float
    regret: float


def score(laddered: Laddered, replay: Replay) -> Score:
    """What a replay saved and lost. A run is kept when it came to its end, or was accepted before it was stopped."""
    seen = np.where(replay.rung >= 0, laddered.best[np.arange(len(laddered)), np.maximum(replay.rung, 0)], -math.inf)
    found = np.where(replay.complete, laddered.final, np.nan_to_num(seen, nan=-math.inf))
    targets = np.array([math.inf if run.target is None else run.target for run in laddered.sweep.runs])
    kept = laddered.accepted & (replay.complete | (found >= targets))
    accepted = int(laddered.accepted.sum())
    top = np.argsort(-laddered.final, kind="stable")[:3]
    best = float(laddered.final.max())
    full_s = float(laddered.total_s.sum())
    return Score(
        saved=1 - float(replay.spent_s.sum()) / full_s if full_s else 0.0,
        kept=float(kept.sum()) / accepted if accepted else math.nan,
        lost_all=accepted > 0 and not kept.any(), top3_kept=float(replay.complete[top].mean()),
        regret=(best - float(found.max())) / max(abs(best), _TINY) if math.isfinite(best) else 0.0,
    )  # fmt: skip


def orders(count: int, how_many: int) -> list[list[int]]:
    """Orders in which runs start: as recorded, then shuffled with fixed seeds."""
    shuffled = [np.random.default_rng(seed).permutation(count).tolist() for seed in range(1, how_many)]
    return [list(range(count)), *shuffled][:how_many]
