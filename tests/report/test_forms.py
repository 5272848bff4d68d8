"""JSON, csv, printed cells and the unfolded figure."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given as for_any
from hypothesis import strategies as st

from tests.report.company import bill, charge, report
from unitcost.facts.spend import LedgerRow
from unitcost.figure import Figure
from unitcost.report import explain
from unitcost.report.csv_form import HEADER, as_csv, inert
from unitcost.report.json_form import SCHEMA_VERSION, as_data, figure_data
from unitcost.report.printed import shown, unit_price


def figures_in(data: Any) -> list[dict[str, Any]]:
    if isinstance(data, dict):
        own = [data] if "figure" in data and "value" in data else []
        return own + [found for value in data.values() for found in figures_in(value)]
    return [found for value in data for found in figures_in(value)] if isinstance(data, list) else []


def test_json_is_exact_and_each_number_has_its_figure() -> None:
    made = report()
    data = json.loads(json.dumps(as_data(made)))
    assert data["schema_version"] == SCHEMA_VERSION
    known = made.figures()
    found = figures_in(data)
    assert len(found) > 100
    for each in found:
        figure = known[each["figure"]]
        assert each["value"] == (None if figure.value is None else explain.money.text(figure.value))


def test_json_holds_no_floats() -> None:
    def no_float(text: str) -> None:
        raise AssertionError(f"{text} is written as a float")

    json.loads(json.dumps(as_data(report())), parse_float=no_float)


def test_json_answers_by_name() -> None:
    data = as_data(report())
    assert data["drivers"]["USD"]["training"] == "1910.11"
    assert data["owners"]["team"]["USD"]["search"]["amount"] == "1790.109"
    assert data["largest_driver"] == {"USD": "training"}
    assert data["firm"] == {"USD": True}
    assert data["months"]["USD"] == {"2026-09": "1325.264", "2026-10": "977.933333333333"}
    assert data["regions"]["USD"]["(none)"] == "12.5"


def test_rounded_amounts_of_owners_add_up() -> None:
    owners = as_data(report())["owners"]["team"]["USD"].values()
    assert sum(Decimal(owner["amount_rounded"]) for owner in owners) == Decimal("2303.20")


def test_csv_has_one_line_per_number() -> None:
    made = report()
    lines = list(csv.reader(io.StringIO(as_csv(made))))
    assert tuple(lines[0]) == HEADER
    numbers = [figure for section in made.sections for table in section.tables for figure in table.figures()]
    assert len(lines) - 1 == len(numbers)
    assert {line[-1] for line in lines[1:]} == {figure.id for figure in numbers}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_csv_names_are_no_formulas(name: str) -> None:
    lines = list(csv.reader(io.StringIO(as_csv(report([charge("5", team=name, service=name)])))))
    assert f"'{name}" in [line[1] for line in lines]
    assert not [
        cell for line in lines for place, cell in enumerate(line) if place != 3 and cell[:1] in tuple("=+-@\t\r")
    ]


@pytest.mark.parametrize("name", ["a\rb", "a\nb", 'a"b', "a,b"])
def test_csv_names_do_not_end_their_row(name: str) -> None:
    lines = list(csv.reader(io.StringIO(as_csv(report([charge("5", service=name)])), newline="")))
    assert {len(line) for line in lines} == {len(HEADER)}
    assert name in [line[1] for line in lines]


def test_csv_numbers_stay_numbers() -> None:
    lines = list(csv.reader(io.StringIO(as_csv(report()))))
    assert "-20.25" in [line[3] for line in lines]


@for_any(st.text())
def test_inert_text_keeps_what_it_says(text: str) -> None:
    assert inert(text).removeprefix("'") == text.removeprefix("'") or not text.startswith("'")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.000001500", "0.000001500"),
        ("0.01729043", "0.01729"),
        ("8160.774", "8,160.77"),
        ("0", "0.00"),
        ("1.5", "1.500"),
    ],
)
def test_unit_prices_keep_four_digits(value: str, text: str) -> None:
    assert unit_price(Decimal(value)) == text


def test_a_relative_change_has_a_sign() -> None:
    def cell(value: str) -> str:
        figure = Figure(id="x", value=Decimal(value), unit="share", basis="derived", op="ratio", formula="a / b")
        return shown(figure, "change")

    assert [cell("0.5"), cell("-0.5"), cell("0")] == ["+50.0 %", "-50.0 %", "0.0 %"]


def test_cells_as_text() -> None:
    figure = Figure(id="x", value=Decimal("1234.5"), unit="USD", basis="billed", op="given", formula="stated")
    none = Figure(id="x", value=None, unit="USD", basis="unknown", op="none", formula="no value", note="why")
    assert shown(figure, "money") == "1,234.50"
    assert shown(figure, "count") == "1,234.50"
    assert shown(none, "money") == "–"
    assert shown(None, "text") == "–"
    assert shown("search", "text") == "search"


def row(number: int, amount: str) -> LedgerRow:
    return LedgerRow(
        file="bill.csv", row_number=number, currency="USD", cost=Decimal(amount), amount=Decimal(amount), service="compute",
        resource="i-1", charge_period_start="2026-09-01", charge_period_end="2026-09-02", description="",
    )  # fmt: skip


def test_a_figure_unfolds_to_its_rows() -> None:
    made = report([charge("5", team="search"), charge("7", team="search")])
    figure = made.tiles[0].figure

    def rows_of(leaf: Figure) -> tuple[list[LedgerRow], int]:
        return [row(2, "7")], leaf.rows.row_count if leaf.rows else 0

    lines = explain.as_lines(figure, rows_of)
    assert lines[0].startswith("total = 12 USD")
    assert any("bill.csv:2  7 USD" in line for line in lines)
    assert any("and 1 more rows, 5 USD" in line for line in lines)
    data = explain.as_data(figure, rows_of)
    assert data["figure"] == figure.id
    inner = data
    while "rows" not in inner:
        inner = inner["inputs"][0]
    assert inner["rows"]["count"] == 2
    assert inner["rows"]["largest"][0]["amount"] == "7"


def test_a_figure_without_a_value_says_why() -> None:
    made = report(bill())
    none = next(figure for figure in made.figures().values() if figure.value is None)
    assert f"note: {none.note}" in "\n".join(explain.as_lines(none, lambda _: ([], 0)))
    assert figure_data(none)["note"] == none.note
