"""Series and samples of the ledger, made of what a file holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import isfinite, isnan, nan
from operator import le
from typing import Any

from unitcost.readers.work.prometheus_answers import Broken, Series, Told
from unitcost.readers.work.prometheus_cards import FIRST_S, LAST_S, Cards, Point
from unitcost.readers.work.prometheus_kube import Kube
from unitcost.readers.work.prometheus_labels import card_of, identity, node_of, pod_of
from unitcost.readers.work.prometheus_metrics import KUBE, TOKENS_OR_BLOCKS, Metric, canonical, lookup
from unitcost.readers.work.sink import Sink

#: Numbers from here on cannot be summed exactly.
_TOO_LARGE = 1e30
#: Units of metrics that say how much of something is in use.
_SHARES = ("percent", "ratio")
#: The least of the numbers with which DCGM says that a value is not known (DCGM_INT32_BLANK of dcgm_structs.h).
_BLANK = 0x7FFFFFF0
#: More than any count, or time in seconds, that kube-state-metrics lists.
_MOST_LISTED = 1e11
#: Bad points of one series that are set aside one by one; the rest is counted.
_POINTS_NAMED = 20
_NAMES_SHOWN = 8
_NO_NAME = "the series names no metric (`__name__`): ask for a metric itself, as a sum or rate of it drops the name"

#: What is counted on the way -> how it is said.
_COUNTED = {
    "no number": "Samples that are NaN: {}. No value was known at that moment; they count as unknown, not as zero.",
    "without end": "Samples that are infinite: {}. They count as unknown.",
    "no share": "Samples of a share that are negative, or the mark with which DCGM says that it has no value: {}. They count as unknown.",
    "back in time": "Series whose samples go back in time: {}. They are put in order.",
    "twice": "Series that stand in several places with overlapping times: {}. Of each instant one sample counts.",
    "unit unknown": "Series of a prefix cache that may count tokens or blocks: {}. The help text of the metric would tell.",
}


class Taker:
    """Takes what a file holds, one series at a time, and puts it into the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._kube = Kube()
        self._keys: dict[bytes, int] = {}
        self._last_at: dict[int, float] = {}
        self._row = 0
        self._helps: dict[str, str] = {}
        self._cards = Cards()
        self._warnings: dict[str, None] = {}
        self._passed: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def take(self, found: Series | Broken | Told) -> None:
        """Take one finding of a file."""
        if isinstance(found, Told):
            self._hear(found)
        elif isinstance(found, Broken):
            self._sink.reject(self._sink.read(), found.reason, found.raw)
        else:
            if not found.more:
                self._row = self._sink.read()
            self._series(found)

    def wants(self, series: Series) -> bool:
        """Whether a series is of a metric that is read."""
        name = series.labels.get("__name__")
        return isinstance(name, str) and (name in KUBE or lookup(name) is not None)

    def _hear(self, told: Told) -> None:
        self._helps.update({canonical(name): text for name, text in told.helps.items() if lookup(name)})
        if told.step_s:
            self._kube.step_s = told.step_s
        self._warnings.update(dict.fromkeys(told.warnings))

    def _series(self, series: Series) -> None:
        name = series.labels.get("__name__")
        if not isinstance(name, str) or not name:
            self._sink.reject(self._row, _NO_NAME, _raw(series), column="__name__")
            return
        metric = lookup(name)
        if metric is None and name not in KUBE:
            self._passed[name] += not series.more
            return
        labels = {str(key): str(value) for key, value in series.labels.items()}
        points = self._points(series, metric)
        if metric is None:
            self._kube.take(name, labels, [point for point in points if point[1] < _MOST_LISTED], self._row)
        elif points or not series.points:
            self._sink.samples(self._row, self._key(name, metric, labels, points), points)

    # --- the series -----------------------------------------------------------------------------------------

    def _key(self, native: str, metric: Metric, labels: Mapping[str, str], points: list[Point]) -> int:
        known_by = identity(labels)
        digest = blake2b(json.dumps([native, known_by]).encode(), digest_size=16).digest()
        key = self._keys.get(digest)
        if key is None:
            key = self._keys[digest] = len(self._keys) + 1
            self._describe(key, native, metric, labels, known_by)
        if points:
            self._cards.see(card_of(labels), points)
            self._watch_order(key, points)
        return key

    def _describe(
        self, key: int, native: str, metric: Metric, labels: Mapping[str, str], known_by: dict[str, str]
    ) -> None:
        card, node, pod = card_of(labels), node_of(labels), pod_of(labels)
        self._sink.add(
            "series", self._row, series_key=key, metric=metric.name, native=native, kind=metric.kind,
            unit=self._unit(native, metric), resource_id=card, node=node, workload_id=pod, labels=known_by,
        )  # fmt: skip
        if card:
            self._cards.meet(card, node, labels, self._row)

    def _unit(self, native: str, metric: Metric) -> str:
        """Unit of the numbers; the help text decides whether a prefix cache counts in tokens or in blocks."""
        if not metric.name.startswith("prefix_cache_") or metric.kind != "counter":
            return metric.unit
        text = self._helps.get(canonical(native), "")
        for unit in ("blocks", "tokens"):
            if unit in text:
                return unit
        self._counts["unit unknown"] += metric.unit == TOKENS_OR_BLOCKS
        return metric.unit

    def _watch_order(self, key: int, points: list[Point]) -> None:
        """Count the series whose samples go back in time or stand in two places of the file."""
        times = [float(at) for at, _ in points]
        before = self._last_at.get(key)
        if not all(map(le, times, times[1:])):
            self._counts["back in time"] += 1
        elif before is not None and times[0] <= before:
            self._counts["twice"] += 1
        self._last_at[key] = max(times[-1], before if before is not None else times[-1])

    # --- the points -----------------------------------------------------------------------------------------

    def _points(self, series: Series, metric: Metric | None) -> list[Point]:
        """Points that can be kept; the others are set aside."""
        counter = metric is None or metric.kind != "gauge"
        share = metric is not None and metric.unit in _SHARES
        try:
            ats, raw = zip(*series.points, strict=True) if series.points else ((), ())
            times, values = list(map(float, ats)), list(map(float, raw))
        except (TypeError, ValueError):
            return self._each(series, counter=counter, share=share)
        points = list(zip(ats, values, strict=True))
        usual = not points or (
            min(times) >= FIRST_S and max(times) < LAST_S and min(values) >= (0 if counter or share else -_TOO_LARGE)
            and max(values) < (_BLANK if share else _TOO_LARGE) and all(map(isfinite, values)) and _are_numbers(raw)
        )  # fmt: skip
        return points if usual else self._each(series, counter=counter, share=share)

    def _each(self, series: Series, *, counter: bool, share: bool) -> list[Point]:
        kept: list[Point] = []
        bad = 0
        for point in series.points:
            try:
                kept.append(self._point(point, counter=counter, share=share))
            except (TypeError, ValueError) as error:
                bad += 1
                if bad <= _POINTS_NAMED:
                    self._sink.reject(self._row, str(error), _raw(series), column="values", value=_shown(point))
        if bad > _POINTS_NAMED:
            self._sink.reject(
                self._row, f"{bad - _POINTS_NAMED} more points of the series are set aside like these", _raw(series),
                column="values",
            )  # fmt: skip
        return kept

    def _point(self, point: Any, *, counter: bool, share: bool) -> Point:
        if not isinstance(point, list | tuple) or len(point) != 2:
            raise ValueError("a point is a time and a number")
        at, value = point[0], _number(point[1])
        if isinstance(at, bool) or not isinstance(at, int | float | str) or not FIRST_S <= float(at) < LAST_S:
            raise ValueError("the time is not seconds since 1970 between the years 1990 and 2200")
        if not isfinite(value):
            self._counts["no number" if isnan(value) else "without end"] += 1
            return at, value
        if share and not 0 <= value < _BLANK:
            self._counts["no share"] += 1
            return at, nan
        if counter and value < 0:
            raise ValueError("the number is negative, which a counter never is")
        if abs(value) >= _TOO_LARGE:
            raise ValueError("the number is too large")
        return at, value

    # --- the end --------------------------------------------------------------------------------------------

    def finish(self) -> list[str]:
        """Write what the whole file has told; returns what is to be said about it."""
        self._cards.write(self._sink)
        return [*self._kube.write(self._sink), *self._said()]

    def _said(self) -> list[str]:
        said = [words.format(self._counts[what]) for what, words in _COUNTED.items() if self._counts[what]]
        if self._passed:
            names = ", ".join(sorted(self._passed)[:_NAMES_SHOWN])
            more = f" and {len(self._passed) - _NAMES_SHOWN} more" if len(self._passed) > _NAMES_SHOWN else ""
            said.append(
                f"Series of metrics that are not read: {self._passed.total()}. They were passed over: {names}{more}."
            )  # fmt: skip
        return [*said, *(f"The server warned: {warning}" for warning in self._warnings)]


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether all values are written as numbers are; Python takes `true` and `1_0` for numbers too."""
    kinds = set(map(type, values))
    return kinds <= {int, float} or (kinds == {str} and "_" not in "".join(values))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or "_" in str(value):
        raise ValueError(f"{value!r} is not a number")
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None


def _raw(series: Series) -> str:
    return json.dumps(dict(series.labels), ensure_ascii=False, default=str)


def _shown(point: Any) -> str:
    return json.dumps(point, ensure_ascii=False, default=str)
