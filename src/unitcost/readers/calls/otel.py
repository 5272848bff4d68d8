"""OpenTelemetry spans of generative AI: OTLP as JSON, one document or one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import otel_spans
from unitcost.readers.calls.families import rows_of_calls
from unitcost.readers.calls.otel_spans import COUNTED
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row

NAME = "otel-genai"
CONVENTIONS = (
    "gen_ai.usage.input_tokens hold what was read from and written to a cache, as the convention asks for (gross); a span "
    "whose cache is larger than its input is refused: its instrumentation counts fresh input. Output holds what was "
    "reasoned.",
    "Where the total of a span shows that the cache stands beside its input, it is read so.",
    "Older names are read too: prompt_tokens and completion_tokens, cache_read_input_tokens, llm.usage.*, and "
    "llm.token_count.* of OpenInference.",
    "For how long a cache was written is not told.",
    "The model is that of the response, else that which was asked for. The id of the response names the call, so that the same "
    "call in the log of a gateway counts once; else the span does.",
    "A span with the status error failed; one whose error says that it was cancelled was aborted, and its output is what was "
    "generated at least.",
    "A span above others (invoke_agent, a chain, a wrapper) that repeats what they state does not count beside them. Spans that "
    "call no model and state no usage are left out.",
    "gen_ai.usage.cost is an estimate in USD. `service`, `agent`, `conversation` and `operation` are tags. Times are UTC.",
)
DEFINING = ("resourceSpans", "scopeSpans", "spans", "gen_ai.usage.input_tokens")
UNFOLDED: tuple[Format, ...] = ("document",)
COLUMNS = (
    "call_id", "span_id", "parent_id", "start", "end", "provider", "model", "variant", "status", "caller", "cost", *COUNTED,
    "service", "agent", "conversation", "operation", "notes", "input_convention",
)  # fmt: skip


def sniff(head: Head) -> int:
    """How sure: a document of resource spans, the surer when it has names of generative AI."""
    if head.format != "document" or b'"resourceSpans"' not in head.data:
        return 0
    return 10 if b'"gen_ai.' in head.data or b'"llm.' in head.data else 1


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the spans that call a model; see `Unfolding`."""
    found = otel_spans.spans(source, progress)
    return rows_of_calls(found, said, notes=COLUMNS.index("notes"), kind="Spans")


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    return Reading(
        dialect="OTLP JSON",
        dataset="calls",
        mapping={
            **{name: m.Field(name) for name in (
                "call_id", "parent_id", "provider", "model", "variant", "status", "caller", "notes", "input_convention", *COUNTED,
            )},
            "called_at": m.Field("start"),
            "ended_at": m.Field("end"),
            "requests": m.Const("1"),
            "estimated_cost": m.Field("cost"),
            "reported_currency": m.Const("USD"),
            "output_convention": m.Const("includes-reasoning"),
            **{f"{TAG}{name}": m.Field(name) for name in ("service", "agent", "conversation", "operation", "span_id")},
        },
        conventions=CONVENTIONS,
        date_columns=("start", "end"),
    )  # fmt: skip
