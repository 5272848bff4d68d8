"""OpenAI's usage API: sums of tokens and requests per time bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unitcost.facts import mapping as m
from unitcost.facts.calls import SUM_OF_CALLS, TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import answers
from unitcost.readers.calls.answers import cell, count
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row

NAME = "openai-usage"
CONVENTIONS = (
    "A row is the sum of num_model_requests calls in a time bucket, by whatever the answer was grouped by.",
    "input_tokens hold what was read from and written to a cache (gross), output_tokens what was reasoned; how much of "
    "it was reasoned is not told.",
    "An answer that breaks its input down (input_text_tokens, input_uncached_tokens) counts audio and images inside of "
    "input_tokens and output_tokens, and leaves out of their breakdown what a cache had. An older one counts text there, and "
    "audio beside it.",
    "Times are UTC. `batch` is a variant, and so are the service tiers flex and priority. `project` is the id of the project.",
    "Several answers may stand in one file, in a list or line by line. Other usage (embeddings, images, audio ...) has the "
    "tag `usage`; what is not counted in tokens stays without them.",
)
DEFINING = ("object", "data", "results", "num_model_requests")
UNFOLDED: tuple[Format, ...] = ("document",)
COLUMNS = (
    "usage", "start_time", "end_time", "model", "project_id", "user_id", "api_key_id", "variant", "num_model_requests",
    "input", "cache_read", "cache_write", "input_audio", "cache_read_audio", "input_image", "cache_read_image", "output",
    "output_audio", "output_image",
)  # fmt: skip

_COUNTED = COLUMNS[COLUMNS.index("input") :]
_OBJECT = "organization.usage."
_TIERS = {"flex": "flex", "priority": "priority", "batch": "batch"}


def sniff(head: Head) -> int:
    """How sure: a document whose results call themselves usage of an organization."""
    return 10 if f'"{_OBJECT}'.encode() in head.data else 0


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the answer; see `Unfolding`."""
    return answers.rows_of(source, progress, said, _row)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    return Reading(
        dialect="usage API",
        dataset="calls",
        mapping={
            **{name: m.Field(name) for name in ("model", "variant", *_COUNTED)},
            "called_at": m.Field("start_time"),
            "ended_at": m.Field("end_time"),
            "requests": m.Field("num_model_requests"),
            "provider": m.Const("openai"),
            "key": m.Field("api_key_id"),
            "caller": m.Field("user_id"),
            "input_convention": m.Const("gross"),
            "output_convention": m.Const("includes-reasoning"),
            "notes": m.Const(SUM_OF_CALLS),
            f"{TAG}project": m.Field("project_id"),
            f"{TAG}usage": m.Field("usage"),
        },
        conventions=CONVENTIONS,
    )


def _row(result: answers.Result) -> list[str]:
    bucket, found = result
    return [
        cell(found.get("object")).removeprefix(_OBJECT).removesuffix(".result"),
        answers.since_epoch(bucket.get("start_time")), answers.since_epoch(bucket.get("end_time")),
        *(cell(found.get(name)) for name in ("model", "project_id", "user_id", "api_key_id")), _variant(found),
        cell(found.get("num_model_requests")), *(cell(value) for value in _tokens(found)),
    ]  # fmt: skip


def _variant(found: Mapping[str, Any]) -> str:
    if found.get("batch") is True:
        return "batch"
    return _TIERS.get(cell(found.get("service_tier")).casefold(), "")


def _tokens(found: Mapping[str, Any]) -> list[int | None]:
    """Counts in the order of their columns: `input` and `output` hold all."""
    whole, answer = count(found, "input_tokens"), count(found, "output_tokens")
    audio, said = count(found, "input_audio_tokens"), count(found, "output_audio_tokens")
    if not any(name in found for name in ("input_text_tokens", "input_uncached_tokens")):
        whole, answer = _with(whole, audio), _with(answer, said)
    return [
        whole, count(found, "input_cached_tokens"), count(found, "input_cache_write_tokens"), audio,
        count(found, "input_cached_audio_tokens"), count(found, "input_image_tokens"),
        count(found, "input_cached_image_tokens"), answer, said, count(found, "output_image_tokens"),
    ]  # fmt: skip


def _with(text: int | None, audio: int | None) -> int | None:
    return text if audio is None else (text or 0) + audio
