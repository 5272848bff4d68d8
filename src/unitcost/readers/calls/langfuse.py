"""Langfuse: observations, as its export, its table or its API give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.facts import mapping as m
from unitcost.facts.calls import TAG
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import langfuse_rows
from unitcost.readers.calls.families import rows_of_calls
from unitcost.readers.calls.langfuse_rows import COUNTED, Unclear
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row

NAME = "langfuse"
CONVENTIONS = (
    "Usage details do not overlap: `input` is fresh, what a cache had stands beside it, and what was reasoned beside "
    "`output`. Where the `total` of an observation shows that its details are part of `input` or of `output`, they are read so.",
    "Without usage details the older `usage` counts: input and output, and nothing of a cache.",
    "Costs are in USD. Those that were sent with an observation (providedCostDetails) are measured, those that Langfuse worked "
    "out are estimates.",
    "Observations of the level ERROR failed. One whose metadata say cache_hit was answered by the gateway's own cache.",
    "Observations that call no model and state no usage are left out; one that repeats those below it does not count beside "
    "them.",
    "For how long a cache was written is not told, unless a key of the details says 5m or 1h.",
    "`trace`, `name`, `environment` and `session` are tags. Times are UTC.",
)
DEFINING = ("id", "type", "startTime", "usageDetails", "costDetails", "parentObservationId")
UNFOLDED: tuple[Format, ...] = ("document", "csv")
COLUMNS = (
    "id", "parent", "start", "end", "model", "caller", "status", "reported_cost", "estimated_cost", *COUNTED,
    "input_convention", "output_convention", "trace", "name", "environment", "session", "notes",
)  # fmt: skip

_NEEDED = (("usageDetails", "usage_details"), ("startTime", "start_time"), ("type",))


def sniff(head: Head) -> int:
    """How sure: observations with a type, a start and usage details."""
    if head.format == "document":
        return 10 * all(any(f'"{name}"'.encode() in head.data for name in names) for names in _NEEDED)
    return 10 * all(head.count(*names) for names in _NEEDED)


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the observations that call a model; see `Unfolding`."""
    unclear = Unclear()
    found = unclear.counted(langfuse_rows.observations(source, progress))
    yield from rows_of_calls(found, said, notes=COLUMNS.index("notes"), kind="Observations")
    if unclear.count:
        said.append(
            f"Observations whose total is none of the sums of their details, which are read as disjoint: {unclear.count:,}."
        )


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    plain = (
        "model", "caller", "status", "reported_cost", "estimated_cost", "input_convention", "output_convention", "notes",
    )  # fmt: skip
    return Reading(
        dialect="observations",
        dataset="calls",
        mapping={
            **{name: m.Field(name) for name in (*plain, *COUNTED)},
            "call_id": m.Field("id"),
            "parent_id": m.Field("parent"),
            "called_at": m.Field("start"),
            "ended_at": m.Field("end"),
            "requests": m.Const("1"),
            "reported_currency": m.Const("USD"),
            **{f"{TAG}{name}": m.Field(name) for name in ("trace", "name", "environment", "session")},
        },
        conventions=CONVENTIONS,
        date_columns=("start", "end"),
    )
