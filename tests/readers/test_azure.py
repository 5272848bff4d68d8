"""Azure exports: which cost is which, in actual and amortised files, under any header."""

from __future__ import annotations

from decimal import Decimal

import pytest
from native import NO_OPTIONS, SAMPLES, Bill, column_sum, of_dicts, of_file, reader_of

from unitcost.facts.mapping import Field, Time
from unitcost.readers import azure
from unitcost.readers.azure_headers import TRANSLATED, english
from unitcost.readers.head import Head

ORDER = "/providers/Microsoft.Capacity/reservationOrders/o-1"
#: File -> column that holds its cost, and the target that carries it whole.
REAL = {
    "azure_bom_header.csv": ("PreTaxCost", "billed_cost", "pay-as-you-go"),
    "azure_camel_koku.csv": ("preTaxCost", "billed_cost", "pay-as-you-go"),
    "azure_ea_actual_small.csv": ("Cost", "billed_cost", "EA actual"),
    "azure_ea_amortized_small.csv": ("Cost", "effective_cost", "EA amortised"),
    "azure_ea_focus_converters.csv": ("CostInBillingCurrency", "billed_cost", "EA actual"),
    "azure_enterprise.csv": ("CostInBillingCurrency", "billed_cost", "EA actual"),
    "azure_missing_brackets_tags.csv": ("costinbillingcurrency", "billed_cost", "EA actual"),
    "azure_payg.csv": ("PreTaxCost", "billed_cost", "pay-as-you-go"),
    "azure_vm_values.csv": ("costinbillingcurrency", "billed_cost", "EA actual"),
    "nise_azure_cost.csv": ("CostInBillingCurrency", "billed_cost", "MCA actual"),
}


def day(cost: str, kind: str = "Usage", model: str = "OnDemand", **cells: str) -> dict[str, str]:
    row = {"Date": "2026-09-30", "MeterCategory": "Virtual Machines", "SubscriptionId": "s", "Cost": cost}
    benefit = {"benefitId": ORDER, "benefitName": "gpu"} if model in ("Reservation", "SavingsPlan") else {}
    return row | {"ChargeType": kind, "PricingModel": model, "BillingCurrency": "EUR"} | benefit | cells


def costs(bill: Bill, row: int) -> tuple[Decimal | None, Decimal | None, str | None, str | None]:
    billed, effective = (bill.amount(row, target) for target in ("billed_cost", "effective_cost"))
    return billed, effective, bill.text(row, "charge_category"), bill.text(row, "commitment_discount_status")


def test_an_actual_export_states_billed_cost():
    bill = of_dicts(
        azure, day("4.5"), day("0", model="Reservation"), day("730", "Purchase", "Reservation"), day("20", "Purchase"),
        day("-9", "Refund", "Reservation"), day("0.01", "RoundingAdjustment"), day("7", "Tax"),
        day("0", model="SavingsPlan"),
    )  # fmt: skip
    assert bill.reading.cost_column == "billed_cost"
    assert costs(bill, 0) == (Decimal("4.5"), Decimal("4.5"), "Usage", None)
    assert costs(bill, 1) == (0, None, "Usage", "Used")
    assert costs(bill, 2) == (730, 0, "Purchase", None)
    assert costs(bill, 3) == (20, 20, "Purchase", None)
    assert costs(bill, 4) == (-9, 0, "Adjustment", None)
    assert costs(bill, 5) == (Decimal("0.01"), Decimal("0.01"), "Adjustment", None)
    assert costs(bill, 6) == (7, 7, "Tax", None)
    assert bill.text(1, "commitment_discount_id") == ORDER
    assert bill.text(1, "commitment_discount_type") == "Reservation"
    assert bill.text(7, "commitment_discount_type") == "Savings Plan"


@pytest.mark.parametrize(
    "sign",
    [day("0.7", "UnusedReservation", "Reservation"), day("1e-7", model="SavingsPlan")],
    ids=["unused", "covered use that costs"],
)
def test_an_amortised_export_states_effective_cost(sign):
    bill = of_dicts(azure, day("4.5"), day("1.25", model="Reservation"), day("0", model="Reservation"), sign)
    assert bill.reading.cost_column == "effective_cost"
    assert bill.reading.dialect.endswith("amortised")
    assert costs(bill, 0) == (Decimal("4.5"), Decimal("4.5"), "Usage", None)
    assert costs(bill, 1) == (0, Decimal("1.25"), "Usage", "Used")
    assert costs(bill, 2) == (0, 0, "Usage", "Used")
    assert bill.amount(3, "billed_cost") == 0
    assert bill.amount(3, "effective_cost") == Decimal(sign["Cost"])


def test_unused_rows_are_marked():
    bill = of_dicts(azure, day("0.7", "UnusedSavingsPlan", "SavingsPlan"))
    assert costs(bill, 0) == (0, Decimal("0.7"), "Usage", "Unused")
    assert bill.text(0, "commitment_discount_type") == "Savings Plan"


def test_older_files_name_the_reservation_alone():
    row = {name: cell for name, cell in day("2").items() if name not in ("PricingModel", "ChargeType")}
    bill = of_dicts(azure, row | {"ReservationId": "r-1"}, row)
    assert costs(bill, 0) == (0, 2, "Usage", "Used")
    assert costs(bill, 1) == (2, 2, "Usage", None)


def test_a_covered_row_far_down_that_costs_is_never_billed():
    """The first rows decide what a file is called, yet each row is right by itself."""
    late = day("3", model="Reservation")
    bill = of_dicts(azure, *[day("1")] * 2, late)
    described = azure.describe(bill.columns, [[*day("1").values(), "", ""]], NO_OPTIONS)
    assert described.cost_column == "billed_cost"
    row = bill.rows[2]
    assert row.amount(described.mapping["billed_cost"]) == 0
    assert row.amount(described.mapping["effective_cost"]) == 3


def test_the_pay_as_you_go_cost_is_list_and_the_best_cost_column_alone_counts():
    bill = of_dicts(azure, day("9", CostInBillingCurrency="4", PaygCostInBillingCurrency="5"), day("9"))
    assert costs(bill, 0)[:2] == (4, 4)
    assert bill.amount(0, "list_cost") == 5
    assert bill.amount(1, "billed_cost") is None  # another column may be in another currency


@pytest.mark.parametrize(
    ("row", "listed"),
    [
        (day("0.30", PayGPrice="0.5", Quantity="0.8"), "0.4"),
        (day("0", PayGPrice="0", Quantity="8"), "0"),
        (day("3", PayGPrice="0", Quantity="8"), None),
        (day("3", PayGPrice="", Quantity="8"), None),
        (day("0", model="Reservation", PayGPrice="0", Quantity="8"), None),
        (day("2", model="SavingsPlan", PayGPrice="0.5", Quantity="8"), "4"),
    ],
)
def test_list_cost_is_price_times_quantity_unless_no_price_is_stated(row, listed):
    assert of_dicts(azure, row).amount(0, "list_cost") == (listed and Decimal(listed))
    assert "list_cost" not in of_dicts(azure, row | {"PricingCurrency": "USD"}).reading.mapping


def test_an_unassigned_reservation_is_none():
    row = {name: cell for name, cell in day("2").items() if name not in ("PricingModel", "ChargeType")}
    bill = of_dicts(azure, row | {"ReservationId": "Unassigned"})
    assert bill.reading.dialect.endswith("actual")
    assert costs(bill, 0) == (2, 2, "Usage", None)


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ('{"team": "risk"}', {"team": "risk"}),
        ('"team": "risk","a b": "{x}"', {"team": "risk", "a b": "{x}"}),
        ("", {}),
    ],
)
def test_tags_with_and_without_braces(written, tags):
    assert of_dicts(azure, day("1", Tags=written)).tags(0) == tags


def test_days_and_periods():
    bill = of_dicts(azure, day("1", BillingPeriodStartDate="2026-09-01", BillingPeriodEndDate="2026-09-30"))
    mapping = bill.reading.mapping
    assert mapping["charge_period_start"] == Time(Field("Date"))
    assert mapping["charge_period_end"] == Time(Field("Date"), shift_days=1)
    assert mapping["billing_period_end"] == Time(Field("BillingPeriodEndDate"), shift_days=1)
    assert "billing_period_start" not in of_dicts(azure, day("1")).reading.mapping


def test_unassigned_is_nothing_and_a_group_is_found_in_the_resource():
    place = "/subscriptions/s/resourcegroups/rg-risk/providers/Microsoft.Compute/virtualMachines/vm"
    bill = of_dicts(azure, day("1", ResourceId=place, ResourceGroup="Unassigned"))
    assert bill.text(0, "resource_group") == "rg-risk"


def test_marketplace_charges_say_so():
    bill = of_dicts(azure, day("1", PublisherType="Marketplace", PublisherName="Vector Store Ltd"))
    assert bill.text(0, "publisher_name") == "Vector Store Ltd via Azure Marketplace"


@pytest.mark.parametrize("name", ["azure_de.csv", "azure_ja.csv", "azure_brackets.csv"])
def test_headers_in_other_languages(name):
    bill = of_file(azure, SAMPLES / name)
    assert reader_of(bill.columns) == "azure"
    assert bill.total("billed_cost") == Decimal("1234567.891")
    assert bill.text(0, "billing_currency") == "EUR"
    assert bill.text(0, "service_name") == "Virtual Machines"
    assert bill.tags(0) == {"team": "risk"}
    assert "MeterCategory" in bill.reading.flags[0]


def test_english_headers_are_no_translation():
    assert english("Meter Category") == english("meterCategory") == "metercategory"
    assert english("Quelque chose (SubscriptionName)") == "subscriptionname"
    assert english("Quelque chose (ici)") == "quelquechose(ici)"
    assert all(key == key.casefold() for key in TRANSLATED)
    assert not of_dicts(azure, day("1")).reading.flags


def test_a_table_of_costs_is_no_export():
    columns = ("Date", "Cost", "Currency", "ServiceName", "ResourceId")
    assert azure.sniff(Head(file="a.csv", format="csv", columns=columns, delimiter=",")) == 0


@pytest.mark.parametrize("name", REAL)
def test_real_exports_keep_their_sum(shared_bills, name):
    column, target, dialect = REAL[name]
    bill = of_file(azure, shared_bills / name)
    assert reader_of(bill.columns) == "azure"
    assert bill.reading.dialect.startswith(dialect)
    assert bill.reading.cost_column == target
    assert bill.total(target) == column_sum(shared_bills / name, column)


def test_a_real_amortised_export(shared_bills):
    bill = of_file(azure, shared_bills / "azure_ea_amortized_small.csv")
    status = [bill.text(row, "commitment_discount_status") for row in range(len(bill.rows))]
    assert status.count("Used") == 2
    assert all(bill.amount(row, "billed_cost") == 0 for row, found in enumerate(status) if found)
    assert bill.total("billed_cost") < bill.total("effective_cost")
    assert "org" in bill.tags(0) or "CostCenter" in bill.tags(0)


@pytest.mark.parametrize("name", ["azure_missing_brackets_tags.csv", "azure_vm_values.csv"])
def test_real_tags_come_out_the_same(shared_bills, name):
    bill = of_file(azure, shared_bills / name)
    assert bill.tags(0)["aksEngineVersion"] == "aks-release-v0.47.0-1-aks"
    assert bill.amount(0, "list_cost") == 5
    assert "billing_currency" not in bill.reading.mapping
