"""Prometheus: answers of its HTTP API, and text scrapes of what it asks."""

from __future__ import annotations

import calendar
import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from unitcost.errors import BadSetting, NeedsAnswer
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work import prometheus_answers, prometheus_text
from unitcost.readers.work.prometheus_answers import ASKED, Broken, Series
from unitcost.readers.work.prometheus_answers import Told as Heard
from unitcost.readers.work.prometheus_metrics import KUBE, lookup
from unitcost.readers.work.prometheus_series import Taker
from unitcost.readers.work.prometheus_text import SAMPLE, Untimed
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.sink import Sink
from unitcost.units import MIB

NAME = "prometheus"
DEFINING: tuple[str, ...] = ("status", "data.resultType", "data.result")
CONVENTIONS: tuple[str, ...] = (
    "Times are seconds since 1970, UTC; a text scrape whose samples name no time has that of the `# scraped_at` line before "
    "it, else the first moment of `period`.",
    "A series is known by its metric and its labels, in whatever file it stands; of several samples of one instant one counts.",
    "Numbers are kept as they are, in the unit of their metric; the table of metrics in docs/reference/metrics.md names it.",
    "Labels that the scraper has moved aside as exported_ are those of what is measured and win.",
    "A card is known by its UUID, an instance that MIG cuts from it by UUID/GPU_I_ID. What several pods on one card show is "
    "one measurement of that card.",
    "vLLM's prefix cache counts tokens, or blocks where the help text of the metric says so.",
    "Triton's nv_inference_count counts predictions and nv_inference_request_success requests.",
    "A pod holds the accelerators it requests from the first sample that lists them to one step after the last, while it is "
    "running; a time slice counts as its share of the card, a MIG instance by its compute slices.",
    "Metrics that are not in the table are passed over, and the load names them.",
)
_BARE = re.compile(rb'\s*\[\s*\{\s*"metric"\s*:\s*\{')
_ANSWER = re.compile(rb'\s*\[?\s*\{\s*"(?:status|data|warnings|errorType|error|' + ASKED.encode() + rb')"\s*:')
_COMMENT = re.compile(r"#\s*(?:HELP|TYPE|UNIT)\s+\S+\s|#\s*scraped_at\b", re.IGNORECASE)
_LINES_LOOKED_AT = 40
_SIGNS_LOOKED_AT = 2_000
_TELL_EVERY_BYTES = 1 * MIB


def sniff(head: Head) -> int:
    """How many signs of an answer, or of a scrape, the first bytes show."""
    if head.format != "document":
        return 0
    data = head.data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] in (b"{", b"["):
        return _signs_of_answer(data)
    return _signs_of_scrape(data)


def _signs_of_answer(data: bytes) -> int:
    if _BARE.match(data) and b'"value' in data:
        return data.count(b'"__name__"', 0, _SIGNS_LOOKED_AT) + 1
    if not _ANSWER.match(data):
        return 0
    signs = sum(sign in data for sign in (b'"resultType"', b'"result"', b'"metric"', b'"status"', b'"__name__"'))
    own = f'"{ASKED}"'.encode() in data or b'"errorType"' in data
    return signs if own or (signs >= 3 and b'"result' in data) else 0


def _signs_of_scrape(data: bytes) -> int:
    lines = data.decode("utf-8", "replace").splitlines()[:_LINES_LOOKED_AT]
    written = [line.strip() for line in lines if line.strip()]
    comments = sum(bool(_COMMENT.match(line)) for line in written)
    samples = [match for line in written if not line.startswith("#") and (match := SAMPLE.fullmatch(line))]
    if not comments and not any(_is_known(match["name"] or "") for match in samples):
        return 0
    others = sum(not line.startswith("#") for line in written) - len(samples)
    return comments + len(samples) if others <= len(samples) else 0


def _is_known(name: str) -> bool:
    return name in KUBE or lookup(name) is not None


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read answers or a scrape into series, samples, resources, workloads and holdings.

    Raises
    ------
    BadFile
        When the file cannot be unpacked or decoded.
    NeedsAnswer
        When nothing tells at which time a scrape was made.
    """
    text = source.data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"[")
    taker = Taker(sink)
    found = _scraped(source, options, taker) if text else prometheus_answers.answers(source)
    with _collector_at_rest():
        told = 0
        for item, done in found:
            taker.take(item)
            if progress and done - told >= _TELL_EVERY_BYTES:
                progress(done, source.size_bytes)
                told = done
    flags = taker.finish()
    dialect = "text scrape" if text else "answers of the HTTP API"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(flags))


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Points are millions of lists without cycles; looking for cycles among them took two fifths of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _scraped(source: Source, options: ReadOptions, taker: Taker) -> Iterator[tuple[Series | Broken | Heard, int]]:
    """Findings of a scrape, with a time for samples that name none."""
    start = _start_of(options.period, source.name)
    for found, done in prometheus_text.samples(source):
        if not isinstance(found, Untimed):
            yield found, done
            continue
        if start is None and taker.wants(found.series):
            raise NeedsAnswer(
                "the samples name no time, and nothing tells when the scrape was made", where=source.name,
                mend="put a line such as `# scraped_at 2026-09-01T10:00:00Z` before it, or say --period 2026-09",
            )  # fmt: skip
        yield replace(found.series, points=[[start, value] for _, value in found.series.points]), done


def _start_of(period: str, where: str) -> int | None:
    if not period:
        return None
    try:
        return calendar.timegm(datetime.strptime(period, "%Y-%m").replace(tzinfo=UTC).timetuple())
    except ValueError:
        raise BadSetting(f"the period is {period!r}", where=where, mend="write it as 2026-09") from None
