"""Azure cost exports: EA and MCA, actual and amortised, pay-as-you-go, camelCase, localised headers."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.readers.azure_headers import LOCALISED
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "azure"
CONVENTIONS = (
    "The cost is in the billing currency: CostInBillingCurrency, else Cost, else PreTaxCost; the pay-as-you-go "
    "column is the list cost and never added.",
    "An amortised export states effective cost; its billed cost is the same but for what commitments cover, which was "
    "billed with their purchase: 0.",
    "An actual export states billed cost; effective cost is 0 for the purchase of a commitment and unknown for use "
    "that one covers; otherwise it is the same.",
    "A row is one day, UTC. The last day of a billing period is inside it; without one it is the month of the day.",
    "`Unassigned` means no value. Tags without braces are read as if they had them.",
)
DEFINING = (
    "CostInBillingCurrency",
    "MeterCategory",
    "ResourceId",
    "PreTaxCost",
    "ConsumedService",
    "SubscriptionId",
    "Date",
)
#: Column -> spellings across the versions of the export.
_NAMES = {
    "cost": ("CostInBillingCurrency", "Cost", "PreTaxCost", "ExtendedCost"),
    "list": ("PaygCostInBillingCurrency",),
    "currency": ("BillingCurrency", "BillingCurrencyCode", "Currency"),
    "date": ("Date", "UsageDateTime", "UsageDate"),
    "period start": ("BillingPeriodStartDate",),
    "period end": ("BillingPeriodEndDate",),
    "meter category": ("MeterCategory",),
    "meter": ("MeterName",),
    "meter subcategory": ("MeterSubCategory",),
    "meter id": ("MeterId",),
    "service": ("MeterCategory", "ConsumedService", "ServiceName"),
    "resource": ("ResourceId", "InstanceId", "InstanceName"),
    "resource name": ("ResourceName",),
    "resource type": ("ResourceType",),
    "resource group": ("ResourceGroup", "ResourceGroupName"),
    "location": ("ResourceLocation", "Location", "MeterRegion"),
    "subscription": ("SubscriptionId", "SubscriptionGuid"),
    "subscription name": ("SubscriptionName",),
    "account": ("BillingAccountId", "BillingProfileId"),
    "account name": ("BillingAccountName", "BillingProfileName"),
    "quantity": ("Quantity", "UsageQuantity", "ConsumedQuantity"),
    "unit": ("UnitOfMeasure",),
    "unit price": ("UnitPrice", "ResourceRate"),
    "list price": ("PayGPrice",),
    "product": ("ProductName", "Product"),
    "charge type": ("ChargeType",),
    "pricing model": ("PricingModel",),
    "reservation": ("BenefitId", "ReservationId"),
    "reservation name": ("BenefitName", "ReservationName"),
    "publisher type": ("PublisherType",),
    "publisher": ("PublisherName",),
    "invoice": ("InvoiceId",),
    "frequency": ("Frequency",),
    "zone": ("AvailabilityZone",),
    "tags": ("Tags",),
    "family": ("ServiceFamily",),
}
_FAMILIES = (
    ("ai + machine learning", "AI and Machine Learning"), ("compute", "Compute"), ("storage", "Storage"),
    ("networking", "Networking"), ("databases", "Databases"), ("analytics", "Analytics"), ("security", "Security"),
    ("management and governance", "Management and Governance"), ("containers", "Compute"),
)  # fmt: skip


def sniff(head: Head) -> int:
    """Columns of the export that the file has; 0 without a cost, a day and a meter or service."""
    english = _english(head.columns)
    folded = {name.casefold() for name in english}
    if "billedcost" in folded:
        return 0

    def any_of(what: str) -> bool:
        return any(name.casefold() in folded for name in _NAMES[what])

    if not (any_of("cost") and any_of("date") and any_of("service") and (any_of("subscription") or any_of("resource"))):
        return 0
    return 5 + sum(any_of(what) for what in _NAMES)


def _english(columns: Sequence[str]) -> dict[str, str]:
    """English name of each column -> its name in the file."""
    return {LOCALISED.get(column.strip().casefold(), column.strip()): column for column in columns}


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """Meaning of the columns; see `CONVENTIONS`."""
    found = _Columns(columns)
    amortised = _is_amortised(found, columns, sample)
    translated = [c for c in columns if c.strip().casefold() in LOCALISED]
    tag_columns = found.names("tags")
    bare = [c for c in tag_columns if _is_bare(columns.index(c), sample)]
    flags = [f"{len(translated)} headers are localised and were read by their English names"] if translated else []
    if bare:
        flags.append("tags are written without braces; they were read as if they had them")
    return Reading(
        dialect=f"{found.kind()} {'amortised' if amortised else 'actual'}",
        mapping=m.check(_mapping(found, amortised)),
        conventions=CONVENTIONS,
        flags=tuple(flags),
        cost_column="effective_cost" if amortised else "billed_cost",
        nulls=("Unassigned", "unassigned"),
        date_columns=(*found.names("date"), *found.names("period start"), *found.names("period end")),
        period_columns=found.period(),
        currency_columns=found.names("currency"),
        money_columns=(*found.names("cost")[:1], *found.names("list")[:1]),
        repairs=dict.fromkeys(bare, with_braces),
    )


class _Columns:
    """Columns of one file by what they mean."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.by_name = {english.casefold(): written for english, written in _english(columns).items()}

    def names(self, what: str) -> tuple[str, ...]:
        """Names in the file of all columns that mean `what`, the best first."""
        return tuple(self.by_name[n.casefold()] for n in _NAMES[what] if n.casefold() in self.by_name)

    def field(self, what: str) -> m.Expr:
        """First of them that has a value."""
        names = self.names(what)
        return m.fields(*names) if names else m.Field("no such column")

    def period(self) -> tuple[str, str] | None:
        """Columns of the billing period."""
        start, end = self.names("period start"), self.names("period end")
        return (start[0], end[0]) if start and end else None

    def kind(self) -> str:
        """Which agreement the export is of."""
        if "billingprofileid" in self.by_name and "invoiceid" in self.by_name:
            return "MCA"
        return "EA" if "billingaccountid" in self.by_name and "meterid" in self.by_name else "pay-as-you-go"


def _is_amortised(found: _Columns, columns: tuple[str, ...], sample: Sequence[Sequence[str]]) -> bool:
    """Whether use that commitments cover carries a cost; an actual export has it at zero."""
    kind, cost, model = found.names("charge type"), found.names("cost"), found.names("pricing model")
    if not kind or not cost:
        return False
    at_kind, at_cost = columns.index(kind[0]), columns.index(cost[0])
    at_model = columns.index(model[0]) if model else at_kind
    for row in sample:
        if row[at_kind].casefold().startswith("unused"):
            return True
        covered = row[at_model].casefold() in ("reservation", "savingsplan")
        if row[at_kind].casefold() == "usage" and covered and row[at_cost].strip(" 0.") != "":
            return True
    return False


def _is_bare(position: int, sample: Sequence[Sequence[str]]) -> bool:
    return any(row[position].lstrip().startswith('"') and len(row[position].strip()) > 2 for row in sample)


def with_braces(text: str) -> str:
    """Tags as a JSON object: braces put around members that stand without."""
    stripped = text.strip()
    if not stripped.startswith('"'):
        return text
    return "{}" if stripped == '""' else "{" + stripped.rstrip(",") + "}"


def _mapping(found: _Columns, amortised: bool) -> m.Mapping:
    cost = m.Field(found.names("cost")[0])
    kind, model = found.field("charge type"), found.field("pricing model")
    covered = m.Equals(model, ("Reservation", "SavingsPlan"))
    usage = m.Equals(kind, ("Usage",))
    purchase = m.Equals(kind, ("Purchase", "Refund"))
    unused = m.Matches(kind, "Unused*")
    nothing, zero = m.Field("no such column"), m.Const("0")
    if amortised:
        billed: m.Expr = m.Choose(((unused, zero), (m.Every((usage, covered)), zero)), cost)
        effective: m.Expr = cost
    else:
        billed = cost
        effective = m.Choose(((m.Every((purchase, covered)), zero), (m.Every((usage, covered)), nothing)), cost)
    day = found.field("date")
    mapping: m.Mapping = {
        "billed_cost": billed,
        "effective_cost": effective,
        "charge_period_start": m.Time(day),
        "charge_period_end": m.Time(day, shift_days=1),
        "service_provider_name": m.Const("Microsoft"),
        "publisher_name": m.Choose(
            ((m.Equals(found.field("publisher type"), ("Marketplace",)),
              m.JoinText((found.field("publisher"), m.Const("(marketplace)")), " ")),), found.field("publisher"),
        ),
        "charge_category": m.Choose(
            (
                (m.Equals(kind, ("Purchase",)), m.Const("Purchase")),
                (m.Equals(kind, ("Refund",)), m.Const("Refund")),
                (m.Equals(kind, ("Tax",)), m.Const("Tax")),
                (m.Equals(kind, ("Adjustment", "RoundingAdjustment")), m.Const("Adjustment")),
                (m.Matches(kind, "*Credit*"), m.Const("Credit")),
            ),
            m.Const("Usage"),
        ),
        "service_category": m.Choose(
            tuple((m.Equals(found.field("family"), (name,)), m.Const(focus)) for name, focus in _FAMILIES), m.Const("Other")
        ),
        "pricing_category": m.Choose(
            ((covered, m.Const("Committed")), (m.Equals(model, ("Spot",)), m.Const("Dynamic"))), m.Const("Standard")
        ),
        "commitment_discount_id": m.Choose(((covered, found.field("reservation")),), nothing),
        "commitment_discount_name": m.Choose(((covered, found.field("reservation name")),), nothing),
        "commitment_discount_status": m.Choose(
            ((unused, m.Const("Unused")), (m.Every((usage, covered)), m.Const("Used"))), nothing
        ),
        "tags": m.JsonTags(found.field("tags")),
        **{target: found.field(what) for target, what in _PLAIN.items() if found.names(what)},
    }  # fmt: skip
    if found.names("list"):
        mapping["list_cost"] = found.field("list")
    if found.period():
        mapping["billing_period_start"] = m.Time(found.field("period start"), snap="")
        mapping["billing_period_end"] = m.Time(found.field("period end"), shift_days=1)
    return mapping


_PLAIN = {
    "billing_currency": "currency", "billing_account_id": "account", "billing_account_name": "account name",
    "sub_account_id": "subscription", "sub_account_name": "subscription name", "invoice_id": "invoice",
    "charge_description": "product", "charge_frequency": "frequency", "service_name": "service",
    "service_subcategory": "meter subcategory", "region_id": "location", "availability_zone": "zone",
    "resource_id": "resource", "resource_name": "resource name", "resource_type": "resource type",
    "resource_group": "resource group", "sku_id": "meter id", "sku_meter": "meter", "pricing_quantity": "quantity",
    "pricing_unit": "unit", "consumed_quantity": "quantity", "consumed_unit": "unit",
    "contracted_unit_price": "unit price", "list_unit_price": "list price",
}  # fmt: skip
