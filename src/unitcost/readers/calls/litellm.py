"""Spend logs of the LiteLLM proxy: rows of its table, or answers of `/spend/logs`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from unitcost.facts import mapping as m
from unitcost.facts.calls import TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import answers
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import RAW_LIMIT, Broken, Row

NAME = "litellm"
CONVENTIONS = (
    "prompt_tokens hold what was read from and written to a cache, for every provider (gross); a row whose cache is larger "
    "than them is refused. completion_tokens hold what was reasoned.",
    "Cache, audio, images and reasoning come from `metadata`: from usage_object, else from additional_usage_values. A row "
    "without them does not say what a cache did; that is not 0.",
    "How long a cache was written for comes from cache_creation_token_details; where it is missing, it is not known.",
    "spend is what LiteLLM works out from its own price list, so it is an estimate; an answer of the proxy's own cache "
    "(cache_hit) cost 0, which is measured. An estimate of 0 may mean that LiteLLM knew no price.",
    "A row whose status is failure is a failed call. Each try has a row of its own.",
    "`api_key` is a hash, and the name of the key stands beside it where it has one. Costs are in USD, times in UTC.",
    "The tag `team` is the team's name, else its id; `end_user`, `organization`, `model_group`, `call_type` and "
    "`request_tags` are tags too.",
)
DEFINING = ("request_id", "spend", "prompt_tokens", "completion_tokens", "startTime")
UNFOLDED: tuple[Format, ...] = ("document",)

_KNOWN = (
    *DEFINING, "call_type", "api_key", "total_tokens", "endTime", "completionStartTime", "model", "model_id",
    "model_group", "custom_llm_provider", "api_base", "user", "metadata", "cache_hit", "cache_key", "request_tags",
    "team_id", "end_user", "status", "organization_id", "session_id",
)  # fmt: skip
#: Columns of rows from JSON: those that are read.
COLUMNS = tuple(name for name in _KNOWN if name not in (
    "total_tokens", "completionStartTime", "model_id", "api_base", "cache_key",
))  # fmt: skip
_written = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
_METADATA = m.Field("metadata")
_USAGES = ("/usage_object", "/additional_usage_values")
#: Members of the metadata that are read.
_LOOKED_AT = ("user_api_key_alias", "user_api_key_team_alias", "status", *(name.strip("/") for name in _USAGES))
_WRITTEN = "/prompt_tokens_details/cache_creation_token_details"
#: What is stated -> members of a usage that say it, the surest first.
_MEMBERS: dict[str, tuple[str, ...]] = {
    "cache_read": ("/prompt_tokens_details/cached_tokens", "/cache_read_input_tokens"),
    "cache_write": ("/prompt_tokens_details/cache_creation_tokens", "/cache_creation_input_tokens"),
    "cache_write_5m": (f"{_WRITTEN}/ephemeral_5m_input_tokens",),
    "cache_write_1h": (f"{_WRITTEN}/ephemeral_1h_input_tokens",),
    "input_audio": ("/prompt_tokens_details/audio_tokens",),
    "input_image": ("/prompt_tokens_details/image_tokens",),
    "reasoning": ("/completion_tokens_details/reasoning_tokens",),
    "output_audio": ("/completion_tokens_details/audio_tokens",),
    "output_image": ("/completion_tokens_details/image_tokens",),
    "web_searches": ("/server_tool_use/web_search_requests", "/prompt_tokens_details/web_search_requests"),
}
_TAGS = {
    "end_user": ("end_user",), "organization": ("organization_id",), "model_group": ("model_group",),
    "call_type": ("call_type",), "request_tags": ("request_tags",),
}  # fmt: skip


def sniff(head: Head) -> int:
    """How many columns of the table the file has; 0 without those that define it."""
    if head.format == "document":
        return len(DEFINING) if all(f'"{name}"'.encode() in head.data for name in DEFINING) else 0
    return head.count(*_KNOWN) if head.has(*DEFINING) else 0


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of JSON, as a list, line by line or as pages of an answer; see `Unfolding`."""
    for page in answers.pages(source, progress):
        data = page.get("data") if isinstance(page, dict) else None
        for found in data if isinstance(data, list) else [page]:
            if isinstance(found, dict):
                yield _cells(found)
            else:
                yield found if isinstance(found, Broken) else Broken(str(found)[:RAW_LIMIT], "this is no row of a log")


def _cells(found: dict[str, Any]) -> list[str]:
    """Cells of a row; of the metadata only what is read is kept, for the rest is most of a log."""
    metadata = found.get("metadata")
    if type(metadata) is dict:
        found["metadata"] = {name: metadata[name] for name in _LOOKED_AT if name in metadata}
    values = [found.get(name, "") for name in COLUMNS]
    return [value if isinstance(value, str) else _cell(value) for value in values]


def _cell(value: Any) -> str:
    """Text of a member. Objects are looked into as text alone, so their numbers, kept as written, may be quoted."""
    return _written(value) if isinstance(value, dict | list) else answers.cell(value)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of the table mean; see `Reader`."""
    return Reading(
        dialect="spend logs",
        dataset="calls",
        mapping={**_call(), **_tokens(), **_labels()},
        conventions=CONVENTIONS,
        date_columns=tuple(c for c in columns if c.casefold() in ("starttime", "endtime")),
        nulls=("None", "null", "NULL"),
    )


def _call() -> m.Mapping:
    spend, cached = m.Field("spend"), m.Equals(m.Field("cache_hit"), ("true", "t", "1"))
    failed = m.Any((m.Equals(m.Field("status"), ("failure",)), m.Equals(m.Member(_METADATA, "/status"), ("failure",))))
    return {
        "call_id": m.Field("request_id"),
        "parent_id": m.Field("session_id"),
        "called_at": m.Field("startTime"),
        "ended_at": m.Field("endTime"),
        "requests": m.Const("1"),
        "provider": m.Field("custom_llm_provider"),
        "model": m.First((m.Field("model"), m.Field("model_group"))),
        "key": m.First((m.Member(_METADATA, "/user_api_key_alias"), m.Field("api_key"))),
        "caller": m.Field("user"),
        "variant": _variant(),
        "status": m.Choose(((cached, m.Const("cached")), (failed, m.Const("failed"))), m.Const("ok")),
        "reported_cost": spend,
        "cost_basis": m.Choose(((cached, m.Const("measured")),), m.Const("estimated")),
        "reported_currency": m.Const("USD"),
        "input_convention": m.Const("gross"),
        "output_convention": m.Const("includes-reasoning"),
    }


def _variant() -> m.Expr:
    batch = m.Matches(m.Field("call_type"), "*batch*")
    tier = m.First(tuple(m.Member(_METADATA, f"{usage}/service_tier") for usage in _USAGES))
    words = [(m.Equals(tier, (word,)), m.Const(word)) for word in ("batch", "flex", "priority")]
    return m.Choose(((batch, m.Const("batch")), *words), m.Const(""))


def _tokens() -> m.Mapping:
    found: m.Mapping = {"input": m.Field("prompt_tokens"), "output": m.Field("completion_tokens")}
    for name, members in _MEMBERS.items():
        found[name] = m.First(tuple(m.Member(_METADATA, usage + member) for usage in _USAGES for member in members))
    return found


def _labels() -> m.Mapping:
    tags = {f"{TAG}{key}": m.fields(*columns) for key, columns in _TAGS.items()}
    team = m.First((m.Member(_METADATA, "/user_api_key_team_alias"), m.Field("team_id")))
    return {f"{TAG}team": team, **tags}
