"""Spans of an OTLP JSON file, and what those of generative AI say of a call."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from unitcost.readers import json_rows
from unitcost.readers.calls.answers import cell, pages
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress
from unitcost.readers.tables import RAW_LIMIT, Broken
from unitcost.units import NANOSECONDS_PER_MICROSECOND

_USAGE = "gen_ai.usage."
#: What is counted -> names of attributes that say it, the newest first.
_COUNTS: dict[str, tuple[str, ...]] = {
    "input": (f"{_USAGE}input_tokens", f"{_USAGE}prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt"),
    "cache_read": (
        f"{_USAGE}cache_read.input_tokens", f"{_USAGE}cache_read_input_tokens", f"{_USAGE}input_tokens.cached",
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache_write": (
        f"{_USAGE}cache_creation.input_tokens", f"{_USAGE}cache_creation_input_tokens",
        f"{_USAGE}cache_write.input_tokens", f"{_USAGE}cache_write_input_tokens", f"{_USAGE}input_tokens.cache_write",
        "llm.token_count.prompt_details.cache_write",
    ),
    "output": (
        f"{_USAGE}output_tokens", f"{_USAGE}completion_tokens", "llm.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "reasoning": (
        f"{_USAGE}reasoning.output_tokens", f"{_USAGE}reasoning_tokens", f"{_USAGE}output_tokens.reasoning",
        "llm.token_count.completion_details.reasoning",
    ),
}  # fmt: skip
COUNTED = tuple(_COUNTS)
#: What is told -> names of attributes that tell it, the newest first.
_TOLD: dict[str, tuple[str, ...]] = {
    **_COUNTS,
    "total": (f"{_USAGE}total_tokens", "llm.usage.total_tokens", "llm.token_count.total"),
    "provider": ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
    "model": ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.request.model"),
    "tier": (
        "openai.response.service_tier", "gen_ai.openai.response.service_tier", "openai.request.service_tier",
        "gen_ai.openai.request.service_tier",
    ),
    "caller": ("user.id", "enduser.id"),
    "operation": ("gen_ai.operation.name", "llm.request.type", "openinference.span.kind"),
    "response": ("gen_ai.response.id",),
    "cost": (f"{_USAGE}cost",),
    "agent": ("gen_ai.agent.name",),
    "conversation": ("gen_ai.conversation.id",),
    "error": ("error.type",),
    "service": ("service.name",),
}  # fmt: skip
#: Name of an attribute -> what it tells, and its place among those that tell that.
_SLOTS = {name: (told, place) for told, names in _TOLD.items() for place, name in enumerate(names)}
_LAST = max(map(len, _TOLD.values()))
#: Operations that call a model themselves.
_CALLS = frozenset({"chat", "text_completion", "completion", "generate_content", "embeddings", "embedding", "llm"})
#: Operations that sum up what is below them.
_SUMS = frozenset({"invoke_agent", "create_agent", "invoke_workflow", "agent", "chain", "workflow"})
_VARIANTS = frozenset({"batch", "flex", "priority"})
_ERRORS = frozenset({"2", "STATUS_CODE_ERROR"})
_BROKEN_OFF = ("cancel", "abort", "disconnect")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")


@dataclass(frozen=True, slots=True)
class Span:
    """A span, with what its attributes tell as text and the service that it ran in."""

    raw: Mapping[str, Any]
    told: Mapping[str, str]
    service: str

    @property
    def key(self) -> Hashable:
        """Which span it is, among all of the file."""
        return hash((cell(self.raw.get("traceId")), cell(self.raw.get("spanId"))))

    @property
    def parent_key(self) -> Hashable:
        """Which span it is part of."""
        return hash((cell(self.raw.get("traceId")), cell(self.raw.get("parentSpanId"))))

    @property
    def operation(self) -> str:
        """What it does, in lower case."""
        return self.told.get("operation", "").casefold()

    @property
    def is_call(self) -> bool:
        """Whether it calls a model, or states usage."""
        return "input" in self.told or "output" in self.told or self.operation in _CALLS

    @property
    def sums(self) -> bool:
        """Whether its kind is to sum up what is below it."""
        return self.operation in _SUMS

    @property
    def usage(self) -> tuple[int, int] | None:
        """All input and output; None where none is stated as a count."""
        if "input" not in self.told and "output" not in self.told:
            return None
        return self._count("input") + (self._cached() if self.counts_fresh else 0), self._count("output")

    @property
    def counts_fresh(self) -> bool:
        """Whether its total shows that the cache stands beside the input, against the convention."""
        total, cached = self.told.get("total", ""), self._cached()
        return cached > 0 and total.isdigit() and int(total) == self._count("input") + self._count("output") + cached

    def _count(self, name: str) -> int:
        text = self.told.get(name, "")
        return int(text) if text.isascii() and text.isdigit() else 0

    def _cached(self) -> int:
        return self._count("cache_read") + self._count("cache_write")

    def cells(self) -> list[str]:
        """Cells of its row; times and counts are checked when they are loaded."""
        told, raw = self.told.get, self.raw.get
        tier = told("tier", "").casefold()
        trace, span, parent = cell(raw("traceId")), cell(raw("spanId")), cell(raw("parentSpanId"))
        return [
            told("response") or ":".join(filter(None, (trace, span))), span, parent, _moment(raw("startTimeUnixNano")),
            _moment(raw("endTimeUnixNano")), told("provider", ""), told("model", ""), tier if tier in _VARIANTS else "",
            self._status(), told("caller", ""), told("cost", ""), *(told(name, "") for name in COUNTED), self.service,
            told("agent", ""), told("conversation", ""), self.operation, "", "fresh" if self.counts_fresh else "gross",
        ]  # fmt: skip

    def _status(self) -> str:
        status = self.raw.get("status")
        code = cell(status.get("code")) if isinstance(status, dict) else ""
        error = self.told.get("error", "")
        if not error and code not in _ERRORS:
            return "ok"
        said = f"{error} {cell(status.get('message')) if isinstance(status, dict) else ''}".casefold()
        return "aborted" if any(word in said for word in _BROKEN_OFF) else "failed"


def spans(source: Source, progress: Progress | None) -> Iterator[Span | Broken]:
    """Spans of a file in order, a `Broken` for what is none."""
    for document in pages(source, progress):
        if isinstance(document, Broken):
            yield document
        elif not isinstance(document, dict) or not isinstance(document.get("resourceSpans"), list):
            yield Broken(json_rows.written(document)[:RAW_LIMIT], "this is no list of resource spans")
        else:
            for resource in document["resourceSpans"]:
                yield from _of_resource(resource)


def _of_resource(resource: Any) -> Iterator[Span | Broken]:
    scopes = resource.get("scopeSpans") if isinstance(resource, dict) else None
    if not isinstance(scopes, list):
        yield Broken(json_rows.written(resource)[:RAW_LIMIT], "these are no scope spans of a resource")
        return
    service = _told(resource.get("resource")).get("service", "")
    for scope in scopes:
        found = scope.get("spans") if isinstance(scope, dict) else None
        for span in found if isinstance(found, list) else [found]:
            if isinstance(span, dict):
                yield Span(span, _told(span), service)
            else:
                yield Broken(json_rows.written(span)[:RAW_LIMIT], "this is no span")


def _told(holder: Any) -> dict[str, str]:
    """What attributes tell that are text, a number or a truth, as text."""
    listed = holder.get("attributes") if isinstance(holder, dict) else None
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    for attribute in listed if isinstance(listed, list) else ():
        name = attribute.get("key") if isinstance(attribute, dict) else None
        slot = _SLOTS.get(name) if isinstance(name, str) else None
        if slot is None or slot[1] >= places.get(slot[0], _LAST):
            continue
        text = _text(attribute.get("value"))
        if text:
            found[slot[0]], places[slot[0]] = text, slot[1]
    return found


def _text(value: Any) -> str:
    if isinstance(value, dict):
        for kind in _VALUES:
            if kind in value:
                return cell(value[kind])
    return ""


def _moment(nanoseconds: Any) -> str:
    """Moment of nanoseconds since 1970 as ISO text; what is none is left as it is, to be refused by name."""
    text = cell(nanoseconds)
    if not text.isascii() or not text.isdigit() or text == "0":
        return "" if text == "0" else text
    try:
        return (_EPOCH + timedelta(microseconds=int(text) // NANOSECONDS_PER_MICROSECOND)).isoformat(" ")
    except OverflowError:
        return text
