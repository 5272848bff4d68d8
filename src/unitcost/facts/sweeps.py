"""Runs of a sweep with their learning curves, as recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from unitcost.errors import BadFile


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRun:
    """A run and its curve.

    Parameters
    ----------
    steps, seconds, values
        Where it was evaluated, training time up to there, [s], and what was found; higher is better. A value of None: it was
        not evaluated, or diverged.
    accepted
        Whether its result was accepted.
    target
        Value from which a result is accepted as soon as it is seen; None where that is judged at the end.
    config
        What tells configurations apart; empty = not known.

    Raises
    ------
    BadFile
        When steps do not ascend, time runs backwards, or a value is no number.
    """

    run: str
    steps: Sequence[float]
    seconds: Sequence[float]
    values: Sequence[float | None]
    accepted: bool = False
    target: float | None = None
    config: str = ""

    def __post_init__(self) -> None:
        if not self.steps or not len(self.steps) == len(self.seconds) == len(self.values):
            raise BadFile("the run has no points", where=self.run, mend="give step, seconds and metric for each point")
        if any(later <= earlier for earlier, later in pairwise(self.steps)):
            raise BadFile(
                "steps do not ascend", where=self.run, mend="give each step once, in order, or name runs apart"
            )
        if any(later < earlier for earlier, later in pairwise(self.seconds)) or self.seconds[0] < 0:
            raise BadFile("time runs backwards", where=self.run, mend="seconds are training time since the run began")
        numbers = [*self.steps, *self.seconds, *(value for value in self.values if value is not None)]
        if not all(map(math.isfinite, numbers)):
            raise BadFile(
                "a step, a time or a metric is no finite number", where=self.run,
                mend="leave the metric of a diverged run empty",
            )  # fmt: skip

    @property
    def best(self) -> float:
        """Best value of the run; minus infinity when there is none."""
        return max((value for value in self.values if value is not None), default=-math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Runs of one search."""

    name: str
    runs: tuple[CurveRun, ...]

    def __post_init__(self) -> None:
        if not self.runs:
            raise BadFile("the sweep has no runs", where=self.name, mend="give at least one run with its curve")
