"""When requests are due."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from unitcost.errors import BadFile, UnitcostError
from unitcost.measure.tables import Row, column, read_rows
from unitcost.units import MILLISECONDS_PER_SECOND

TIMES = ("at_s", "t", "time_s", "timestamp", "TIMESTAMP", "time")
#: More requests than this are not scheduled; the run would not end.
MOST = 5_000_000


def steady(rate_per_s: float, duration_s: float) -> list[float]:
    """Requests at even distances. [s]."""
    return [n / rate_per_s for n in range(_count(rate_per_s, duration_s))]


def poisson(rate_per_s: float, duration_s: float, *, seed: int = 0) -> list[float]:
    """Requests that come on their own: distances are exponential. [s]."""
    count = _count(rate_per_s, duration_s)
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(1 / rate_per_s, count + 10 + int(6 * count**0.5)))
    return [float(time) for time in times[times < duration_s]]


def from_trace(path: Path, *, speed: float = 1.0, duration_s: float | None = None) -> list[float]:
    """Requests at the moments of a log, from its first one on.

    Parameters
    ----------
    speed
        How much faster than it was.
    duration_s
        Where to stop; None = at its end. [s]

    Raises
    ------
    BadFile
        When no column holds times, or one is none.
    """
    rows = read_rows(path)
    if not column(rows, TIMES):
        mend = f"call the column with the times one of: {', '.join(TIMES)}"
        raise BadFile("has no column with times", where=str(path), mend=mend)
    times = np.sort(moments(rows, path))
    due = (times - times[0]) / speed
    return [float(time) for time in due if duration_s is None or time < duration_s]


def moments(rows: Sequence[Row], path: Path) -> list[float]:
    """Moment of each row; without a column of times the rows are a second apart. [s]."""
    name = column(rows, TIMES)
    if not name:
        return [float(place) for place in range(len(rows))]
    times = [_moment(row.get(name), f"{path}:{place + 2}") for place, row in enumerate(rows)]
    if path.suffix == ".jsonl" and name == "timestamp":  # LLM traces as JSON lines count milliseconds
        return [time / MILLISECONDS_PER_SECOND for time in times]
    return times


def _moment(cell: object, where: str) -> float:
    try:
        moment = float(str(cell))
    except ValueError:
        moment = _of_iso(str(cell))
    if not math.isfinite(moment):
        raise BadFile(f"{cell!r} is no time", where=where, mend="write seconds, or ISO dates")
    return moment


def _of_iso(text: str) -> float:
    """Seconds of an ISO date, in UTC where it tells no zone: the clock of this machine may jump; NaN where it is none."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _count(rate_per_s: float, duration_s: float) -> int:
    count = round(rate_per_s * duration_s)
    if count < 1 or count > MOST:
        raise UnitcostError(
            f"{rate_per_s:g} requests a second for {duration_s:g} s are {count:,} requests",
            mend=f"choose a rate and a duration that give 1 to {MOST:,}",
        )
    return count
