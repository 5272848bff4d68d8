"""A figure unfolded, through the command line: short labels, its own rows, lines that a terminal holds."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import Desk

BILL = """BilledCost,EffectiveCost,BillingCurrency,team,ChargePeriodStart,ChargePeriodEnd,ResourceId
10,10,USD,search,2031-01-05T00:00:00Z,2031-01-06T00:00:00Z,a resource
20,20,USD,search,2031-03-05T00:00:00Z,2031-03-06T00:00:00Z,another resource with many words in its own name
40,40,EUR,search,2031-01-05T00:00:00Z,2031-01-06T00:00:00Z,
80,80,EUR,search,2031-03-05T00:00:00Z,2031-03-06T00:00:00Z,
"""
RATES = "[fx]\nEUR = [ { from = 2031-03-01, usd = 1.10 }, { from = 2031-05-01, usd = 1.20 } ]\n"
TEAM = "owner/team/search/%s@all,effective"


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    desk.load(str(desk.write("bill.csv", BILL)))
    desk.write("unitcost.toml", RATES)
    return desk


def test_only_what_is_converted_is_apart_by_its_rate(loaded: Desk) -> None:
    result = loaded.run("explain", TEAM % "USD")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert any(line.startswith("2 charges in USD = 30 USD  [billed]") for line in lines)
    assert any(line.startswith("EUR since 2031-03-01 = 88 USD  [derived]") for line in lines)
    assert "rate_since" not in result.stdout
    assert result.stdout.count("bill.csv:") == 3


def test_what_is_older_than_every_rate_unfolds_to_its_own_rows(loaded: Desk) -> None:
    result = loaded.run("explain", TEAM % "EUR")
    assert "bill.csv:3  40 EUR" in result.stdout
    assert result.stdout.count("bill.csv:") == 1


@pytest.mark.parametrize(("currency", "total"), [("EUR", "120 EUR"), ("USD", "30 USD")])
def test_a_figure_of_one_currency_alone_is_found_again(loaded: Desk, currency: str, total: str) -> None:
    for tile in loaded.report("--currency", currency)["tiles"]:
        result = loaded.run("explain", tile["figure"])
        assert result.exit_code == 0, result.output
        if tile["unit"] == currency:
            assert f"= {total}" in result.stdout.splitlines()[0]


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_lines_fit_the_terminal(loaded: Desk, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for tile in loaded.report()["tiles"]:
        lines = loaded.run("explain", tile["figure"]).stdout.splitlines()
        assert lines
        assert max(map(len, lines)) <= columns


def test_json_keeps_every_step(loaded: Desk) -> None:
    data = json.loads(loaded.run("explain", TEAM % "USD", "--json").stdout)
    depth = 0
    while "inputs" in data:
        data, depth = data["inputs"][0], depth + 1
    assert depth > 3
    assert data["rows"]["where"][0] == {"dimension": "team", "value": "search"}
