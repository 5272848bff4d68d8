"""Tables that fit: names give way, numbers never do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.company import charge, closing_row, report

from unitcost.cli.output import (
    GAP,
    SHORTEST_NAME,
    bands_of,
    is_numeric,
    print_json,
    print_report,
    print_table,
    progress_bar,
    shortened,
)
from unitcost.facts.spend import Selection
from unitcost.figure import Figure
from unitcost.report.model import Chart, Column, Report, Section, Table, Tile

HEADERS = ["Resource", "Service", "USD", "Share", "Rows"]
ROWS = [
    [
        "arn:aws:sagemaker:us-east-1:210000000010:endpoint/fraud-scorer",
        "Amazon SageMaker",
        "6,217.73",
        "2.6 %",
        "4,416",
    ],
    ["vol-0123456789abcdef0", "Amazon Elastic Compute Cloud", "-12.00", "0.0 %", "9"],
    ["total", "", "12,345,678,901.23", "100.0 %", "98,057"],
]


@pytest.mark.parametrize("width", [80, 140])
def test_a_table_fits_the_terminal_and_keeps_its_numbers(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEADERS, ROWS, title="Most expensive", totals=1, width=width)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Most expensive"
    assert max(len(line) for line in lines) <= width
    for row in ROWS:
        assert any(all(number in line for number in row[2:]) for line in lines)
    ends = {re.search(re.escape(row[2]), line).end() for row in ROWS for line in lines if row[2] in line}
    assert len(ends) == 1


def test_numbers_are_whole_even_where_nothing_fits(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["a name that is long", *["1,234,567,890.12"] * 6]]
    print_table(["Name", *"abcdef"], rows, width=40)
    assert capsys.readouterr().out.count("1,234,567,890.12") == 6


def test_both_ends_of_a_long_name_are_kept() -> None:
    assert shortened("projects/alpha/endpoints/beta-7", 13) == "projec…beta-7"
    assert shortened("short", 13) == "short"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.00", "-2", "", "3,000.5 USD"], True), (["+4.2 %", "—", "0"], True), (["12", "n/a"], False),
        (["", ""], False), ([], False), (["2026-09"], False), (["ml.g5.xlarge"], False),
    ],
)  # fmt: skip
def test_columns_of_numbers_are_known(cells: list[str], expected: bool) -> None:
    assert is_numeric(cells) is expected


NAMES = st.text("abc/-", max_size=70)
AMOUNTS = st.decimals(-(10**12), 10**12, places=2).map(lambda amount: f"{amount:,.2f}")


@given(st.lists(st.tuples(NAMES, NAMES, AMOUNTS), max_size=9), st.integers(60, 200))
def test_a_table_never_exceeds_the_room_while_names_can_give(rows: list[tuple[str, str, str]], width: int) -> None:
    headers = ["Name", "Other", "USD"]
    [band] = bands_of(headers, rows, [False, False, True], width)
    assert band.width <= width
    assert all(band.line(row).endswith(row[2]) for row in rows)
    for place in (0, 1):
        natural = max([len(headers[place]), *(len(row[place]) for row in rows)])
        assert band.widths[place] >= min(SHORTEST_NAME, natural)


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_of_a_remark_is_lost(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    reason = "does not fit: " + "weights take 131.4 GiB, each GPU has 80 GiB; " * 5 + "fits with fp8"
    rows = [["1 x H100-80GB bf16", "3", reason], ["2 x H100-80GB bf16", "12", ""]]
    print_table(["option", "replicas", ""], rows, width=width)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert reason in " ".join(line.strip() for line in lines)
    assert "…" not in "".join(lines)
    [second] = [line.split() for line in lines if line.startswith("2 x H100-80GB bf16")]
    assert second[-1] == "12"


def test_a_wide_table_puts_its_remark_and_then_its_numbers_on_lines_of_their_own() -> None:
    headers = ["Name", "Kind", "USD", "EUR", ""]
    rows = [["a-very-long-name", "some kind of thing", "1,234,567.00", "7,654,321.00", "nobody made one"]]
    numeric = [False, False, True, True, False]
    assert len(bands_of(headers, rows, numeric, 100)) == 1
    assert [band.places for band in bands_of(headers, rows, numeric, 60)] == [(0, 1, 2, 3), (4,)]
    stacked = bands_of(headers, rows, numeric, 40)
    assert [band.places for band in stacked] == [(0, 1), (2, 3), (4,)]
    assert [band.line(rows[0]) for band in stacked] == [
        "a-very-long-name  some kind of thing", "  1,234,567.00  7,654,321.00", "  nobody made one",
    ]  # fmt: skip
    assert all(band.width <= 40 for band in stacked)
    assert stacked[1].header(headers) == [" " * (2 + 9) + "USD" + " " * (GAP + 9) + "EUR"]


def a_report() -> Report:
    """Small report with one of everything that is printed."""
    money = [
        Figure(id=f"teams/t{i}@all,billed", value=Decimal(v), unit="USD", basis="billed", op="given", formula="")
        for i, v in enumerate(["1.004", "2.004", "3.008"])
    ]
    table = Table(
        columns=(Column(name="team"), Column(name="cost", kind="money")), unit="USD", caption="Teams",
        rows=(("a", money[0]), ("b", money[1])), total=("total", money[2]),
    )  # fmt: skip
    chart = Chart(name="trend", title="Trend", option={}, text="The months rise.")
    return Report(
        title="Billed cost", selection=Selection(cost="billed"), currencies=("USD",), as_of="2026-11-05",
        tiles=(Tile(name="billed cost, USD", figure=money[2], kind="money", beside="all months"),), closes=True,
        sections=(
            Section(key="teams", title="Teams", question="Who?", tables=(table,), notes=("word " * 40,)),
            Section(key="trend", title="Trend", question="When?", charts=(chart,)),
        ),
        messages=("an invoice differs",),
    )  # fmt: skip


@pytest.mark.parametrize("width", [80, 140])
def test_a_report_is_printed_whole(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_report(a_report(), width=width)
    text, talk = capsys.readouterr()
    assert talk == "! an invoice differs\n"
    assert max(map(len, text.splitlines())) <= width
    for part in ("Billed cost", "TEAMS", "Who?", "total", "The months rise."):
        assert part in text
    assert [line.split()[-1] for line in text.splitlines() if line[:2] in ("a ", "b ", "to")] == [
        "1.00",
        "2.01",
        "3.01",
    ]


def test_only_the_asked_sections_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(a_report(), keys={"trend"}, width=80)
    text = capsys.readouterr().out
    assert "TREND" in text
    assert "TEAMS" not in text


def test_json_keeps_order_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"b": "12.50", "a": "Zürich"})
    assert list(json.loads(capsys.readouterr().out)) == ["b", "a"]


def test_nothing_is_drawn_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as tell:
        assert tell is None
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar() as tell:
        assert tell is not None
        tell("bills/a.csv", 1, 2)
        tell("bills/b.csv", 0, 0)
        tell("bills/b.csv", 2, 2)


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table(["Name"], [["a"]], title="t", width=80)
    assert "\x1b[3" not in capsys.readouterr().out


def closing_report() -> Report:
    """Invoices of seven digits, one of which differs by less than a cent, and commitments with long names."""
    charges = [
        charge("0", billed="1234567.89", commitment="arn:aws:savingsplans::210000000001:savingsplan/5d1f0c7e-00000000b1",
               charge_category="Purchase"),
        charge("1234567.89", billed="0", commitment="arn:aws:ec2:us-east-1:210000000010:reserved/7c2e9b10-0000000000b2",
               commitment_status="Used"),
    ]  # fmt: skip
    rows = [
        replace(closing_row(charges, total), provider="Amazon Web Services", billing_account="3f1b7c52-00000000b001:ml",
                invoice_id=name, billing_month=month)
        for name, month, total in (("G20310601", "2031-06", "1234567.89"), ("", "2031-07", "1234567.891"))
    ]  # fmt: skip
    return report(charges, closing=rows)


@pytest.mark.parametrize(("width", "account"), [(80, "account…b001:ml"), (140, "account 3f1b7c52-00000000b001:ml")])
def test_closing_and_commitments_stand_on_one_line_each(
    width: int, account: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_report(closing_report(), keys=("closing", "commitments"), width=width)
    lines = [line for line in capsys.readouterr().out.splitlines() if "2031-0" in line or "arn:" in line]
    assert len(lines) == 4
    assert max(map(len, lines)) <= width
    assert [line.count("1,234,567.89") for line in lines] == [1, 2, 2, 2]
    text = "\n".join(lines)
    assert account in text


def test_spare_columns_are_shown_where_there_is_room(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(closing_report(), keys=("closing",), width=180)
    assert capsys.readouterr().out.count("3f1b7c52-00000000b001:ml") == 3


def test_a_difference_of_less_than_a_cent_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(closing_report(), keys=("closing",), width=80)
    assert "differs by -0.001" in capsys.readouterr().out
