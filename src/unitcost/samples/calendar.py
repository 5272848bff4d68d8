"""The months of the sample, counted in hours, and how each export writes a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import UnitcostError
from unitcost.units import HOURS_PER_DAY, SECONDS_PER_HOUR

Ints = NDArray[np.int64]
_MONTHS_PER_YEAR = 12
_SATURDAY = 5


@dataclass(frozen=True)
class Calendar:
    """Consecutive months in UTC. Hour 0 is the first hour of the first month."""

    months: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that the months follow each other."""
        expected = [_after(self.months[0], i) for i in range(len(self.months))] if self.months else []
        if not expected or list(self.months) != expected:
            raise UnitcostError("the months of a sample follow each other", mend="write them as 2026-08, 2026-09")

    @property
    def origin(self) -> datetime:
        """Moment of hour 0."""
        return _start(self.months[0])

    @property
    def bounds(self) -> list[int]:
        """Hour at which each month starts, and the hour after the last."""
        return list(_bounds(self.months))

    @property
    def hour_count(self) -> int:
        """Hours of all months together."""
        return self.bounds[-1]

    @property
    def day_count(self) -> int:
        """Days of all months together."""
        return self.hour_count // HOURS_PER_DAY

    def hours(self) -> Ints:
        """Every hour."""
        return np.arange(self.hour_count, dtype=np.int64)

    def days(self) -> Ints:
        """First hour of every day."""
        return np.arange(0, self.hour_count, HOURS_PER_DAY, dtype=np.int64)

    def weekday(self, hours: Ints) -> Ints:
        """Day of the week of each hour, 0 = Monday."""
        return (hours // HOURS_PER_DAY + self.origin.weekday()) % 7

    def at_work(self, hours: Ints) -> NDArray[np.bool_]:
        """Whether each hour is between 8 and 18 o'clock of a working day."""
        hour = hours % HOURS_PER_DAY
        return (self.weekday(hours) < _SATURDAY) & (hour >= 8) & (hour < 18)

    def moment(self, hour: int) -> datetime:
        """Moment at which an hour starts."""
        return self.origin + timedelta(hours=hour)

    def stamps(self, style: str) -> list[str]:
        """Text of the start of each hour, and of the end of the last, in a `strftime` style."""
        return _stamps(self.origin, self.hour_count, style)


@cache
def _bounds(months: tuple[str, ...]) -> tuple[int, ...]:
    starts = [_start(_after(months[0], i)) for i in range(len(months) + 1)]
    return tuple(int((start - starts[0]).total_seconds()) // SECONDS_PER_HOUR for start in starts)


@cache
def _stamps(origin: datetime, count: int, style: str) -> list[str]:
    return [(origin + timedelta(hours=hour)).strftime(style) for hour in range(count + HOURS_PER_DAY + 1)]


@cache
def _start(month: str) -> datetime:
    try:
        return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        raise UnitcostError(f"{month!r} is not a month", mend="write it as 2026-09") from None


def _after(month: str, count: int) -> str:
    start = _start(month)
    months = start.year * _MONTHS_PER_YEAR + start.month - 1 + count
    return f"{months // _MONTHS_PER_YEAR:04d}-{months % _MONTHS_PER_YEAR + 1:02d}"
