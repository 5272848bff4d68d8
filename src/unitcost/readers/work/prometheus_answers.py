"""Answers of Prometheus' HTTP API, one series at a time, however large the file is.

A compact answer on a line of its own, as the server writes it, is taken apart series by series in C. Anything else,
such as an indented answer, a list of answers or a series of many megabytes, goes event by event.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, cast

import ijson

from unitcost.readers.opening import Source, unpacked
from unitcost.units import KIB, MIB

#: A member of this name says what was asked; written by what fetches from a live server.
ASKED = "unitcost_asked"
#: Documents up to here are read whole. [bytes]
_SMALL = 256 * KIB
#: A series longer than this is never held whole. [bytes]
_LONGEST = 32 * MIB
_BLOCK = 1 * MIB
#: Points of a long series that are handed on at a time.
_BATCH = 20_000
_SERIES = "data.result.item"
#: A series of a list of series, as `promtool query` prints it.
_BARE = "item"
_BARE_PARTS = tuple(f"{_BARE}.{part}" for part in ("metric", "value", "histogram"))
_NO_SERIES = ("scalar", "string")
_MARK = b'"metric"'


@dataclass(frozen=True, slots=True)
class Series:
    """Labels with `__name__`, and points as they are written. `more`: the rest of a series that was begun before."""

    labels: Mapping[str, Any]
    points: list[Any]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """Text that is no series, and why."""

    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a document says besides series: help texts by metric, the step that was asked for, warnings."""

    helps: Mapping[str, str] = field(default_factory=dict)
    step_s: float | None = None
    warnings: tuple[str, ...] = ()


Found = Series | Broken | Told


def answers(source: Source) -> Iterator[tuple[Found, int]]:
    """All that a file of answers holds, each with how many bytes of the file are read.

    Raises
    ------
    BadFile
        When the packing of the file is damaged.
    """
    plain = _is_compact(source)
    with _utf8(source) as (stream, raw):
        for found in _of_lines(stream) if plain else _of_events(stream):
            yield found, raw.tell()


@contextmanager
def _utf8(source: Source) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    with unpacked(source.path, source.packing, source.name) as (stream, raw):
        if source.encoding == "utf-8-sig":
            stream.read(len(codecs.BOM_UTF8))
        elif source.encoding not in ("utf-8", "ascii"):
            stream = cast("IO[bytes]", codecs.EncodedFile(stream, "utf-8", source.encoding))
        yield stream, raw


def _is_compact(source: Source) -> bool:
    """Whether each line is a document and no series is too long to be held."""
    if source.encoding not in ("utf-8", "utf-8-sig", "ascii"):
        return False
    with _utf8(source) as (stream, _):
        first = stream.readline(_SMALL)
        if not first.lstrip().startswith(b"{") or (first.endswith(b"\n") and not _is_json(first)):
            return False
        length, held = 0, first
        while held:
            at = held.rfind(_MARK)
            length = len(held) - at if at >= 0 else length + len(held)
            if length > _LONGEST:
                return False
            held = stream.read(_BLOCK)
    return True


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


# --- compact answers, one a line ------------------------------------------------------------------------------------


def _of_lines(stream: IO[bytes]) -> Iterator[Found]:
    while start := stream.readline(_SMALL):
        if start.endswith(b"\n") or len(start) < _SMALL:
            yield from _of_small(start)
        else:
            line = _Line(start, stream)
            yield from _of_large(line)
            line.skip()


class _Line:
    """The rest of a line, as a stream that ends with it."""

    def __init__(self, start: bytes, stream: IO[bytes]) -> None:
        self._held, self._stream, self._ended = start, stream, False

    def read(self, size: int = -1) -> bytes:
        """Next bytes of the line; empty at its end, and when none are asked for."""
        if not size or (self._ended and not self._held):
            return b""
        if self._held:
            held, self._held = (self._held, b"") if size < 0 else (self._held[:size], self._held[size:])
            return held
        block = self._stream.readline(size if size > 0 else _BLOCK)
        self._ended = not block or block.endswith(b"\n")
        return block

    def skip(self) -> None:
        """Pass over what is left of the line."""
        while self.read(_BLOCK):
            pass


def _of_small(line: bytes) -> Iterator[Found]:
    text = line.strip()
    if not text:
        return
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        # What was cut off in the middle may hold whole series before the cut.
        yield from _of_large(_Line(text, cast("IO[bytes]", _NOTHING)), because=str(error))
        return
    yield from _of_document(document, text)


class _Nothing:
    """A stream that has ended."""

    def readline(self, size: int = -1) -> bytes:
        """Nothing."""
        return b""


_NOTHING = _Nothing()


def _of_document(document: Any, text: bytes) -> Iterator[Found]:
    told = _told(document)
    if told is not None:
        yield told
        return
    data = document.get("data") if isinstance(document, dict) else None
    result = data.get("result") if isinstance(data, dict) and data.get("resultType") not in _NO_SERIES else None
    if not isinstance(result, list):
        yield Broken(_shown(text), _why_no_answer(document))
        return
    if document.get("warnings"):
        yield Told(warnings=tuple(map(str, document["warnings"])))
    for item in result:
        yield _series(item)


def _of_large(line: _Line, because: str = "") -> Iterator[Found]:
    try:
        for item in ijson.items(line, _SERIES, use_float=True, buf_size=_BLOCK):
            yield _series(item)
    except (ijson.JSONError, ValueError) as error:
        cut = isinstance(error, ijson.IncompleteJSONError)
        reason = "the answer is cut off before its end" if cut else f"the answer is not JSON ({because or error})"
        yield Broken("", f"{reason}; the series at that place and those after it are not read")


def _told(document: Any) -> Told | None:
    """What a document that holds no series says: what was asked, or the help texts of `/api/v1/metadata`."""
    if not isinstance(document, dict):
        return None
    asked = document.get(ASKED)
    if isinstance(asked, dict):
        step = asked.get("step_s")
        return Told(step_s=float(step) if isinstance(step, int | float) else None)
    data = document.get("data")
    if not isinstance(data, dict) or "result" in data or "resultType" in data:
        return None
    helps = {
        str(name): str(kinds[0].get("help", ""))
        for name, kinds in data.items()
        if isinstance(kinds, list) and kinds and isinstance(kinds[0], dict)
    }
    return Told(helps=helps) if len(helps) == len(data) else None


def _why_no_answer(document: Any) -> str:
    if isinstance(document, dict) and document.get("status") == "error":
        return f"the server answered with an error: {document.get('error') or document.get('errorType') or 'no reason'}"
    data = document.get("data") if isinstance(document, dict) else None
    kind = data.get("resultType") if isinstance(data, dict) else None
    if kind:
        return f"the answer is a {kind}, which names no series; ask for a metric"
    return "this is JSON, but no answer of Prometheus"


def _series(item: Any) -> Series | Broken:
    if not isinstance(item, dict) or not isinstance(item.get("metric"), dict):
        return Broken(_shown(item), "this is no series: it has no labels under `metric`")
    points = item["values"] if "values" in item else [item["value"]] if "value" in item else None
    if not isinstance(points, list):
        native = "histogram" in item or "histograms" in item
        reason = "native histograms are not read" if native else "the series has no `values`"
        return Broken(_shown(item), reason)
    return Series(item["metric"], points)


def _shown(item: Any) -> str:
    if isinstance(item, bytes):
        return item[:_SMALL].decode("utf-8", "replace")
    return json.dumps(item, ensure_ascii=False, default=str)


# --- anything else, event by event ----------------------------------------------------------------------------------


def _of_events(stream: IO[bytes]) -> Iterator[Found]:
    walk = _Walk()
    try:
        for prefix, event, value in ijson.parse(stream, use_float=True, buf_size=_BLOCK, multiple_values=True):
            yield from walk.step(prefix, event, value)
    except (ijson.JSONError, ValueError) as error:
        yield from walk.cut_off()
        cut = isinstance(error, ijson.IncompleteJSONError)
        reason = "the answer is cut off before its end" if cut else f"the rest of the file is not JSON ({error})"
        yield Broken("", f"{reason}; what follows is not read")
    if walk.errors or not walk.series:
        yield Broken(
            "", f"the server answered with an error: {walk.errors[0]}" if walk.errors else "no series is in it"
        )


def _inside(prefix: str) -> str | None:
    """Where in a series a prefix is, empty for the series itself; None when it is outside."""
    for series in (_SERIES, f"{_BARE}.{_SERIES}"):
        if prefix.startswith(series):
            return prefix[len(series) :]
    if prefix == _BARE or prefix.startswith(_BARE_PARTS):
        return prefix[len(_BARE) :]
    return None


class _Walk:
    """The series at work, from the events of a JSON parser."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.series = 0
        self._start()

    def _start(self) -> None:
        self.labels: dict[str, Any] | None = None
        self.points: list[Any] = []
        self.point: list[Any] | None = None
        self.key = ""
        self.handed = False
        self.other = False

    def step(self, prefix: str, event: str, value: Any) -> Iterator[Found]:
        """Take one event; give what it finished."""
        inner = _inside(prefix)
        if inner is None:
            if prefix in ("error", "item.error") and event == "string":
                self.errors.append(value)
        elif not inner:
            yield from self._edge(event, bare=prefix == _BARE)
        elif inner.startswith(".metric"):
            self._label(inner, event, value)
        elif inner.startswith((".values", ".value")):
            self._cell(inner, event, value)
            if len(self.points) >= _BATCH and self.labels is not None:
                yield self._hand_over()
        else:
            self.other = True

    def _edge(self, event: str, *, bare: bool) -> Iterator[Found]:
        if event == "start_map":
            self._start()
        elif event == "end_map" and not (bare and self.labels is None):
            self.series += 1
            if self.labels is None:
                yield Broken("", "this is no series: it has no labels under `metric`")
            elif self.points or not self.handed:
                yield (
                    self._hand_over()
                    if self.points or not self.other
                    else Broken(_shown(self.labels), "native histograms are not read")
                )
            self._start()

    def _label(self, inner: str, event: str, value: Any) -> None:
        if event == "start_map" and inner == ".metric":
            self.labels = {}
        elif event == "map_key":
            self.key = value
        elif self.labels is not None and event in ("string", "number"):
            self.labels[self.key] = value

    def _cell(self, inner: str, event: str, value: Any) -> None:
        if event == "start_array" and inner in (".values.item", ".value"):
            self.point = []
        elif event == "end_array" and self.point is not None:
            self.points.append(self.point)
            self.point = None
        elif self.point is not None:
            self.point.append(value)

    def _hand_over(self) -> Series:
        found = Series(dict(self.labels or {}), self.points, more=self.handed)
        self.points, self.handed = [], True
        return found

    def cut_off(self) -> Iterator[Found]:
        """What is whole of a series in which the file ends."""
        if self.labels and self.points:
            yield self._hand_over()
