"""Answers of CloudWatch's `get-metric-data`: requests that endpoints answered, their latency and utilisation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkTable
from unitcost.money import ZERO, add, subtract
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, entries, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.work.cloudwatch_series import COUNTS, GAUGES, About, Series, about_of, points_of, queries_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import add_record
from unitcost.readers.work.sink import Sink

NAME = "cloudwatch"
CONVENTIONS = (
    "A zero is a measured zero; a missing datapoint is unknown. CloudWatch has no datapoints for an endpoint that nobody "
    "calls; ask for FILL(m, 0) over the time in which it was up.",
    "Invocations count requests (statistic Sum), not predictions. Useful are those that did not fail with 4xx or 5xx, "
    "where the answer has these counts too; otherwise all, and how many were tried is unknown.",
    "What a series is, is told by MetricDataQueries beside MetricDataResults, else by its label: endpoint, variant, "
    "metric, statistic and period, parted by blanks, as ${PROP('Dim.EndpointName')} ${PROP('MetricName')} makes it.",
    "The name of an endpoint is the service. Variants of an endpoint add up.",
    "A timestamp is the start of its period. Where nothing states the period, it is the smallest distance of two points.",
    "Latencies are microseconds. Utilisation adds up over the GPUs or cores of a machine: eight GPUs make 800 percent.",
    "Times are UTC.",
)
DEFINING = ("MetricDataResults", "Timestamps", "Values", "Label")
_LISTS = ("MetricDataResults", "MetricDataQueries")
_BEGIN = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*"(?:MetricDataResults|MetricDataQueries|Messages|NextToken)"\s*:')
_MOST_ALIKE = 10


def sniff(head: Head) -> int:
    """How many members of such an answer the file shows."""
    if head.format != "document" or not _BEGIN.match(head.data):
        return 0
    return sum(f'"{name}"'.encode() in head.data for name in DEFINING)


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the whole file into the sink; see `WorkReader`."""
    filling = _Filling(source, sink)
    filling.read(progress)
    filling.write()
    return Told(dialect="get-metric-data", conventions=CONVENTIONS, flags=tuple(filling.flags()))


class _Filling:
    """Puts the series of one file together, over all its pages, then writes them."""

    def __init__(self, source: Source, sink: Sink) -> None:
        self.source, self.sink = source, sink
        self.series: dict[tuple[str, str, str], Series] = {}
        self.ids: dict[tuple[str, str, str], str] = {}
        self.incomplete: dict[str, str] = {}
        self.seen: Counter[str] = Counter()

    def read(self, progress: Progress | None) -> None:
        queries = {
            key: about for name, found in self._entries(None) if name == _LISTS[1] for key, about in queries_of(found)
        }
        for name, found in self._entries(progress):
            if isinstance(found, BrokenObject):
                self.sink.reject(self.sink.read(), found.reason, found.raw)
            elif name == _LISTS[0]:
                row = self.sink.read()
                try:
                    self._take(row, found, queries)
                except ValueError as error:
                    self.sink.reject(row, str(error), written(found))

    def _entries(self, progress: Progress | None) -> Iterator[tuple[str, object]]:
        with text_of(self.source) as (text, raw):
            for name, found in entries(text, _LISTS):
                if progress:
                    progress(raw.tell(), self.source.size_bytes)
                yield name, found

    def _take(self, row: int, found: Any, queries: dict[str, About]) -> None:
        if not isinstance(found, dict):
            raise ValueError("the result is no object")
        about = about_of(found, queries)
        if about.metric not in COUNTS and about.metric not in GAUGES:
            self.seen["other metrics"] += 1
            return
        points = points_of(found, about)
        key, result_id = (about.service, about.part, about.metric), str(found.get("Id"))
        if self.ids.setdefault(key, result_id) != result_id:
            raise ValueError(
                f"there is another series of {about.metric} of {about.service}; name the variant in the label too"
            )
        series = self.series.setdefault(key, Series(row, about))
        twice = next((at for at in points if series.points.get(at, points[at]) != points[at]), None)
        if twice:
            raise ValueError(f"two values are given for {twice.isoformat()}")
        series.points |= points
        self.incomplete[result_id] = str(found.get("StatusCode") or "Complete")

    def write(self) -> None:
        services: dict[str, list[Series]] = {}
        for series in self.series.values():
            services.setdefault(series.about.service, []).append(series)
        for service, found in services.items():
            self._write_service(service, found)
        for key, series in enumerate((s for s in self.series.values() if s.about.metric in GAUGES), 1):
            self._write_gauge(key, series)

    def _write_service(self, service: str, found: list[Series]) -> None:
        first = found[0]
        parts = sorted({series.about.part for series in found if series.about.part})
        self.sink.add(
            "workloads", first.row, source="sagemaker" if first.about.is_sagemaker else "cloudwatch",
            workload_id=service, name=service, kind="endpoint", tags={"variants": " ".join(parts)} if parts else {},
        )  # fmt: skip
        counts = [series for series in found if COUNTS.get(series.about.metric) == "all"]
        # A series over all variants beside those of each would count each request twice.
        by_part = [series for series in counts if series.about.part] or counts
        self.seen["over all variants"] += len(counts) - len(by_part)
        for series in by_part:
            self._write_counts(series, [s for s in found if s.about.part == series.about.part])
        self.seen["without counts"] += bool(counts) and not any(series.points for series in by_part)

    def _write_counts(self, series: Series, siblings: list[Series]) -> None:
        period = series.period or next((s.period for s in self.series.values() if s.period), None)
        if series.points and period is None:
            self.sink.reject(
                series.row, "nothing tells how long the period of its one datapoint is", series.about.service
            )
            return
        failed = [s for s in siblings if COUNTS.get(s.about.metric) == "failed"]
        self.seen["period by distance"] += not series.about.period_s and bool(series.points)
        self.seen["without errors"] += not failed
        values = set(series.points.values())
        self.seen["always one"] += not series.about.statistic and values == {1} and len(series.points) >= _MOST_ALIKE
        rows = [self._output(series, at, count, failed, period) for at, count in sorted(series.points.items())]
        add_record(self.sink, series.row, lambda: rows, lambda: f"{series.about.metric} of {series.about.service}")

    def _output(
        self, series: Series, at: datetime, count: Decimal, failed: list[Series], period: timedelta | None
    ) -> tuple[WorkTable, dict[str, Any]]:
        errors = _errors(at, failed) if count else ZERO
        known = bool(failed) and errors is not None and errors <= count
        self.seen["error counts that do not fit"] += bool(failed) and not known
        return "outputs", {
            "service": series.about.service, "period_start": at, "period_end": at + (period or timedelta()),
            "unit": "requests", "quantity": subtract(count, errors) if known and errors is not None else count,
            "attempts": count if known else None, "basis": "measured",
        }  # fmt: skip

    def _write_gauge(self, key: int, series: Series) -> None:
        about = series.about
        name, unit = GAUGES[about.metric]
        labels = {"variant": about.part, "statistic": about.statistic}
        self.sink.add(
            "series", series.row, series_key=key, metric=name, native=about.metric, kind="gauge", unit=unit,
            workload_id=about.service, labels={label: text for label, text in labels.items() if text},
        )  # fmt: skip
        points = [(str(int(at.timestamp())), str(value)) for at, value in sorted(series.points.items())]
        self.sink.samples(series.row, key, points)

    def flags(self) -> Iterator[str]:
        seen = self.seen
        if short := sorted({code for code in self.incomplete.values() if code != "Complete"}):
            yield f"The answer is not complete ({', '.join(short)}): ask on with its NextToken and append what comes."
        for what, sentence in _SENTENCES.items():
            if seen[what]:
                yield sentence.format(seen[what])


_SENTENCES = {
    "without counts": "{} endpoints have no datapoint of requests: their traffic is unknown, not zero.",
    "without errors": "{} series of requests come without counts of errors: all requests count as useful.",
    "error counts that do not fit": "{} periods have no fitting count of errors: all their requests count as useful.",
    "over all variants": "{} series over all variants are left out, as those of each variant are there.",
    "period by distance": "{} series do not state their period; it is the smallest distance of two points.",
    "always one": "{} series of requests are 1 throughout, as an average would be; ask for the statistic Sum.",
    "other metrics": "{} results are of metrics that are not read.",
}


def _errors(at: datetime, failed: list[Series]) -> Decimal | None:
    """Requests that failed in a period; None when one of the counts is missing."""
    found = [series.points.get(at) for series in failed]
    return None if None in found else add(count for count in found if count is not None)
