"""Oracle Cloud cost report (`reports/cost-csv`)."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "oci"
CONVENTIONS = (
    "Billed and effective cost are `cost/myCost`; the report knows no commitments, and overage is inside.",
    "Times are UTC, periods half-open; the billing period is the month in which the usage starts.",
    "Each tag has a column of its own; its key is `namespace.key`.",
    "A correction row names the row that it corrects and is added to it.",
)
DEFINING = (
    "cost/myCost",
    "lineItem/intervalUsageStart",
    "lineItem/tenantId",
    "cost/productSku",
    "product/compartmentId",
)
_TAG = "tags/"


def sniff(head: Head) -> int:
    """Columns of the report that the file has; 0 without its cost."""
    return 10 + head.count(*DEFINING) if head.has("cost/myCost", "lineItem/intervalUsageStart") else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """Meaning of the columns; see `CONVENTIONS`."""
    cost = m.Field("cost/myCost")
    start = m.Time(m.Field("lineItem/intervalUsageStart"))
    mapping: m.Mapping = {
        "billed_cost": cost,
        "effective_cost": cost,
        "billing_currency": m.Field("cost/currencyCode"),
        "billing_period_start": m.Time(m.Field("lineItem/intervalUsageStart"), snap="month-start"),
        "billing_period_end": m.Time(m.Field("lineItem/intervalUsageStart"), snap="next-month-start"),
        "charge_period_start": start,
        "charge_period_end": m.Time(m.Field("lineItem/intervalUsageEnd")),
        "service_provider_name": m.Const("Oracle"),
        "billing_account_id": m.Field("lineItem/tenantId"),
        "sub_account_id": m.Field("product/compartmentId"),
        "sub_account_name": m.Field("product/compartmentName"),
        "charge_category": m.Const("Usage"),
        "charge_class": m.Choose(
            ((m.Equals(m.Field("lineItem/isCorrection"), ("true",)), m.Const("Correction")),), m.Field("no such column")
        ),
        "charge_description": m.Field("product/Description"),
        "service_name": m.Field("product/service"),
        "region_id": m.Field("product/region"),
        "availability_zone": m.Field("product/availabilityDomain"),
        "resource_id": m.Field("product/resourceId"),
        "sku_id": m.Field("cost/productSku"),
        "pricing_quantity": m.Field("usage/billedQuantity"),
        "pricing_unit": m.Field("cost/billingUnitReadable"),
        "consumed_quantity": m.Field("usage/billedQuantity"),
        "consumed_unit": m.Field("cost/skuUnitDescription"),
        "contracted_unit_price": m.Field("cost/unitPrice"),
        "tags": m.ColumnTags(tuple((c[len(_TAG) :], c) for c in columns if c.casefold().startswith(_TAG))),
    }
    return Reading(
        dialect="cost report",
        mapping=m.check(mapping),
        conventions=CONVENTIONS,
        date_columns=("lineItem/intervalUsageStart", "lineItem/intervalUsageEnd"),
        currency_columns=("cost/currencyCode",),
        money_columns=("cost/myCost",),
    )
