"""AWS Cost and Usage Report: legacy headers (`lineItem/UnblendedCost`), Athena and 2.0 (`line_item_unblended_cost`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.aws_services import CODES, NAMES
from unitcost.readers.head import Head
from unitcost.readers.present import NOTHING, named, present
from unitcost.readers.reading import Reading

NAME = "aws-cur"
CONVENTIONS = (
    "Billed cost is the unblended cost of each row, as the file has it; use that a savings plan covers and its "
    "negation offset each other.",
    "Effective cost is the amortised cost that AWS states for use covered by a reservation or savings plan; the "
    "negation and payments up front have none.",
    "The recurring fee of a commitment counts whole in billed cost, in effective cost only with the part that nobody "
    "used.",
    "Tax, credits, refunds and discounts cost the same in both. Net columns are not read: discounts are rows of their "
    "own.",
    "Rows of split cost allocation (containers, tasks) detail a machine that has a row of its own: their split costs "
    "and their quantities are never added.",
    "List cost is the public on-demand cost. The contracted cost is unknown.",
    "Quantities are kept for use only; on fees and negations they repeat those of the use.",
    "Times are UTC; None and N/A are no value.",
    "Tags and cost categories keep the key that AWS writes, such as user:team; where a column name has lost the "
    "colon, it is put back.",
)
DEFINING = (
    "lineItem/UnblendedCost", "lineItem/LineItemType", "lineItem/UsageStartDate", "bill/PayerAccountId",
    "bill/BillingPeriodStartDate", "lineItem/ProductCode",
)  # fmt: skip

_COVERED = ("DiscountedUsage", "SavingsPlanCoveredUsage")
_USE = ("Usage", *_COVERED)
_ZERO = m.Const("0")
_CATEGORY_PREFIXES = ("costcategory/", "cost_category_")
_PERIOD = ("bill/BillingPeriodStartDate", "bill/BillingPeriodEndDate")
_DATES = ("lineItem/UsageStartDate", "lineItem/UsageEndDate", *_PERIOD)
_MONEY = (
    "lineItem/UnblendedCost", "pricing/publicOnDemandCost", "reservation/EffectiveCost",
    "reservation/AmortizedUpfrontCostForUsage", "reservation/RecurringFeeForUsage",
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod", "reservation/UnusedRecurringFee",
    "savingsPlan/SavingsPlanEffectiveCost", "savingsPlan/TotalCommitmentToDate", "savingsPlan/UsedCommitment",
)  # fmt: skip


def _spellings(name: str) -> tuple[str, ...]:
    """Legacy name of a column and its names in Athena and 2.0, where each capital starts a word."""
    words = [re.sub(r"(?<!^)(?=[A-Z])", "_", part).lower() for part in name.split("/")]
    snake = "_".join(words)
    return tuple(dict.fromkeys((name, snake, snake.replace("_a_r_n", "_arn"))))


def _all(*names: str) -> tuple[str, ...]:
    return tuple(spelling for name in names for spelling in _spellings(name))


def _field(*names: str) -> m.Expr:
    return m.fields(*_all(*names))


_TYPE = _field("lineItem/LineItemType")
_COST = _field("lineItem/UnblendedCost")
_RESERVATION = _field("reservation/ReservationARN")
_PLAN = _field("savingsPlan/SavingsPlanARN")
_UNUSED_RESERVATION = m.Total(
    (_field("reservation/UnusedAmortizedUpfrontFeeForBillingPeriod"), _field("reservation/UnusedRecurringFee"))
)
_COMMITTED = _field("savingsPlan/TotalCommitmentToDate")
_UNUSED_PLAN = m.Total((_COMMITTED, m.Negative(_field("savingsPlan/UsedCommitment"))))


def sniff(head: Head) -> int:
    """How many columns of the report the file has; 0 without its cost and line type."""
    needed = ("lineItem/UnblendedCost", "lineItem/LineItemType")
    if not all(head.count(*_spellings(name)) for name in needed):
        return 0
    groups = ("lineitem", "line_item", "bill", "pricing", "product", "reservation", "savings", "identity", "resource")
    return sum(name.startswith(groups) for name in head.folded)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of a report mean; see `Reader`."""
    mapping = {**_costs(), **_times(), **_parties(), **_kinds(), **_commitments(), **_things(columns), **_quantities()}
    tags = _tags(columns)
    if tags is not None:
        mapping["tags"] = tags
    period = [named(columns, *_spellings(name)) for name in _PERIOD]
    return Reading(
        dialect=_dialect(columns),
        mapping=m.check(present(mapping, columns)),
        conventions=CONVENTIONS,
        flags=_flags(columns),
        nulls=("None", "N/A"),
        date_columns=named(columns, *_all(*_DATES)),
        period_columns=(period[0][0], period[1][0]) if all(period) else None,
        currency_columns=named(columns, *_all("lineItem/CurrencyCode")),
        money_columns=named(columns, *_all(*_MONEY)),
    )


def _dialect(columns: tuple[str, ...]) -> str:
    if any("/" in column for column in columns):
        return "CUR legacy"
    return "CUR 2.0" if named(columns, "resource_tags", "product", "cost_category") else "CUR Athena"


def _flags(columns: tuple[str, ...]) -> tuple[str, ...]:
    def lacks(name: str) -> bool:
        return not named(columns, *_spellings(name))

    flags = []
    if not lacks("splitLineItem/ParentResourceId"):
        flags.append("The file has rows of split cost allocation; their split costs are not added.")
    if lacks("reservation/EffectiveCost") and lacks("reservation/RecurringFeeForUsage"):
        flags.append("The file has no reservation/EffectiveCost; for use that a reservation covers it stays unknown.")
    if lacks("savingsPlan/SavingsPlanEffectiveCost"):
        flags.append(
            "The file has no savingsPlan/SavingsPlanEffectiveCost; for use that a plan covers it stays unknown."
        )
    return tuple(flags)


def _costs() -> m.Mapping:
    reserved = m.First((
        _field("reservation/EffectiveCost"),
        m.Total((_field("reservation/AmortizedUpfrontCostForUsage"), _field("reservation/RecurringFeeForUsage"))),
    ))  # fmt: skip
    return {
        "billed_cost": _COST,
        "effective_cost": m.Choose(
            (
                (m.Equals(_TYPE, ("DiscountedUsage",)), reserved),
                (m.Equals(_TYPE, ("SavingsPlanCoveredUsage",)), _field("savingsPlan/SavingsPlanEffectiveCost")),
                (m.Equals(_TYPE, ("SavingsPlanNegation", "SavingsPlanUpfrontFee")), _ZERO),
                # Without the whole, the used part alone would make a credit of the fee.
                (m.Every((m.Equals(_TYPE, ("SavingsPlanRecurringFee",)), m.IsNull(_COMMITTED))), NOTHING),
                (m.Equals(_TYPE, ("SavingsPlanRecurringFee",)), _UNUSED_PLAN),
                (m.Equals(_TYPE, ("RIFee",)), _UNUSED_RESERVATION),
                (m.Every((m.Equals(_TYPE, ("Fee",)), m.Not(m.IsNull(_RESERVATION)))), _ZERO),
            ),
            _COST,
        ),
        "list_cost": _field("pricing/publicOnDemandCost"),
        "billing_currency": _field("lineItem/CurrencyCode"),
    }


def _times() -> m.Mapping:
    return {
        "billing_period_start": m.Time(_field("bill/BillingPeriodStartDate")),
        "billing_period_end": m.Time(_field("bill/BillingPeriodEndDate")),
        "charge_period_start": m.Time(_field("lineItem/UsageStartDate")),
        "charge_period_end": m.Time(_field("lineItem/UsageEndDate", "lineItem/UsageStartDate")),
    }


def _parties() -> m.Mapping:
    entity = _field("bill/BillingEntity")
    sold_by = m.JoinText((_field("lineItem/LegalEntity"), entity), " via ")
    return {
        "invoice_id": _field("bill/InvoiceId"),
        "invoice_issuer_name": _field("bill/InvoicingEntity", "bill/BillingEntity"),
        "service_provider_name": m.Const("AWS"),
        "host_provider_name": m.Const("AWS"),
        "publisher_name": m.Choose(((m.Matches(entity, "*Marketplace*"), sold_by),), entity),
        "billing_account_id": _field("bill/PayerAccountId"),
        "billing_account_name": _field("bill/PayerAccountName"),
        "sub_account_id": _field("lineItem/UsageAccountId"),
        "sub_account_name": _field("lineItem/UsageAccountName"),
    }


def _kinds() -> m.Mapping:
    use = (m.Equals(_TYPE, (*_USE, "SavingsPlanNegation")), m.Const("Usage"))
    fees = ("Fee", "RIFee", "SavingsPlanUpfrontFee", "SavingsPlanRecurringFee")
    return {
        "charge_category": m.Choose(
            (
                use,
                (m.Equals(_TYPE, fees), m.Const("Purchase")),
                (m.Equals(_TYPE, ("Tax",)), m.Const("Tax")),
                (m.Equals(_TYPE, ("Credit",)), m.Const("Credit")),
            ),
            m.Const("Adjustment"),
        ),
        "charge_frequency": m.Choose(
            (
                (m.Equals(_TYPE, ("RIFee", "SavingsPlanRecurringFee")), m.Const("Recurring")),
                (use[0], m.Const("Usage-Based")),
            ),
            m.Const("One-Time"),
        ),
    }


def _commitments() -> m.Mapping:
    """Who bought what, and whether it was used; a fee of which nothing is left unused is a plain purchase."""

    def of_either(plan: str, reservation: str) -> m.Expr:
        return m.Choose(((_given(_PLAN), m.Const(plan)), (_given(_RESERVATION), m.Const(reservation))), NOTHING)

    unused = (
        (m.Every((m.Equals(_TYPE, ("RIFee",)), *_some(_UNUSED_RESERVATION))), m.Const("Unused")),
        (m.Every((m.Equals(_TYPE, ("SavingsPlanRecurringFee",)), *_some(_UNUSED_PLAN))), m.Const("Unused")),
    )
    return {
        "commitment_discount_id": m.First((_PLAN, _RESERVATION)),
        "commitment_discount_category": of_either("Spend", "Usage"),
        "commitment_discount_type": of_either("Savings Plan", "Reservation"),
        "commitment_discount_status": m.Choose(((m.Equals(_TYPE, _COVERED), m.Const("Used")), *unused), NOTHING),
    }


def _given(node: m.Expr) -> m.Condition:
    return m.Not(m.IsNull(node))


def _some(amount: m.Total) -> tuple[m.Condition, ...]:
    """Conditions under which an amount is known and not zero."""
    return m.Any(tuple(_given(part) for part in amount.of if not isinstance(part, m.Negative))), m.Not(m.IsZero(amount))


def _things(columns: tuple[str, ...]) -> m.Mapping:
    code, usage_type = _field("lineItem/ProductCode"), _field("lineItem/UsageType")
    name = m.First((_field("product/ProductName"), *_in_map(columns, "product_name")))
    by_code = tuple((m.Equals(code, codes), m.Const(category)) for category, codes in CODES.items())
    by_name = tuple(
        (m.Any(tuple(m.Matches(name, glob) for glob in globs)), m.Const(category)) for category, globs in NAMES.items()
    )
    return {
        "charge_description": _field("lineItem/LineItemDescription"),
        "service_name": m.First((name, _field("product/servicename", "product/servicecode", "lineItem/ProductCode"))),
        "service_category": m.Choose((*by_code, *by_name), m.Const("Other")),
        "region_id": m.First((_field("product/regionCode", "product/region"), *_in_map(columns, "region"))),
        "availability_zone": _field("lineItem/AvailabilityZone"),
        "resource_id": _field("lineItem/ResourceId"),
        "resource_type": _field("product/instanceType", "product/productFamily"),
        "sku_id": m.First((_field("product/sku"), *_in_map(columns, "sku"))),
        "sku_price_id": _field("pricing/RateCode"),
        "usage_type": usage_type,
        "operation": _field("lineItem/Operation"),
        "pricing_category": m.Choose(
            (
                (m.Equals(_TYPE, _COVERED), m.Const("Committed")),
                (m.Equals(_field("pricing/term"), ("Spot",)), m.Const("Dynamic")),
                (m.Every((m.Equals(_TYPE, _USE), m.Matches(usage_type, "*Spot*"))), m.Const("Dynamic")),
                (m.Equals(_TYPE, _USE), m.Const("Standard")),
            ),
            NOTHING,
        ),
    }


def _in_map(columns: tuple[str, ...], member: str) -> tuple[m.Expr, ...]:
    """Member of the map `product` of 2.0, whose columns are many fewer."""
    return tuple(
        m.Between(m.Field(column), f'"{member}":{blank}"', '"')
        for column in named(columns, "product")
        for blank in ("", " ")
    )


def _quantities() -> m.Mapping:
    amount, unit = _field("lineItem/UsageAmount"), _field("pricing/unit")
    # A container's row repeats the time of its machine.
    counts = m.Every((m.Equals(_TYPE, _USE), m.IsNull(_field("splitLineItem/ParentResourceId"))))
    used, of_unit = m.Choose(((counts, amount),), NOTHING), m.Choose(((counts, unit),), NOTHING)
    return {
        "pricing_quantity": used,
        "pricing_unit": of_unit,
        "consumed_quantity": used,
        "consumed_unit": of_unit,
        "list_unit_price": _field("pricing/publicOnDemandRate"),
        "pricing_currency": _field("pricing/currency"),
    }


def _tags(columns: tuple[str, ...]) -> m.Expr | None:
    """Tags of columns of their own, then tags in maps, then cost categories; a key that is there counts first."""
    own, categories = _pairs(columns, "resourcetags/", "resource_tags_"), _pairs(columns, *_CATEGORY_PREFIXES)
    maps = [m.JsonTags(m.Field(name)) for name in named(columns, "resource_tags", "tags", "cost_category")]
    sets: list[m.Expr] = [
        *([m.ColumnTags(own)] if own else []),
        *maps,
        *([m.ColumnTags(categories)] if categories else []),
    ]
    if not sets:
        return None
    return sets[0] if len(sets) == 1 else m.MergedTags(tuple(sets))


def _pairs(columns: tuple[str, ...], *prefixes: str) -> tuple[tuple[str, str], ...]:
    """Key and column of each tag; of two columns with the same key the first."""
    found: dict[str, str] = {}
    for column in columns:
        prefix = next((p for p in prefixes if column.casefold().startswith(p)), "")
        if prefix and len(column) > len(prefix):
            key = column[len(prefix) :]
            found.setdefault(re.sub(r"^(user|aws)_", r"\1:", key) if prefix == "resource_tags_" else key, column)
    return tuple(found.items())
