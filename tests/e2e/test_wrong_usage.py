"""Options that mean nothing are refused with a message and exit code 2, before anything is read or written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    """A workspace with one bill."""
    desk.load(str(desk.write("bill.csv", text([row(0), row(1)]))))
    return desk


def refused(desk: Desk, *arguments: str) -> str:
    """Message of a call that is wrong usage."""
    result = desk.run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("", "--by is empty"),
        (" ", "--by is empty"),
        ("team,", "name 2 of the dimensions `team,` is empty"),
        (",team", "name 1 of the dimensions `,team` is empty"),
        ("team,team", "the dimension `team` is named twice"),
        ("tem", "there is no dimension `tem`; did you mean `team`?"),
    ],
)
@pytest.mark.parametrize("command", [("report",), ("explain", "total/USD@all,effective")])
def test_dimensions_that_are_none(loaded: Desk, command: Sequence[str], by: str, said: str) -> None:
    assert said in refused(loaded, *command, "--by", by)


@pytest.mark.parametrize(
    "call",
    [
        "report --month", "report --from", "report --to", "report --currency", "report --timezone", "report --as-of",
        "report --html", "report --csv", "report --config", "check --month", "load --reader", "load --currency",
        "load --encoding", "load --period", "load --delimiter", "load --source-timezone", "load --provider",
        "load --rates", "load --export-version", "explain x@all,effective --as-of",
    ],
)  # fmt: skip
def test_an_option_that_a_script_left_empty_is_not_taken_for_none(loaded: Desk, call: str) -> None:
    *words, option = call.split()
    assert f"{option} is empty. Mend: give it a value, or leave it out" in refused(loaded, *words, option, "")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("report --month 2026-13", "'2026-13' is not a month"),
        ("report --month 9999-12", "'9999-12' is not a month between 1990 and 2200"),
        ("report --month 0001-01", "'0001-01' is not a month between 1990 and 2200"),
        ("report --from 2031-07 --to 2031-06", "the range 2031-07..2031-06 is empty"),
        ("report --as-of nonsense", "--as-of is 'nonsense', not a date"),
        ("report --as-of 0001-01-01T00:00:00+05:00", "--as-of: 0001-01-01 is not a day between 1990 and 2200"),
        ("check --as-of 9999-12-31T23:59:59-05:00", "--as-of: 9999-12-31 is not a day between 1990 and 2200"),
        ("explain total/USD@9999-12..9999-12,effective", "'9999-12' is not a month between 1990 and 2200"),
    ],
)
def test_dates_that_no_bill_has(loaded: Desk, call: str, said: str) -> None:
    assert said in refused(loaded, *call.split())


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("--encoding bogus", "there is no encoding `bogus`"),
        ("--encoding latin-11", "there is no encoding `latin-11`; did you mean `latin-1`"),
        ("--encoding base64", "there is no encoding `base64`"),
        ("--encoding undefined", "there is no encoding `undefined`"),
        ("--reader focu", "there is no reader `focu`; did you mean `focus`?"),
        ("--currency dollars", "the currency is 'dollars'"),
        ("--period 2031-13", "'2031-13' is not a month"),
        ("--delimiter ;;", "the delimiter is ';;'"),
        ("--source-timezone Mars/Phobos", "there is no time zone 'Mars/Phobos'"),
        ("--rates nowhere.csv", "there is no rate card `nowhere.csv`"),
        ("--export-version 3", "the version '3' says nothing without a restatement"),
        ("--replace period --part", "a part adds up with what is loaded, a restatement replaces it"),
    ],
)
def test_what_is_said_about_files_is_looked_at_first(loaded: Desk, said: str, message: str) -> None:
    assert message in refused(loaded, "load", str(loaded.folder / "bill.csv"), *said.split())


def test_what_an_entry_says_about_files_is_looked_at_first(loaded: Desk) -> None:
    loaded.write("unitcost.toml", '[[load]]\npath = "bill.csv"\n[[load]]\npath = "bill.csv"\nreader = "focu"\n')
    assert "unitcost.toml, load[1]: there is no reader `focu`" in refused(loaded, "load")


def test_an_encoding_that_is_given_is_used(desk: Desk) -> None:
    bill = desk.write("bill.csv", text([row(0, ServiceName="Zürich")]))
    desk.load(str(bill))
    assert list(desk.report()["services"]["USD"]) == ["Zürich"]
    desk.load(str(bill), "--encoding", "latin-1")
    assert list(desk.report()["services"]["USD"]) == ["ZÃ¼rich"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("report --currency uds", "there is no charge in the currency `uds`; did you mean `USD`?"),
        ("check --currency EUR", "there is no charge in the currency `EUR`. Mend: use one of: USD"),
        ("report --section driver", "there is no section `driver`; did you mean `drivers`?"),
        ("report --json --csv -", "would both go to standard output"),
    ],
)
def test_a_report_that_cannot_be_given(loaded: Desk, call: str, said: str) -> None:
    assert said in refused(loaded, *call.split())


def test_one_currency_in_any_letter_case(loaded: Desk) -> None:
    loaded.load(str(loaded.write("euro.csv", text([row(9, BillingCurrency="EUR")]))))
    assert loaded.report("--currency", "usd")["total"] == {"USD": "2"}
    assert "Can all amounts be added?" in loaded.run("check").stdout
    assert "EUR" not in loaded.run("check", "--currency", "usd").stdout


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("check --rejects 99999999999999999999", "is not in the range"),
        ("explain spend/total/USD@all,effective --rows 99999999999999999999", "is not in the range"),
        ("check --min-owned nan", "the share nan is not between 0 and 1"),
        ("load --replace period --export-version " + "9" * 5000, "the version has 5,000 signs"),
    ],
)  # fmt: skip
def test_numbers_that_nobody_means(loaded: Desk, call: str, said: str) -> None:
    command, *arguments = call.split()
    assert said in refused(
        loaded, command, *([str(loaded.folder / "bill.csv")] if command == "load" else []), *arguments
    )
