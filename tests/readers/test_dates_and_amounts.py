"""How dates and amounts are written: settled by the file where it leaves no doubt, else asked."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting, NeedsAnswer
from unitcost.readers.amounts import PARTED, Signs, style_of
from unitcost.readers.dates import DateEvidence, has_zone, parts

HEAD = "BilledCost,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd\n"


def dated(*rows: str) -> str:
    return HEAD + "".join(f"1,USD,{row}\n" for row in rows)


@pytest.mark.parametrize(
    ("row", "order"),
    [
        ("2026-05-01,2026-06-01,2026-05-01,2026-05-02", "iso"),
        ("2026-05-01T00:00:00Z,2026-06-01T00:00:00Z,2026-05-01 00:00:00,2026-05-02T00:00:00+00:00", "iso"),
        ("5/1/25,6/1/25,5/1/25,6/1/25", "mdy"),
        ("05/01/2025,05/31/2025,05/01/2025,05/02/2025", "mdy"),
        ("1/5/25,1/6/25,1/5/25,2/5/25", "dmy"),
        ("1/5/2025,31/5/2025,1/5/2025,2/5/2025", "dmy"),
        ("1.5.2025,1.6.2025,1.5.2025,2.5.2025", "dmy"),
        ("5/1/2025,6/1/2025,5/13/2025,5/14/2025", "mdy"),
        ("1/5/2025,1/6/2025,13/5/2025,14/5/2025", "dmy"),
    ],
)
def test_the_file_settles_the_order_of_its_dates(read, row, order):
    taken = read(dated(row))
    assert taken.plan.date_order == order
    assert ("Dates are" in taken.flags) == (order != "iso")


def test_the_last_row_of_a_long_file_can_settle_it(read):
    taken = read(dated(*["5/2/25,6/2/25,5/2/25,6/2/25"] * 3000, "5/2/25,6/2/25,5/13/25,6/2/25"))
    assert taken.plan.date_order == "mdy"


def test_periods_that_are_no_whole_months_either_way_are_asked_about(read):
    text = dated("5/2/25,6/2/25,5/2/25,6/2/25")
    with pytest.raises(NeedsAnswer, match=r"5/2/25.*month or the day first") as caught:
        read(text)
    assert "BillingPeriodStart" in caught.value.what
    assert "date_order" in caught.value.mend
    assert "--date-order" in caught.value.mend
    assert read(text, date_order="dmy").plan.date_order == "dmy"
    assert read(text, date_order="mdy").plan.date_order == "mdy"
    with pytest.raises(BadSetting):
        read(text, date_order="ymd")


def test_periods_that_are_whole_months_both_ways_are_asked_about(read):
    with pytest.raises(NeedsAnswer):
        read(dated("1/1/25,2/1/25,1/2/25,3/4/25", "1/1/25,1/2/25,1/2/25,3/4/25"))


def test_dates_that_contradict_each_other_are_asked_about(read):
    with pytest.raises(NeedsAnswer, match="contradict"):
        read(dated("5/13/25,6/1/25,5/1/25,6/1/25", "13/5/25,6/1/25,5/1/25,6/1/25"))


@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)), st.sampled_from(["mdy", "dmy"]), st.booleans())
def test_evidence_never_settles_on_the_wrong_order(day, order, short):
    first, second = (day.month, day.day) if order == "mdy" else (day.day, day.month)
    cell = f"{first}/{second}/{day.year % 100:02d}" if short else f"{first:02d}/{second:02d}/{day.year}"
    assert parts(cell) == (first, second, day.year)
    evidence = DateEvidence()
    evidence.add("day", cell)
    if day.day > 12:
        assert evidence.order("", where="f")[0] == order
    elif day.day != day.month:
        with pytest.raises(NeedsAnswer):
            evidence.order("", where="f")


@given(st.integers(2000, 2098), st.integers(2, 12), st.sampled_from(["mdy", "dmy"]), st.booleans())
def test_whole_months_settle_the_order(year, month, order, inclusive):
    start = date(year, month, 1)
    end = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=inclusive)

    def written(day: date) -> str:
        return f"{day.month}/{day.day}/{day.year}" if order == "mdy" else f"{day.day}/{day.month}/{day.year}"

    evidence = DateEvidence()
    for cell in (written(start), written(end)):
        evidence.add("period", cell)
    evidence.add_period(written(start), written(end))
    assert evidence.order("", where="f")[0] == order


@pytest.mark.parametrize(
    "cell", ["2026-09-01", "2026-09-01T00:00:00Z", "2026-09-01 00:00 UTC", "2026-09-01T00:00-05:00"]
)
def test_moments_that_name_their_zone_or_need_none(cell):
    assert has_zone(cell)


def test_a_time_of_day_without_a_zone_is_local():
    assert not has_zone("2026-09-01T00:00:00")


@pytest.mark.parametrize("cell", ["$10,000.00 ", "$0.10", "-$5", "$-5.00", " €1,234.50", "£3", "$.5"])
def test_amounts_with_a_sign(cell):
    assert style_of(cell) == cell.strip().lstrip("-")[0]


@pytest.mark.parametrize(
    "cell", ["10", "1,000", "€5,00", "€1.234,50", "USD 5", "$", "$-", "5$ and more", "$1 2", "$NaN", "", "$1e3"]
)
def test_texts_that_are_no_amount_with_a_sign(cell):
    assert style_of(cell) == ""


def test_a_column_is_signed_only_when_each_of_its_cells_is():
    signs = Signs({0: "a", 1: "b", 2: "c", 3: "d"})
    for row in (["$1", "$1", "1", "$1"], ["$2", "2", "2", "€2"]):
        for position, cell in enumerate(row):
            signs.add(position, cell)
    assert signs.names == {"a"}


def test_signed_columns_are_declared_and_mixed_ones_are_not(read, bill):
    assert read(bill('"$10,000.00 "', "$5.00")).plan.currency_signs == {"BilledCost"}
    assert "BilledCost" in read(bill('"$10,000.00 "', "$5.00")).flags
    assert read(bill("$5.00", "5.00")).plan.currency_signs == frozenset()


def test_one_odd_cell_past_the_first_look_is_enough(read, bill):
    assert read(bill(*["$5.00"] * 2500, "5.00")).plan.currency_signs == frozenset()


def test_a_decimal_comma_is_passed_on(read, bill):
    taken = read(bill('"5,00"'), decimal_comma=True)
    assert taken.plan.decimal_comma
    assert "decimal comma" in taken.flags


@pytest.mark.parametrize("cell", ["10,000.00", "-1,234,567", " 1,000.5 "])
def test_amounts_with_parted_thousands(cell):
    assert style_of(cell) == PARTED
    assert style_of(cell.translate(str.maketrans(",.", ".,")), decimal_comma=True) == PARTED


def test_a_sign_before_a_decimal_comma_counts_only_when_the_user_says_so(read, bill):
    """Taken for a thousands comma, `€5,00` would become 500."""
    text = bill('"€5,00"', '"€1.234,50"')
    assert read(text).plan.currency_signs == frozenset()
    assert read(text, decimal_comma=True).plan.currency_signs == {"BilledCost"}
