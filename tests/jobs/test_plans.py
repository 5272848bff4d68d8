"""Plans through their jobs."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from unitcost.errors import BadFile, BadSetting, NeedsAnswer, NoPrice, UnknownName
from unitcost.facts.rentals import Rental
from unitcost.jobs.plan_cache import CachePlanAsk, plan_caching
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_spot import BOUND, ELASTIC, ON_DEMAND, PLANNED, plan_spot
from unitcost.jobs.plan_sweep import FULL, RESUMED, SweepAsk, plan_sweep
from unitcost.jobs.plan_train import TrainScenario, plan_train
from unitcost.jobs.plan_train_page import train_page
from unitcost.jobs.plan_words import amount, as_data, days, hours, quantity, seconds
from unitcost.jobs.spot_answers import SpotAsk
from unitcost.jobs.workspace import Workspace, open_workspace
from unitcost.machine.shapes import model_shape
from unitcost.readers import rentals_csv
from unitcost.report.plan_page import as_html
from unitcost.training.caching import CacheAsk
from unitcost.training.checkpoints import Saving
from unitcost.training.rightsizing import TrainingAsk


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path, as_of="2026-07-01")


def recording(folder: Path, counts, *, gap_s: int = 600, prices=None, nodes: int = 1, name: str = "us-east-1a") -> Path:
    path = folder / f"{name}.json"
    about = {"gap_seconds": gap_s, "convention": "nodes up", "nodes": nodes, "zone": name, "on_demand_usd_h": 3.0}
    path.write_text(json.dumps({"metadata": about, "data": list(counts), **({"prices": prices} if prices else {})}))
    return path


def spells(seed: int = 4, ticks: int = 1500):
    draw = np.random.default_rng(seed)
    there, up = [], True
    while len(there) < ticks:
        there += [int(up)] * int(min(1 + draw.pareto(0.9) * (4 if up else 2), 200))
        up = not up
    return there[:ticks]


ASK = SpotAsk(hours=12, deadline_hours=18, saving=Saving(write_s=60.0))


def test_a_recording_is_replayed_and_the_bound_stands_beside_it(tmp_path: Path) -> None:
    counts = spells()
    plan = plan_spot(replace(ASK, traces=(recording(tmp_path, counts, prices=[0.9] * len(counts)),)))
    by_name = {option.name: option for option in plan.options}
    assert set(by_name) == {ON_DEMAND, PLANNED, "greedy", "uniform progress", "late line"}
    assert plan.bound is not None
    assert plan.bound.usd is not None
    assert plan.bound.name == BOUND
    costs = [option.usd.value for option in plan.options if option.usd and not option.ruled_out]
    assert costs == sorted(costs)
    assert plan.bound.usd.value <= costs[0]
    assert plan.could_still_save_points is not None
    assert 0 <= plan.could_still_save_points < 30
    assert plan.saving is not None
    assert plan.saving.growing_minutes[-1] > plan.saving.growing_minutes[0]
    on_demand = by_name[ON_DEMAND].usd
    assert on_demand is not None
    assert on_demand.value == pytest.approx(3.0 * (12 + 0.2))


def test_spot_without_checkpoints_is_refused_when_the_job_outlasts_the_mean_up_time(tmp_path: Path) -> None:
    plan = plan_spot(replace(ASK, saving=None, traces=(recording(tmp_path, spells()),)))
    assert plan.best == ON_DEMAND
    assert all("outlast" in option.ruled_out[0] for option in plan.options if option.name != ON_DEMAND)
    short = plan_spot(replace(ASK, saving=None, hours=0.2, deadline_hours=1.0, traces=(recording(tmp_path, spells()),)))
    assert short.best != ON_DEMAND


def test_spot_that_costs_more_than_on_demand_is_said(tmp_path: Path) -> None:
    counts = spells()
    plan = plan_spot(replace(ASK, traces=(recording(tmp_path, counts, prices=[3.5] * len(counts)),)))
    assert plan.best == ON_DEMAND
    assert any("Spot would cost more" in message for message in plan.messages)


def test_a_gang_and_an_elastic_job_on_one_recording(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    counts = np.clip(np.cumsum(draw.integers(-2, 3, 2000)) % 17, 0, 16).tolist()
    path = recording(tmp_path, counts, nodes=16)
    plan = plan_spot(replace(ASK, nodes=16, elastic=True, traces=(path,), deadline_hours=40))
    elastic = next(option for option in plan.options if option.name == ELASTIC)
    assert elastic.usd is not None
    assert elastic.spot_share == 1.0
    with pytest.raises(BadSetting, match="needs 32"):
        plan_spot(replace(ASK, nodes=32, traces=(path,)))


def test_moving_a_checkpoint_and_keeping_it_cost_money(tmp_path: Path) -> None:
    first, second = spells(1), spells(2)
    traces = (recording(tmp_path, first), recording(tmp_path, second, name="us-west-2a"))
    free = plan_spot(replace(ASK, traces=traces))
    dear = plan_spot(
        replace(
            ASK, traces=traces, checkpoint_gb=200.0, egress_usd_per_gb=Decimal("0.09"),
            storage_usd_per_gb_month=Decimal("0.023"),
        )
    )  # fmt: skip
    cost = {plan: next(o.usd for o in plan.options if o.name == PLANNED) for plan in (free, dear)}
    assert cost[dear].value > cost[free].value  # type: ignore[union-attr]
    assert dear.storage_usd == pytest.approx(2 * 200 * 0.023 * 18 / 730)


def test_without_a_recording_the_rates_are_assumed_and_labelled() -> None:
    ask = replace(ASK, mean_up_hours=6.0, on_demand_usd_per_hour=Decimal(3), spot_usd_per_hour=Decimal(1))
    plan = plan_spot(ask)
    planned = next(option for option in plan.options if option.name == PLANNED)
    assert planned.usd is not None
    assert planned.usd.basis == "assumed"
    assert planned.usd.low < planned.usd.value < planned.usd.high
    assert plan.bound is None
    rarer = plan_spot(replace(ask, mean_up_hours=60.0))
    assert next(o.usd for o in rarer.options if o.name == PLANNED).value < planned.usd.value  # type: ignore[union-attr]
    with pytest.raises(BadSetting, match="nothing says"):
        plan_spot(ASK)


def test_what_a_spot_plan_refuses(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="even on demand"):
        replace(ASK, deadline_hours=12.0)
    with pytest.raises(BadSetting, match="above zero"):
        replace(ASK, hours=-1.0)
    with pytest.raises(BadSetting, match="costs nothing"):
        replace(ASK, on_demand_usd_per_hour=Decimal(0))
    with pytest.raises(BadSetting, match="shorter than the deadline"):
        plan_spot(replace(ASK, traces=(recording(tmp_path, [1] * 20),)))
    with pytest.raises(BadFile, match="no ticks"):
        plan_spot(replace(ASK, traces=(recording(tmp_path, []),)))
    ambiguous = tmp_path / "a.json"
    ambiguous.write_text('{"metadata": {"gap_seconds": 600}, "data": [1, 0]}')
    with pytest.raises(NeedsAnswer):
        plan_spot(replace(ASK, traces=(ambiguous,)))


TRAIN = TrainScenario(
    ask=TrainingAsk(shape=model_shape("7b"), tokens=140e9, seq_len=2048), accelerator="H100", count=64, deadline_hours=240.0,
    spot=SpotAsk(hours=1, deadline_hours=1e6, saving=Saving(write_s=120.0)),
)  # fmt: skip


def test_a_training_run_is_planned_from_the_price_book(workspace: Workspace) -> None:
    plan = plan_train(TRAIN, Prices(workspace))
    assert plan.asked is not None
    assert plan.asked.hours is not None
    assert plan.asked.usd is not None
    assert not plan.asked.ruled_out
    assert plan.asked.capacity.accelerators == 64
    assert plan.asked.memory_gib < 80
    assert plan.best is not None
    assert plan.best.usd is not None
    assert plan.best.usd.value <= plan.asked.usd.value
    assert any(option.ruled_out for option in plan.options)
    assert plan.spot is not None
    assert plan.spot.ask.nodes == 8
    assert plan.flop == pytest.approx(140e9 * (6 * 6.659e9 + 6 * 32 * 2048 * 4096))


def own_prices(**usd: str) -> list[Rental]:
    return [
        Rental(
            accelerator=name.replace("_", "-"), machine="", count=1, usd_per_hour=Decimal(price), category="on-demand",
            region="", source="own", as_of=date(2026, 7, 1),
        )
        for name, price in usd.items()
    ]  # fmt: skip


def test_a_large_idle_gpu_loses_to_a_small_busy_one(workspace: Workspace, tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    # the input feeds 900 samples a second: the H100 waits most of the time
    rates.write_text("accelerator,units_per_s\nH100,900\nT4,600\nL4,850\n")
    scenario = replace(TRAIN, accelerator="any", count=None, deadline_hours=None, rates=rates)
    scenario = replace(scenario, ask=replace(scenario.ask, tokens=5e7))
    plan = plan_train(scenario, Prices(workspace, own=own_prices(**{"H100_80GB": "3.00", "T4": "0.35", "L4": "0.70"})))
    assert [option.capacity.chip.name for option in plan.options] == ["T4", "L4", "H100-80GB"]
    assert plan.best is not None
    assert plan.best.usd is not None
    assert plan.best.usd.value == pytest.approx(5e7 / 600 / 3600 * 0.35)


def test_any_ranks_accelerators_by_the_cost_of_the_run(workspace: Workspace) -> None:
    small = replace(TRAIN.ask, shape=model_shape("125m"), tokens=1e9)
    plan = plan_train(replace(TRAIN, ask=small, accelerator="any", count=1, deadline_hours=None), Prices(workspace))
    costs = [option.usd.value for option in plan.options if option.usd and not option.ruled_out]
    assert len(costs) >= 5
    assert costs == sorted(costs)
    assert plan.best is not None
    assert plan.best.capacity.chip.family not in {"H100", "B200"}


def test_what_does_not_fit_says_what_would(workspace: Workspace) -> None:
    plan = plan_train(replace(TRAIN, ask=replace(TRAIN.ask, shape=model_shape("70b")), count=4), Prices(workspace))
    assert plan.asked is not None
    assert "does not fit" in plan.asked.ruled_out[0]
    assert plan.mends


def test_own_measured_rows_narrow_the_interval(workspace: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text(
        "model,params_b,gpu,gpus,seq_len,micro_batch,tokens_s_gpu,act_ckpt\n7b,6.659,H100,64,2048,4,7000,False\n"
    )
    wide, narrow = (plan_train(replace(TRAIN, measured=m), Prices(workspace)).asked for m in (None, table))
    assert wide is not None
    assert narrow is not None
    assert wide.hours is not None
    assert narrow.hours is not None
    assert narrow.hours.high / narrow.hours.low < wide.hours.high / wide.hours.low
    assert narrow.hours.value == pytest.approx(140e9 / 7000 / 64 / 3600, rel=0.06)


def test_a_critical_batch_is_fitted_from_runs_and_its_error_is_said(workspace: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "batches.csv"
    table.write_text("batch,samples\n" + "".join(f"{b},{1e6 * (1 + b / 200)}\n" for b in (16, 64, 256, 1024)))
    plan = plan_train(replace(TRAIN, batches=table), Prices(workspace))
    assert plan.batch_law is not None
    assert plan.batch_law.critical == pytest.approx(200, rel=0.03)
    assert plan.asked is not None
    assert plan.asked.tokens > TRAIN.ask.tokens
    text = as_html(train_page(plan))
    assert "their median error is 0." in text
    table.write_text("batch,samples\n16,\n32,100\n")
    with pytest.raises(BadFile, match="neither samples nor hours"):
        plan_train(replace(TRAIN, batches=table), Prices(workspace))


def test_own_prices_win_and_regions_are_obeyed(workspace: Workspace, tmp_path: Path) -> None:
    table = tmp_path / "prices.csv"
    table.write_text("accelerator,count,usd_per_hour,category\nH100,8,8.00,on-demand\n")
    prices = Prices(workspace, own=rentals_csv.read(table, today=date(2026, 7, 1)))
    plan = plan_train(TRAIN, prices)
    assert plan.asked is not None
    assert plan.asked.capacity.usd_per_accelerator_hour == 1.0
    here = plan_train(TRAIN, Prices(workspace, regions=("us-east-1",)))
    assert here.asked is not None
    assert here.asked.capacity.machine.endswith("us-east-1")
    table.write_text("accelerator,count,usd_per_hour,category\nH100,8,8.00,spott\n")
    with pytest.raises(UnknownName, match="spot"):
        rentals_csv.read(table, today=date(2026, 7, 1))
    with pytest.raises(UnknownName, match="H100"):
        plan_train(replace(TRAIN, accelerator="H1000"), Prices(workspace))


def curves(folder: Path, runs: int = 24) -> Path:
    draw = np.random.default_rng(2)
    lines = ["run,step,seconds,metric,config"]
    for run in range(runs):
        end = draw.uniform(0.5, 1.0)
        config = f"lr={run // 2}" if run < 4 else f"lr={run}"
        lines += [f"r{run},{n},{60 * n},{end * (n / 20) ** 0.4:.5f},{config}" for n in range(1, 21)]
    path = folder / "curves.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_sweep_is_planned_from_past_curves(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    plan = plan_sweep(
        SweepAsk(curves=curves(tmp_path), trials=100, hours_per_trial=4.0, usd_per_accelerator_hour=Decimal(3))
    )
    ways = {way.name: way for way in plan.ways}
    assert {FULL, RESUMED, "Optuna ASHA", "Optuna Hyperband", "Optuna median"} <= set(ways)
    assert plan.full_usd == 1200
    assert ways[FULL].usd is not None
    assert ways[FULL].usd.value == pytest.approx(1200)
    assert ways[RESUMED].saved.value > 0.4
    assert ways[RESUMED].kept is not None
    assert plan.best == RESUMED
    assert plan.usd_per_accepted is not None
    assert plan.usd_per_accepted.value == pytest.approx(
        ways[RESUMED].usd.value / (plan.acceptance_share * 100 * ways[RESUMED].kept)  # type: ignore[union-attr, operator]
    )
    assert all(way.ruled_out == () or way.lost_all for way in plan.ways)
    assert plan.duplicates == (("lr=0", 1), ("lr=1", 1))
    assert [share for share, _ in plan.smaller] == [0.5, 0.25]


def test_a_sweep_without_curves_stands_on_other_sweeps() -> None:
    ask = SweepAsk(trials=50, hours_per_trial=4.0, usd_per_accelerator_hour=Decimal(3), acceptance_share=0.2)
    plan = plan_sweep(ask)
    assert plan.best == RESUMED
    assert plan.usd_per_accepted is not None
    unpriced = plan_sweep(replace(ask, usd_per_accelerator_hour=None))
    assert (unpriced.best, unpriced.full_usd, unpriced.usd_per_accepted) == (RESUMED, None, None)
    assert unpriced.full_accelerator_hours == 200
    assert unpriced.accelerator_hours_per_accepted is not None
    assert any("No price" in message for message in unpriced.messages)
    none = plan_sweep(replace(ask, acceptance_share=0.0))
    assert none.usd_per_accepted is None
    assert any("no cost per accepted" in message for message in none.messages)
    for wrong in ({"trials": None}, {"acceptance_share": 1.5}, {"hours_per_trial": -1.0}):
        with pytest.raises(BadSetting):
            replace(ask, **wrong)


def test_storage_and_egress_are_priced_tier_by_tier(workspace: Workspace) -> None:
    ask = CacheAsk(on_the_fly_hours=1.0, cached_hours=0.1, one_off_hours=2.0, epochs=3, usd_per_hour=100.0)
    plan = plan_caching(CachePlanAsk(ask=ask, data_gb=1000.0, months=2.0, moved_gb=100.0), workspace)
    assert plan.storage_usd == Decimal("46.0")
    assert plan.egress_usd == Decimal("2.00")
    assert plan.answer.saves_usd == pytest.approx(70 - 48)
    assert len(plan.sources) == 2
    local = plan_caching(CachePlanAsk(ask=ask, data_gb=1000.0, local_gb=500.0, order="fixed"), workspace)
    assert local.hit_share == 0.0
    assert not local.answer.worth_it
    with pytest.raises(NoPrice):
        plan_caching(CachePlanAsk(ask=ask, data_gb=1.0, provider="nobody"), workspace)


def test_a_tier_edge_is_never_a_cliff_downwards(workspace: Workspace) -> None:
    ask = CacheAsk(on_the_fly_hours=1.0, cached_hours=0.1, one_off_hours=2.0)
    sizes = [51_000.0, 51_199.0, 51_200.0, 51_201.0, 60_000.0]
    cost = [
        plan_caching(CachePlanAsk(ask=ask, data_gb=size, provider="azure", region="westus"), workspace).storage_usd
        for size in sizes
    ]
    assert cost == sorted(cost)


def test_times_and_numbers_as_people_write_them() -> None:
    assert (hours("10d", "x"), hours("24", "x"), hours("90m", "x")) == (240.0, 24.0, 1.5)
    assert (seconds("2m", "x"), days("1y", "x"), days("30d", "x")) == (120.0, 365, 30)
    assert (quantity("140e9", "x"), quantity("140b", "x"), quantity("2.5", "x")) == (140e9, 140e9, 2.5)
    assert amount("12.50", "x") == Decimal("12.50")
    for wrong in ("-1h", "h", "", "1q", "nanh"):
        with pytest.raises(BadSetting):
            hours(wrong, "x")
    for wrong in ("0", "-5", "x", "1e999"):
        with pytest.raises(BadSetting):
            quantity(wrong, "x")
    with pytest.raises(BadSetting):
        amount("-1", "x")


def test_json_has_money_as_decimal_strings_and_no_number_that_is_none(workspace: Workspace) -> None:
    data = as_data(plan_train(TRAIN, Prices(workspace)))
    usd = data["asked"]["usd"]
    assert {key: type(usd[key]) for key in ("value", "low", "high")} == {"value": str, "low": str, "high": str}
    assert isinstance(data["asked"]["hours"]["value"], float)
    text = json.dumps(data, allow_nan=False)
    assert "NaN" not in text
    assert math.isclose(float(usd["value"]), float(Decimal(usd["value"])))
