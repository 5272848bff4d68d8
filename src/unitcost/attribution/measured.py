"""Arithmetic of counters and states, as the queries of the ledger do it; here for one series, in plain Python.

Times are whole microseconds of any clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import median_low

from unitcost import money
from unitcost.facts.measured import GAP_INTERVALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a counter has counted in a window, and how often it started again from zero in it."""

    quantity: Decimal
    restarts: int


def counted(points: Mapping[int, Decimal], start_us: int, end_us: int) -> Counted | None:
    """Increment of one counter in `[start, end)`; None when no two samples bear on the window.

    Notes
    -----
    Positive steps between neighbouring samples are added up. After a drop the counter has started again, and the step is
    what it shows now; what it counted between the last sample before a restart and the restart is not visible. The first
    sample tells only where the counter stands. A step that crosses an edge of the window is apportioned by time, so that
    neighbouring windows add up to the whole.
    """
    parts: list[Decimal] = []
    restarts = 0
    for (from_us, before), (to_us, after) in pairwise(sorted(points.items())):
        if to_us <= start_us or from_us >= end_us:
            continue
        restarted = after < before
        step = after if restarted else money.subtract(after, before)
        length = to_us - from_us
        parts.append(
            money.subtract(_grown(step, end_us - from_us, length), _grown(step, start_us - from_us, length))
        )  # fmt: skip
        restarts += restarted and start_us < to_us <= end_us
    return Counted(quantity=money.add(parts), restarts=restarts) if parts else None


def _grown(step: Decimal, done: int, total: int) -> Decimal:
    """Part of a step that has come after `done` of `total`; a whole number grows by whole ones."""
    if done <= 0:
        return Decimal(0)
    if done >= total:
        return step
    part = float(step) * done / total
    return min(step, Decimal(math.floor(part)) if step == step.to_integral_value() else _places(part))


def _places(part: float) -> Decimal:
    return money.round_places(Decimal(repr(part)), 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Mean of a state over the known part of a window, and how long that is. [us]."""

    mean: float
    known_us: int


def state(points: Mapping[int, float], start_us: int, end_us: int) -> State | None:
    """Mean of a state over `[start, end)`, weighted by time; None when nothing of the window is known.

    Notes
    -----
    A value holds until the next sample. Over a gap of more than `GAP_INTERVALS` usual intervals (their median), and after
    the last sample, it holds for one interval; the rest is unknown. A value that is no finite number makes its time unknown.
    """
    times = sorted(points)
    low = max((at for at in times if at <= start_us), default=start_us)
    high = min((at for at in times if at >= end_us), default=end_us)
    times = [at for at in times if low <= at <= high]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    if not gaps:
        return None
    usual = median_low(gaps)
    weighted = known_us = 0.0
    for at, gap in zip(times, [*gaps, 0], strict=True):
        length = gap if 0 < gap <= GAP_INTERVALS * usual else usual
        lasted = min(end_us, at + length) - max(start_us, at)
        if lasted > 0 and math.isfinite(points[at]):
            weighted += points[at] * lasted
            known_us += lasted
    return State(mean=weighted / known_us, known_us=int(known_us)) if known_us else None
