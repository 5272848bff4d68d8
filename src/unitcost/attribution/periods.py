"""Which month or day a charge period lies in, and with which share."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

from unitcost.facts.spend import Placement
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY

Granularity = Literal["month", "day"]
_DAY_US = SECONDS_PER_DAY * MICROSECONDS_PER_SECOND


def zone_of(name: str) -> tzinfo:
    """Time zone of an IANA name or a fixed offset such as `-05:00`."""
    if name[:1] in "+-":
        hours, minutes = name[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if name[0] == "-" else offset)
    return UTC if name == "UTC" else ZoneInfo(name)


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
        length [microseconds]. Days on which clocks change are as long as they are.
    """
    listed = list(periods)
    if not listed:
        return []
    where = zone_of(zone)
    edges, labels = _edges(min(p[0] for p in listed), max(p[1] for p in listed), granularity, where)
    return [placement for start, end in listed for placement in _place_one(start, end, edges, labels)]


def _edges(
    first: datetime, last: datetime, granularity: Granularity, where: tzinfo
) -> tuple[list[datetime], list[str]]:
    """Starts of all buckets from the first moment to the last, UTC, and their labels."""
    local = first.astimezone(where).date()
    day = local.replace(day=1) if granularity == "month" else local
    edges, labels = [], []
    while True:
        edge = datetime(day.year, day.month, day.day, tzinfo=where).astimezone(UTC)
        edges.append(edge)
        labels.append(day.strftime("%Y-%m") if granularity == "month" else day.isoformat())
        if edge > last:
            return edges, labels
        day = _next(day, granularity)


def _next(day: date, granularity: Granularity) -> date:
    if granularity == "day":
        return day + timedelta(days=1)
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _place_one(start: datetime, end: datetime, edges: list[datetime], labels: list[str]) -> list[Placement]:
    total = _microseconds(end - start)
    index = bisect.bisect_right(edges, start) - 1
    if total <= 0:
        return [Placement(start=start, end=end, bucket=labels[index], overlap_us=1, total_us=1)]
    placements = []
    while index < len(edges) and (index == 0 or edges[index] < end):
        upper = min(end, edges[index + 1]) if index + 1 < len(edges) else end
        overlap = _microseconds(upper - max(start, edges[index]))
        if overlap > 0:
            placements.append(Placement(start=start, end=end, bucket=labels[index], overlap_us=overlap, total_us=total))
        index += 1
        if index < len(edges) and edges[index] >= end:
            break
    return placements


def _microseconds(length: timedelta) -> int:
    return length.days * _DAY_US + length.seconds * MICROSECONDS_PER_SECOND + length.microseconds
