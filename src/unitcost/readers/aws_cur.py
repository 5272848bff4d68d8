"""AWS Cost and Usage Report: legacy headers (`lineItem/UnblendedCost`) and CUR 2.0 (`line_item_unblended_cost`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "aws-cur"
CONVENTIONS = (
    "Billed cost is the unblended cost of every row; savings plan use and its negation cancel out, as on the invoice.",
    "Effective cost of use covered by a reservation or savings plan is the amortised cost that AWS states; the "
    "negation and upfront fees have none; recurring fees keep only their unused part.",
    "Split cost allocation columns (containers) detail a machine that has its own row; they are never added.",
    "List cost is the public on-demand cost. Times are UTC, periods half-open.",
    "`None` and `N/A` mean no value.",
    "Tags keep the key that AWS writes, such as `user:team`.",
)
DEFINING = (
    "lineItem/UnblendedCost", "lineItem/LineItemType", "lineItem/UsageStartDate", "bill/PayerAccountId",
    "line_item_unblended_cost", "line_item_line_item_type", "line_item_usage_start_date", "bill_payer_account_id",
)  # fmt: skip
_NEEDED = (
    ("lineItem/UnblendedCost", "lineItem/LineItemType"),
    ("line_item_unblended_cost", "line_item_line_item_type"),
)

#: Product code or name (part of it, lower case) -> FOCUS service category. First match wins.
_CATEGORIES = (
    ("sagemaker", "AI and Machine Learning"), ("bedrock", "AI and Machine Learning"), ("comprehend", "AI and Machine Learning"),
    ("rekognition", "AI and Machine Learning"), ("simple storage", "Storage"), ("amazons3", "Storage"), ("glacier", "Storage"),
    ("elastic file", "Storage"), ("fsx", "Storage"), ("cloudfront", "Networking"), ("datatransfer", "Networking"),
    ("virtual private", "Networking"), ("amazonvpc", "Networking"), ("load balancing", "Networking"), ("route 53", "Networking"),
    ("relational database", "Databases"), ("dynamodb", "Databases"), ("redshift", "Analytics"), ("athena", "Analytics"),
    ("glue", "Analytics"), ("mapreduce", "Analytics"), ("elastic compute", "Compute"), ("amazonec2", "Compute"),
    ("lambda", "Compute"), ("container", "Compute"), ("kubernetes", "Compute"), ("cloudwatch", "Management and Governance"),
    ("cloudtrail", "Management and Governance"), ("key management", "Security"), ("guardduty", "Security"), ("waf", "Security"),
)  # fmt: skip


def _both(name: str) -> tuple[str, str]:
    """Legacy name of a column and its CUR 2.0 spelling."""
    group, _, column = name.partition("/")
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", f"{group}_{column}").lower()
    return name, snake


def _field(*names: str) -> m.Expr:
    return m.fields(*(spelling for name in names for spelling in _both(name)))


_TYPE = _field("lineItem/LineItemType")
_COST = _field("lineItem/UnblendedCost")
_RESERVATION = _field("reservation/ReservationARN", "reservation/ReservationArn")
_SAVINGS_PLAN = _field("savingsPlan/SavingsPlanARN", "savingsPlan/SavingsPlanArn")
_ZERO = m.Const("0")


def sniff(head: Head) -> int:
    """Columns of the report that the file has; 0 without its cost and line type."""
    if not any(head.has(*needed) for needed in _NEEDED):
        return 0
    return 10 + head.count(*DEFINING)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """Meaning of the columns; see `CONVENTIONS`."""
    legacy = any("/" in column for column in columns)
    return Reading(
        dialect="CUR legacy" if legacy else "CUR 2.0",
        mapping=m.check(_mapping(columns)),
        conventions=CONVENTIONS,
        nulls=("None", "N/A"),
        date_columns=tuple(c for c in columns if c.casefold() in _DATES),
        period_columns=None,
        currency_columns=tuple(
            c for c in columns if c.casefold() in {n.casefold() for n in _both("lineItem/CurrencyCode")}
        ),
        money_columns=tuple(
            c for c in columns if c.casefold() in {n.casefold() for n in _both("lineItem/UnblendedCost")}
        ),
    )


_DATES = {
    name.casefold()
    for column in (
        "bill/BillingPeriodStartDate", "bill/BillingPeriodEndDate", "lineItem/UsageStartDate", "lineItem/UsageEndDate",
    )
    for name in _both(column)
}  # fmt: skip


def _mapping(columns: tuple[str, ...]) -> m.Mapping:
    product = _field("product/ProductName", "product/servicename", "lineItem/ProductCode")
    return {
        "billed_cost": _COST,
        "effective_cost": _effective(),
        "list_cost": _field("pricing/publicOnDemandCost"),
        "billing_currency": _field("lineItem/CurrencyCode"),
        "billing_period_start": m.Time(_field("bill/BillingPeriodStartDate")),
        "billing_period_end": m.Time(_field("bill/BillingPeriodEndDate")),
        "charge_period_start": m.Time(_field("lineItem/UsageStartDate")),
        "charge_period_end": m.Time(m.First((_field("lineItem/UsageEndDate"), _field("lineItem/UsageStartDate")))),
        "invoice_id": _field("bill/InvoiceId"),
        "invoice_issuer_name": _field("bill/InvoicingEntity", "bill/BillingEntity"),
        "service_provider_name": m.Const("AWS"),
        "publisher_name": m.First((_field("bill/BillingEntity"), _field("lineItem/LegalEntity"))),
        "billing_account_id": _field("bill/PayerAccountId"),
        "sub_account_id": _field("lineItem/UsageAccountId"),
        "sub_account_name": _field("lineItem/UsageAccountName"),
        "charge_category": _category(),
        "charge_description": _field("lineItem/LineItemDescription"),
        "charge_frequency": m.Choose(
            ((m.Equals(_TYPE, ("RIFee", "SavingsPlanRecurringFee")), m.Const("Recurring")),
             (m.Equals(_TYPE, ("Fee", "SavingsPlanUpfrontFee")), m.Const("One-Time"))),
            m.Const("Usage-Based"),
        ),
        "service_name": product,
        "service_category": m.Choose(
            tuple((m.Matches(product, f"*{part}*"), m.Const(name)) for part, name in _CATEGORIES), m.Const("Other")
        ),
        "region_id": m.First((_field("product/regionCode", "product/region"), m.Field("product_region_code"))),
        "availability_zone": _field("lineItem/AvailabilityZone"),
        "resource_id": _field("lineItem/ResourceId"),
        "resource_type": m.First((_field("product/instanceType"), m.Field("product_instance_type"))),
        "sku_id": m.First((_field("product/sku"), m.Field("product_sku"))),
        "sku_price_id": m.First((_field("pricing/RateCode"), m.Field("pricing_rate_code"))),
        "usage_type": _field("lineItem/UsageType"),
        "operation": _field("lineItem/Operation"),
        "pricing_category": _pricing(),
        "pricing_quantity": _field("lineItem/UsageAmount"),
        "pricing_unit": _field("pricing/unit"),
        "consumed_quantity": _field("lineItem/UsageAmount"),
        "consumed_unit": _field("pricing/unit"),
        "list_unit_price": _field("pricing/publicOnDemandRate"),
        "commitment_discount_id": m.First((_SAVINGS_PLAN, _RESERVATION)),
        "commitment_discount_type": m.Choose(
            ((m.Not(m.IsNull(_SAVINGS_PLAN)), m.Const("Savings Plan")), (m.Not(m.IsNull(_RESERVATION)), m.Const("Reserved"))),
            m.Field("no such column"),
        ),
        "commitment_discount_status": m.Choose(
            ((m.Equals(_TYPE, ("DiscountedUsage", "SavingsPlanCoveredUsage")), m.Const("Used")),
             (m.Equals(_TYPE, ("RIFee", "SavingsPlanRecurringFee")), m.Const("Unused"))),
            m.Field("no such column"),
        ),
        "tags": _tags(columns),
    }  # fmt: skip


def _effective() -> m.Expr:
    unused_reservation = m.Total((
        _field("reservation/UnusedAmortizedUpfrontFeeForBillingPeriod"), _field("reservation/UnusedRecurringFee"),
    ))  # fmt: skip
    unused_plan = m.Total((
        _field("savingsPlan/TotalCommitmentToDate"), m.Negative(_field("savingsPlan/UsedCommitment")),
    ))  # fmt: skip
    return m.Choose(
        (
            (m.Equals(_TYPE, ("DiscountedUsage",)), m.First((_field("reservation/EffectiveCost"), _COST))),
            (m.Equals(_TYPE, ("SavingsPlanCoveredUsage",)), m.First((_field("savingsPlan/SavingsPlanEffectiveCost"), _COST))),
            (m.Equals(_TYPE, ("SavingsPlanNegation", "SavingsPlanUpfrontFee")), _ZERO),
            (m.Equals(_TYPE, ("SavingsPlanRecurringFee",)), m.First((unused_plan, _COST))),
            (m.Equals(_TYPE, ("RIFee",)), m.First((unused_reservation, _COST))),
            (m.Every((m.Equals(_TYPE, ("Fee",)), m.Not(m.IsNull(_RESERVATION)))), _ZERO),
        ),
        _COST,
    )  # fmt: skip


def _category() -> m.Expr:
    return m.Choose(
        (
            (
                m.Equals(_TYPE, ("Usage", "DiscountedUsage", "SavingsPlanCoveredUsage", "SavingsPlanNegation")),
                m.Const("Usage"),
            ),
            # What a fee leaves after use has been taken off is use that nobody made.
            (m.Equals(_TYPE, ("RIFee", "SavingsPlanRecurringFee")), m.Const("Usage")),
            (m.Equals(_TYPE, ("Fee", "SavingsPlanUpfrontFee")), m.Const("Purchase")),
            (m.Equals(_TYPE, ("Tax",)), m.Const("Tax")),
            (m.Equals(_TYPE, ("Credit",)), m.Const("Credit")),
            (m.Equals(_TYPE, ("Refund",)), m.Const("Refund")),
        ),
        m.Const("Adjustment"),
    )


def _pricing() -> m.Expr:
    term = _field("pricing/term")
    return m.Choose(
        (
            (m.Equals(_TYPE, ("DiscountedUsage", "SavingsPlanCoveredUsage")), m.Const("Committed")),
            (m.Equals(term, ("Spot",)), m.Const("Dynamic")),
            (m.Matches(_field("lineItem/UsageType"), "*Spot*"), m.Const("Dynamic")),
        ),
        m.Const("Standard"),
    )


def _tags(columns: tuple[str, ...]) -> m.Expr:
    pairs = []
    for column in columns:
        folded = column.casefold()
        if folded.startswith(("resourcetags/", "costcategory/")):
            key = column.split("/", 1)[1]
            pairs.append((key if folded.startswith("resourcetags/") else f"costCategory/{key}", column))
        elif folded.startswith("resource_tags_"):
            key = column[len("resource_tags_") :]
            pairs.append((re.sub(r"^(user|aws)_", r"\1:", key), column))
        elif folded.startswith("cost_category_"):
            pairs.append((f"costCategory/{column[len('cost_category_') :]}", column))
    maps = [column for column in columns if column.casefold() == "resource_tags"]
    found: list[m.Expr] = [m.JsonTags(m.Field(column)) for column in maps]
    if pairs:
        found.append(m.ColumnTags(tuple(pairs)))
    return m.MergedTags(tuple(found)) if len(found) > 1 else found[0] if found else m.ColumnTags(())
