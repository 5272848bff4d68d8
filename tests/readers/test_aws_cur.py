"""The AWS report: what each line type costs, billed and effective, in both spellings of the headers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from native import SAMPLES, Bill, column_sum, of_dicts, of_file, reader_of

from unitcost.money import add
from unitcost.readers import aws_cur
from unitcost.readers.head import Head

PLAN = "arn:aws:savingsplans::111111111111:savingsplan/p-1"
RESERVED = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/r-1"
REAL = ("aws_cur_focus_converters.csv", "aws_cur_koku_test_cur.csv", "nise_aws_cur_head400.csv")


def line(kind: str, cost: str, **cells: str) -> Bill:
    """Bill of one legacy row; `cells` are named `group_Column`."""
    named = {name.replace("_", "/", 1): value for name, value in cells.items()}
    return of_dicts(aws_cur, {"lineItem/LineItemType": kind, "lineItem/UnblendedCost": cost, **named})


@pytest.mark.parametrize(
    ("kind", "cost", "cells", "effective", "category", "status"),
    [
        ("Usage", "2.5", {}, "2.5", "Usage", None),
        ("DiscountedUsage", "0", {"reservation_EffectiveCost": "0.06"}, "0.06", "Usage", "Used"),
        (
            "DiscountedUsage", "0",
            {"reservation_AmortizedUpfrontCostForUsage": "0.02", "reservation_RecurringFeeForUsage": "0.01"},
            "0.03", "Usage", "Used",
        ),
        ("SavingsPlanCoveredUsage", "4", {"savingsPlan_SavingsPlanEffectiveCost": "2.8"}, "2.8", "Usage", "Used"),
        ("SavingsPlanNegation", "-4", {"savingsPlan_SavingsPlanEffectiveCost": "0"}, "0", "Usage", None),
        (
            "SavingsPlanRecurringFee", "3",
            {"savingsPlan_TotalCommitmentToDate": "3", "savingsPlan_UsedCommitment": "2.8"},
            "0.2", "Purchase", "Unused",
        ),
        (
            "SavingsPlanRecurringFee", "3",
            {"savingsPlan_TotalCommitmentToDate": "3", "savingsPlan_UsedCommitment": "3"},
            "0", "Purchase", None,
        ),
        ("SavingsPlanUpfrontFee", "876", {}, "0", "Purchase", None),
        (
            "RIFee", "74.40",
            {"reservation_UnusedAmortizedUpfrontFeeForBillingPeriod": "1.5", "reservation_UnusedRecurringFee": "0.25"},
            "1.75", "Purchase", "Unused",
        ),
        ("RIFee", "74.40", {"reservation_UnusedRecurringFee": "0"}, "0", "Purchase", None),
        ("Fee", "500", {"reservation_ReservationARN": RESERVED}, "0", "Purchase", None),
        ("Fee", "100", {}, "100", "Purchase", None),
        ("Tax", "1.37", {}, "1.37", "Tax", None),
        ("Credit", "-10", {}, "-10", "Credit", None),
        ("Refund", "-3", {}, "-3", "Adjustment", None),
        ("EdpDiscount", "-0.5", {}, "-0.5", "Adjustment", None),
    ],
)  # fmt: skip
def test_what_a_line_costs(kind, cost, cells, effective, category, status):
    found = line(kind, cost, **cells)
    assert found.amount(0, "billed_cost") == Decimal(cost)
    assert found.amount(0, "effective_cost") == Decimal(effective)
    assert found.text(0, "charge_category") == category
    assert found.text(0, "commitment_discount_status") == status


@pytest.mark.parametrize("kind", ["DiscountedUsage", "SavingsPlanCoveredUsage", "SavingsPlanRecurringFee", "RIFee"])
def test_an_amortised_cost_that_the_file_lacks_stays_unknown(kind):
    found = line(kind, "3", savingsPlan_UsedCommitment="2")
    assert found.amount(0, "billed_cost") == 3
    assert found.amount(0, "effective_cost") is None


def test_over_a_savings_plan_billed_and_effective_are_equal():
    found = of_file(aws_cur, SAMPLES / "aws_cur_2.csv")
    plan = [row for row in range(len(found.rows)) if found.text(row, "commitment_discount_id") == PLAN]
    assert len(plan) == 4
    for target in ("billed_cost", "effective_cost"):
        assert add(found.amount(row, target) for row in plan) == 3


def test_split_rows_add_nothing_to_their_machine():
    found = of_file(aws_cur, SAMPLES / "aws_cur_2.csv")
    assert found.total("billed_cost") == column_sum(SAMPLES / "aws_cur_2.csv", "line_item_unblended_cost")
    split = [row for row in range(len(found.rows)) if "pod/" in (found.text(row, "resource_id") or "")]
    assert len(split) == 2
    assert all(found.amount(row, "effective_cost") == 0 for row in split)
    assert all(found.amount(row, "consumed_quantity") is None for row in split)
    assert any("split" in flag for flag in found.reading.flags)
    assert found.amount(0, "consumed_quantity") == 2


def test_tags_stand_in_maps_and_columns():
    found = of_file(aws_cur, SAMPLES / "aws_cur_2.csv")
    assert found.reading.dialect == "CUR 2.0"
    assert found.tags(0) == {"user_team": "risk", "Division": "markets"}
    athena = of_dicts(aws_cur, {
        "line_item_line_item_type": "Usage", "line_item_unblended_cost": "1", "resource_tags_user_team": "risk",
        "resource_tags_aws_created_by": "x", "cost_category_division": "markets",
    })  # fmt: skip
    assert athena.tags(0) == {"user:team": "risk", "aws:created_by": "x", "division": "markets"}
    legacy = line(
        "Usage", "1", **{"resourceTags_user:team": "risk", "resourceTags_Team": "", "costCategory_Team": "all"}
    )
    assert legacy.tags(0) == {"user:team": "risk", "Team": "all"}


def test_names_of_a_service_and_its_seller():
    found = of_file(aws_cur, SAMPLES / "aws_cur_2.csv")
    assert found.text(0, "service_name") == "Amazon Elastic Compute Cloud"
    assert found.text(0, "service_category") == "Compute"
    assert found.text(0, "publisher_name") == "AWS"
    sold = line("Usage", "1", bill_BillingEntity="AWS Marketplace", lineItem_LegalEntity="Vector Store Ltd")
    assert sold.text(0, "publisher_name") == "Vector Store Ltd via AWS Marketplace"
    model = line("Usage", "1", product_ProductName="Small Model (Amazon Bedrock Edition)", lineItem_ProductCode="abc")
    assert model.text(0, "service_category") == "AI and Machine Learning"


def test_none_is_no_value_and_a_missing_currency_is_left_to_the_core():
    found = line("Usage", "1", savingsPlan_SavingsPlanEffectiveCost="None", product_ProductName="N/A")
    assert found.text(0, "service_name") is None
    assert "billing_currency" not in found.reading.mapping
    assert "billing_period_start" not in found.reading.mapping


def test_a_file_without_line_types_is_no_report():
    columns = ("lineItem/UnblendedCost", "lineItem/UsageStartDate")
    assert aws_cur.sniff(Head(file="a.csv", format="csv", columns=columns, delimiter=",")) == 0
    upper = ("LINE_ITEM_LINE_ITEM_TYPE", "LINE_ITEM_UNBLENDED_COST")
    assert aws_cur.sniff(Head(file="a.csv", format="csv", columns=upper, delimiter=",")) == 2


@pytest.mark.parametrize("name", REAL)
def test_real_reports_keep_their_sum(shared_bills, name):
    found = of_file(aws_cur, shared_bills / name)
    assert reader_of(found.columns) == "aws-cur"
    assert found.reading.dialect == "CUR legacy"
    assert found.total("billed_cost") == column_sum(shared_bills / name, "lineItem/UnblendedCost")
    assert found.total("effective_cost") == found.total("billed_cost")  # nothing in them is committed


def test_a_real_marketplace_row(shared_bills):
    found = of_file(aws_cur, shared_bills / "aws_cur_koku_alt_columns.csv")
    assert reader_of(found.columns) == "aws-cur"
    assert found.reading.dialect == "CUR Athena"
    assert found.total("billed_cost") == 0
    assert found.text(0, "publisher_name") == "Red Hat, Inc. via AWS Marketplace"
    assert found.text(0, "commitment_discount_id") is None
    assert found.tags(0) == {"aws:created_by": "IAMUser:fake:and"}
