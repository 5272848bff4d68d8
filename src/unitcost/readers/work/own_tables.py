"""Our own tables: a header whose names are the columns of the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import ANY_GPU, STATUSES, WORK_COLUMNS, WORKLOAD_DRIVERS, WorkKind, WorkTable
from unitcost.facts.zones import zone_of
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError, amount, category, read_cell, seconds, truth, whole
from unitcost.readers.work.local_times import LocalTimes

#: `source` of rows that name none.
OWN = "csv"
TIMES = "Times are ISO 8601. One without an offset is UTC, or in the `timezone` that is given; a plain date is its midnight."
TAGS = (
    "`tag.KEY` is a tag and `metric.KEY` a metric; `tags` and `metrics` may hold a JSON object instead. A column that "
    "is not known here becomes a tag of its name."
)
_PREFIXES = {"tag.": "tags", "tags.": "tags", "metric.": "metrics", "metrics.": "metrics"}
#: Other words for how a life ended.
_STATUS_OF = {
    **{status: status for status in STATUSES}, "done": "completed", "finished": "completed", "succeeded": "completed",
    "success": "completed", "complete": "completed", "error": "failed", "failure": "failed",
    "canceled": "cancelled", "killed": "cancelled", "stopped": "cancelled", "interrupted": "preempted",
    "evicted": "preempted", "timed out": "timeout",
}  # fmt: skip
_MOST_NAMED = 5


def status(text: str) -> str:
    """One of `STATUSES`, or of a few other words for them."""
    word = text.strip().casefold().replace("_", " ")
    if word not in _STATUS_OF:
        raise ValueError(f"{text.strip()!r} is none of {', '.join(STATUSES)}")
    return _STATUS_OF[word]


_WAYS: dict[WorkKind, Callable[[str], Any]] = {
    "text": str, "whole": whole, "decimal": amount, "number": seconds, "truth": truth,
}  # fmt: skip
#: Columns of texts that hold one of a few words.
_OF_COLUMN: dict[str, Callable[[str], Any]] = {"status": status, "pricing_category": category}
_PERIODS = (("started_at", "ended_at"), ("period_start", "period_end"))


def times_of(options: ReadOptions, where: str) -> LocalTimes:
    """Times in UTC where they name no offset and the user no zone."""
    return LocalTimes(zone=zone_of(options.timezone, where=where) if options.timezone else UTC, where=where)


@dataclass(slots=True, kw_only=True)
class OwnTable:
    """Reads the rows of one file of ours.

    Parameters
    ----------
    tables
        Tables of the ledger whose columns it may have; the first is what it is about.
    needed
        Columns that a row must have a value in.
    keys
        Columns that name what a row is about; a second row of the same names is set aside. Empty: rows add up.
    """

    tables: tuple[WorkTable, ...]
    needed: tuple[str, ...]
    keys: tuple[str, ...] = ()
    times: LocalTimes
    seen: set[tuple[str, ...]] = field(default_factory=set)
    strange_kinds: Counter[str] = field(default_factory=Counter)
    _known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._known = frozenset(name for table in self.tables for name, _ in WORK_COLUMNS[table])

    def values(self, cells: dict[str, str], table: WorkTable | None = None) -> dict[str, Any]:
        """Values of a row for a table of the ledger.

        Raises
        ------
        BadCellError
            When a cell cannot be read.
        ValueError
            When one is missing.
        """
        columns = dict(WORK_COLUMNS[table or self.tables[0]])
        values: dict[str, Any] = {"source": cells.get("source", OWN)} if "source" in columns else {}
        for name, kind in columns.items():
            if name in cells and kind in _WAYS:
                values[name] = read_cell(name, cells[name], _OF_COLUMN.get(name, _WAYS[kind]))
        values |= self._moments(cells, columns)
        return {**values, **{name: found for name, found in self._labels(cells, columns).items() if found}}

    def name_of(self, column: str) -> str:
        """Name of a column: folded, but for the key of a tag."""
        folded = column.casefold()
        prefix = next((prefix for prefix in _PREFIXES if folded.startswith(prefix)), "")
        if prefix:
            return prefix + column[len(prefix) :]
        return folded if folded in self._known else column

    def _labels(self, cells: dict[str, str], columns: dict[str, WorkKind]) -> dict[str, dict[str, str]]:
        """Tags and metrics of a row, for those of the two that the table has."""
        labels: dict[str, dict[str, str]] = {name: {} for name, kind in columns.items() if kind == "labels"}
        for name, text in cells.items():
            if name in labels:
                labels[name].update(read_cell(name, text, json_labels))
                continue
            prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
            target = _PREFIXES.get(prefix, "tags")
            if target in labels and (prefix or name not in self._known):
                labels[target][name.removeprefix(prefix)] = text
        return labels

    def check(self, cells: dict[str, str]) -> None:
        """Refuse a row that lacks a cell, or that has been there.

        Raises
        ------
        BadCellError
            When it does.
        """
        for name in self.needed:
            if name not in cells:
                raise BadCellError(name, "", f"{name} is missing")
        key = tuple(cells.get(name, "") for name in self.keys)
        if key and key in self.seen:
            raise BadCellError(self.keys[-1], key[-1], f"{key[-1]!r} stands in an earlier row")
        if key:
            self.seen.add(key)

    def _moments(self, cells: dict[str, str], columns: dict[str, WorkKind]) -> dict[str, datetime | None]:
        found: dict[str, datetime | None] = {}
        for start, end in _PERIODS:
            if start in columns:
                period = self.times.period(cells.get(start, ""), cells.get(end, ""), None, columns=(start, end))
                found[start], found[end] = period
        for name in (name for name, kind in columns.items() if kind == "time" and name in cells and name not in found):
            found[name] = self.times.period(cells[name], "", None, columns=(name, ""))[0]
        return found

    def note_kind(self, kind: str | None) -> None:
        """Remember a kind of workload that no driver stands for."""
        if kind and kind not in WORKLOAD_DRIVERS:
            self.strange_kinds[kind] += 1

    def flags(self) -> tuple[str, ...]:
        """What the file made necessary."""
        said = list(self.times.flags())
        if self.strange_kinds:
            shown = ", ".join(f"'{kind[:60]}'" for kind, _ in self.strange_kinds.most_common(_MOST_NAMED))
            said.append(f"Kinds of workload that no driver stands for: {shown}. Known: {', '.join(WORKLOAD_DRIVERS)}.")
        return tuple(said)


def json_labels(text: str) -> dict[str, str]:
    """Labels written as a JSON object; values that are no text are kept as JSON."""
    try:
        found = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("this is not a JSON object of labels")
    return {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items() if value is not None
    }


def holding_of(own: OwnTable, cells: dict[str, str]) -> dict[str, Any]:
    """Values of a holding, checked among themselves."""
    values = own.values(cells, "holdings")
    for earlier, later in (("start_step", "end_step"), ("kept_step", "end_step")):
        first, second = values.get(earlier), values.get(later)
        if first is not None and second is not None and second < first:
            raise BadCellError(later, cells[later], f"{later} {second} lies before {earlier} {first}")
    return {**values, "accelerator": values.get("accelerator", ANY_GPU)}


def left_out(source: Source, tables: Sequence[WorkTable]) -> tuple[str, ...]:
    """Sentence about columns that a table without tags has no place for."""
    known = {name for table in tables for name, _ in WORK_COLUMNS[table]}
    unknown = [column for column in source.columns if column.casefold() not in known]
    if not unknown:
        return ()
    more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
    return (f"Columns without a place here are left out: {', '.join(unknown[:_MOST_NAMED])}{more}.",)
