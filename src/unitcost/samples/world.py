"""What all bills of the sample share: its months, its seed, how fine its rows are, and how rows become text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unitcost.samples.calendar import Calendar, Ints
from unitcost.samples.lines import Line, generator

#: Stands in a JSON text where a number that varies will be put.
MARK = "\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The sample that is being made."""

    calendar: Calendar
    seed: int
    step: int = 1  # hours per row of an hourly line

    def bits(self, *names: str) -> np.random.PCG64:
        """Source of raw bits for one thing, apart from all others."""
        return generator(self.seed, *names)

    def month_hours(self, hours: Ints) -> Ints:
        """How many hours the month of each hour has."""
        bounds = np.array(self.calendar.bounds, dtype=np.int64)
        month = np.searchsorted(bounds, hours, side="right") - 1
        return np.diff(bounds)[month]

    def days_between(self, first: int, count: int) -> Ints:
        """Hours of `count` days from day `first` of the sample, cut to its months."""
        start = min(first * 24, self.calendar.hour_count)
        return np.arange(start, min(start + count * 24, self.calendar.hour_count), dtype=np.int64)


def rows_of_month(line: Line, calendar: Calendar, month: int) -> slice:
    """Rows of a line that stand in the bill of a month; its starts are in order."""
    usage_month = month - line.billed_later
    if not 0 <= usage_month < len(calendar.months):
        return slice(0, 0)
    first, after = calendar.bounds[usage_month], calendar.bounds[usage_month + 1]
    found = np.searchsorted(line.starts, [first, after])
    return slice(int(found[0]), int(found[1]))


def csv_rows(columns: Sequence[str], cells: Mapping[str, str], varying: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Lines of a csv: constant cells, quoted once, around those that vary."""
    names = [name for name in columns if name in varying]
    template = ",".join("%s" if name in varying else _quoted(cells.get(name, "")) for name in columns)
    return (template % row for row in zip(*(varying[name] for name in names), strict=True))


def json_rows(record: Any, varying: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of JSON: `record` with a `MARK` wherever the next of `varying` belongs, quotes included."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    template = text.replace("%", "%%").replace(json.dumps(MARK), "%s")
    return (template % row for row in zip(*varying, strict=True))


def quote_all(values: Sequence[str]) -> list[str]:
    """Texts as JSON strings; they hold nothing that JSON would escape."""
    return [f'"{value}"' for value in values]


def _quoted(cell: str) -> str:
    text = '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\n') else cell
    return text.replace("%", "%%")
