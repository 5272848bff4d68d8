"""Drivers that the settings name in charges and splits: known ones count, others are refused with the near ones."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text

CHARGE = '[[charge]]\nwhat = "labels"\nusd = 30\non = 2031-06-01\ndriver = "{}"\n'
OWN = '[[drivers]]\nwhen = "resource_id = \'machine-0\'"\nis = "{}"\n'


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    """A workspace with one bill."""
    desk.load(str(desk.write("bill.csv", text([row(0, cost="4"), row(1, cost="2")]))))
    return desk


@pytest.mark.parametrize(
    ("driver", "name"),
    [
        ("training", "training"), ("Training", "training"), ("llm api", "LLM API"), ("inference", "serving"),
        ("labelling", "labelling"), ("LABELLING", "labelling"), ("unknown", "unknown"),
    ],
)  # fmt: skip
def test_a_charge_is_for_what_it_says(loaded: Desk, driver: str, name: str) -> None:
    loaded.write("unitcost.toml", OWN.format("labelling") + CHARGE.format(driver))
    drivers = loaded.report()["drivers"]["USD"]
    others = {"labelling": 4, "unknown": 2}
    assert {k: Decimal(v) for k, v in drivers.items()} == others | {name: others.get(name, 0) + 30}


@pytest.mark.parametrize("command", ["report", "check", "load"])
@pytest.mark.parametrize(
    ("settings", "where", "near"),
    [
        (CHARGE.format("traning"), "charge[0].driver", "training"),
        (OWN.format("labelling") + CHARGE.format("labeling"), "charge[0].driver", "labelling"),
        ('[[split]]\nof = { driver = "shared plattform" }\nhow = "even"\n', "split[0].of", "shared platform"),
        ('[[split]]\nof = { driver = "taxes" }\nhow = "even"\n', "split[0].of", "tax"),
    ],
)
def test_a_driver_that_there_is_not_is_refused(
    loaded: Desk, command: str, settings: str, where: str, near: str
) -> None:
    loaded.write("unitcost.toml", settings)
    result = loaded.run(command)
    assert result.exit_code == 2
    assert f"unitcost.toml, {where}: there is no driver" in result.stderr
    assert f"did you mean `{near}`" in result.stderr


def test_a_rule_that_makes_a_driver_like_a_shipped_one_is_pointed_at(loaded: Desk) -> None:
    loaded.write("unitcost.toml", OWN.format("traning"))
    assert "driver rule `traning` looks like `training`" in loaded.run("check").stdout
    loaded.write("unitcost.toml", OWN.format("labelling"))
    assert "looks like" not in loaded.run("check").stdout
