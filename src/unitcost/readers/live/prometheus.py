"""A live Prometheus, or what speaks its HTTP API: the metrics that are read, asked for piece by piece."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile, NeedsAnswer
from unitcost.readers.live import Progress, Window
from unitcost.readers.live.asking import Refused, Server
from unitcost.readers.work.prometheus_answers import ASKED
from unitcost.readers.work.prometheus_metrics import KUBE, lookup
from unitcost.units import MIB

SUFFIX = ".jsonl.gz"
#: A server answers at most 11,000 points per series.
_POINTS = 10_000
_FEWEST_POINTS = 100
_BLOCK = 1 * MIB
_PLAIN_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
#: Of resources of pods and nodes only accelerators are asked for.
_ACCELERATORS = '{resource=~"(nvidia|amd|google|habana|aws_amazon|gpu_intel)_.*"}'
_RESTRICTED = {
    "kube_pod_container_resource_requests": _ACCELERATORS, "kube_pod_container_resource_limits": _ACCELERATORS,
    "kube_node_status_capacity": _ACCELERATORS, "kube_node_status_allocatable": _ACCELERATORS,
    "kube_pod_status_phase": " == 1",
}  # fmt: skip
#: Metrics whose help text tells their unit.
_HELPED = "prefix_cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A metric between two moments, both of them sampled."""

    name: str
    first: datetime
    last: datetime
    step_s: int

    @property
    def expression(self) -> str:
        """What is asked for."""
        return self.name + _RESTRICTED.get(self.name, "")

    @property
    def steps(self) -> int:
        """Steps between the first and the last sample."""
        return int((self.last - self.first).total_seconds()) // self.step_s

    def halves(self) -> tuple[_Question, _Question]:
        """The same in two pieces."""
        middle = self.first + timedelta(seconds=self.steps // 2 * self.step_s)
        return replace(self, last=middle), replace(self, first=middle + timedelta(seconds=self.step_s))

    def asked(self) -> dict[str, Any]:
        """What was asked, for the record."""
        return {
            "query": self.expression, "start": self.first.isoformat(), "end": self.last.isoformat(), "step_s": self.step_s
        }  # fmt: skip


def fetch(url: str, window: Window, target: Path, progress: Progress | None = None) -> None:
    """Write the answers of a server for all metrics that are read into a file, one answer a line.

    Raises
    ------
    BadFile
        When the server cannot be reached, refuses, or has none of the metrics.
    NeedsAnswer
        When the window lacks an end.
    """
    server = Server(url)
    if window.start is None or window.end is None:
        raise NeedsAnswer(
            "which time is asked for is not said", where=server.shown,
            mend="say --start 2026-09-01 --end 2026-10-01; both are UTC, the end is exclusive",
        )  # fmt: skip
    names = _names(server, window.start, window.end)
    questions = [question for name in names for question in _questions(name, window.start, window.end, window.step_s)]
    with target.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
        for name in names:
            if _HELPED in name:
                _ask(server, "metadata", {"metric": name}, stream)
        for done, question in enumerate(questions, 1):
            _answer(server, question, stream)
            if progress:
                progress(done, len(questions))


def _names(server: Server, start: datetime, end: datetime) -> list[str]:
    """Metrics of the server in the window that are read, sorted."""
    answer = server.get_json("api/v1/label/__name__/values", {"start": start.isoformat(), "end": end.isoformat()})
    found = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise BadFile(
            "the answer is not that of Prometheus", where=server.shown, mend="check the address and the path in it"
        )
    names = sorted(
        name for name in found
        if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) and (name in KUBE or lookup(name))
    )  # fmt: skip
    if not names:
        raise BadFile(
            f"the server has none of the metrics that are read, between {start:%Y-%m-%d %H:%M} and {end:%Y-%m-%d %H:%M}",
            where=server.shown, mend="check the window; docs/reference/metrics.md lists the metrics",
        )  # fmt: skip
    return names


def _questions(name: str, start: datetime, end: datetime, step_s: int) -> Iterator[_Question]:
    """A metric over a window, in pieces that a server answers.

    A counter is sampled at the end too, so that its last step is seen; what stands for a time is not, as it would
    stand for the time after the end.
    """
    metric = lookup(name)
    step = timedelta(seconds=step_s)
    count = (end - start) // step
    closed = metric is not None and metric.kind != "gauge"
    last = start + count * step
    if last == end and not closed:
        last -= step
    first = start
    while first <= last:
        piece = min(last, first + (_POINTS - 1) * step)
        yield _Question(name=name, first=first, last=piece, step_s=step_s)
        first = piece + step


def _answer(server: Server, question: _Question, stream: gzip.GzipFile) -> None:
    parameters = {
        "query": question.expression, "start": question.first.isoformat(), "end": question.last.isoformat(),
        "step": str(question.step_s),
    }  # fmt: skip
    try:
        _ask(server, "query_range", parameters, stream, asked=question.asked())
    except Refused as error:
        if not error.too_large or question.steps < _FEWEST_POINTS:
            raise
        for half in question.halves():
            _answer(server, half, stream)


def _ask(
    server: Server, what: str, parameters: dict[str, str], stream: gzip.GzipFile, asked: dict[str, Any] | None = None
) -> None:
    """One answer as one line, what was asked in the line before it."""
    with server.get(f"api/v1/{what}", parameters) as body:
        if asked:
            stream.write(json.dumps({ASKED: asked}).encode() + b"\n")
        while block := body.read(_BLOCK):
            stream.write(block.replace(b"\n", b" "))
        stream.write(b"\n")
