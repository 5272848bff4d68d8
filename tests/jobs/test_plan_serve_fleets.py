"""Fleets over the whole traffic, through the job and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from unitcost import cli
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.rentals import PricingCategory, Rental
from unitcost.jobs.fleet_answers import FleetAsk, FleetPlan
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import Searched, plan_serve
from unitcost.jobs.plan_serve_cold import ColdAsk, cold_start, cold_words
from unitcost.jobs.plan_serve_fleets import market_of, plan_fleets
from unitcost.jobs.plan_serve_page import serve_page
from unitcost.jobs.plan_words import as_data
from unitcost.jobs.serve_answers import ServeAsk, ServePlan
from unitcost.jobs.workspace import open_workspace
from unitcost.machine.steps import Served
from unitcost.report.plan_page import as_html
from unitcost.serving.search import Limits

GPU = "H100-80GB"
ASK = ServeAsk(
    model="llama-3.1-8b", limits=Limits(ttft_p95_s=1.0, tpot_p95_s=0.02), per_s=25.0, input_tokens=1000, output_tokens=150,
    duration_s=1800.0, gpus=(GPU,), precisions=("bf16",),
)  # fmt: skip


def rental(category: PricingCategory, usd: str, machine: str = "one box") -> Rental:
    return Rental(
        accelerator=GPU, machine=machine, count=1, usd_per_hour=Decimal(usd), category=category, region="r", source="test",
        as_of=date(2026, 7, 1),
    )  # fmt: skip


OWN = [
    rental("on-demand", "2.50"), rental("spot", "1.00", "two box"), rental("on-demand", "4.00", "two box"),
    rental("spot", "0.90", "three box"), rental("on-demand", "9.00", "three box"),
]  # fmt: skip


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> Prices:
    return Prices(open_workspace(tmp_path_factory.mktemp("w"), as_of="2026-07-01"), own=OWN)


@pytest.fixture(scope="module")
def searched(prices: Prices) -> tuple[ServePlan, Searched]:
    return plan_serve(ASK, prices)


@pytest.fixture(scope="module")
def fleets(searched: tuple[ServePlan, Searched], prices: Prices) -> FleetPlan:
    return plan_fleets(ASK, FleetAsk(kills_per_hour=2.0, away_s=600.0), searched[1], prices)


def test_every_row_is_there_and_one_is_taken(fleets: FleetPlan) -> None:
    assert [row.name for row in fleets.rows] == [
        "fixed", "autoscaled", "warm pool", "spot alone", "spot + fallback", "spot by load",
    ]  # fmt: skip
    kept = {row.name: row.usd_per_day for row in fleets.rows if row.meets and row.usd_per_day is not None}
    assert fleets.chosen == min(kept, key=lambda name: kept[name])
    taken = [row for row in fleets.rows if row.verdict.startswith("taken")]
    assert [row.name for row in taken] == [fleets.chosen]
    assert all(row.meets or row.verdict.startswith("ruled out: ") for row in fleets.rows)


def test_the_fixed_fleet_costs_its_replicas_for_a_day(fleets: FleetPlan) -> None:
    [fixed] = [row for row in fleets.rows if row.name == "fixed"]
    assert fixed.usd_per_day == pytest.approx(
        fleets.usd_per_replica_hour["on-demand"] * 24 * fleets.fixed_replicas, rel=Decimal("1e-9")
    )
    assert fixed.change_share == 0
    assert fixed.hours is not None
    assert fixed.ready_replicas == pytest.approx([fleets.fixed_replicas] * 144)
    assert sum(fleets.requests_per_s) * fleets.slot_s == pytest.approx(25.0 * 1800, rel=0.02)


def test_spot_hours_are_paid_at_the_price_of_spot(fleets: FleetPlan) -> None:
    [row] = [row for row in fleets.rows if row.name == "spot + fallback"]
    hours = row.hours
    assert hours is not None
    assert hours.spot > 0
    spot, on_demand = (float(fleets.usd_per_replica_hour[name]) for name in ("spot", "fallback"))
    assert spot / on_demand == pytest.approx(1.00 / 4.00)
    whole = hours.spot * spot + hours.on_demand * on_demand
    unpaid = hours.cold * on_demand  # a machine is paid from when it is there: at most all of the cold starts are not
    assert row.usd_per_day is not None
    paid = float(row.usd_per_day) / 48  # a day is 48 half hours; answers to the last requests take a little longer
    assert (whole - unpaid) * 0.98 <= paid <= whole * 1.001


def test_spot_and_its_fallback_are_of_one_machine_and_the_other_way_is_said(fleets: FleetPlan) -> None:
    assert any("Fallback on demand 4.000 USD per GPU-hour, two box r." in note for note in fleets.notes)
    [said] = [note for note in fleets.notes if note.startswith("Across providers")]
    assert "spot 0.900 USD per GPU-hour, three box r" in said
    assert "spot + fallback" in said


def test_short_traffic_is_said_to_say_little(fleets: FleetPlan) -> None:
    assert fleets.notes[0].startswith("The traffic lasts 0.5 h.")


def test_the_page_and_the_data_carry_it(searched: tuple[ServePlan, Searched], fleets: FleetPlan) -> None:
    plan = replace(searched[0], fleets=fleets)
    page = serve_page(plan)
    assert any(tile.name == "cheapest fleet, a day, USD" for tile in page.tiles) == bool(fleets.chosen)
    html = as_html(page)
    assert "Ready replicas against demand" in html
    assert "Cost of a day" in html
    data = as_data(plan)["fleets"]
    assert data["chosen"] == fleets.chosen
    assert isinstance(data["rows"][0]["usd_per_day"], str)
    json.dumps(data)


def test_terms_are_compared_on_one_machine(searched: tuple[ServePlan, Searched]) -> None:
    by = {one.category: one for one in searched[0].paying}
    assert by["on-demand"].on_demand_usd_per_gpu_hour == Decimal("2.50")
    assert by["spot"].on_demand_usd_per_gpu_hour == Decimal("9.00")
    assert by["on-demand"].where == "the plan"
    assert by["spot"].where == "elsewhere"
    assert by["spot"].remark.startswith("another provider or machine than the plan's")


def test_a_reserved_price_that_is_dearer_than_the_plan_says_so(prices: Prices) -> None:
    own = [rental("on-demand", "2.50"), rental("reserved", "3.00", "other"), rental("on-demand", "5.00", "other")]
    plan, _ = plan_serve(replace(ASK, duration_s=60.0), Prices(prices.workspace, own=own))
    [reserved] = [one for one in plan.paying if one.category == "reserved"]
    assert reserved.on_demand_usd_per_gpu_hour == Decimal("5.00")
    assert "dearer than the plan" in reserved.remark
    assert reserved.where == "elsewhere, dearer"


def test_the_plans_own_machine_under_a_promise_stands_first(prices: Prices) -> None:
    own = [rental("on-demand", "2.50"), rental("reserved", "2.00"), rental("reserved", "1.80", "other")]
    plan, _ = plan_serve(replace(ASK, duration_s=60.0), Prices(prices.workspace, own=own))
    reserved = [one.usd_per_gpu_hour for one in plan.paying if one.category == "reserved"]
    assert reserved == [Decimal("2.00"), Decimal("1.80")]


def test_a_recording_shorter_than_the_traffic_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "zone.json"
    about = {"gap_seconds": 600, "convention": "1 = available", "zone": "us-east-1f", "nodes": 4}
    path.write_text(json.dumps({"metadata": about, "data": [4, 3, 4]}), encoding="utf-8")
    market = market_of(FleetAsk(spot_trace=path), 1800.0)
    assert list(market.counts) == [4, 3, 4]
    assert market.nodes == 4
    with pytest.raises(BadSetting, match="shorter than the traffic"):
        market_of(FleetAsk(spot_trace=path), 1801.0)


def test_a_cold_start_is_its_parts_or_what_was_said() -> None:
    served = Served(model="llama-3.1-70b", gpu=GPU, precision="bf16", backend="vllm", tensor_parallel=4)
    said = ColdAsk(provision_s=10.0, image_s=20.0, warm_up_s=30.0, load_gb_per_s=10.0)
    cold = cold_start(served, said)
    assert cold.total_s == pytest.approx(60.0 + cold.weights_bytes / 40e9)
    assert "141 GB of weights" in cold_words(cold, said)
    whole = ColdAsk(total_s=45.0)
    assert cold_start(served, whole).total_s == 45.0
    assert cold_words(cold_start(served, whole), whole) == "45 s, as given"


def test_without_a_plan_there_are_no_fleets(prices: Prices) -> None:
    ask = replace(ASK, limits=Limits(ttft_p95_s=0.0001), duration_s=60.0)
    _, found = plan_serve(ask, prices)
    with pytest.raises(UnitcostError, match="no fleets to compare"):
        plan_fleets(ask, FleetAsk(), found, prices)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--cold-start", "60s", "--image", "10s"], "both given"),
        (["--fleets", "--away", "0s"], "no time at all"),
        (["--fleets", "--notice", "soon"], "not a time"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(more: list[str], said: str) -> None:
    asked = ["plan", "serve", "--model", "llama-3.1-8b", "--rps", "1", "--input", "10", "--output", "10", *more]
    found = CliRunner().invoke(cli.cli, asked)
    assert found.exit_code == 2
    assert said in found.output
