"""Observations of a Langfuse file, and what they say of a call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from unitcost.readers import json_rows, tables
from unitcost.readers.calls.answers import cell, pages
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress
from unitcost.readers.tables import RAW_LIMIT, Broken

#: What is counted -> keys of the usage details that say it.
_COUNTS: dict[str, tuple[str, ...]] = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "cache_read": ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cache_read", "cached_tokens"),
    "cache_write": ("cache_creation_input_tokens", "input_cache_creation", "input_cache_write_tokens", "cache_write"),
    "cache_write_5m": ("input_cache_creation_5m", "ephemeral_5m_input_tokens"),
    "cache_write_1h": ("input_cache_creation_1h", "ephemeral_1h_input_tokens"),
    "input_audio": ("input_audio_tokens", "input_audio"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "reasoning": ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens"),
    "output_audio": ("output_audio_tokens", "output_audio"),
}
COUNTED = tuple(_COUNTS)
#: Key of the usage details -> what it counts, and its place among the keys that count that.
_SLOTS = {key: (name, place) for name, keys in _COUNTS.items() for place, key in enumerate(keys)}
_LAST = max(map(len, _COUNTS.values()))
_OBJECTS = ("usagedetails", "usage", "costdetails", "providedcostdetails", "metadata")
_CALLS = frozenset({"GENERATION", "EMBEDDING"})
_SUMS = frozenset({"AGENT", "CHAIN", "SPAN"})
#: Whether input holds its details and output stands beside its own, the usual way first.
_WAYS = tuple(product((False, True), (True, False)))


@dataclass(frozen=True, slots=True)
class _Convention:
    """Whether input holds its details, whether output stands beside its own, and whether the total bears it out."""

    gross: bool = False
    beside: bool = True
    clear: bool = True


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation: its members by their name in lower case and without underscores, and its counts."""

    members: Mapping[str, Any]
    counts: Mapping[str, str]
    sizes: Mapping[str, int]
    convention: _Convention

    @property
    def key(self) -> str:
        """Which observation it is."""
        return cell(self.members.get("id"))

    @property
    def parent_key(self) -> str:
        """Which observation it is part of."""
        return cell(self.members.get("parentobservationid"))

    @property
    def is_call(self) -> bool:
        """Whether it calls a model, or states usage."""
        return bool(self.counts) or cell(self.members.get("type")).upper() in _CALLS

    @property
    def sums(self) -> bool:
        """Whether its kind is to sum up what is below it."""
        return cell(self.members.get("type")).upper() in _SUMS

    @property
    def usage(self) -> tuple[int, int] | None:
        """All input and output, in whichever convention; None where none is stated."""
        if not self.counts:
            return None
        whole, answer = self.sizes.get("input", 0), self.sizes.get("output", 0)
        return (
            whole + (0 if self.convention.gross else _inside(self.sizes)),
            answer + (_beside(self.sizes) if self.convention.beside else 0),
        )

    def cells(self) -> list[str]:
        """Cells of its row; times and counts are checked when they are loaded."""
        gross, beside = self.convention.gross, self.convention.beside
        counts, sizes = self.counts, self.sizes
        # The ledger takes audio for a part of the whole, whichever way a source counts.
        if not gross and "input_audio" in counts:
            counts = {**counts, "input": str(sizes.get("input", 0) + sizes.get("input_audio", 0))}
        if beside and "output_audio" in counts:
            counts = {**counts, "output": str(sizes.get("output", 0) + sizes.get("output_audio", 0))}
        known = self.members.get
        return [
            self.key, self.parent_key, cell(known("starttime")), cell(known("endtime")),
            cell(known("model") or known("providedmodelname")), cell(known("userid")), self._status(),
            *self._costs(), *(counts.get(name, "") for name in COUNTED), "gross" if gross else "fresh",
            "beside-reasoning" if beside else "includes-reasoning", cell(known("traceid")), cell(known("name")),
            cell(known("environment")), cell(known("sessionid")), "",
        ]  # fmt: skip

    def _status(self) -> str:
        if cell(self.members["metadata"].get("cache_hit")).casefold() == "true":
            return "cached"
        return "failed" if cell(self.members.get("level")).upper() == "ERROR" else "ok"

    def _costs(self) -> tuple[str, str]:
        """What was reported, and what was estimated."""
        given = cell(self.members["providedcostdetails"].get("total"))
        total = self.members["costdetails"].get("total")
        worked_out = (total, self.members.get("calculatedtotalcost"), self.members.get("totalcost"))
        estimate = next((cell(value) for value in worked_out if cell(value)), "")
        return ("0" if self._status() == "cached" and not given else given), estimate


def _inside(sizes: Mapping[str, int]) -> int:
    """Details of the input."""
    lived = sizes.get("cache_write_5m", 0) + sizes.get("cache_write_1h", 0)
    return sizes.get("cache_read", 0) + max(sizes.get("cache_write", 0), lived) + sizes.get("input_audio", 0)


def _beside(sizes: Mapping[str, int]) -> int:
    """Details of the output."""
    return sizes.get("reasoning", 0) + sizes.get("output_audio", 0)


def _convention(sizes: Mapping[str, int], total: str) -> _Convention:
    if not total.isdigit():
        return _Convention()
    stated = sizes.get("input", 0) + sizes.get("output", 0)
    inside, more = _inside(sizes), _beside(sizes)
    for gross, beside in _WAYS:
        if int(total) == stated + (0 if gross else inside) + (more if beside else 0):
            return _Convention(gross, beside)
    return _Convention(clear=False)


@dataclass(slots=True)
class Unclear:
    """Counts the calls whose total is none of the sums of their details."""

    count: int = 0

    def counted(self, found: Iterable[Observation | Broken]) -> Iterator[Observation | Broken]:
        """The same, counted on the way."""
        for one in found:
            self.count += not isinstance(one, Broken) and one.is_call and not one.convention.clear
            yield one


def observations(source: Source, progress: Progress | None) -> Iterator[Observation | Broken]:
    """Observations of a file in order, a `Broken` for what is none."""
    for found in _of_table(source, progress) if source.format == "csv" else _of_json(source, progress):
        if isinstance(found, Broken):
            yield found
            continue
        try:
            yield _observation(found)
        except ValueError as error:
            yield Broken(json_rows.written(found)[:RAW_LIMIT], str(error))


def _of_table(source: Source, progress: Progress | None) -> Iterator[dict[str, Any] | Broken]:
    for row in tables.rows(source, progress):
        if isinstance(row, Broken):
            yield row
        elif len(row) != len(source.columns):
            reason = f"has {len(row)} cells where the header has {len(source.columns)}"
            yield Broken(json.dumps(row, ensure_ascii=False)[:RAW_LIMIT], reason)
        else:
            yield dict(zip(source.columns, row, strict=True))


def _of_json(source: Source, progress: Progress | None) -> Iterator[dict[str, Any] | Broken]:
    for page in pages(source, progress):
        if isinstance(page, Broken):
            yield page
            continue
        data = page.get("data") if isinstance(page, dict) else None
        for found in data if isinstance(data, list) else [page]:
            if isinstance(found, dict):
                yield found
            else:
                yield Broken(json_rows.written(found)[:RAW_LIMIT], "this is no observation")


def _observation(found: dict[str, Any]) -> Observation:
    members = {_plain(name): value for name, value in found.items()}
    for name in _OBJECTS:
        value = members.get(name)
        members[name] = value if type(value) is dict else _object(name, value)
    details = members["usagedetails"] or members["usage"]
    counts: dict[str, str] = {}
    places: dict[str, int] = {}
    for key, value in details.items():
        slot = _SLOTS.get(key)
        if slot is not None and value is not None and slot[1] < places.get(slot[0], _LAST):
            counts[slot[0]], places[slot[0]] = cell(value), slot[1]
    counts = {name: text for name, text in counts.items() if text}
    sizes = {name: int(text) for name, text in counts.items() if text.isascii() and text.isdigit()}
    return Observation(members, counts, sizes, _convention(sizes, cell(details.get("total"))))


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return name.casefold().replace("_", "")


def _object(name: str, value: Any) -> Mapping[str, Any]:
    """Members of an object, or of one that is written as text; none where there is no value.

    Raises
    ------
    ValueError
        When it is something else, but for metadata, which may be anything.
    """
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            value = [] if name != "metadata" else None
    if not value and value != []:
        return {}
    if isinstance(value, dict):
        return value
    if name == "metadata":
        return {}
    raise ValueError(f"{name} is not a JSON object")
