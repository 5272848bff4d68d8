"""Splits that cannot do what they say, through the command line: said, visible, and closing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.e2e.conftest import Desk

BILL = """BilledCost,EffectiveCost,team,project
100,100,platform,p
20,20,risk,b
30,30,search,c
-5,-5,ads,c
"""
OUTPUTS = "service,day,unit,quantity\nrisk,2031-06-02,runs,3\nassistant,2031-06-02,runs,5\n"
SPLIT = '[[split]]\nof = { team = "platform" }\nby = "team"\n'


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    desk.load(str(desk.write("bill.csv", BILL)), "--currency", "USD", "--period", "2031-06")
    desk.load(str(desk.write("outputs.csv", OUTPUTS)))
    return desk


@pytest.mark.parametrize(
    ("split", "platform", "said"),
    [
        (
            'how = "metric"\nmetric = "rnus"',
            "100",
            "no outputs of this range are counted in `rnus`; did you mean `runs`?",
        ),
        ('how = "metric"\nmetric = "runs"', "0", "assistant made runs and is no team: it receives nothing"),
        ('how = "even"\nof = { team = "plattform" }', "100", "did you mean `platform`?"),
        ('how = "even"\namong = ["serch"]', "0", "serch receives a part and has no charges"),
        ('how = "proportional"', "0", "ads receives nothing in USD: its direct cost is below zero"),
    ],
)
def test_it_is_said_and_it_closes(loaded: Desk, split: str, platform: str, said: str) -> None:
    lines = SPLIT if "of =" not in split else "[[split]]\n"
    loaded.write("unitcost.toml", lines + split + "\n")
    report = loaded.report()
    owners = report["owners"]["team"]["USD"]
    assert sum(Decimal(entry["amount"]) for entry in owners.values()) == Decimal(report["total"]["USD"]) == 145
    assert owners["platform"]["amount"] == platform
    assert "assistant" not in owners
    assert any(said in note["says"] for note in report["split_notes"])
    printed = " ".join(loaded.run("report", "--section", "owners-team").stdout.split())
    assert said in printed
    check = loaded.run("check")
    assert said in check.stdout
    assert (report["splits"] == []) == (platform == "100")


def test_a_pool_that_stays_says_how_much(loaded: Desk) -> None:
    loaded.write("unitcost.toml", SPLIT + 'how = "metric"\nmetric = "rnus"\n')
    assert "nobody receives it; 100.00 USD stays with platform" in loaded.report()["split_notes"][1]["says"]


@pytest.mark.parametrize("command", ["report", "check"])
def test_what_can_never_work_is_wrong_usage(loaded: Desk, command: str) -> None:
    loaded.write("unitcost.toml", '[[split]]\nof = { driver = "storrage" }\nhow = "even"\n')
    result = loaded.run(command)
    assert result.exit_code == 2
    assert "did you mean `storage`?" in result.stderr
