"""Owners who are called like a word of the report: they are somebody, and stay apart from nobody."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Desk

BILL = """BilledCost,EffectiveCost,team,project,ServiceName
10,10,untagged,a,x
20,20,,b,(none)
30,30,tax,c,
"""


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    desk.load(str(desk.write("bill.csv", BILL)), "--currency", "USD", "--period", "2031-06")
    return desk


def test_nobody_and_somebody_called_untagged_have_a_row_each(loaded: Desk) -> None:
    report = loaded.report("--by", "team,service")
    owners = report["owners"]["team"]["USD"]
    assert {name: (entry["owner"], entry["amount"]) for name, entry in owners.items()} == {
        "untagged": (None, "20"), '"untagged"': ("untagged", "10"), '"tax"': ("tax", "30"),
    }  # fmt: skip
    assert report["owned_share"]["team"]["USD"] == "0.6667"
    table = next(section for section in report["sections"] if section["key"] == "by")["tables"][0]
    assert [row[:2] for row in table["rows"]] == [['"tax"', None], [None, '"(none)"'], ['"untagged"', "x"]]


@pytest.mark.parametrize(("owner", "row"), [("untagged", 2), ('"untagged"', 1)])
def test_each_unfolds_to_its_own_row(loaded: Desk, owner: str, row: int) -> None:
    figure = loaded.report()["owners"]["team"]["USD"][owner]["figure"]
    result = loaded.run("explain", figure)
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if "bill.csv:" in line and f"bill.csv:{row} " in line]
    assert result.stdout.count("bill.csv:") == 1


def test_what_nobody_owns_can_be_divided(loaded: Desk) -> None:
    loaded.write("unitcost.toml", '[[split]]\nof = { team = "untagged" }\nhow = "even"\nby = "team"\n')
    owners = loaded.report()["owners"]["team"]["USD"]
    assert {name: entry["amount"] for name, entry in owners.items()} == {
        "untagged": "0", '"untagged"': "20", '"tax"': "40",
    }  # fmt: skip


def test_a_driver_that_a_rule_gives_to_tax_is_shown(desk: Desk) -> None:
    bill = "BilledCost,EffectiveCost,ChargeCategory\n10,10,Usage\n30,30,Tax\n5,5,Credit\n"
    desk.load(str(desk.write("bill.csv", bill)), "--currency", "USD", "--period", "2031-06")
    desk.write("unitcost.toml", '[[drivers]]\nwhen = "charge_category = \'Tax\'"\nis = "overhead"\n')
    report = desk.report()
    assert report["drivers"]["USD"] == {"credit": "5", "overhead": "30", "unknown": "10"}
    assert report["largest_driver"]["USD"] == "overhead"


def test_no_command_passes_on_what_steers_a_terminal(desk: Desk) -> None:
    name = "\x1b[31mkea\x1b]0;title\x07"
    rows = f"c1,{name},lab,2031-06-01,10,0.1,USD\nc2,otter,lab,2031-06-01,{name},,\n"
    header = "call_id,model,provider,called_at,input_tokens,reported_cost,reported_currency\n"
    loaded = desk.run("load", str(desk.write("calls.csv", header + rows)))
    figure = next(iter(desk.report()["tokens"]["models"]["USD"].values()))["figure"]
    results = [
        loaded, desk.run("check"), desk.run("report", "--section", "tokens"), desk.run("explain", figure), desk.run("explain", name),
        desk.run("report", "--section", name),
    ]  # fmt: skip
    for result in results:
        assert not {"\x1b", "\x07"} & set(result.output)
    assert "\\u001b" in results[2].output
