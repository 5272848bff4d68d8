"""The same file again, new content under a path, restated periods, and rows that are known already."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger_bills import content, load, row

from unitcost.errors import PartOrRestatement
from unitcost.ledger import Ledger

OLD = [row("1", "x"), row("2", "y")]
NEW = [row("1", "x"), row("5", "y")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.duckdb"


@pytest.mark.parametrize("versions", [("", ""), ("1", "2"), ("2031-06-09", "2031-06-10"), ("v9", "v10")])
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
