"""The Oracle Cloud cost report: long amounts, minute-only times, a column per tag."""

from __future__ import annotations

from decimal import Decimal

import pytest
from native import column_sum, of_dicts, of_file, reader_of

from unitcost.facts.mapping import Field, Time
from unitcost.readers import oci
from unitcost.readers.head import Head


def usage(cost: str, **cells: str) -> dict[str, str]:
    row = {"cost/myCost": cost, "lineItem/intervalUsageStart": "2026-09-30T23:00Z", "product/service": "COMPUTE"}
    return row | {name.replace("_", "/", 1): cell for name, cell in cells.items()}


@pytest.mark.parametrize("cost", ["0.000710731182784594", "4.81298076439E-7", "-3"])
def test_a_cost_keeps_each_place(cost):
    bill = of_dicts(oci, usage(cost, cost_myCostOverage="7"))
    assert bill.amount(0, "billed_cost") == bill.amount(0, "effective_cost") == Decimal(cost)


@pytest.mark.parametrize(
    ("written", "kind"), [("true", "Correction"), ("TRUE", "Correction"), ("false", None), ("", None)]
)
def test_corrections_are_marked(written, kind):
    assert of_dicts(oci, usage("-1", lineItem_isCorrection=written)).text(0, "charge_class") == kind


def test_each_tag_keeps_its_namespace_and_letters():
    bill = of_dicts(
        oci, usage("1", **{"tags_NS.team": "risk", "tags_Odd\\name.key": "x", "tags_NS.empty": "", "tags_": "y"})
    )
    assert bill.tags(0) == {"NS.team": "risk", "Odd\\name.key": "x"}
    assert "tags" not in of_dicts(oci, usage("1")).reading.mapping


def test_a_charge_is_billed_in_the_month_it_starts_and_the_compartment_is_the_sub_account():
    bill = of_dicts(
        oci, usage("1", product_compartmentId="c-1", lineItem_tenantId="t-1", lineItem_intervalUsageEnd="x")
    )
    mapping = bill.reading.mapping
    start = Field("lineItem/intervalUsageStart")
    assert mapping["billing_period_start"] == Time(start, snap="month-start")
    assert mapping["billing_period_end"] == Time(start, snap="next-month-start")
    assert (bill.text(0, "sub_account_id"), bill.text(0, "billing_account_id")) == ("c-1", "t-1")
    assert bill.reading.date_columns == ("lineItem/intervalUsageStart", "lineItem/intervalUsageEnd")


def test_a_report_without_a_start_is_not_known():
    assert oci.sniff(Head(file="a.csv", format="csv", columns=("cost/myCost",), delimiter=",")) == 0


def test_the_real_report_keeps_its_sum(shared_bills):
    path = shared_bills / "oci_cost_report.csv"
    bill = of_file(oci, path)
    assert reader_of(bill.columns) == "oci"
    assert bill.total("billed_cost") == bill.total("effective_cost") == column_sum(path, "cost/myCost")
    assert len(bill.rows) == 506
    keys = {key for row in range(506) for key in bill.tags(row)}
    assert {"Oracle-Tags.CreatedBy", "DevRel\\redbull-analytics-hol-4cb4.release"} <= keys
