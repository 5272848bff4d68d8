"""The same file again, new content under a path, restated periods, and rows that are known already."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger_bills import content, load, row

from unitcost.errors import PartOrRestatement
from unitcost.ledger import Claim, Ledger

OLD = [row("1", "x"), row("2", "y")]
NEW = [row("1", "x"), row("5", "y")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.duckdb"


@pytest.mark.parametrize("versions", [("", ""), ("1", "2"), ("2031-06-09", "2031-06-10"), ("v9", "v10"), ("v²", "v³")])
def test_a_restated_period_counts_once_however_often_both_files_are_loaded(
    path: Path, versions: tuple[str, str]
) -> None:
    with Ledger.open(path) as ledger:
        for _ in range(2):
            first = load(ledger, path.with_name("1.csv"), OLD, replace="period", version=versions[0])
            second = load(ledger, path.with_name("2.csv"), NEW, replace="period", version=versions[1])
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 2)
    assert (first.outcome, second.outcome) == ("unchanged", "unchanged")


def test_an_older_version_that_comes_late_is_history_at_once(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("2.csv"), NEW, replace="period", version="10")
        load(ledger, path.with_name("1.csv"), OLD, replace="period", version="9")
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 2)


def test_files_of_one_version_are_parts_and_add_up(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("0.csv"), [row("9", "old")], replace="period", version="1")
        load(ledger, path.with_name("1.csv"), [row("1", "x")], replace="period", version="2")
        load(ledger, path.with_name("2.csv"), [row("2", "y")], replace="period", version="2")
    assert content(path) == ([("x", "1.0"), ("y", "2.0")], 1)


def test_only_the_restated_period_and_account_are_replaced(path: Path) -> None:
    kept = [row("7", "july", month=7), row("8", "other", account="other")]
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), [*OLD, *kept], replace="period", version="1")
        load(ledger, path.with_name("2.csv"), NEW, replace="period", version="2")
    assert content(path) == ([("july", "7.0"), ("other", "8.0"), ("x", "1.0"), ("y", "5.0")], 2)


def test_new_content_under_a_path_replaces_its_rows_and_their_facets(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), OLD)
        again = load(ledger, path.with_name("a.csv"), NEW[1:])
        assert again.outcome == "replaced"
        assert [facet.values["charge_description"] for facet in ledger.facets()] == ["y"]
        assert load(ledger, path.with_name("a.csv"), OLD).outcome == "replaced"  # back to what it was
    assert content(path) == ([("x", "1.0"), ("y", "2.0")], 3)


def test_the_same_content_under_another_path_is_known(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), OLD)
        assert load(ledger, path.with_name("copy.csv"), OLD).outcome == "unchanged"


def test_a_file_of_mostly_known_rows_is_a_question(path: Path) -> None:
    known = [row(str(number), f"row {number}") for number in range(10)]
    later = [row("1", f"july {number}", month=7) for number in range(40)]
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), known)
        for name, rows in (("day", [*known, row("1", "new")]), ("month", [*known, *later])):
            with pytest.raises(PartOrRestatement, match=r"from a\.csv.*--part"):
                load(ledger, path.with_name(f"{name}.csv"), rows)
        load(
            ledger,
            path.with_name("half.csv"),
            [*known[:5], *(row("1", f"new {number}") for number in range(5)), *later],
        )
        assert load(ledger, path.with_name("day.csv"), [*known, row("1", "new")], part=True).rows_accepted == 11


def test_equal_rows_of_one_file_are_all_kept(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), [row("1", "x")] * 3)
    assert content(path) == ([("x", "1.0")] * 3, 0)


INSISTS = Claim(insists=True)


def test_known_parts_of_which_one_is_said_to_restate_the_period(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), OLD)
        load(ledger, path.with_name("2.csv"), [row("9", "z")])
        again = load(ledger, path.with_name("2.csv"), [row("9", "z")], claim=INSISTS, replace="period")
        assert (again.outcome, again.notes) == ("replaced", ("It restates 2031-06: 2 rows of 1.csv are history now.",))
        third = load(ledger, path.with_name("2.csv"), [row("9", "z")], claim=INSISTS, replace="period")
        assert third.outcome == "unchanged"
        assert "there was nothing to replace" in third.notes[0]
        older = load(ledger, path.with_name("1.csv"), OLD, claim=INSISTS, replace="period")
        assert older.outcome == "unchanged"
        assert older.notes[0].startswith("2.csv has restated its billing periods since")
        assert [facet.values["charge_description"] for facet in ledger.facets()] == ["z"]
    assert content(path) == ([("z", "9.0")], 2)


def test_settings_that_come_to_say_replace_leave_the_later_statement(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), OLD, part=True)
        load(ledger, path.with_name("2.csv"), NEW, part=True)
        load(ledger, path.with_name("1.csv"), OLD, replace="period")
        load(ledger, path.with_name("2.csv"), NEW, replace="period")
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 2)


def test_settings_that_come_to_say_replace_do_not_drop_parts(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), OLD)
        load(ledger, path.with_name("2.csv"), [row("9", "z")])
        with pytest.raises(PartOrRestatement, match="are they parts of one statement"):
            load(ledger, path.with_name("1.csv"), OLD, replace="period")
        claim = Claim(beside=frozenset({"1.csv", "2.csv"}))
        for name, rows in (("1.csv", OLD), ("2.csv", [row("9", "z")])):
            again = load(ledger, path.with_name(name), rows, claim=claim, replace="period", version="1")
            assert again.outcome == "unchanged"
    assert content(path) == ([("x", "1.0"), ("y", "2.0"), ("z", "9.0")], 0)


def test_parts_of_one_call_do_not_replace_each_other_unasked(path: Path) -> None:
    claim = Claim(insists=True, beside=frozenset({"1.csv", "2.csv"}))
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), OLD, claim=claim, replace="period")
        with pytest.raises(PartOrRestatement, match="are they parts of one statement"):
            load(ledger, path.with_name("2.csv"), [row("9", "z")], claim=claim, replace="period")
        for name, rows in (("1.csv", OLD), ("2.csv", [row("9", "z")])):
            load(ledger, path.with_name(name), rows, claim=claim, replace="period", version="1")
        assert load(ledger, path.with_name("3.csv"), NEW, claim=claim, replace="period", version="2").notes
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 3)


def test_two_statements_in_one_call_leave_the_later(path: Path) -> None:
    claim = Claim(insists=True, beside=frozenset({"1.csv", "2.csv"}))
    with Ledger.open(path) as ledger:
        for _ in range(2):
            load(ledger, path.with_name("1.csv"), OLD, claim=claim, replace="period")
            load(ledger, path.with_name("2.csv"), NEW, claim=claim, replace="period")
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 2)


def test_a_statement_of_another_call_is_replaced_too(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), OLD, source="1.csv", replace="period")
        load(ledger, path.with_name("2.csv"), NEW, source="2.csv", replace="period")
    assert content(path) == ([("x", "1.0"), ("y", "5.0")], 2)


def test_another_entry_of_the_settings_is_not_replaced(path: Path) -> None:
    apart = Claim(apart=frozenset({"support/*"}))
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), [row("3", "support")], source="support/*")
        load(ledger, path.with_name("2.csv"), NEW, source="bills/*", claim=apart, replace="period")
        with pytest.raises(PartOrRestatement, match=r"from 1\.csv.*another \[\[load\]\] entry"):
            load(
                ledger, path.with_name("3.csv"), [row("3", "support")] * 2, source="b/*", claim=apart, replace="period"
            )
    assert content(path) == ([("support", "3.0"), ("x", "1.0"), ("y", "5.0")], 0)


def test_what_names_no_provider_and_no_account_is_replaced_by_its_own_source_only(path: Path) -> None:
    first, second = ([row("1", name, account="")] for name in ("gpu hours", "labels"))
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("1.csv"), first, source="gpu/*", replace="period")
        load(ledger, path.with_name("2.csv"), second, source="labels/*", replace="period")
        load(ledger, path.with_name("3.csv"), [row("7", "labels", account="")], source="labels/*", replace="period")
    assert content(path) == ([("gpu hours", "1.0"), ("labels", "7.0")], 1)


def test_content_is_read_anew_when_something_else_is_said_about_it(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), OLD, said="{}")
        assert load(ledger, path.with_name("a.csv"), OLD, said="{}").outcome == "unchanged"
        again = load(ledger, path.with_name("a.csv"), OLD, said='{"currency": "EUR"}')
        assert again.outcome == "replaced"
        assert again.notes[0].startswith("What is said about reading it has changed")
        assert load(ledger, path.with_name("a.csv"), OLD, said='{"currency": "EUR"}').outcome == "unchanged"
    assert content(path) == ([("x", "1.0"), ("y", "2.0")], 2)


def test_a_copy_is_added_when_it_is_said_to_be_a_part(path: Path) -> None:
    with Ledger.open(path) as ledger:
        load(ledger, path.with_name("a.csv"), OLD)
        (note,) = load(ledger, path.with_name("copy.csv"), OLD).notes
        assert "that of a.csv" in note
        for outcome in ("loaded", "unchanged"):
            assert load(ledger, path.with_name("copy.csv"), OLD, part=True).outcome == outcome
    assert content(path) == ([("x", "1.0"), ("x", "1.0"), ("y", "2.0"), ("y", "2.0")], 0)
