"""Amounts in any spelling end in the ledger exactly, or the row is set aside with its reason."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ledger_bills import MAPPING, content, load, row

from unitcost import money
from unitcost.facts.mapping import Expr, Field, JsonSum, Total
from unitcost.ledger import Ledger
from unitcost.units import LEDGER_PLACES

DIGITS = st.text("0123456789", max_size=45)
SPELLINGS = st.builds(
    "{}{}{}{}".format, st.sampled_from(["", "-", "+", " "]), DIGITS, st.just("") | DIGITS.map(lambda d: "." + d),
    st.sampled_from(["", "", "", "e-7", "E+3", "e-12", "E-25", "e5", "E0", "e", "_0"]),
) | st.sampled_from(
    ["NaN", "Infinity", "-inf", "1_000", "0x10", "1,5", "1 2", ".", "-", "$5", "1e-400", "1E400", "ten", "0." + "1" * 500]
)  # fmt: skip


def kept(text: str) -> Decimal | None:
    """The amount that a spelling means, None when the ledger cannot keep it."""
    try:
        amount = money.parse_amount(text)
    except ValueError:
        return None
    if len(text) > 200 or abs(amount.adjusted()) > 200:
        return None
    return amount if abs(amount) < 10**26 and abs(money.round_places(amount, LEDGER_PLACES)) < 10**26 else None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spellings=st.lists(SPELLINGS, min_size=1, max_size=12))
@example(spellings=["0." + "1" * 40, "1.23456789E-9", "123456789012.1234567890123"])
@example(spellings=["10000000000000000000000000001.1e-12", "-10000000000000000000000000001.1e-12", "0.1"])
def test_the_ledger_and_the_residue_are_the_file_in_any_spelling(tmp_path: Path, spellings: list[str]) -> None:
    amounts = [kept(text) for text in spellings]
    known = [amount for amount in amounts if amount is not None]
    with Ledger.open(":memory:") as ledger:
        record = load(ledger, tmp_path / "bill.csv", [row(text, f"{i}") for i, text in enumerate(spellings)])
        rejects = {reject.row for _, reject in ledger.rejects()}
    assert record.rows_read == record.rows_accepted + record.rows_rejected == len(spellings)
    assert rejects == {number for number, amount in enumerate(amounts, start=1) if amount is None}
    total = Decimal(record.totals.get("USD", {}).get("billed_cost", "0"))
    residue = Decimal(record.residues.get("USD", {}).get("billed_cost", "0"))
    assert total == money.add(money.round_places(amount, LEDGER_PLACES) for amount in known)
    assert money.add([total, residue]) == money.add(known)


def test_a_row_is_set_aside_with_its_column_value_and_reason(tmp_path: Path) -> None:
    start, end, far = "2031-06-01", "2031-07-01", "2931-06-01"
    bad = [
        ("1_000", "USD", start, end), ("", "USD", start, end), ("1", "", start, end), ("1", "USD", end, start),
        ("1", "USD", far, end), ("1", "USD", "June", end), ("1", "USD", "infinity", end), ("1", "USD", "epoch", end),
    ]  # fmt: skip
    with Ledger.open(":memory:") as ledger:
        record = load(ledger, tmp_path / "bill.csv", [row("3", "good"), *((*cells, "main", "x", "") for cells in bad)])
        rejects = [reject for _, reject in ledger.rejects()]
    assert (record.rows_accepted, record.totals["USD"]["billed_cost"]) == (1, "3")
    date = "is not a date between 1990 and 2200"
    assert rejects[0].reason.startswith("is not a number")
    assert [(r.row, r.column, r.value) for r in rejects[:1]] == [(2, "Cost", "1_000")]
    assert [(r.row, r.column, r.value, r.reason) for r in rejects[1:]] == [
        (3, "billed_cost", "", "has no cost"), (4, "", "", "has a cost but no currency"), (5, "", "", "ends before it starts"),
        (6, "Start", far, date), (7, "Start", "June", date), (8, "Start", "infinity", date), (9, "Start", "epoch", date),
    ]  # fmt: skip
    assert '"Cost":"1_000"' in rejects[0].raw


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ('{"team": "risk"}', {"team": "risk"}),
        ('{"team": "risk", "team": "ads"}', {"team": "risk"}),
        ('{"spot": true, "empty": null, "n": 3}', {"spot": "true", "empty": "", "n": "3"}),
        ("null", {}),
    ],
)
def test_tags_become_text_whatever_they_hold(tmp_path: Path, text: str, tags: dict[str, str]) -> None:
    with Ledger.open(":memory:") as ledger:
        record = load(ledger, tmp_path / "bill.csv", [row("1", "x", tags=text)])
        assert [facet.tags for facet in ledger.facets()] == [tags]
    assert record.flags == ()


def test_tags_that_cannot_be_read_cost_no_row_and_are_said(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.duckdb") as ledger:
        record = load(ledger, tmp_path / "bill.csv", [row("1", "x", tags="{oops"), row("2", "y", tags="[]")])
    assert record.totals["USD"]["billed_cost"] == "3"
    assert record.flags[0].startswith("2 rows have tags in 'Tags' that cannot be read")
    assert content(tmp_path / "ledger.duckdb")[0] == [("x", "1.0"), ("y", "2.0")]


@pytest.mark.parametrize(
    ("cost", "credits", "amount", "residue"),
    [
        ("200000000.5", ["-123456789.25", "-0.0000000000125"], "76543211.249999999987", "0.0000000000005"),
        ("200000000.5", ["-0.0000000000125"], "200000000.499999999987", "0.0000000000005"),
        ("0.0000000000125", ["-123456789.25"], "-123456789.249999999987", "-0.0000000000005"),
        ("0.0000000000004", ["0.0000000000004"], "0.000000000001", "-0.0000000000002"),
        ("4e-13", ["4E-13", "1_0"], None, None),
        ("1", ["12,50"], None, None),
    ],
)
def test_a_fine_part_of_an_amount_takes_no_large_part_away(
    tmp_path: Path, cost: str, credits: list[str], amount: str | None, residue: str | None
) -> None:
    listed = "[" + ", ".join(f'{{"amount": "{credit}"}}' for credit in credits) + "]"
    mapping: dict[str, Expr] = {**MAPPING, "billed_cost": Total((Field("Cost"), JsonSum(Field("Tags"), "amount")))}
    with Ledger.open(":memory:") as ledger:
        record = load(ledger, tmp_path / "bill.csv", [row(cost, "x", tags=listed)], {"mapping": mapping})
    assert record.rows_rejected == (amount is None)
    assert record.totals.get("USD", {}).get("billed_cost") == amount
    assert record.residues.get("USD", {}).get("billed_cost") == residue
