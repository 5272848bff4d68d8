"""Models that answer in one step, through their job and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from unitcost.cli import cli
from unitcost.errors import BadFile, BadSetting, NoPrice
from unitcost.jobs.plan_serve_profile import ProfileAsk, plan_profile
from unitcost.jobs.plan_serve_profile_page import profile_page
from unitcost.measure.latency_profiles import read_profiles
from unitcost.report.plan_page import as_html

TABLE = "option,batch,latency_ms,usd_per_hour\nL4,1,4,2.50\nL4,8,8,2.50\nL4,32,20,2.50\n"
OTHER = "T4,1,12,1.20\nT4,8,40,1.20\nT4,32,150,1.20\n"


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    path = tmp_path / "rare.csv"
    path.write_text("timestamp,input_tokens,output_tokens\n" + "".join(f"{i * 1800},1,1\n" for i in range(48)))
    return path


def test_forty_million_predictions_a_day_on_one_replica(bench: Path) -> None:
    plan = plan_profile(ProfileAsk(profile=bench, per_day=40e6, e2e_p95_s=0.1))
    best = plan.chosen
    assert best is not None
    assert best.replicas == 1
    assert best.usd_per_day == Decimal("60.00")
    assert best.usd_per_1k == Decimal("0.0015")
    by_batch = {row.name: row for row in plan.rows if row.way == "always ready"}
    # 463 a second; one by one a replica does 250, so two are needed
    assert by_batch["L4, batches of 1"].replicas == 2
    assert by_batch["L4, batches of 1"].usd_per_1k == Decimal("0.0030")
    assert set(by_batch) == {f"L4, batches of {size}" for size in (1, 2, 4, 8, 16, 32)}


def test_cheaper_by_the_hour_but_dearer_by_the_thousand_loses(bench: Path) -> None:
    bench.write_text(TABLE + OTHER)
    plan = plan_profile(ProfileAsk(profile=bench, per_day=40e6, e2e_p95_s=0.1))
    assert plan.chosen is not None
    assert plan.chosen.name.startswith("L4")
    other = min((row for row in plan.rows if row.name.startswith("T4")), key=lambda row: row.usd_per_day)
    assert other.usd_per_replica_hour < plan.chosen.usd_per_replica_hour
    assert other.usd_per_1k > plan.chosen.usd_per_1k


@pytest.mark.parametrize(("limit_s", "way"), [(30.0, "scale to zero"), (2.0, "warm pool of 1"), (0.5, "always ready")])
def test_the_limit_decides_how_it_sleeps(bench: Path, rare: Path, limit_s: float, way: str) -> None:
    ask = ProfileAsk(
        profile=bench, trace=rare, e2e_p95_s=limit_s, cold_start_s=20.0, standby_usd_per_hour=Decimal("0.25")
    )  # fmt: skip
    plan = plan_profile(ask)
    assert plan.chosen is not None
    assert plan.chosen.way == way
    assert plan.break_even_gap_s == 20  # a paid start is worth as many ready seconds as it lasts
    assert plan.longest_gap_s == 1800


def test_a_warm_pool_at_the_full_price_saves_nothing(bench: Path, rare: Path) -> None:
    plan = plan_profile(ProfileAsk(profile=bench, trace=rare, e2e_p95_s=2.0, cold_start_s=20.0))
    assert plan.chosen is not None
    assert plan.chosen.way == "always ready"


def test_spot_is_taken_with_the_redundancy_it_needs_or_not_at_all(bench: Path) -> None:
    ask = ProfileAsk(profile=bench, per_day=4e6, e2e_p95_s=0.1, spot_usd_per_hour=Decimal("0.80"))
    cheap = plan_profile(ask)
    assert cheap.spot is not None
    assert cheap.spot.replicas >= 2
    assert "any one may be lost" in cheap.spot_remark
    assert cheap.spot.usd_per_replica_hour == Decimal("0.80")
    dear = plan_profile(replace(ask, spot_usd_per_hour=Decimal("1.50")))
    assert "don't" in dear.spot_remark


def test_json_of_several_options_reads_as_the_csv_does(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    rows = [{"batch": 1, "latency_s": 0.004}, {"batch": 8, "latency_ms": 8}]
    path.write_text(json.dumps({"options": [{"name": "L4", "usd_per_hour": "2.50", "rows": rows}]}))
    (found,) = read_profiles(path)
    assert found.name == "L4"
    assert found.usd_per_hour == Decimal("2.50")
    assert dict(found.latency_s) == pytest.approx({1: 0.004, 8: 0.008})
    path.write_text(json.dumps(rows))
    assert read_profiles(path)[0].name == "bench"


@pytest.mark.parametrize(
    "text",
    [
        "", "a,b\n1,2\n", "batch,latency_ms\n0,4\n", "batch,latency_ms\n1,0\n", "batch,latency_ms\n1,nan\n",
        "batch,latency_ms\n1,4\n1,5\n", "batch,latency_ms\n1,4\n1000000000,8\n", "{", "[1]", '{"rows": 3}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bench.csv"
    path.write_text(text)
    with pytest.raises(BadFile):
        read_profiles(path)


def test_without_a_price_or_traffic_it_says_what_is_missing(bench: Path) -> None:
    with pytest.raises(BadSetting, match="no traffic"):
        plan_profile(ProfileAsk(profile=bench))
    bench.write_text("batch,latency_ms\n1,4\n")
    with pytest.raises(NoPrice, match="no price"):
        plan_profile(ProfileAsk(profile=bench, per_day=1e6))


def test_the_command_prints_it_and_answers_machines(bench: Path, tmp_path: Path) -> None:
    words = ["plan", "serve", "--profile", str(bench), "--predictions-per-day", "40m", "--e2e-p95", "100ms"]
    shown = CliRunner().invoke(cli, words)
    assert shown.exit_code == 0, shown.output
    assert "60.00" in shown.stdout
    assert "break-even gap, s: 60.0" in shown.stdout
    data = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert data["kind"] == "plan-serve-profile"
    assert data["chosen"]["usd_per_1k"] == "0.0015"
    refused = CliRunner().invoke(cli, [*words, "--tpot-p95", "60ms"])
    assert refused.exit_code == 2
    plan = plan_profile(ProfileAsk(profile=bench, per_day=1e6))
    assert 'data-chart="' in as_html(profile_page(plan))
