"""OpenAI's activity export: a csv of tokens and cost per day, project and model."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import SUM_OF_CALLS, TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls.currency import currency_of
from unitcost.readers.head import Head
from unitcost.readers.present import named, present
from unitcost.readers.reading import Reading

NAME = "openai-activity"
CONVENTIONS = (
    "A row is the sum of the calls of one day; `n_requests` says how many, where the file has it.",
    "n_context_tokens_total hold what was read from a cache (gross); n_cached_context_tokens_total say how much, where the "
    "file has it. n_generated_tokens_total hold what was reasoned.",
    "`amount` is what OpenAI says that it cost, 0 included. It is kept with the calls and is no charge: load the costs API, or "
    "a bill, for that.",
    "A day is a UTC day. `project` is the name of the project, else its id.",
)
DEFINING = ("model", "n_context_tokens_total", "n_generated_tokens_total")

_KNOWN = (
    *DEFINING, "date", "timestamp", "project_name", "project_id", "amount", "currency", "n_requests",
    "n_cached_context_tokens_total", "api_key_id", "api_key_name", "user", "usage_type",
)  # fmt: skip


def sniff(head: Head) -> int:
    """How many columns of the export the file has; 0 without those that define it."""
    return head.count(*_KNOWN) if head.has(*DEFINING) else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    day = m.fields("date", "timestamp")
    mapping = present(
        {
            "called_at": day,
            "ended_at": m.Time(day, shift_days=1),
            "requests": m.Field("n_requests"),
            "model": m.Field("model"),
            "key": m.fields("api_key_name", "api_key_id"),
            "caller": m.Field("user"),
            "input": m.Field("n_context_tokens_total"),
            "cache_read": m.Field("n_cached_context_tokens_total"),
            "output": m.Field("n_generated_tokens_total"),
            "reported_cost": m.Field("amount"),
            "reported_currency": m.Field("currency"),
            f"{TAG}project": m.fields("project_name", "project_id"),
            f"{TAG}usage": m.Field("usage_type"),
        },
        columns,
    )
    mapping |= {
        "provider": m.Const("openai"), "notes": m.Const(SUM_OF_CALLS), "input_convention": m.Const("gross"),
        "output_convention": m.Const("includes-reasoning"),
    }  # fmt: skip
    currency_of(mapping, options, "USD")
    return Reading(
        dialect="activity export", dataset="calls", mapping=mapping, conventions=CONVENTIONS,
        date_columns=named(columns, "date", "timestamp"),
    )  # fmt: skip
