"""Placing charge periods into months and days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.attribution.periods import place
from unitcost.errors import BadSetting

ZONES = (
    "UTC",
    "-05:00",
    "+05:45",
    "Europe/Berlin",
    "America/Santiago",
    "America/Havana",
    "Pacific/Apia",
    "America/St_Johns",
)
moments = st.datetimes(datetime(2009, 1, 1), datetime(2032, 1, 1), timezones=st.just(UTC))
lengths = st.timedeltas(timedelta(0), timedelta(days=90))


@given(moments, lengths, st.sampled_from(["month", "day"]), st.sampled_from(ZONES))
def test_overlaps_add_up_to_the_period(start: datetime, length: timedelta, granularity, zone: str) -> None:
    placed = place([(start, start + length)], granularity, zone)
    assert sum(p.overlap_us for p in placed) == placed[0].total_us
    assert len({p.bucket for p in placed}) == len(placed)
    assert [p.bucket for p in placed] == sorted(p.bucket for p in placed)
    assert all(p.overlap_us > 0 for p in placed)
    assert placed[0].total_us == (length // timedelta(microseconds=1) or 1)


@given(moments, lengths, st.sampled_from(ZONES))
def test_days_of_a_month_make_the_month(start: datetime, length: timedelta, zone: str) -> None:
    months = {p.bucket: p.overlap_us for p in place([(start, start + length)], "month", zone)}
    by_month: dict[str, int] = {}
    for placed in place([(start, start + length)], "day", zone):
        by_month[placed.bucket[:7]] = by_month.get(placed.bucket[:7], 0) + placed.overlap_us
    assert by_month == months


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 29, 23), (3, 30, 24), (10, 25, 25)])
def test_a_day_on_which_clocks_change_is_as_long_as_it_is(month: int, day: int, hours: int) -> None:
    start = datetime(2026, month, day - 2, tzinfo=UTC)
    placed = place([(start, start + timedelta(days=5))], "day", "Europe/Berlin")
    [found] = [p for p in placed if p.bucket == f"2026-{month:02d}-{day:02d}"]
    assert found.overlap_us == hours * 3_600_000_000


def test_a_day_that_a_zone_left_out_is_no_bucket() -> None:
    start = datetime(2011, 12, 29, tzinfo=UTC)
    buckets = [p.bucket for p in place([(start, start + timedelta(days=4))], "day", "Pacific/Apia")]
    assert buckets == ["2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01", "2012-01-02"]


def test_a_moment_lies_in_one_bucket() -> None:
    moment = datetime(2026, 2, 1, 3, tzinfo=UTC)
    [placed] = place([(moment, moment)], "month", "-05:00")
    assert (placed.bucket, placed.overlap_us, placed.total_us) == ("2026-01", 1, 1)


def test_the_ends_of_the_calendar_are_no_trap() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for zone in ("UTC", "-05:00", "+14:00"):
        placed = place([(first, first + timedelta(days=40)), (last - timedelta(days=40), last)], "month", zone)
        assert sum(p.overlap_us for p in placed[:1]) > 0
        for start in (first, last - timedelta(days=40)):
            own = [p for p in placed if p.start == start]
            assert sum(p.overlap_us for p in own) == own[0].total_us


def test_nothing_is_placed_nowhere_and_a_zone_must_exist() -> None:
    assert place([], "day", "UTC") == []
    with pytest.raises(BadSetting, match="no time zone 'Mars'"):
        place([], "day", "Mars")
