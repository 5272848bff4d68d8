"""Google Cloud billing export: standard and detailed, csv with dotted names or JSON lines."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "gcp"
CONVENTIONS = (
    "Billed cost is `cost` plus the (negative) amounts in `credits`; effective cost is the same: fees and credits of "
    "commitments are rows and credits of their own.",
    "The billing period is `invoice.month`, or else the month in which the usage starts.",
    "Times are UTC, periods half-open. `usage.amount` is not a price base.",
    "Labels win over project labels, these over system labels.",
)
DEFINING = (
    "cost",
    "currency",
    "usage_start_time",
    "service.description",
    "sku.description",
    "credits",
    "billing_account_id",
)
_LABELS = ("labels", "project.labels", "system_labels")


def sniff(head: Head) -> int:
    """Columns of the export that the file has; 0 without cost, service and start."""
    return 10 + head.count(*DEFINING) if head.has("cost", "usage_start_time", "service.description") else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """Meaning of the columns; see `CONVENTIONS`."""
    present = {column.casefold() for column in columns}
    written = [c for c in columns if c.casefold() in {*_LABELS, "credits", "tags"}]
    python = [c for c in written if _is_python(columns.index(c), sample)]
    cost = m.Total((m.Field("cost"), m.JsonSum(m.Field("credits"), "amount")))
    month = m.Field("invoice.month")
    start = m.Field("usage_start_time")
    listed = m.Field("cost_at_list") if "cost_at_list" in present else m.Field("cost")
    mapping: m.Mapping = {
        "billed_cost": cost,
        "effective_cost": cost,
        "list_cost": listed,
        "billing_currency": m.Field("currency"),
        "billing_period_start": m.First((m.YearMonth(month), m.Time(start, snap="month-start"))),
        "billing_period_end": m.First((m.YearMonth(month, after=True), m.Time(start, snap="next-month-start"))),
        "charge_period_start": m.Time(start),
        "charge_period_end": m.Time(m.fields("usage_end_time", "usage_start_time")),
        "service_provider_name": m.Const("Google Cloud"),
        "publisher_name": m.fields("seller_name"),
        "billing_account_id": m.Field("billing_account_id"),
        "sub_account_id": m.fields("project.id", "project.name"),
        "sub_account_name": m.Field("project.name"),
        "charge_category": m.Choose(
            (
                (m.Equals(m.Field("cost_type"), ("tax",)), m.Const("Tax")),
                (m.Equals(m.Field("cost_type"), ("adjustment", "rounding_error")), m.Const("Adjustment")),
            ),
            m.Const("Usage"),
        ),
        "charge_description": m.Field("sku.description"),
        "service_name": m.Field("service.description"),
        "region_id": m.fields("location.region", "location.location"),
        "availability_zone": m.Field("location.zone"),
        "resource_id": m.fields("resource.global_name", "resource.name"),
        "resource_name": m.Field("resource.name"),
        "sku_id": m.Field("sku.id"),
        "pricing_category": m.Choose(
            (
                (m.Matches(m.Field("sku.description"), "*Spot*"), m.Const("Dynamic")),
                (m.Matches(m.Field("sku.description"), "*Preemptible*"), m.Const("Dynamic")),
                (m.Matches(m.Field("sku.description"), "Commitment*"), m.Const("Committed")),
            ),
            m.Const("Standard"),
        ),
        "pricing_quantity": m.Field("usage.amount_in_pricing_units"),
        "pricing_unit": m.Field("usage.pricing_unit"),
        "consumed_quantity": m.Field("usage.amount"),
        "consumed_unit": m.Field("usage.unit"),
        "tags": m.MergedTags(tuple(m.LabelTags(m.Field(name)) for name in _LABELS)),
    }
    return Reading(
        dialect="detailed export" if "resource.name" in present else "standard export",
        mapping=m.check(mapping),
        conventions=CONVENTIONS,
        flags=tuple(f"`{column}` is written as Python, not JSON; it was read as such" for column in python),
        date_columns=tuple(c for c in columns if c.casefold() in ("usage_start_time", "usage_end_time")),
        currency_columns=("currency",),
        money_columns=("cost",),
        repairs=dict.fromkeys(python, python_to_json),
    )


def _is_python(position: int, sample: Sequence[Sequence[str]]) -> bool:
    """Whether cells of a column are lists as Python prints them: single quotes, None."""
    return any("'" in row[position] and not _is_json(row[position]) for row in sample if row[position])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def python_to_json(text: str) -> str:
    """JSON of a list that is written as a Python literal; JSON stays as it is.

    Raises
    ------
    ValueError
        When it is neither.
    """
    if _is_json(text):
        return text
    try:
        return json.dumps(ast.literal_eval(text), default=str)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"{text[:80]!r} is neither JSON nor a Python list") from error
