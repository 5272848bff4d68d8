"""OpenCost's (and Kubecost's) answer to `/allocation`: who was allocated how much, window by window."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import ANY_GPU, CPU, WorkTable
from unitcost.money import add
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.rates import hours_between
from unitcost.readers.tables import Broken
from unitcost.readers.work import json_stream
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, add_record
from unitcost.readers.work.sink import Sink
from unitcost.units import LEDGER_PLACES, SECONDS_PER_MINUTE

NAME = "opencost"
CONVENTIONS = (
    "An allocation is a workload of the name that it is aggregated by. In each window it held, on average, its gpuHours "
    "(and cpuCoreHours, accelerator cpu) divided by the hours from its start to its end, so that quantity times hours "
    "is what OpenCost states.",
    "Averages tell nothing about single cards or moments: two pods that ran one after the other look like one that ran "
    "all the time on half of a card.",
    "Hours are those allocated: the larger of what was asked for and what was used.",
    "Costs are what OpenCost says, by its own prices and rounded to five places. They are kept as metrics of the workload "
    "(opencost.totalCost ...), added up over the windows, and are never charges.",
    "__idle__ is capacity that nobody was allocated, __unmounted__ volumes that nobody mounts: neither is a workload. "
    "__unallocated__ is work without the property that allocations are aggregated by, and stays.",
    "A window cuts off what lies outside, so when a workload began and ended is not known. Times are UTC.",
)
DEFINING = ("data", "window", "gpuHours", "cpuCoreHours")
SOURCE = "opencost"
_HOURS = {"gpuHours": ANY_GPU, "cpuCoreHours": CPU}
_COSTS = (
    "totalCost", "gpuCost", "cpuCost", "ramCost", "pvCost", "networkCost", "loadBalancerCost", "sharedCost", "externalCost",
)  # fmt: skip
_NO_WORK = ("__idle__", "__unmounted__")
_TAGS = ("cluster", "node", "namespace", "controller", "controllerKind", "pod", "container", "providerID")
#: Part by which the minutes of an allocation may differ from those between its start and its end.
_MOST_OFF = Fraction(1, 100)


def sniff(head: Head) -> int:
    """How sure: a document with `data` whose objects state hours of cores or cards."""
    start = head.data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.format != "document" or not start.startswith(b"{") or b'"data"' not in start:
        return 0
    return sum(f'"{name}"'.encode() in start for name in DEFINING) * (b'"cpuCoreHours"' in start)


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read allocations; see `WorkReader`."""
    reading = _Reading(sink=sink, times=LocalTimes(zone=UTC, where=source.name))
    for found in json_stream.members(source, "data.item", progress):
        reading.take(found)
    reading.finish()
    return Told(dialect="/allocation", conventions=CONVENTIONS, flags=reading.flags())


@dataclass(slots=True)
class _Workload:
    """What is said about an allocation in all windows together."""

    row: int
    values: dict[str, Any]
    costs: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of one file."""

    sink: Sink
    times: LocalTimes
    workloads: dict[str, _Workload] = field(default_factory=dict)
    left_out: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    unequal: int = 0

    def take(self, found: Any) -> None:
        """Read one allocation."""
        number = self.sink.read()
        if isinstance(found, Broken):
            self.sink.reject(number, found.reason, found.raw)
            return
        name, allocation = found
        add_record(
            self.sink, number, lambda: self._rows(number, name, allocation),
            lambda: json.dumps({name: allocation}, default=str, ensure_ascii=False),
        )  # fmt: skip

    def _rows(self, number: int, name: str, allocation: Any) -> Rows:
        if not isinstance(allocation, dict):
            raise ValueError("this is not an allocation")
        hours = {key: _number(allocation, key) for key in _HOURS}
        costs = {key: _number(allocation, key, least=None) for key in _COSTS}
        if name.rpartition("/")[2] in _NO_WORK:
            kept = self.left_out.setdefault(name.rpartition("/")[2], defaultdict(Decimal))
            for key, stated in {**hours, **costs}.items():
                kept[key] = add([kept[key], stated or Decimal(0)])
            return []
        start, end = self._period(allocation)
        properties = _object(allocation, "properties")
        life = {
            "source": SOURCE, "workload_id": name, "status": "unknown", "node": _text(properties, "node"),
            "resource_id": _text(properties, "providerID"), "started_at": start, "ended_at": end,
        }  # fmt: skip
        held: list[tuple[WorkTable, dict[str, Any]]] = [
            ("holdings", {**life, "accelerator": _HOURS[key], "quantity": _average(key, number, start, end)})
            for key, number in hours.items()
            if number
        ]
        self._note(number, name, properties, costs)
        return held

    def _note(self, number: int, name: str, properties: dict[str, Any], costs: Mapping[str, Decimal | None]) -> None:
        if name not in self.workloads:
            namespace, owner = _text(properties, "namespace"), _text(properties, "controller")
            tags = {key: _text(properties, key) for key in _TAGS}
            labels = {**_object(properties, "namespaceLabels"), **_object(properties, "labels")}
            self.workloads[name] = _Workload(number, {
                "source": SOURCE, "workload_id": name, "name": name, "account": namespace, "status": "unknown",
                "parent": f"{namespace}/{owner}" if owner and f"{namespace}/{owner}" != name else "",
                "tags": {**labels, **{key: text for key, text in tags.items() if text}},
            })  # fmt: skip
        known = self.workloads[name].costs
        for key, cost in costs.items():
            if cost:
                known[key] = add([known[key], cost])

    def _period(self, allocation: dict[str, Any]) -> tuple[datetime, datetime]:
        """From start to end; where one is missing, that of the window."""
        window = _object(allocation, "window")
        start, end = self.times.period(
            _text(allocation, "start") or _text(window, "start"), _text(allocation, "end") or _text(window, "end"), None,
            columns=("start", "end"),
        )  # fmt: skip
        if start is None or end is None:
            raise BadCellError("window", "", "it has no start or no end")
        minutes = _number(allocation, "minutes")
        between = Fraction((end - start).total_seconds()) / SECONDS_PER_MINUTE
        if minutes is not None and abs(Fraction(minutes) - between) > _MOST_OFF * between + 1:
            self.unequal += 1
        return start, end

    def finish(self) -> None:
        """Put the workloads into the sink: what all windows say about each."""
        for workload in self.workloads.values():
            metrics = {f"opencost.{key}": f"{cost:f}" for key, cost in workload.costs.items()}
            self.sink.add("workloads", workload.row, **workload.values, metrics=metrics)

    def flags(self) -> tuple[str, ...]:
        """What the file made necessary."""
        said = [
            f"{name} is left out: {', '.join(f'{key} {amount:f}' for key, amount in sorted(kept.items()) if amount)}."
            for name, kept in sorted(self.left_out.items())
        ]
        if self.unequal:
            said.append(
                f"Allocations that state other minutes than lie between their start and their end: {self.unequal:,}."
            )
        return tuple(said)


def _average(key: str, hours: Decimal, start: datetime, end: datetime) -> Decimal:
    """Quantity that gives these hours when it is held from start to end."""
    between = hours_between(start, end)
    if not between:
        raise BadCellError(key, str(hours), f"{key} is {hours}, but it starts and ends at the same moment")
    return Decimal(round(Fraction(hours) / between * 10**LEDGER_PLACES)).scaleb(-LEDGER_PLACES)


def _number(item: dict[str, Any], name: str, *, least: int | None = 0) -> Decimal | None:
    """Number of a member; None where there is none.

    Raises
    ------
    BadCellError
        When it is none, or smaller than `least`.
    """
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise BadCellError(name, str(value), f"{name} is {str(value)[:60]!r}, not a number")
    if least is not None and value < least:
        raise BadCellError(name, str(value), f"{name} is {value}, which is negative")
    return Decimal(value)


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _object(item: dict[str, Any], name: str) -> dict[str, Any]:
    value = item.get(name)
    return value if isinstance(value, dict) else {}
