"""Anthropic's cost report: what was charged per day, by description and workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.money import EXACT, parse_amount
from unitcost.readers.calls import answers
from unitcost.readers.calls.answers import cell
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Progress, Reading
from unitcost.readers.tables import Row
from unitcost.units import CENT_PLACES

NAME = "anthropic-costs"
CONVENTIONS = (
    "A result is a charge of its time bucket. Its amount is written in cents; billed and effective cost are a hundredth of "
    "it, exactly. List cost is unknown.",
    "The description is the meter, the workspace the sub account and the tag `workspace`; `model`, `cost_type`, `token_type` "
    "and `service_tier` are tags.",
    "The report leaves the cost of the priority tier out.",
    "A charge is billed in the month in which its bucket starts. Times are UTC.",
    "Several answers may stand in one file, in a list or line by line.",
)
DEFINING = ("starting_at", "results", "amount", "currency", "cost_type")
UNFOLDED: tuple[Format, ...] = ("document",)
_NAMED = (
    "currency", "description", "workspace_id", "model", "cost_type", "token_type", "service_tier", "context_window",
    "inference_geo",
)  # fmt: skip
COLUMNS = ("starting_at", "ending_at", "amount", *_NAMED)
_TAGS = ("model", "cost_type", "token_type", "service_tier", "context_window")


def sniff(head: Head) -> int:
    """How sure: a document whose results have an amount, a currency and a type of cost."""
    wanted = (b'"starting_at"', b'"amount"', b'"currency"', b'"cost_type"')
    return 10 if head.format == "document" and all(name in head.data for name in wanted) else 0


def unfold(source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
    """Rows of the answer; see `Unfolding`."""
    return answers.rows_of(source, progress, said, _row)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean; see `Reader`."""
    cost = m.Field("amount")
    return Reading(
        dialect="cost report",
        mapping={
            "billed_cost": cost,
            "effective_cost": cost,
            "billing_currency": m.Field("currency"),
            "charge_period_start": m.Field("starting_at"),
            "charge_period_end": m.Field("ending_at"),
            "charge_category": m.Const("Usage"),
            "charge_frequency": m.Const("Usage-Based"),
            "charge_description": m.Field("description"),
            "service_provider_name": m.Const("Anthropic"),
            "publisher_name": m.Const("Anthropic"),
            "service_name": m.Const("Claude API"),
            "service_category": m.Const("AI and Machine Learning"),
            "sku_meter": m.Field("description"),
            "sub_account_id": m.Field("workspace_id"),
            "region_id": m.Field("inference_geo"),
            "tags": m.ColumnTags((("workspace", "workspace_id"), *((name, name) for name in _TAGS))),
        },
        conventions=CONVENTIONS,
        date_columns=("starting_at", "ending_at"),
    )


def _row(result: answers.Result) -> list[str]:
    bucket, found = result
    cents = cell(found.get("amount"))
    amount = f"{EXACT.scaleb(parse_amount(cents), -CENT_PLACES):f}" if cents else ""
    return [
        cell(bucket.get("starting_at")),
        cell(bucket.get("ending_at")),
        amount,
        *(cell(found.get(name)) for name in _NAMED),
    ]
