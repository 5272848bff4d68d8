"""FOCUS files: what their columns mean, and what is asked where they are silent."""

from __future__ import annotations

import pytest

from unitcost.errors import BadFile, BadSetting, NeedsAnswer, UnknownName
from unitcost.facts.charges import CHARGE_COLUMNS
from unitcost.facts.mapping import ColumnTags, Const, Field, First, JsonTags, MergedTags, Time, check
from unitcost.readers import READERS, find, focus
from unitcost.readers.head import Head

CORE = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "BillingCurrency", "ChargeCategory", "ServiceName",
        "ServiceCategory", "BillingAccountId", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart",
        "ChargePeriodEnd")  # fmt: skip
DATES = "2026-09-01,2026-10-01,2026-09-01,2026-09-02"
PERIODS = "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd"


def described(*columns: str):
    from unitcost.facts.source import ReadOptions

    return focus.describe(columns, [], ReadOptions())


@pytest.mark.parametrize(
    ("more", "version"),
    [
        (("ProviderName",), "FOCUS 1.0"),
        (("Provider", "Region"), "FOCUS 1.0-preview"),
        (("ProviderName", "SkuMeter"), "FOCUS 1.1"),
        (("ProviderName", "SkuMeter", "InvoiceId"), "FOCUS 1.2"),
        (("ProviderName", "ServiceProviderName", "HostProviderName"), "FOCUS 1.3"),
        (("ServiceProviderName", "HostProviderName"), "FOCUS 1.4"),
        (("ServiceProviderName", "InvoiceDetailId"), "FOCUS 1.4"),
        (("ServiceProviderName", "PrincipalId"), "FOCUS 1.5 draft"),
    ],
)
def test_the_version_is_told_by_the_columns(more, version):
    assert described(*CORE, *more).dialect == version


def test_each_focus_column_is_mapped_in_any_letter_case():
    names = [column.focus for column in CHARGE_COLUMNS if column.focus]
    for spelt in (names, [name.lower() for name in names], [name.upper() for name in names]):
        mapping = check(described(*spelt).mapping)
        assert set(mapping) == {column.name for column in CHARGE_COLUMNS if column.focus}


def test_newer_names_win_over_older_where_both_stand():
    mapping = described(*CORE, "ProviderName", "ServiceProviderName").mapping
    assert mapping["service_provider_name"] == First((Field("ServiceProviderName"), Field("ProviderName")))
    assert described(*CORE, "Provider").mapping["service_provider_name"] == Field("Provider")
    assert described(*CORE, "Region").mapping["region_id"] == Field("Region")


def test_tags_of_the_allocated_charge_win_over_those_of_its_origin_and_plain_columns_come_last():
    reading = described(*CORE, "Tags", "AllocatedTags", "team", "x_other")
    assert reading.mapping["tags"] == MergedTags(
        (JsonTags(Field("AllocatedTags")), JsonTags(Field("Tags")), ColumnTags((("team", "team"),)))
    )
    assert any("team" in flag for flag in reading.flags)
    assert described(*CORE, "Tags").mapping["tags"] == JsonTags(Field("Tags"))
    assert "tags" not in described(*CORE).mapping


@pytest.mark.parametrize("name", ["team", "project", "experiment", "environment", "cost_center"])
def test_plain_owner_columns_become_tags(name):
    assert described(*CORE, name).mapping["tags"] == ColumnTags(((name, name),))


def test_missing_costs_are_not_invented():
    reading = described("EffectiveCost", "ServiceName")
    assert "billed_cost" not in reading.mapping
    assert reading.cost_column == "effective_cost"
    assert any("no BilledCost" in flag for flag in reading.flags)
    assert described("BilledCost", "ServiceName").cost_column == "billed_cost"
    assert "effective_cost" not in described("BilledCost", "ServiceName").mapping


@pytest.mark.parametrize("columns", [("BilledCost",), ("ServiceName", "Tags"), ("BilledCost", "x_other"), ()])
def test_what_is_no_focus_file(columns):
    assert focus.sniff(Head(file="f", format="csv", columns=columns)) == 0


def test_a_cost_and_one_more_column_make_a_focus_file():
    assert focus.sniff(Head(file="f", format="csv", columns=("effectivecost", "REGIONID"))) == 2


def test_a_file_without_a_currency_is_asked_about(read):
    text = f"BilledCost,{PERIODS}\n1,{DATES}\n"
    with pytest.raises(NeedsAnswer, match="currency") as caught:
        read(text)
    assert 'currency = "USD"' in caught.value.mend
    assert "--currency" in caught.value.mend
    taken = read(text, currency="eur")
    assert taken.plan.mapping["billing_currency"] == Const("EUR")
    assert "EUR" in taken.flags
    with pytest.raises(BadSetting):
        read(text, currency="euros")


@pytest.mark.parametrize("empty", ["", "NULL", "null"])
def test_a_currency_column_without_a_value_is_as_none(read, empty):
    text = f"BilledCost,BillingCurrency,{PERIODS}\n" + f"1,{empty},{DATES}\n" * 2000
    with pytest.raises(NeedsAnswer, match="currency"):
        read(text)
    assert read(text, currency="USD").plan.mapping["billing_currency"] == Const("USD")


def test_one_currency_in_the_last_row_is_a_currency_column(read):
    text = f"BilledCost,BillingCurrency,{PERIODS}\n" + f"1,,{DATES}\n" * 2000 + f"1,USD,{DATES}\n"
    assert read(text).plan.mapping["billing_currency"] == Field("BillingCurrency")


def test_a_file_in_which_no_row_has_a_cost_needs_no_currency(read):
    taken = read(f"BilledCost,BillingCurrency,{PERIODS}\n,,{DATES}\nNULL,,{DATES}\n")
    assert len(taken.rows) == 2


def test_a_file_without_dates_is_asked_about(read):
    text = "BilledCost,BillingCurrency,ServiceName\n1,USD,a\n"
    with pytest.raises(NeedsAnswer, match="no dates") as caught:
        read(text)
    assert "--period" in caught.value.mend
    mapping = read(text, period="2026-12").plan.mapping
    assert mapping["billing_period_start"] == mapping["charge_period_start"] == Const("2026-12-01")
    assert mapping["billing_period_end"] == mapping["charge_period_end"] == Const("2027-01-01")
    for wrong in ("2026-13", "2026", "09-2026", "2026-00"):
        with pytest.raises(BadSetting, match="period"):
            read(text, period=wrong)


def test_a_missing_billing_period_is_the_month_of_the_charge(read):
    taken = read("BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd\n1,USD,2026-09-03,2026-09-04\n")
    start = taken.plan.mapping["billing_period_start"]
    assert start == Time(Field("ChargePeriodStart"), snap="month-start")
    assert taken.plan.mapping["billing_period_end"] == Time(Field("ChargePeriodStart"), snap="next-month-start")
    assert "no billing period" in taken.flags


def test_a_missing_charge_period_is_the_billing_period(read):
    taken = read("BilledCost,BillingCurrency,BillingPeriodStart,BillingPeriodEnd\n1,USD,2026-09-01,2026-10-01\n")
    assert taken.plan.mapping["charge_period_start"] == Field("BillingPeriodStart")
    assert taken.plan.mapping["charge_period_end"] == Field("BillingPeriodEnd")
    assert "no charge period" in taken.flags


def test_a_charge_without_an_end_is_asked_about(read):
    text = "BilledCost,BillingCurrency,ChargePeriodStart\n1,USD,2026-09-03\n"
    with pytest.raises(NeedsAnswer, match="ChargePeriodEnd") as caught:
        read(text)
    assert "columns" in caught.value.mend
    columns = {
        name: name.title().replace("_", "") for name in ("billed_cost", "billing_currency", "charge_period_start")
    }
    taken = read(text, columns={**columns, "charge_period_end": "ChargePeriodStart"})
    assert taken.plan.mapping["charge_period_end"] == Time(Field("ChargePeriodStart"), shift_days=1)


def test_the_spellings_of_null_are_declared(read, bill):
    assert read(bill("1")).plan.nulls == ("NULL", "null")


def test_a_reader_can_be_named_and_must_fit(read, bill):
    assert read(bill("1"), reader="focus").plan.reader == "focus"
    with pytest.raises(BadFile, match="not of the format aws-cur"):
        read(bill("1"), reader="aws-cur")
    with pytest.raises(UnknownName, match="focus"):
        read(bill("1"), reader="focsu")


def test_a_file_that_nobody_knows_names_the_nearest_reader_and_what_it_lacks(read):
    with pytest.raises(BadFile, match=r"nearest is focus, .*'BilledCost'") as caught:
        read("ChargePeriodStart,ChargePeriodEnd,ServiceName,ChargeCategory\n1,2,3,4\n")
    assert "columns" in caught.value.mend


def test_find_tells_who_knows_a_file(tmp_path, bill):
    from unitcost.facts.source import ReadOptions

    path = tmp_path / "x"
    path.write_text(bill("1"))
    assert find(path, ReadOptions())[0] == ("focus", 7)


def test_each_reader_says_its_conventions_in_sentences():
    for name, reader in READERS.items():
        assert name == reader.NAME
        assert reader.CONVENTIONS
        assert all(sentence.strip() for sentence in reader.CONVENTIONS)
