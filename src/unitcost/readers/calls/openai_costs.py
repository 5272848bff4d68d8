"""OpenAI's costs API: what was charged per day, by line item and project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.calls import answers
from unitcost.readers.calls.answers import cell, member
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row

NAME = "openai-costs"
CONVENTIONS = (
    "A result is a charge of its time bucket. Billed and effective cost are its amount; list cost is unknown.",
    "The line item is the meter, the project the sub account and the tag `project`; `api_key_id` is a tag.",
    "A charge is billed in the month in which its bucket starts. Times are UTC.",
    "Several answers may stand in one file, in a list or line by line.",
)
DEFINING = ("object", "data", "results", "amount", "line_item")
UNFOLDED: tuple[Format, ...] = ("document",)
COLUMNS = (
    "start_time", "end_time", "amount", "currency", "line_item", "project_id", "project_name", "organization_id",
    "api_key_id", "quantity",
)  # fmt: skip

_OBJECT = b'"organization.costs.result"'


def sniff(head: Head) -> int:
    """How sure: a document whose results call themselves costs of an organization."""
    return 10 if _OBJECT in head.data else 0


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the answer; see `Unfolding`."""
    return answers.rows_of(source, progress, said, _row)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    cost = m.Field("amount")
    return Reading(
        dialect="costs API",
        mapping={
            "billed_cost": cost,
            "effective_cost": cost,
            "billing_currency": m.Field("currency"),
            "charge_period_start": m.Field("start_time"),
            "charge_period_end": m.Field("end_time"),
            "charge_category": m.Const("Usage"),
            "charge_frequency": m.Const("Usage-Based"),
            "charge_description": m.Field("line_item"),
            "service_provider_name": m.Const("OpenAI"),
            "publisher_name": m.Const("OpenAI"),
            "service_name": m.Const("OpenAI API"),
            "service_category": m.Const("AI and Machine Learning"),
            "sku_meter": m.Field("line_item"),
            "billing_account_id": m.Field("organization_id"),
            "sub_account_id": m.Field("project_id"),
            "sub_account_name": m.Field("project_name"),
            "consumed_quantity": m.Field("quantity"),
            "tags": m.ColumnTags((("project", "project_id"), ("api_key_id", "api_key_id"))),
        },
        conventions=CONVENTIONS,
    )


def _row(result: answers.Result) -> list[str]:
    bucket, found = result
    return [
        answers.since_epoch(bucket.get("start_time")), answers.since_epoch(bucket.get("end_time")),
        cell(member(found, "amount", "value")), cell(member(found, "amount", "currency")),
        *(cell(found.get(name)) for name in COLUMNS[COLUMNS.index("line_item") :]),
    ]  # fmt: skip
