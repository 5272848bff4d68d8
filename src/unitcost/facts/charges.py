"""The charge: one row of a bill, with the columns of FOCUS 1.4 and a few that native exports add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "money", "quantity", "time", "tags", "json"]
CostKind = Literal["billed", "effective", "list", "contracted"]

#: The column of the ledger that each kind of cost stands in.
COST_COLUMNS: dict[CostKind, str] = {
    "billed": "billed_cost",
    "effective": "effective_cost",
    "list": "list_cost",
    "contracted": "contracted_cost",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `charges`.

    Parameters
    ----------
    name
        Inside name, snake_case.
    focus
        Name in FOCUS, or empty for a column that FOCUS does not have.
    kind
        What its values are.
    facet
        Whether rules may look at it. Charges that agree in all facet columns share one `facets` row,
        so owners and drivers are decided once for all of them.
    """

    name: str
    focus: str
    kind: Kind
    facet: bool = False


CHARGE_COLUMNS: tuple[Column, ...] = (
    Column("billed_cost", "BilledCost", "money"),
    Column("effective_cost", "EffectiveCost", "money"),
    Column("list_cost", "ListCost", "money"),
    Column("contracted_cost", "ContractedCost", "money"),
    Column("billing_currency", "BillingCurrency", "text"),
    Column("billing_period_start", "BillingPeriodStart", "time"),
    Column("billing_period_end", "BillingPeriodEnd", "time"),
    Column("charge_period_start", "ChargePeriodStart", "time"),
    Column("charge_period_end", "ChargePeriodEnd", "time"),
    Column("invoice_id", "InvoiceId", "text"),
    Column("invoice_detail_id", "InvoiceDetailId", "text"),
    Column("invoice_issuer_name", "InvoiceIssuerName", "text"),
    Column("service_provider_name", "ServiceProviderName", "text", facet=True),
    Column("host_provider_name", "HostProviderName", "text"),
    Column("publisher_name", "PublisherName", "text", facet=True),
    Column("billing_account_id", "BillingAccountId", "text", facet=True),
    Column("billing_account_name", "BillingAccountName", "text"),
    Column("billing_account_type", "BillingAccountType", "text"),
    Column("sub_account_id", "SubAccountId", "text", facet=True),
    Column("sub_account_name", "SubAccountName", "text", facet=True),
    Column("sub_account_type", "SubAccountType", "text"),
    Column("charge_category", "ChargeCategory", "text", facet=True),
    Column("charge_class", "ChargeClass", "text", facet=True),
    Column("charge_description", "ChargeDescription", "text", facet=True),
    Column("charge_frequency", "ChargeFrequency", "text"),
    Column("service_category", "ServiceCategory", "text", facet=True),
    Column("service_subcategory", "ServiceSubcategory", "text", facet=True),
    Column("service_name", "ServiceName", "text", facet=True),
    Column("region_id", "RegionId", "text", facet=True),
    Column("region_name", "RegionName", "text"),
    Column("availability_zone", "AvailabilityZone", "text"),
    Column("resource_id", "ResourceId", "text", facet=True),
    Column("resource_name", "ResourceName", "text", facet=True),
    Column("resource_type", "ResourceType", "text", facet=True),
    Column("resource_group", "", "text", facet=True),
    Column("sku_id", "SkuId", "text", facet=True),
    Column("sku_meter", "SkuMeter", "text", facet=True),
    Column("sku_price_id", "SkuPriceId", "text"),
    Column("sku_price_details", "SkuPriceDetails", "json"),
    Column("usage_type", "", "text", facet=True),
    Column("operation", "", "text", facet=True),
    Column("pricing_category", "PricingCategory", "text", facet=True),
    Column("pricing_quantity", "PricingQuantity", "quantity"),
    Column("pricing_unit", "PricingUnit", "text"),
    Column("consumed_quantity", "ConsumedQuantity", "quantity"),
    Column("consumed_unit", "ConsumedUnit", "text"),
    Column("list_unit_price", "ListUnitPrice", "quantity"),
    Column("contracted_unit_price", "ContractedUnitPrice", "quantity"),
    Column("pricing_currency", "PricingCurrency", "text"),
    Column("pricing_currency_effective_cost", "PricingCurrencyEffectiveCost", "quantity"),
    Column("pricing_currency_list_unit_price", "PricingCurrencyListUnitPrice", "quantity"),
    Column("pricing_currency_contracted_unit_price", "PricingCurrencyContractedUnitPrice", "quantity"),
    Column("commitment_discount_id", "CommitmentDiscountId", "text", facet=True),
    Column("commitment_discount_name", "CommitmentDiscountName", "text"),
    Column("commitment_discount_category", "CommitmentDiscountCategory", "text"),
    Column("commitment_discount_type", "CommitmentDiscountType", "text"),
    Column("commitment_discount_status", "CommitmentDiscountStatus", "text", facet=True),
    Column("commitment_discount_quantity", "CommitmentDiscountQuantity", "quantity"),
    Column("commitment_discount_unit", "CommitmentDiscountUnit", "text"),
    Column("commitment_program_eligibility_details", "CommitmentProgramEligibilityDetails", "json"),
    Column("capacity_reservation_id", "CapacityReservationId", "text"),
    Column("capacity_reservation_status", "CapacityReservationStatus", "text"),
    Column("allocated_method_id", "AllocatedMethodId", "text"),
    Column("allocated_method_details", "AllocatedMethodDetails", "json"),
    Column("allocated_resource_id", "AllocatedResourceId", "text"),
    Column("allocated_resource_name", "AllocatedResourceName", "text"),
    Column("contract_applied", "ContractApplied", "json"),
    Column("tags", "Tags", "tags", facet=True),
)

COLUMN_BY_NAME: dict[str, Column] = {column.name: column for column in CHARGE_COLUMNS}
FACET_COLUMNS: tuple[str, ...] = tuple(column.name for column in CHARGE_COLUMNS if column.facet)
MONEY_COLUMNS: tuple[str, ...] = tuple(COST_COLUMNS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """What many charges have in common and what rules may look at.

    `values` holds the text facet columns that are not null (`tags` apart); `tags` the tag map.
    """

    facet_id: int
    values: dict[str, str]
    tags: dict[str, str]

    def get(self, column: str) -> str | None:
        """Value of a facet column, or of a tag written `tags.key`; None when it is absent or null."""
        if column.startswith("tags."):
            return self.tags.get(column.removeprefix("tags."))
        return self.values.get(column)
