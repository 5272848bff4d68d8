"""Google Cloud billing export: standard and detailed, csv with dotted names or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.present import NOTHING, named, present
from unitcost.readers.python_text import json_of
from unitcost.readers.reading import Reading

NAME = "gcp"
CONVENTIONS = (
    "Billed cost is the cost plus the amounts of its credits, which are negative; effective cost is the same, as what "
    "a commitment saves is a credit of the row and its fee a row of its own.",
    "List cost is cost_at_list, unknown where the export does not have it.",
    "The billing period is the invoice month, else the month in which the usage starts.",
    "Times are UTC.",
    "A label of the resource wins over a tag, this over a label of the project, and this over a label of the system.",
    "Lists that are written as Python prints them are read as JSON.",
)
DEFINING = ("billing_account_id", "service.description", "sku.description", "usage_start_time", "cost", "credits")

_KNOWN = (
    *DEFINING, "service.id", "sku.id", "usage_end_time", "project.id", "project.name", "project.number", "labels",
    "system_labels", "project.labels", "project.ancestry_numbers", "location.location", "location.country",
    "location.region", "location.zone", "export_time", "currency", "currency_conversion_rate", "usage.amount",
    "usage.unit", "usage.amount_in_pricing_units", "usage.pricing_unit", "invoice.month", "cost_type", "cost_at_list",
    "resource.name", "resource.global_name", "tags", "seller_name", "transaction_type", "adjustment_info.id",
    "subscription.instance_id", "cost_at_effective_price_default", "price.effective_price", "consumption_model.id",
)  # fmt: skip
_LABELS = ("labels", "tags", "project.labels", "system_labels")
#: Service category -> names of services, or parts of them.
_CATEGORIES = {
    "AI and Machine Learning": ("Vertex AI*", "*Gemini*", "Cloud Natural Language*", "Cloud Vision*", "Cloud Speech*"),
    "Analytics": ("BigQuery*", "Cloud Dataflow", "*Dataproc*", "Cloud Pub/Sub", "Cloud Composer"),
    "Compute": ("Compute Engine", "Kubernetes Engine", "Cloud Run*", "App Engine", "Cloud Functions", "*OpenShift*"),
    "Databases": ("Cloud SQL", "*Bigtable*", "Cloud Spanner", "*Firestore*", "*Memorystore*", "AlloyDB"),
    "Management and Governance": ("Cloud Logging", "Cloud Monitoring", "Stackdriver*"),
    "Networking": ("Networking", "Cloud DNS", "Cloud CDN", "*VPC*", "Cloud Load Balancing"),
    "Security": ("*Key Management*", "Secret Manager", "*Security Command Center*"),
    "Storage": ("Cloud Storage", "*Filestore*", "Artifact Registry", "Container Registry"),
}
_COMMITMENTS = ("Commitment v1*", "Commitment - *", "Commitment: *")


def sniff(head: Head) -> int:
    """How many columns of the export the file has; 0 without a cost, a service and a start."""
    return head.count(*_KNOWN) if head.has("cost", "usage_start_time", "service.description") else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of an export mean; see `Reader`."""
    mapping = {**_costs(columns), **_times(), **_parties(), **_things()}
    sets = tuple(m.LabelTags(m.Field(name)) for name in _LABELS if named(columns, name))
    if sets:
        mapping["tags"] = m.MergedTags(sets) if len(sets) > 1 else sets[0]
    lists = named(columns, "credits", *_LABELS)
    styles = {column: _style(columns.index(column), sample) for column in lists}
    written = [column for column, style in styles.items() if style == "python"]
    # One program writes all lists of a file; where none of the first rows tells how, Python may still come.
    told = "json" in styles.values() and not written
    return Reading(
        dialect="detailed export" if named(columns, "resource.name", "resource.global_name") else "standard export",
        mapping=m.check(present(mapping, columns)),
        conventions=CONVENTIONS,
        flags=(f"Lists are written as Python prints them in {', '.join(written)}.",) if written else (),
        date_columns=named(columns, "usage_start_time", "usage_end_time"),
        currency_columns=named(columns, "currency"),
        money_columns=named(columns, "cost", "cost_at_list"),
        repairs={} if told else {column: json_of for column, style in styles.items() if style != "json"},
    )


def _style(position: int, sample: Sequence[Sequence[str]]) -> str:
    """How lists are written in a column: `json`, `python`, or empty when no row has one that tells."""
    for row in sample:
        cell = row[position].strip()
        if cell not in ("", "[]"):
            return "json" if _is_json(cell) else "python"
    return ""


def _is_json(cell: str) -> bool:
    try:
        json.loads(cell)
    except (ValueError, RecursionError):
        return False
    return True


def _costs(columns: tuple[str, ...]) -> m.Mapping:
    gross = m.Field("cost")
    net: m.Expr = gross
    if named(columns, "credits"):
        # No cost is no charge, whatever its credits.
        net = m.Choose(((m.IsNull(gross), NOTHING),), m.Total((gross, m.JsonSum(m.Field("credits"), "amount"))))
    return {
        "billed_cost": net,
        "effective_cost": net,
        "list_cost": m.Field("cost_at_list"),
        "billing_currency": m.Field("currency"),
    }


def _times() -> m.Mapping:
    month, start = m.Field("invoice.month"), m.Field("usage_start_time")
    return {
        "billing_period_start": m.First((m.YearMonth(month), m.Time(start, snap="month-start"))),
        "billing_period_end": m.First((m.YearMonth(month, after=True), m.Time(start, snap="next-month-start"))),
        "charge_period_start": m.Time(start),
        "charge_period_end": m.Time(m.fields("usage_end_time", "usage_start_time")),
    }


def _parties() -> m.Mapping:
    seller = m.Field("seller_name")
    third = m.Every((m.Not(m.IsNull(seller)), m.Not(m.Matches(seller, "Google*"))))
    sold_by = m.JoinText((seller, m.Const("Google Cloud Marketplace")), " via ")
    return {
        "service_provider_name": m.Const("Google Cloud"),
        "host_provider_name": m.Const("Google Cloud"),
        "publisher_name": m.Choose(((third, sold_by),), m.Const("Google Cloud")),
        "billing_account_id": m.Field("billing_account_id"),
        "sub_account_id": m.Field("project.id"),
        "sub_account_name": m.Field("project.name"),
    }


def _things() -> m.Mapping:
    kind, service, sku = m.Field("cost_type"), m.Field("service.description"), m.Field("sku.description")
    commitment = m.Any(tuple(m.Matches(sku, glob) for glob in _COMMITMENTS))
    spot = m.Any((m.Matches(sku, "*Spot *"), m.Matches(sku, "*Preemptible*")))
    return {
        "charge_category": m.Choose(
            (
                (m.Equals(kind, ("tax",)), m.Const("Tax")),
                (m.Equals(kind, ("adjustment", "rounding_error")), m.Const("Adjustment")),
                (commitment, m.Const("Purchase")),
            ),
            m.Const("Usage"),
        ),
        "charge_description": sku,
        "service_name": service,
        "service_category": m.Choose(
            tuple(
                (m.Any(tuple(m.Matches(service, glob) for glob in globs)), m.Const(category))
                for category, globs in _CATEGORIES.items()
            ),
            m.Const("Other"),
        ),
        "region_id": m.fields("location.region", "location.location"),
        "availability_zone": m.Field("location.zone"),
        "resource_id": m.fields("resource.global_name", "resource.name"),
        "resource_name": m.Field("resource.name"),
        "sku_id": m.Field("sku.id"),
        "sku_meter": sku,
        "pricing_category": m.Choose(
            ((commitment, m.Const("Committed")), (spot, m.Const("Dynamic")), (_is_use(kind), m.Const("Standard"))),
            NOTHING,
        ),
        "pricing_quantity": m.Field("usage.amount_in_pricing_units"),
        "pricing_unit": m.Field("usage.pricing_unit"),
        "consumed_quantity": m.Field("usage.amount"),
        "consumed_unit": m.Field("usage.unit"),
        "commitment_discount_id": m.Field("subscription.instance_id"),
    }


def _is_use(kind: m.Expr) -> m.Condition:
    return m.Any((m.IsNull(kind), m.Equals(kind, ("regular",))))
