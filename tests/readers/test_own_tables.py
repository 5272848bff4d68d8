"""Tables that users write themselves: mapped columns, useful units, invoices."""

from __future__ import annotations

import pytest

from unitcost.errors import BadFile, BadSetting, NeedsAnswer, UnknownName
from unitcost.facts.mapping import Choose, ColumnTags, Const, Field, JsonTags, MergedTags

TABLE = "Day,Amount,Team,Labels\n2026-09-01,12.50,risk,{}\n"
DAY = {"charge_period_start": "Day", "charge_period_end": "Day"}


def test_mapped_columns_become_charges(read):
    taken = read(TABLE, columns={"billed_cost": "Amount", "tags.team": "Team", **DAY}, currency="USD")
    assert taken.plan.reader == "generic-csv"
    mapping = taken.plan.mapping
    assert mapping["billed_cost"] == mapping["effective_cost"] == Field("Amount")
    assert mapping["tags"] == ColumnTags((("team", "Team"),))
    assert "effective cost is taken to be the billed cost" in taken.flags
    assert mapping["charge_period_end"].shift_days == 1


def test_tags_in_json_and_in_columns_are_merged(read):
    columns = {"billed_cost": "amount", "tags": "labels", "tags.team": "team", **DAY}
    mapping = read(TABLE, columns=columns, currency="USD").plan.mapping
    assert mapping["tags"] == MergedTags((ColumnTags((("team", "Team"),)), JsonTags(Field("Labels"))))


def test_mapping_wins_over_what_the_columns_look_like(read, bill):
    columns = {"billed_cost": "BilledCost", "charge_period_start": "ChargePeriodStart",
               "charge_period_end": "ChargePeriodEnd", "billing_currency": "BillingCurrency"}  # fmt: skip
    assert read(bill("1"), columns=columns).plan.reader == "generic-csv"


def test_a_mapping_that_does_not_fit_is_refused_with_the_near_names(read):
    with pytest.raises(UnknownName, match="Amount"):
        read(TABLE, columns={"billed_cost": "Amout"}, currency="USD")
    with pytest.raises(UnknownName, match="billed_cost"):
        read(TABLE, columns={"biled_cost": "Amount"}, currency="USD")
    with pytest.raises(BadSetting, match="no cost"):
        read(TABLE, columns={"service_name": "Team"}, currency="USD")
    with pytest.raises(BadSetting, match="no column is mapped"):
        read(TABLE, reader="generic-csv")


def test_mapped_columns_without_currency_or_dates_ask(read):
    with pytest.raises(NeedsAnswer, match="currency"):
        read(TABLE, columns={"billed_cost": "Amount", **DAY})
    with pytest.raises(NeedsAnswer, match="dates"):
        read(TABLE, columns={"billed_cost": "Amount"}, currency="USD")
    assert read(TABLE, columns={"billed_cost": "Amount"}, currency="USD", period="2026-09").rows


def test_outputs_are_a_dataset_of_their_own(read):
    taken = read("Service,day,unit,quantity,attempts\nranker,2026-09-01,predictions,1000,1100\n")
    assert (taken.plan.reader, taken.plan.dataset) == ("outputs-csv", "outputs")
    assert taken.plan.mapping == {
        "service": Field("Service"), "day": Field("day"), "unit": Field("unit"), "quantity": Field("quantity"),
        "attempts": Field("attempts"),
    }  # fmt: skip


def test_attempts_may_be_left_out_and_the_rest_may_not(read):
    assert "attempts" not in read("service,day,unit,quantity\na,2026-09-01,runs,1\n").plan.mapping
    with pytest.raises(BadFile, match="outputs-csv"):
        read("service,day,quantity\na,2026-09-01,1\n")


def test_days_of_outputs_are_asked_about_as_all_dates_are(read):
    head = "service,day,unit,quantity\n"
    with pytest.raises(NeedsAnswer, match="5/1/25"):
        read(head + "a,5/1/25,runs,1\n")
    assert read(head + "a,5/1/25,runs,1\na,5/31/25,runs,1\n").plan.date_order == "mdy"


INVOICE = (
    "InvoiceId,InvoiceDetailId,BilledCost,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,InvoiceIssueStatus,"
    "InvoiceDetailGrain\n"
    "INV-1,1,100.01,USD,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,Issued,\n"
)


def test_invoice_detail_is_a_dataset_of_its_own(read):
    taken = read(INVOICE)
    assert (taken.plan.reader, taken.plan.dataset) == ("focus-invoice", "invoices")
    mapping = taken.plan.mapping
    assert {"invoice_id", "billed_cost", "billing_currency", "billing_period_start", "billing_period_end"} == set(
        mapping
    )
    assert mapping["billing_period_end"] == Field("BillingPeriodEnd")


def test_voided_lines_of_an_invoice_add_nothing(read):
    cost = read(INVOICE).plan.mapping["billed_cost"]
    assert isinstance(cost, Choose)
    assert cost.branches[0][1] == Const("0")


def test_invoices_without_a_currency_ask(read):
    text = INVOICE.replace("BillingCurrency", "x_Other")
    with pytest.raises(NeedsAnswer, match="currency"):
        read(text)
    assert read(text, currency="USD").plan.mapping["billing_currency"] == Const("USD")
