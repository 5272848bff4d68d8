"""Azure cost exports: enterprise and customer agreements, actual and amortised, and pay-as-you-go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unitcost.facts import mapping as m
from unitcost.facts.source import ReadOptions
from unitcost.money import parse_amount
from unitcost.readers.azure_headers import NAMES, english, is_localised
from unitcost.readers.head import Head
from unitcost.readers.present import NOTHING, present
from unitcost.readers.reading import Reading

NAME = "azure"
CONVENTIONS = (
    "The cost is in the billing currency: CostInBillingCurrency, else Cost, else PreTaxCost.",
    "List cost is the pay-as-you-go cost, else PayGPrice times Quantity where the file has no pricing currency of its "
    "own; it is never added. A price of 0 beside a cost, or for what a commitment covers, is a price not stated.",
    "Quantities count the blocks of UnitOfMeasure, and a price is that of a block.",
    "An export of actual cost states billed cost. Effective cost is the same, but for a commitment: its purchase has "
    "none, and for use that it covers the file does not say, so it stays unknown.",
    "An export of amortised cost states effective cost. Billed cost is the same, but for what a commitment covers or "
    "leaves unused: that was billed with the purchase, which such a file does not have.",
    "A row is one day, UTC. The last day of a billing period belongs to it; where there is no billing period it is the "
    "month of the day.",
    "Tags without braces are read as if they had them. Unassigned is no value.",
    "Headers in other languages are known for the main columns in German, French, Spanish, Japanese and Chinese, and "
    "in any language where the English name stands behind in brackets.",
)
DEFINING = (
    "CostInBillingCurrency",
    "Date",
    "MeterCategory",
    "MeterId",
    "SubscriptionId",
    "ResourceId",
    "ConsumedService",
)

_ZERO = m.Const("0")
_NULLS = ("Unassigned",)
_PLANS = ("SavingsPlan", "Savings Plan")
_COMMITTED = ("Reservation", *_PLANS)
_METERS = ("meter category", "meter", "meter id", "consumed service")
_PLACES = ("subscription", "resource")
#: Target column -> what stands in it as it is.
_PLAIN = {
    "billing_currency": "currency", "invoice_id": "invoice", "billing_account_id": "account",
    "billing_account_name": "account name", "sub_account_id": "subscription", "sub_account_name": "subscription name",
    "charge_description": "product", "service_subcategory": "meter subcategory", "region_id": "location",
    "availability_zone": "zone", "resource_id": "resource", "resource_name": "resource name", "sku_id": "meter id",
    "sku_meter": "meter", "sku_price_id": "part", "pricing_quantity": "quantity", "pricing_unit": "unit",
    "consumed_quantity": "quantity", "consumed_unit": "unit", "contracted_unit_price": "contracted price",
    "list_unit_price": "list price", "pricing_currency": "pricing currency",
}  # fmt: skip
#: Service category -> service families.
_FAMILIES = {
    "AI and Machine Learning": ("AI + Machine Learning",),
    "Analytics": ("Analytics",),
    "Compute": ("Compute", "Containers"),
    "Databases": ("Databases",),
    "Developer Tools": ("Developer Tools",),
    "Identity": ("Identity",),
    "Integration": ("Integration",),
    "Internet of Things": ("Internet of Things",),
    "Management and Governance": ("Management and Governance",),
    "Networking": ("Networking",),
    "Security": ("Security",),
    "Storage": ("Storage",),
}
#: Service category -> meter categories, which say more than the family: some exports name one family throughout.
_METER_CATEGORIES = {
    "AI and Machine Learning": ("Azure Machine Learning", "Cognitive Services", "Foundry Models", "Azure OpenAI"),
    "Analytics": ("Azure Data Factory v2", "Azure Databricks", "Azure Synapse Analytics", "HDInsight"),
    "Compute": (
        "Virtual Machines", "Virtual Machines Licenses", "Functions", "Azure App Service", "Container Instances",
    ),
    "Databases": ("SQL Database", "SQL Managed Instance", "Azure Cosmos DB", "Redis Cache"),
    "Management and Governance": ("Azure Monitor", "Log Analytics", "Automation"),
    "Networking": (
        "Bandwidth", "Virtual Network", "Load Balancer", "VPN Gateway", "NAT Gateway", "Application Gateway",
        "Azure DNS", "Azure Front Door Service", "Content Delivery Network", "ExpressRoute",
    ),
    "Security": ("Key Vault", "Microsoft Defender for Cloud", "Advanced Threat Protection", "Sentinel"),
    "Storage": ("Storage", "Backup", "Azure NetApp Files"),
}  # fmt: skip


class _Columns:
    """Columns of one file by what they mean."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.written = tuple(columns)
        self.by_english = {english(column): column for column in reversed(columns)}

    def names(self, what: str) -> tuple[str, ...]:
        """Headers of all columns that mean this, the best first."""
        folded = (name.casefold() for name in NAMES[what])
        return tuple(self.by_english[name] for name in folded if name in self.by_english)

    def field(self, what: str) -> m.Expr:
        """First of them that has a value."""
        names = self.names(what)
        return m.fields(*names) if names else NOTHING

    def at(self, what: str) -> int | None:
        """Position of the best of them."""
        names = self.names(what)
        return self.written.index(names[0]) if names else None


def sniff(head: Head) -> int:
    """How many columns of the export the file has; 0 without a cost, a day, a meter, and whose it is."""
    found = _Columns(head.columns)
    needed = (("cost",), ("date",), _METERS, _PLACES)
    if not all(any(found.names(what) for what in group) for group in needed):
        return 0
    return sum(bool(found.names(what)) for what in NAMES)


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of an export mean; see `Reader`."""
    found = _Columns(columns)
    amortised = _is_amortised(found, sample)
    localised = [column for column in columns if is_localised(column)]
    start, end = found.names("period start"), found.names("period end")
    return Reading(
        dialect=f"{_agreement(found)} {'amortised' if amortised else 'actual'}",
        mapping=m.check(present(_mapping(found, amortised), columns)),
        conventions=CONVENTIONS,
        flags=(f"Headers are not English and are read as: {_listed(localised)}.",) if localised else (),
        cost_column="effective_cost" if amortised else "billed_cost",
        nulls=_NULLS,
        date_columns=(*found.names("date"), *start, *end),
        period_columns=(start[0], end[0]) if start and end else None,
        currency_columns=found.names("currency"),
        money_columns=tuple(
            name for what in ("cost", "list cost", "contracted price", "list price") for name in found.names(what)
        ),
    )


def _listed(localised: list[str]) -> str:
    spelt = {name.casefold(): name for names in NAMES.values() for name in names}
    return ", ".join(f"{column} = {spelt[english(column)]}" for column in localised)


def _agreement(found: _Columns) -> str:
    if "costinpricingcurrency" in found.by_english or {"invoicesectionid", "invoiceid"} <= found.by_english.keys():
        return "MCA"
    return "EA" if found.names("account") else "pay-as-you-go"


def _is_amortised(found: _Columns, sample: Sequence[Sequence[str]]) -> bool:
    """Whether the first rows have what only amortised cost has: unused commitments, or covered use that costs."""
    at = {what: found.at(what) for what in ("charge type", "cost", "pricing model", "benefit")}

    def cell(row: Sequence[str], what: str) -> str:
        position = at[what]
        return "" if position is None or row[position] in _NULLS else row[position].casefold()

    committed = {name.casefold() for name in _COMMITTED}
    for row in sample:
        kind, model = cell(row, "charge type"), cell(row, "pricing model")
        if kind.startswith("unused"):
            return True
        covered = model in committed or (not model and cell(row, "benefit"))
        if covered and kind in ("usage", "") and _is_some(cell(row, "cost")):
            return True
    return False


def _is_some(cell: str) -> bool:
    try:
        return parse_amount(cell) != 0
    except ValueError:
        return False


def _mapping(found: _Columns, amortised: bool) -> m.Mapping:
    day, line = m.Time(found.field("date")), _line(found)
    return {
        **{target: found.field(what) for target, what in _PLAIN.items()},
        **_costs(found, line, amortised),
        **_charge(found, line),
        **_commitments(found, line),
        "billing_period_start": m.Time(found.field("period start")),
        "billing_period_end": m.Time(found.field("period end"), shift_days=1),
        "charge_period_start": day,
        "charge_period_end": m.Time(found.field("date"), shift_days=1),
        "service_provider_name": m.Const("Microsoft"),
        "host_provider_name": m.Const("Microsoft"),
        **_things(found),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What kind of charge a row is, as conditions over its cells."""

    kind: m.Expr
    model: m.Expr
    committed: m.Condition
    usage: m.Condition
    unused: m.Condition

    @property
    def covered(self) -> m.Condition:
        return m.Every((self.usage, self.committed))

    @property
    def bought(self) -> m.Condition:
        return m.Every((m.Equals(self.kind, ("Purchase", "Refund")), self.committed))

    @property
    def of_commitment(self) -> m.Condition:
        return m.Any((self.committed, self.unused))

    @property
    def of_plan(self) -> m.Condition:
        return m.Any((m.Equals(self.model, _PLANS), m.Equals(self.kind, ("UnusedSavingsPlan",))))


def _line(found: _Columns) -> _Line:
    kind, model = found.field("charge type"), found.field("pricing model")
    # Older files have no pricing model and name the reservation alone.
    named = m.Every((m.IsNull(model), m.Not(m.IsNull(found.field("benefit")))))
    return _Line(
        kind=kind, model=model, committed=m.Any((m.Equals(model, _COMMITTED), named)),
        usage=m.Any((m.Equals(kind, ("Usage",)), m.IsNull(kind))), unused=m.Matches(kind, "Unused*"),
    )  # fmt: skip


def _costs(found: _Columns, line: _Line, amortised: bool) -> m.Mapping:
    # Never another column where it is empty: that may be in another currency.
    cost = m.Field(found.names("cost")[0])
    billed = m.Choose(((m.Any((line.unused, line.covered)), _ZERO),), cost)
    # In an actual export covered use costs nothing, so one rule for billed cost holds for both.
    free = m.Every((line.covered, m.IsZero(cost)))
    effective = cost if amortised else m.Choose(((line.bought, _ZERO), (free, NOTHING)), cost)
    return {"billed_cost": billed, "effective_cost": effective, "list_cost": _list_cost(found, line, cost)}


def _list_cost(found: _Columns, line: _Line, cost: m.Expr) -> m.Expr:
    """The pay-as-you-go cost, else price times quantity where both are in the billing currency."""
    if found.names("list cost"):
        return found.field("list cost")
    if found.names("pricing currency") or not (found.names("list price") and found.names("quantity")):
        return NOTHING
    price = found.field("list price")
    unstated = m.Every((m.IsZero(price), m.Any((line.of_commitment, m.Not(m.IsZero(cost))))))
    return m.Choose(((unstated, NOTHING),), m.Product(price, found.field("quantity")))


def _charge(found: _Columns, line: _Line) -> m.Mapping:
    kind, frequency = line.kind, found.field("frequency")
    return {
        "charge_category": m.Choose(
            (
                (m.Equals(kind, ("Purchase",)), m.Const("Purchase")),
                (m.Equals(kind, ("Tax",)), m.Const("Tax")),
                (m.Matches(kind, "*Credit*"), m.Const("Credit")),
                (m.Any((line.usage, line.unused)), m.Const("Usage")),
            ),
            m.Const("Adjustment"),
        ),
        "charge_frequency": m.Choose(
            (
                (m.Equals(frequency, ("UsageBased",)), m.Const("Usage-Based")),
                (m.Equals(frequency, ("OneTime",)), m.Const("One-Time")),
            ),
            frequency,
        ),
        "pricing_category": m.Choose(
            (
                (line.of_commitment, m.Const("Committed")),
                (m.Equals(line.model, ("Spot",)), m.Const("Dynamic")),
                (m.Equals(line.model, ("OnDemand",)), m.Const("Standard")),
            ),
            NOTHING,
        ),
    }


def _commitments(found: _Columns, line: _Line) -> m.Mapping:
    def of_either(plan: str, reservation: str) -> m.Expr:
        return m.Choose(((line.of_plan, m.Const(plan)), (line.of_commitment, m.Const(reservation))), NOTHING)

    return {
        "commitment_discount_id": m.Choose(((line.of_commitment, found.field("benefit")),), NOTHING),
        "commitment_discount_name": m.Choose(((line.of_commitment, found.field("benefit name")),), NOTHING),
        "commitment_discount_category": of_either("Spend", "Usage"),
        "commitment_discount_type": of_either("Savings Plan", "Reservation"),
        "commitment_discount_status": m.Choose(
            ((line.unused, m.Const("Unused")), (line.covered, m.Const("Used"))), NOTHING
        ),
    }


def _things(found: _Columns) -> m.Mapping:
    category, publisher = found.field("meter category"), found.field("publisher")
    resource, tags = found.field("resource"), found.field("tags")
    by_meter = tuple((m.Equals(category, names), m.Const(kind)) for kind, names in _METER_CATEGORIES.items())
    by_family = tuple((m.Equals(found.field("family"), names), m.Const(kind)) for kind, names in _FAMILIES.items())
    bare = m.JoinText((m.Const("{"), tags, m.Const("}")))
    things: m.Mapping = {
        "service_name": m.First((category, found.field("service name"), found.field("consumed service"))),
        "service_category": m.Choose((*by_meter, *by_family), m.Const("Other")),
        "publisher_name": m.Choose(
            ((m.Equals(found.field("publisher type"), ("Marketplace",)),
              m.JoinText((publisher, m.Const("Azure Marketplace")), " via ")),),
            publisher,
        ),
        "resource_type": m.First((found.field("resource type"), found.field("consumed service"))),
        "resource_group": m.First((found.field("resource group"), m.Between(resource, "/resourceGroups/", "/"))),
    }  # fmt: skip
    if found.names("tags"):
        things["tags"] = m.JsonTags(m.Choose(((m.Matches(tags, '"*'), bare),), tags))
    return things
