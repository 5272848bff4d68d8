"""Requests that endpoints of Vertex AI, Azure Machine Learning or any other service answered: a table of counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkTable
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError, read_cell, whole
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.own_tables import TIMES, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "managed-endpoints"
CONVENTIONS = (
    "A row says what an endpoint answered from start_time to end_time: endpoint (Vertex AI: endpoint_id, Azure: "
    "endpoint_name), start_time, end_time, and predictions (prediction_count) or requests (request_count), each the sum of "
    "the period, not a rate.",
    "A request that holds eight instances makes eight predictions; the two are never added.",
    "An empty count is unknown: the endpoint is known, its traffic is not. A zero is a measured zero.",
    "errors (error_count) are those of the counted that failed; what is left is useful. Without them all counts as useful, "
    "and how many were tried is unknown.",
    "Rows of one endpoint add up, those of several deployments too. Other columns are not read.",
    TIMES,
)
_ENDPOINTS = ("endpoint", "endpoint_id", "endpoint_name")
_COUNTS = {
    "predictions": "predictions", "prediction_count": "predictions", "requests": "requests", "request_count": "requests",
}  # fmt: skip
_ERRORS = ("errors", "error_count", "failed_requests")
DEFINING = ("endpoint", "start_time", "end_time", "requests")


def sniff(head: Head) -> int:
    """How many of the columns the table has, 0 without an endpoint, its period and a count."""
    named = head.count(*_ENDPOINTS) and head.count(*_COUNTS) and head.has("start_time", "end_time")
    if head.format == "document" or not named:
        return 0
    return head.count(*_ENDPOINTS, *_COUNTS, *_ERRORS, "start_time", "end_time")


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    counts = _Counts(sink=sink, times=times_of(options, source.name))
    fill_rows(source, sink, progress, counts.rows)
    for endpoint, row in counts.firsts.items():
        sink.add("workloads", row, source="endpoints", workload_id=endpoint, name=endpoint, kind="endpoint")
    dark = counts.firsts.keys() - counts.counted
    flags = [f"{len(dark)} endpoints have no count: their traffic is unknown, not zero."] if dark else []
    return Told(dialect="endpoint, period, count", conventions=CONVENTIONS, flags=(*flags, *counts.times.flags()))


@dataclass(slots=True)
class _Counts:
    """Makes rows of the counts of one table."""

    sink: Sink
    times: LocalTimes
    firsts: dict[str, int] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)

    def rows(self, cells: dict[str, str]) -> Rows:
        endpoint = next((cells[name] for name in _ENDPOINTS if name in cells), "")
        if not endpoint:
            raise BadCellError("endpoint", "", "endpoint is missing")
        start, end = self.times.period(
            cells.get("start_time", ""), cells.get("end_time", ""), None, columns=("start_time", "end_time")
        )
        if start is None or end is None or start == end:
            raise BadCellError("end_time", cells.get("end_time", ""), "the row has no period of any length")
        rows: list[tuple[WorkTable, dict[str, Any]]] = []
        found = [name for name in _COUNTS if name in cells]
        for name in found:
            made = {
                "service": endpoint,
                "period_start": start,
                "period_end": end,
                "unit": _COUNTS[name],
                "basis": "measured",
            }
            rows.append(("outputs", made | _quantity(cells, name)))
        self.firsts.setdefault(endpoint, self.sink.rows_read)
        if found:
            self.counted.add(endpoint)
        return rows


def _quantity(cells: dict[str, str], name: str) -> dict[str, Any]:
    count = read_cell(name, cells[name], whole)
    errors = next((column for column in _ERRORS if column in cells), "")
    if not errors:
        return {"quantity": count}
    failed = read_cell(errors, cells[errors], whole)
    if failed > count:
        raise BadCellError(errors, cells[errors], f"{failed} of {count} cannot have failed")
    return {"quantity": count - failed, "attempts": count}
