"""Anthropic's usage report: sums of tokens per time bucket, from the admin API or as a csv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import SUM_OF_CALLS, TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import answers
from unitcost.readers.calls.answers import cell, count, member
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row

NAME = "anthropic-usage"
CONVENTIONS = (
    "A row is the sum of the calls in a time bucket, by whatever the report was grouped by. How many calls these are is not "
    "told.",
    "uncached_input_tokens are fresh: what was read from and written to a cache stands beside them. output_tokens hold "
    "what was reasoned; how much of it was reasoned is not told.",
    "What was written for 5 minutes and for 1 hour is told apart (cache_creation). Web searches are counted.",
    "The service tiers batch, flex and priority are variants (priority_on_demand and flex_discount too). `context_window` and "
    "`workspace` are tags, `inference_geo` is the region. Times are UTC.",
    "Several answers may stand in one file, in a list or line by line.",
)
DEFINING = ("starting_at", "results", "uncached_input_tokens", "cache_read_input_tokens", "output_tokens")
UNFOLDED: tuple[Format, ...] = ("document",)
_COUNTED = {
    "input": ("uncached_input_tokens",),
    "cache_read": ("cache_read_input_tokens",),
    "cache_write_5m": ("cache_creation", "ephemeral_5m_input_tokens"),
    "cache_write_1h": ("cache_creation", "ephemeral_1h_input_tokens"),
    "output": ("output_tokens",),
    "web_searches": ("server_tool_use", "web_search_requests"),
}
_NAMED = ("model", "api_key_id", "account_id", "workspace_id", "context_window")
COLUMNS = ("starting_at", "ending_at", *_NAMED, "inference_geo", "variant", *_COUNTED)
_TIERS = {
    "batch": "batch", "flex": "flex", "flex_discount": "flex", "priority": "priority", "priority_on_demand": "priority",
}  # fmt: skip


def sniff(head: Head) -> int:
    """How sure: a document whose results count uncached input."""
    counts = head.format == "document" and b'"uncached_input_tokens"' in head.data
    return 10 if counts and b'"cost_type"' not in head.data else 0


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the answer; see `Unfolding`."""
    return answers.rows_of(source, progress, said, _row)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    return Reading(
        dialect="usage report",
        dataset="calls",
        mapping={
            **{name: m.Field(name) for name in ("model", "variant", *_COUNTED)},
            "called_at": m.Field("starting_at"),
            "ended_at": m.Field("ending_at"),
            "provider": m.Const("anthropic"),
            "region": m.Field("inference_geo"),
            "key": m.Field("api_key_id"),
            "caller": m.Field("account_id"),
            "input_convention": m.Const("fresh"),
            "output_convention": m.Const("includes-reasoning"),
            "notes": m.Const(SUM_OF_CALLS),
            f"{TAG}workspace": m.Field("workspace_id"),
            f"{TAG}context_window": m.Field("context_window"),
        },
        conventions=CONVENTIONS,
        date_columns=("starting_at", "ending_at"),
    )


def _row(result: answers.Result) -> list[str]:
    bucket, found = result
    for path in _COUNTED.values():
        count(found, *path)
    place = cell(found.get("inference_geo"))
    return [
        cell(bucket.get("starting_at")), cell(bucket.get("ending_at")), *(cell(found.get(name)) for name in _NAMED),
        "" if place == "not_available" else place, _TIERS.get(cell(found.get("service_tier")), ""),
        *(cell(member(found, *path)) for path in _COUNTED.values()),
    ]  # fmt: skip
