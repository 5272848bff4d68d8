"""Month first or day first: what the dates of a file say about themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal

from unitcost.errors import BadSetting, NeedsAnswer
from unitcost.facts.source import DateOrder

_LETTER = re.compile(r"\s*(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_ISO = re.compile(r"\s*\d{4}[-/]?\d{2}")
_ZONE = re.compile(r"([zZ]|UTC|GMT|[+-]\d{2}(:?\d{2})?)\s*$")
#: Distinct cells and periods that are remembered; past this they are looked at again.
_REMEMBERED = 100_000
_MONTHS_IN_YEAR = 12


def parts(cell: str) -> tuple[int, int, int] | None:
    """The three numbers of a date such as `5/1/25`, the year in full; None for any other text."""
    match = _LETTER.match(cell)
    if not match:
        return None
    year = int(match.group(4))
    return int(match.group(1)), int(match.group(3)), year + 2000 if len(match.group(4)) == 2 else year


def has_zone(cell: str) -> bool:
    """Whether a moment names its zone; a date without a time of day needs none."""
    text = cell.strip()
    return len(text) <= len("2026-09-01") or _ZONE.search(text[10:]) is not None


@dataclass(slots=True)
class DateEvidence:
    """What the cells of the date columns of a file have shown so far.

    `letter` is a date such as `5/1/25`, one whose order matters if there is any; `iso` tells whether a date of
    the other style was seen; `zoneless` is a moment that names no zone.
    """

    seen: set[str] = field(default_factory=set)
    periods: set[tuple[str, str]] = field(default_factory=set)
    letter: tuple[str, str] | None = None  # column and cell, like the next two
    month_first: tuple[str, str] | None = None
    day_first: tuple[str, str] | None = None
    iso: bool = False
    zoneless: tuple[str, str] | None = None

    def add(self, column: str, cell: str) -> None:
        """Take a cell into account."""
        if cell in self.seen:
            return
        if len(self.seen) >= _REMEMBERED:
            self.seen.clear()
        self.seen.add(cell)
        found = parts(cell)
        if found is None:
            self.iso = self.iso or _ISO.match(cell) is not None
            if self.zoneless is None and cell.strip() and not has_zone(cell):
                self.zoneless = (column, cell)
            return
        first, second, _ = found
        if self.letter is None or (_same_either_way(self.letter[1]) and first != second):
            self.letter = (column, cell)
        if second > _MONTHS_IN_YEAR:
            self.month_first = self.month_first or (column, cell)
        if first > _MONTHS_IN_YEAR or "." in cell[:3]:
            self.day_first = self.day_first or (column, cell)

    def add_period(self, start: str, end: str) -> None:
        """Take a billing period into account."""
        if len(self.periods) < _REMEMBERED:
            self.periods.add((start, end))

    @property
    def open(self) -> bool:
        """Whether more rows could settle what these leave open: the first dates settle the style of a file."""
        return not (self.month_first or self.day_first) and (self.letter is not None or not self.iso)

    def order(self, said: str, *, where: str) -> tuple[DateOrder, str]:
        """Order of the dates and the sentence that says why; the sentence is empty for ISO dates.

        Raises
        ------
        NeedsAnswer
            When the file leaves it open, or contradicts itself.
        BadSetting
            When the user named an order that there is not.
        """
        if said:
            return order_said(said, where), f"Dates are {_WORDS.get(said, said)}, as the user says."
        if self.letter is None:
            return "iso", ""
        if self.month_first and self.day_first:
            raise NeedsAnswer(
                f"dates contradict each other: {self.month_first[1]!r} in '{self.month_first[0]}' has the month "
                f"first, {self.day_first[1]!r} in '{self.day_first[0]}' the day", where=where, mend=_MEND,
            )  # fmt: skip
        if self.month_first:
            return "mdy", f"Dates are {_WORDS['mdy']}: {self.month_first[1].strip()!r} can be nothing else."
        if self.day_first:
            return "dmy", f"Dates are {_WORDS['dmy']}: {self.day_first[1].strip()!r} can be nothing else."
        return self._order_by_period(where)

    def _order_by_period(self, where: str) -> tuple[DateOrder, str]:
        assert self.letter is not None
        whole = {order: _all_whole_months(self.periods, order) for order in ("mdy", "dmy")}
        if whole["mdy"] != whole["dmy"]:
            order: Literal["mdy", "dmy"] = "mdy" if whole["mdy"] else "dmy"
            return order, f"Dates are {_WORDS[order]}: only so are the billing periods whole months."
        if _same_either_way(self.letter[1]):
            return "mdy", ""
        raise NeedsAnswer(
            f"{self.letter[1].strip()!r} in '{self.letter[0]}' may have the month or the day first",
            where=where,
            mend=_MEND,
        )


_WORDS = {"mdy": "month/day/year", "dmy": "day/month/year", "iso": "year-month-day"}
_MEND = 'say date_order = "mdy" (or "dmy") in [[load]], or --date-order mdy (or dmy)'


def order_said(said: str, where: str) -> DateOrder:
    """Order of dates that the user names.

    Raises
    ------
    BadSetting
        When there is none of the name.
    """
    if said == "mdy":
        return "mdy"
    if said == "dmy":
        return "dmy"
    if said == "iso":
        return "iso"
    raise BadSetting(f"date_order is {said!r}", where=where, mend="use mdy, dmy or iso")


def _same_either_way(cell: str) -> bool:
    found = parts(cell)
    return found is not None and found[0] == found[1]


def _all_whole_months(periods: set[tuple[str, str]], order: str) -> bool:
    found = [(_day(start, order), _day(end, order)) for start, end in periods]
    return bool(found) and all(start and end and _is_month(start, end) for start, end in found)


def _day(cell: str, order: str) -> date | None:
    numbers = parts(cell)
    if numbers is None:
        return None
    first, second, year = numbers
    month, day = (first, second) if order == "mdy" else (second, first)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _is_month(start: date, end: date) -> bool:
    """From the first of a month to the first of the next, or to its own last day."""
    after = date(start.year + start.month // _MONTHS_IN_YEAR, start.month % _MONTHS_IN_YEAR + 1, 1)
    return start.day == 1 and end in (after, after - timedelta(days=1))
