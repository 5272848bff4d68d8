"""Observations of a Langfuse file, and what they say of a call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from unitcost.facts.calls import REPEATS_CHILDREN
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
_CACHED = ("cache_read", "cache_write", "cache_write_5m", "cache_write_1h")
_OBJECTS = ("usagedetails", "usage", "costdetails", "providedcostdetails", "metadata")
_CALLS = frozenset({"GENERATION", "EMBEDDING"})
_SUMS = frozenset({"AGENT", "CHAIN", "SPAN"})


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation: its members by their name in lower case and without underscores, and its counts."""

    members: Mapping[str, Any]
    counts: Mapping[str, str]
    total: str

    @property
    def id(self) -> str:
        """Which observation it is."""
        return cell(self.members.get("id"))

    @property
    def parent(self) -> str:
        """Which observation it is part of."""
        return cell(self.members.get("parentobservationid"))

    @property
    def is_call(self) -> bool:
        """Whether it calls a model, or states usage."""
        return self.usage is not None or cell(self.members.get("type")).upper() in _CALLS

    @property
    def sums(self) -> bool:
        """Whether its kind is to sum up what is below it."""
        return cell(self.members.get("type")).upper() in _SUMS

    @property
    def usage(self) -> tuple[int, int] | None:
        """All input and output, in whichever convention; None where none is stated."""
        if not self.counts:
            return None
        gross, beside, _ = self._conventions()
        whole = self._sum("input") + (0 if gross else self._cached() + self._sum("input_audio"))
        return whole, self._sum("output") + (self._beside() if beside else 0)

    @property
    def unclear(self) -> bool:
        """Whether its total is none of the sums of its details."""
        return not self._conventions()[2]

    def _sum(self, *names: str) -> int:
        texts = (self.counts.get(name, "") for name in names)
        return sum(int(text) for text in texts if text.isascii() and text.isdigit())

    def _cached(self) -> int:
        lived = self._sum("cache_write_5m", "cache_write_1h")
        return self._sum("cache_read") + max(self._sum("cache_write"), lived)

    def _beside(self) -> int:
        return self._sum("reasoning", "output_audio")

    def _conventions(self) -> tuple[bool, bool, bool]:
        """Whether input holds its details, whether output stands beside its own, and whether the total bears it out."""
        if not self.total.isdigit():
            return False, True, True
        whole, answer = self._sum("input"), self._sum("output")
        inside = self._cached() + self._sum("input_audio")
        for gross, beside in product((False, True), (True, False)):
            if int(self.total) == whole + answer + (0 if gross else inside) + (self._beside() if beside else 0):
                return gross, beside, True
        return False, True, False

    def cells(self, *, repeats: bool) -> list[str]:
        """Cells of its row; times and counts are checked when they are loaded."""
        gross, beside, _ = self._conventions()
        counts = dict(self.counts)
        # The ledger takes audio for a part of the whole, whichever way a source counts.
        if not gross and "input_audio" in counts:
            counts["input"] = str(self._sum("input", "input_audio"))
        if beside and "output_audio" in counts:
            counts["output"] = str(self._sum("output", "output_audio"))
        known = self.members
        return [
            self.id, self.parent, cell(known.get("starttime")), cell(known.get("endtime")),
            cell(known.get("model") or known.get("providedmodelname")), cell(known.get("userid")), self._status(),
            *self._costs(), *(counts.get(name, "") for name in COUNTED), "gross" if gross else "fresh",
            "beside-reasoning" if beside else "includes-reasoning", cell(known.get("traceid")), cell(known.get("name")),
            cell(known.get("environment")), cell(known.get("sessionid")), REPEATS_CHILDREN if repeats else "",
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
    members = {name.casefold().replace("_", ""): value for name, value in found.items()}
    for name in _OBJECTS:
        members[name] = _object(name, members.get(name))
    details = members["usagedetails"] or members["usage"]
    counts = {}
    for name, keys in _COUNTS.items():
        text = next((cell(details[key]) for key in keys if details.get(key) is not None), "")
        if text:
            counts[name] = text
    return Observation(members, counts, cell(details.get("total")))


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
