"""Oracle Cloud cost report: `reports/cost-csv`, one column per tag."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.present import NOTHING, named, present
from unitcost.readers.reading import Reading

NAME = "oci"
CONVENTIONS = (
    "Billed and effective cost are cost/myCost, as the report tells nothing else apart. Overage columns are kept "
    "beside the charge and not added.",
    "List and contracted cost are unknown.",
    "The compartment is the sub account, the tenancy the billing account.",
    "Times are UTC. The billing period is the month in which the usage starts.",
    "A correction is added to the row that it corrects; it names that row and stays a row of its own.",
    "Costs have up to eighteen places; what rounding to twelve takes away stands in the load record.",
    "A tag keeps its namespace, as in Oracle-Tags.CreatedBy.",
)
DEFINING = (
    "cost/myCost",
    "lineItem/intervalUsageStart",
    "lineItem/tenantId",
    "product/service",
    "product/compartmentId",
)

_KNOWN = (
    *DEFINING, "lineItem/referenceNo", "lineItem/intervalUsageEnd", "product/compartmentName", "product/region",
    "product/availabilityDomain", "product/resourceId", "usage/billedQuantity", "usage/billedQuantityOverage",
    "cost/subscriptionId", "cost/productSku", "product/Description", "cost/unitPrice", "cost/unitPriceOverage",
    "cost/myCostOverage", "cost/currencyCode", "cost/billingUnitReadable", "cost/skuUnitDescription",
    "cost/overageFlag", "lineItem/isCorrection", "lineItem/backreferenceNo",
)  # fmt: skip
_TAG = "tags/"
#: Service category -> services.
_CATEGORIES = {
    "AI and Machine Learning": ("DATA_SCIENCE", "GENERATIVE_AI", "AI_LANGUAGE", "AI_VISION", "AI_SPEECH"),
    "Analytics": ("ANALYTICS", "DATA_FLOW", "STREAMING", "BIG_DATA_SERVICE", "DATA_INTEGRATION"),
    "Compute": ("COMPUTE", "CONTAINER_ENGINE", "CONTAINER_INSTANCES", "FUNCTIONS"),
    "Databases": ("DATABASE", "MYSQL", "NOSQL", "POSTGRESQL", "REDIS"),
    "Management and Governance": ("TELEMETRY", "LOGGING", "MONITORING", "LOGGING_ANALYTICS"),
    "Networking": ("NETWORK", "VIRTUAL_NETWORK", "FASTCONNECT", "DNS", "LOAD_BALANCER", "LBAAS"),
    "Security": ("KMS", "VAULT", "WAF", "CLOUD_GUARD"),
    "Storage": ("BLOCK_STORAGE", "OBJECT_STORAGE", "OBJECTSTORE", "FILE_STORAGE", "ARCHIVE_STORAGE"),
}


def sniff(head: Head) -> int:
    """How many columns of the report the file has; 0 without its cost and start."""
    return head.count(*_KNOWN) if head.has("cost/myCost", "lineItem/intervalUsageStart") else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of a report mean; see `Reader`."""
    mapping = {**_charge(), **_things()}
    tags = tuple({column[len(_TAG) :]: column for column in reversed(columns) if _is_tag(column)}.items())
    if tags:
        mapping["tags"] = m.ColumnTags(tags[::-1])
    return Reading(
        dialect="cost report",
        mapping=m.check(present(mapping, columns)),
        conventions=CONVENTIONS,
        date_columns=named(columns, "lineItem/intervalUsageStart", "lineItem/intervalUsageEnd"),
        currency_columns=named(columns, "cost/currencyCode"),
        money_columns=named(columns, "cost/myCost", "cost/unitPrice"),
    )


def _is_tag(column: str) -> bool:
    return column.casefold().startswith(_TAG) and len(column) > len(_TAG)


def _charge() -> m.Mapping:
    cost, start = m.Field("cost/myCost"), m.Field("lineItem/intervalUsageStart")
    correction = m.Equals(m.Field("lineItem/isCorrection"), ("true",))
    return {
        "billed_cost": cost,
        "effective_cost": cost,
        "billing_currency": m.Field("cost/currencyCode"),
        "billing_period_start": m.Time(start, snap="month-start"),
        "billing_period_end": m.Time(start, snap="next-month-start"),
        "charge_period_start": m.Time(start),
        "charge_period_end": m.Time(m.fields("lineItem/intervalUsageEnd", "lineItem/intervalUsageStart")),
        "charge_category": m.Const("Usage"),
        "charge_class": m.Choose(((correction, m.Const("Correction")),), NOTHING),
        "charge_frequency": m.Const("Usage-Based"),
        "service_provider_name": m.Const("Oracle"),
        "host_provider_name": m.Const("Oracle"),
        "publisher_name": m.Const("Oracle"),
        "billing_account_id": m.Field("lineItem/tenantId"),
        "sub_account_id": m.Field("product/compartmentId"),
        "sub_account_name": m.Field("product/compartmentName"),
    }


def _things() -> m.Mapping:
    service = m.Field("product/service")
    return {
        "charge_description": m.Field("product/Description"),
        "service_name": service,
        "service_category": m.Choose(
            tuple((m.Equals(service, names), m.Const(category)) for category, names in _CATEGORIES.items()),
            m.Const("Other"),
        ),
        "region_id": m.Field("product/region"),
        "availability_zone": m.Field("product/availabilityDomain"),
        "resource_id": m.Field("product/resourceId"),
        "sku_id": m.Field("cost/productSku"),
        "sku_meter": m.Field("product/Description"),
        "pricing_quantity": m.Field("usage/billedQuantity"),
        "pricing_unit": m.fields("cost/skuUnitDescription", "cost/billingUnitReadable"),
        "consumed_quantity": m.Field("usage/billedQuantity"),
        "consumed_unit": m.fields("cost/skuUnitDescription", "cost/billingUnitReadable"),
        "contracted_unit_price": m.Field("cost/unitPrice"),
    }
