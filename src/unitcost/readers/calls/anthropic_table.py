"""Anthropic's usage as a csv: tokens per day, workspace and model."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import SUM_OF_CALLS, TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.present import named, present
from unitcost.readers.reading import Reading

NAME = "anthropic-csv"
CONVENTIONS = (
    "A row is the sum of the calls of one day; `request_count` says how many, where the file has it.",
    "Input tokens are fresh: what was read from and written to a cache stands beside them. Output tokens hold what was "
    "reasoned.",
    "cache_creation_input_tokens do not say for how long a cache was written; the columns of 5 minutes and of 1 hour do.",
    "A day is a UTC day. `workspace` and `context_window` are tags; the usage type batch is a variant.",
)
DEFINING = ("date", "model", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")

#: What is stated -> columns that say it: those of the simple table, then those of the console's export.
_COLUMNS = {
    "called_at": ("date", "usage_date_utc"),
    "model": ("model", "model_version"),
    "input": ("input_tokens", "usage_input_tokens_no_cache"),
    "cache_read": ("cache_read_input_tokens", "usage_input_tokens_cache_read"),
    "cache_write": ("cache_creation_input_tokens",),
    "cache_write_5m": ("usage_input_tokens_cache_write_5m",),
    "cache_write_1h": ("usage_input_tokens_cache_write_1h",),
    "output": ("output_tokens", "usage_output_tokens"),
    "requests": ("request_count",),
    "web_searches": ("web_search_count",),
    "key": ("api_key", "api_key_id"),
    f"{TAG}workspace": ("workspace", "workspace_id"),
    f"{TAG}context_window": ("context_window",),
}
_CONSOLE = ("usage_date_utc", "model_version", "usage_input_tokens_no_cache", "usage_output_tokens")


def sniff(head: Head) -> int:
    """How many columns of the table the file has; 0 without those that define one of its forms."""
    if not head.has(*DEFINING) and not head.has(*_CONSOLE):
        return 0
    return head.count(*(column for columns in _COLUMNS.values() for column in columns), "usage_type") + 1


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    mapping = present({target: m.fields(*names) for target, names in _COLUMNS.items()}, columns)
    batch = m.Equals(m.Field("usage_type"), ("batch", "message_batch"))
    mapping |= {
        "ended_at": m.Time(m.fields(*_COLUMNS["called_at"]), shift_days=1),
        "provider": m.Const("anthropic"),
        "variant": m.Choose(((batch, m.Const("batch")),), m.Const("")),
        "input_convention": m.Const("fresh"),
        "output_convention": m.Const("includes-reasoning"),
        "notes": m.Const(SUM_OF_CALLS),
    }
    return Reading(
        dialect="usage csv",
        dataset="calls",
        mapping=mapping,
        conventions=CONVENTIONS,
        date_columns=named(columns, *_COLUMNS["called_at"]),
    )
