"""FOCUS cost and usage, versions 1.0-preview to 1.4 and the names of the 1.5 draft."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.charges import CHARGE_COLUMNS, COLUMN_BY_NAME
from unitcost.facts.mapping import ColumnTags, Expr, Field, JsonTags, Mapping, MergedTags, fields
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.owner_columns import owner_columns
from unitcost.readers.reading import Reading

NAME = "focus"
CONVENTIONS = (
    "Times are UTC; a period starts at its start and ends before its end.",
    "Costs are in the billing currency: billed cost is the invoice, effective cost spreads prepayments over their use.",
    "A commitment's purchase has no effective cost and its use no billed cost, so a report adds up one of the two.",
    "A correction keeps the old charge period and takes the new billing period.",
    "An empty cell, NULL and null are no value; a cost that is not there stays unknown and is not taken for zero.",
    "Tags of an allocated charge win over the tags of the charge that it was split from.",
    "Columns that FOCUS does not know, x_ columns among them, are kept beside the charge.",
)
DEFINING = ("BilledCost", "EffectiveCost", "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "ServiceName")

_COSTS = ("BilledCost", "EffectiveCost")
#: Older names of a column, first that has a value wins: 1.0-preview, and those that 1.3 replaced.
_ALIASES: dict[str, tuple[str, ...]] = {
    "service_provider_name": ("ProviderName", "Provider"),
    "publisher_name": ("Publisher",),
    "invoice_issuer_name": ("InvoiceIssuer",),
    "region_id": ("Region",),
    "consumed_quantity": ("UsageQuantity",),
    "consumed_unit": ("UsageUnit",),
    "charge_category": ("ChargeType",),
}
_PREVIEW = ("Provider", "Publisher", "InvoiceIssuer", "Region", "UsageQuantity", "UsageUnit", "ChargeType")
#: What each version added, newest first.
_ADDED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("1.5 draft", ("PrincipalId",)),
    ("1.4", ("InvoiceDetailId", "CommitmentProgramEligibilityDetails")),
    ("1.3", (
        "ServiceProviderName", "HostProviderName", "AllocatedMethodId", "AllocatedMethodDetails", "AllocatedResourceId",
        "AllocatedResourceName", "AllocatedTags", "ContractApplied",
    )),
    ("1.2", (
        "InvoiceId", "BillingAccountType", "SubAccountType", "PricingCurrency", "PricingCurrencyEffectiveCost",
        "PricingCurrencyListUnitPrice", "PricingCurrencyContractedUnitPrice",
    )),
    ("1.1", (
        "CapacityReservationId", "CapacityReservationStatus", "CommitmentDiscountQuantity", "CommitmentDiscountUnit",
        "ServiceSubcategory", "SkuMeter", "SkuPriceDetails",
    )),
)  # fmt: skip
_MANDATORY = (
    "BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory",
    "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost", "ListCost", "ServiceCategory",
    "ServiceName",
)  # fmt: skip
_TAG_COLUMNS = ("AllocatedTags", "Tags")
_KNOWN = frozenset(
    [column.focus.casefold() for column in CHARGE_COLUMNS if column.focus]
    + [name.casefold() for names in _ALIASES.values() for name in names]
    + ["allocatedtags", "principalid"]
)


def sniff(head: Head) -> int:
    """How many FOCUS columns the file has, 0 without a cost or with nothing but it."""
    known = sum(name in _KNOWN for name in head.folded)
    return known if head.count(*_COSTS) and known > 1 else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of a FOCUS file mean; see `Reader`."""
    by_folded = {name.casefold(): name for name in reversed(columns)}
    mapping: Mapping = {}
    for column in CHARGE_COLUMNS:
        present = [by_folded[n.casefold()] for n in _names(column.name) if n.casefold() in by_folded]
        if present and column.kind != "tags":
            mapping[column.name] = fields(*present)
    owners = [name for name in owner_columns(columns) if name.casefold() not in _KNOWN]
    tags = _tags(by_folded, owners)
    if tags is not None:
        mapping["tags"] = tags
    periods = tuple(by_folded.get(n, "") for n in ("billingperiodstart", "billingperiodend"))
    return Reading(
        dialect=_dialect(by_folded),
        mapping=mapping,
        conventions=CONVENTIONS,
        flags=_flags(mapping, owners),
        cost_column="billed_cost" if "billed_cost" in mapping else "effective_cost",
        nulls=("NULL", "null"),
        date_columns=_of_kind(by_folded, "time"),
        period_columns=(periods[0], periods[1]) if all(periods) else None,
        currency_columns=tuple(by_folded[n] for n in ("billingcurrency",) if n in by_folded),
        money_columns=_of_kind(by_folded, "money") + _of_kind(by_folded, "quantity"),
    )


def _names(target: str) -> tuple[str, ...]:
    focus = COLUMN_BY_NAME[target].focus
    return ((focus,) if focus else ()) + _ALIASES.get(target, ())


def _of_kind(by_folded: dict[str, str], kind: str) -> tuple[str, ...]:
    names = [c.focus.casefold() for c in CHARGE_COLUMNS if c.kind == kind and c.focus]
    if kind == "quantity":
        names.append("usagequantity")
    return tuple(by_folded[name] for name in names if name in by_folded)


def _dialect(by_folded: dict[str, str]) -> str:
    def has_any(names: tuple[str, ...]) -> bool:
        return any(name.casefold() in by_folded for name in names)

    version = next((version for version, added in _ADDED if has_any(added)), "1.0")
    if version == "1.3" and not has_any(("ProviderName", "PublisherName")) and has_any(("ServiceProviderName",)):
        version = "1.4"  # which removed both
    if version == "1.0" and has_any(_PREVIEW):
        version = "1.0-preview"
    present = sum(name.casefold() in by_folded for name in _MANDATORY)
    return f"FOCUS {version}" + ("" if 2 * present >= len(_MANDATORY) else ", few columns")


def _tags(by_folded: dict[str, str], owners: list[str]) -> Expr | None:
    sets: list[Expr] = [JsonTags(Field(by_folded[n.casefold()])) for n in _TAG_COLUMNS if n.casefold() in by_folded]
    if owners:
        sets.append(ColumnTags(tuple((name, name) for name in owners)))
    if not sets:
        return None
    return sets[0] if len(sets) == 1 else MergedTags(tuple(sets))


def _flags(mapping: Mapping, owners: list[str]) -> tuple[str, ...]:
    flags = [f"Columns that FOCUS does not know are read as tags: {', '.join(owners)}."] if owners else []
    missing = [COLUMN_BY_NAME[cost].focus for cost in ("billed_cost", "effective_cost") if cost not in mapping]
    return (*flags, *(f"The file has no {name}; it stays unknown." for name in missing))
