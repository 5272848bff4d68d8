"""Access logs of web servers and proxies, counted: requests of each service and day by status class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo

from unitcost.facts.source import ReadOptions
from unitcost.facts.zones import zone_of
from unitcost.readers import json_rows
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import ROW_LIMIT
from unitcost.readers.work.access_log_line import LINE, STATUSES, TARGETS, TIMES, Call, of_members, of_text
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.sink import FIRST_YEAR, LAST_YEAR, Sink

NAME = "access-log"
CONVENTIONS = (
    "A line is one request, in the common or combined log format (with a virtual host before it or not), or a JSON object "
    "with a time, a status and a path, as nginx, Envoy, Traefik and Caddy write them.",
    "Requests are counted by service and day. Useful are those answered with 1xx to 3xx; 4xx and 5xx are attempts only. "
    "Counts by status class are kept as metrics of the service.",
    "The service is what the line calls so (service, upstream_cluster ...), else the model that its path names "
    "(/v1/models/NAME, /endpoints/NAME/invocations ...), else the host, else the first part of the path.",
    "Questions of watchers (/healthz, /ready, /ping, /metrics ...) are counted apart and are no requests.",
    "A request is no prediction: how many a request asks for does not stand in a log.",
    "A day without a line of a service is no data, not zero requests.",
    "Days are UTC days, or those of the `timezone` that is given.",
)
DEFINING = ("time", "status", "path")
_ENOUGH = 3
_TELL_EVERY = 20_000
#: Services that are counted singly; the paths of a crawler could make any number of names.
_MOST_SERVICES = 10_000
OTHER = "(other services)"


def sniff(head: Head) -> int:
    """Whether the first lines are of a log, or JSON lines have what one needs."""
    if head.format == "document":
        lines = head.data.decode("utf-8", "replace").lstrip("\ufeff").splitlines()[:_ENOUGH]
        return _ENOUGH if lines and LINE.fullmatch(lines[0]) else 0
    if head.format != "jsonl":
        return 0
    return _ENOUGH if all(any(name in head.columns for name in names) for names in (TIMES, STATUSES, TARGETS)) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Count the lines; see `WorkReader`."""
    counts = _Counts(zone=zone_of(options.timezone, where=source.name) if options.timezone else UTC)
    for raw, found in _lines(source, progress):
        row = sink.read()
        try:
            if isinstance(found, BrokenObject):
                raise ValueError(found.reason)
            counts.take(row, of_text(found) if isinstance(found, str) else of_members(found))
        except ValueError as error:
            sink.reject(row, str(error), raw or written(found))
    counts.write(sink)
    dialect = "common log format" if source.format == "document" else "JSON lines"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(counts.flags()))


def _lines(source: Source, progress: Progress | None) -> Iterator[tuple[str, str | dict[str, str] | BrokenObject]]:
    with text_of(source) as (text, raw):
        if source.format != "document":
            found: Iterator[tuple[str, str | dict[str, str] | BrokenObject]] = (
                (said.raw if isinstance(said, BrokenObject) else "", said)
                for said in json_rows.objects(text, lines=True)
            )
        else:
            cut = (line.strip("\ufeff\r\n") for line in iter(lambda: text.readline(ROW_LIMIT), ""))
            found = ((line, line) for line in cut if line)
        for count, line in enumerate(found, 1):
            if progress and not count % _TELL_EVERY:
                progress(raw.tell(), source.size_bytes)
            yield line


@dataclass(slots=True)
class _Counts:
    """Requests by service and day, and by service and status class."""

    zone: tzinfo
    firsts: dict[str, int] = field(default_factory=dict)
    days: Counter[tuple[str, date]] = field(default_factory=Counter)
    useful: Counter[tuple[str, date]] = field(default_factory=Counter)
    classes: Counter[tuple[str, str]] = field(default_factory=Counter)
    watching: int = 0

    def take(self, row: int, call: Call) -> None:
        """Count one request.

        Raises
        ------
        ValueError
            When its day is none that a log can have.
        """
        if not FIRST_YEAR <= call.at.year < LAST_YEAR:
            raise ValueError(f"{call.at:%Y-%m-%d} is not a date between {FIRST_YEAR} and {LAST_YEAR}")
        if call.is_watching:
            self.watching += 1
            return
        service = call.service
        if service not in self.firsts and len(self.firsts) >= _MOST_SERVICES:
            service = OTHER
        self.firsts.setdefault(service, row)
        key = (service, call.at.astimezone(self.zone).date())
        self.days[key] += 1
        self.useful[key] += call.status < 400
        self.classes[service, f"requests_{call.status // 100}xx"] += 1

    def write(self, sink: Sink) -> None:
        metrics_of: dict[str, dict[str, str]] = {service: {} for service in self.firsts}
        for (service, name), count in sorted(self.classes.items()):
            metrics_of[service][name] = str(count)
        for service, row in self.firsts.items():
            sink.add(
                "workloads",
                row,
                source=NAME,
                workload_id=service,
                name=service,
                kind="endpoint",
                metrics=metrics_of[service],
            )
        for (service, day), count in sorted(self.days.items()):
            sink.add(
                "outputs", self.firsts[service], service=service, period_start=self._midnight(day),
                period_end=self._midnight(day + timedelta(days=1)), unit="requests",
                quantity=self.useful[service, day], attempts=count, basis="measured",
            )  # fmt: skip

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def flags(self) -> Iterator[str]:
        if self.watching:
            yield f"{self.watching} lines are questions of watchers (health, metrics) and are not counted as requests."
        if OTHER in self.firsts:
            yield f"The log names more than {_MOST_SERVICES} services; the further ones are counted together."
