"""Days and months as they are written in settings and on the command line, and the range that all dates stand in."""

from __future__ import annotations

import re
from datetime import date

from unitcost.errors import BadSetting

#: No bill has a date outside of these; one that is there is a slip of the pen or of a program.
FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2200, 1, 1)
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)


def check_day(day: date, *, where: str = "") -> date:
    """Return a day that lies in the range of dates.

    Raises
    ------
    BadSetting
        When it does not.
    """
    if not FIRST_DAY <= day <= LAST_DAY:
        raise BadSetting(
            f"{day.isoformat()} is not a day between {FIRST_DAY.year} and {LAST_DAY.year}",
            where=where, mend="correct the year",
        )  # fmt: skip
    return day


def month_start(text: str, *, where: str = "") -> date:
    """First day of a month written `YYYY-MM`.

    Raises
    ------
    BadSetting
        When it is not written so, or lies outside of the range of dates.
    """
    match = _MONTH.fullmatch(text)
    if not match:
        raise BadSetting(f"{text!r} is not a month", where=where, mend="write it as 2026-09")
    year, month = int(match[1]), int(match[2])
    if not FIRST_DAY.year <= year < LAST_DAY.year:
        raise BadSetting(
            f"{text!r} is not a month between {FIRST_DAY.year} and {LAST_DAY.year}",
            where=where,
            mend="correct the year",
        )
    return date(year, month, 1)


def next_month(day: date) -> date:
    """First day of the month after that of `day`."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)
