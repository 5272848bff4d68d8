"""Which month or day a charge period lies in, and with which share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal

from unitcost.facts.spend import Placement, Selection
from unitcost.facts.zones import zone_of

Granularity = Literal["month", "day"]
_MICROSECOND = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)


def place(periods: Iterable[tuple[datetime, datetime]], granularity: Granularity, zone: str) -> list[Placement]:
    """Buckets of each charge period, in the order of the periods.

    Parameters
    ----------
    periods
        Half-open [start, end), UTC.
    granularity
        `month` or `day` of the zone.
    zone
        IANA name or fixed offset.

    Returns
    -------
    list of Placement
        For each period one placement per bucket that it touches; the overlaps of a period add up to its
        length [microseconds]. Days on which clocks change are as long as they are. All buckets are given, those
        outside the months that somebody asks for too: parts of a charge only add up when none is missing.

    Raises
    ------
    BadSetting
        When there is no such zone.
    """
    calendar = _Calendar(granularity, zone_of(zone))
    return [placement for start, end in periods for placement in _place_one(start, end, calendar)]


def months_between(first: datetime, last: datetime, zone: str) -> list[tuple[str, datetime, datetime]]:
    """Months of a zone from that of one moment to that of another: label, first moment and the first after it, UTC."""
    calendar = _Calendar("month", zone_of(zone))
    day: date | None = calendar.bucket_of(first)
    found: list[tuple[str, datetime, datetime]] = []
    while day is not None and (not found or calendar.edge(day) <= last):
        following = calendar.after(day)
        end = calendar.edge(following) if following else _LAST
        found.append((calendar.label(day), calendar.edge(day), end))
        day = following
    return found


def selection_bounds(selection: Selection) -> tuple[datetime | None, datetime | None]:
    """First moment of a selection, and the first after it."""
    zone = zone_of(selection.timezone)
    start, end = (
        datetime.combine(day, datetime.min.time(), zone).astimezone(UTC) if day else None
        for day in (selection.start, selection.end)
    )
    return start, end


def _place_one(start: datetime, end: datetime, calendar: _Calendar) -> Iterator[Placement]:
    total_us = max(0, (end - start) // _MICROSECOND)
    day = calendar.bucket_of(start)
    if total_us == 0:
        yield Placement(start=start, end=end, bucket=calendar.label(day), overlap_us=1, total_us=1)
        return
    at = start
    while at < end:
        following = calendar.after(day)
        upper = end if following is None else min(end, calendar.edge(following))
        overlap_us = (upper - at) // _MICROSECOND
        if overlap_us > 0:
            yield Placement(start=start, end=end, bucket=calendar.label(day), overlap_us=overlap_us, total_us=total_us)
            at = upper
        if following is None:
            return
        day = following


@dataclass(slots=True)
class _Calendar:
    """Months or days of a zone: where each begins, worked out once."""

    granularity: Granularity
    zone: tzinfo
    edges: dict[date, datetime] = field(default_factory=dict)

    def bucket_of(self, moment: datetime) -> date:
        """First day of the bucket that a moment lies in."""
        try:
            day = moment.astimezone(self.zone).date()
        except OverflowError:
            day = moment.date()
        return day.replace(day=1) if self.granularity == "month" else day

    def after(self, day: date) -> date | None:
        """First day of the next bucket; None after the last that the calendar has."""
        try:
            if self.granularity == "day":
                return day + timedelta(days=1)
            return date(day.year + day.month // 12, day.month % 12 + 1, 1)
        except (OverflowError, ValueError):
            return None

    def edge(self, day: date) -> datetime:
        """Moment at which a bucket begins, UTC; where clocks leap over midnight, the moment they leap."""
        found = self.edges.get(day)
        if found is None:
            found = self.edges[day] = self._edge(day)
        return found

    def _edge(self, day: date) -> datetime:
        try:
            return datetime(day.year, day.month, day.day, tzinfo=self.zone).astimezone(UTC)
        except OverflowError:
            return _FIRST if day.year <= 1 else _LAST

    def label(self, day: date) -> str:
        """`2026-09` or `2026-09-14`."""
        return day.isoformat()[:7] if self.granularity == "month" else day.isoformat()
