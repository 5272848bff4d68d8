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
