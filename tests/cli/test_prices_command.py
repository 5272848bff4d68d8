"""`unitcost prices`: what it prints, and what it answers to wrong questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from unitcost.cli import cli


@pytest.fixture
def run(tmp_path: Path):
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["prices", *arguments, "--folder", str(tmp_path), "--as-of", "2026-11-30"])

    return call


def test_show_prints_the_price_in_force_with_its_source(run) -> None:
    result = run("show", "p5.48xlarge", "--region", "us-east-1", "--at", "2026-07-21")
    assert result.exit_code == 0
    assert "Standard: 55.04 USD/h per machine, 6.88 per accelerator" in result.stdout
    assert "karpenter-provider-aws@1d92708 (Apache-2.0), read 2026-07-20" in result.stdout
    assert "8 x H100-80GB" in result.stdout
    assert "Standard" not in result.stderr
    assert "Dynamic: last read 232 days ago" in result.stderr


def test_show_prints_the_price_of_an_earlier_day(run) -> None:
    result = run("show", "p5.48xlarge", "--region", "us-east-1", "--at", "2025-05-01", "--category", "standard")
    assert "98.32 USD/h" in result.stdout
    assert "55.04 USD was read on 2025-12" in result.stderr


def test_show_as_json_has_money_as_text(run) -> None:
    result = run("show", "p5.48xlarge", "--region", "us-east-1", "--at", "2026-07-21", "--json")
    data = json.loads(result.stdout)
    assert data["schema_version"] == 1
    standard = data["prices"][0]
    assert (standard["category"], standard["price"], standard["usd_per_accelerator_hour"]) == (
        "Standard",
        "55.04",
        "6.88",
    )
    assert standard["source"]["licence"] == "Apache-2.0"
    assert standard["id"].startswith("price-")
    assert data["machines"][0]["accelerator_count"] == 8.0
    median = data["prices"][1]
    assert median["derived_from"] == "median of 5 zones"
    assert len(median["inputs"]) == 5


def test_show_prices_a_quantity_tier_by_tier(run) -> None:
    result = run("show", "internet_egress", "--provider", "aws", "--region", "us-east-1", "--quantity", "51200")
    assert "total 4,403.2 USD" in result.stdout
    assert "first 100 GB a month and account are free" in result.stderr
    as_json = run(
        "show", "internet_egress", "--provider", "aws", "--region", "us-east-1", "--quantity", "10240", "--json"
    )
    assert json.loads(as_json.stdout)["prices"][0]["amount"] == "921.6"


def test_show_shows_zones_when_asked(run) -> None:
    asked = ("show", "p5.48xlarge", "--region", "us-east-1", "--category", "dynamic", "--json")
    assert len(json.loads(run(*asked).stdout)["prices"]) == 1
    assert len(json.loads(run(*asked, "--zones").stdout)["prices"]) == 6


def test_find_ranks_machines_and_tells_units_apart(run) -> None:
    result = run("find", "--accelerator", "H100", "--count", "8", "--region", "us-*", "--json")
    data = json.loads(result.stdout)["capacity"]
    totals = [float(item["on_demand"]["usd_per_hour"]) for item in data if item["on_demand"]]
    assert totals == sorted(totals)
    assert all(item["region"].lower().startswith("us-") for item in data)
    assert all(item["accelerator_count"] >= 8 and item["machines"] == 1 for item in data)
    [p5] = [item for item in data if (item["name"], item["region"]) == ("p5.48xlarge", "us-east-1")]
    assert p5["on_demand"]["usd_per_accelerator_hour"] == "6.88"
    assert p5["on_demand"]["quoted_per"] == "machine-hour"
    assert p5["committed"]["commitment"] == "Reserved Instance 36 months, No Upfront"
    assert "stale" in run("find", "--accelerator", "H100").stderr


def test_find_by_spot_and_split(run) -> None:
    data = json.loads(run("find", "--accelerator", "L4", "--count", "16", "--by", "spot", "--split", "--json").stdout)[
        "capacity"
    ]
    assert any(item["machines"] > 1 for item in data)
    assert float(data[0]["spot"]["usd_per_hour"]) <= float(data[1]["spot"]["usd_per_hour"])


def test_a_price_per_chip_is_not_one_per_machine(run) -> None:
    data = json.loads(run("find", "--accelerator", "TPU-v5e", "--count", "4", "--split", "--json").stdout)
    first = data["capacity"][0]
    assert first["on_demand"]["quoted_per"] == "accelerator-hour"
    assert first["machines"] == 4
    assert "per accelerator" in run("show", "tpu-v5e-1chip", "--region", "us-central1").stdout


def test_diff_lists_what_changed(run) -> None:
    result = run(
        "diff", "--from", "2025-04-05", "--to", "2026-07-21", "--provider", "aws", "--region", "us-east-1",
        "--name", "p5.48xlarge", "--category", "Standard",
    )  # fmt: skip
    assert "98.32  55.04  -44.0 %" in result.stdout
    data = json.loads(run("diff", "--from", "2025-04-05", "--to", "2026-07-21", "--name", "g7*", "--json").stdout)
    assert {change["before"] for change in data["changes"]} == {None}


def test_list_shows_sources_or_prices(run) -> None:
    assert "karpenter-provider-aws" in run("list").stdout
    assert json.loads(run("list", "--json").stdout)["sources"]
    assert "aws g5.xlarge" in run("list", "--name", "g5.*", "--region", "us-east-1", "--category", "standard").stdout
    assert json.loads(run("list", "--name", "nothing*", "--json").stdout)["prices"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "p5.48xlage"), 2, "did you mean `p5.48xlarge`"),
        (("show", "p5.48xlarge", "--region", "us-est-1"), 2, "did you mean"),
        (("show", "p5.48xlarge", "--provider", "awz"), 2, "did you mean `aws`"),
        (("show", "p5.48xlarge", "--at", "2024-01-01"), 1, "the first is from 2025-04-04"),
        (("show", "p5.48xlarge", "--at", "yesterday"), 2, "is not a date"),
        (("show", "p5.48xlarge", "--quantity", "many"), 2, "is not a number"),
        (("show", "p5.48xlarge", "--quantity", "-1"), 2, "is negative"),
        (("find", "--accelerator", "H10"), 2, "did you mean `H100`"),
        (("find", "--accelerator", "H100", "--count", "64"), 1, "--split"),
        (("diff", "--from", "2026-07-21", "--to", "2025-01-01"), 2, "is not before"),
    ],
)
def test_wrong_questions_are_answered_with_what_to_do(run, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert "Mend:" in result.stderr
    assert result.stdout == ""
