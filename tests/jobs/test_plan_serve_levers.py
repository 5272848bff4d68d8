"""Levers on a serving plan through their job."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from unitcost.errors import UnitcostError
from unitcost.facts.rentals import Rental
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import plan_serve
from unitcost.jobs.plan_serve_levers import TARGETS, cold_start, pull_levers, smaller_model
from unitcost.jobs.plan_serve_page import serve_page
from unitcost.jobs.serve_answers import Lever, Levers, ServeAsk, ServePlan
from unitcost.jobs.workspace import open_workspace
from unitcost.machine.steps import Served
from unitcost.serving.search import Limits

ASK = ServeAsk(
    model="qwen3-32b", limits=Limits(ttft_p95_s=1.0, tpot_p95_s=0.05), per_s=12.0, input_tokens=1500, output_tokens=200,
    duration_s=60.0,
)  # fmt: skip


def _rental(gpu: str, usd: str, category="on-demand") -> Rental:
    return Rental(
        accelerator=gpu, machine="m", count=1, usd_per_hour=Decimal(usd), category=category, region="r", source="test",
        as_of=date(2026, 7, 1),
    )  # fmt: skip


@pytest.fixture(scope="module")
def pulled(tmp_path_factory: pytest.TempPathFactory) -> tuple[ServePlan, Levers, dict[str, Lever]]:
    own = [_rental("H100-80GB", "2.50"), _rental("H200", "3.20"), _rental("H100-80GB", "1.00", "spot")]
    prices = Prices(open_workspace(tmp_path_factory.mktemp("w"), as_of="2026-07-01"), own=own)
    plan, searched = plan_serve(ASK, prices)
    found = pull_levers(ASK, searched, prices, plan.api)
    return plan, found, {row.lever: row for row in found.rows}


def test_there_is_one_row_for_each_lever(pulled) -> None:
    _, _, rows = pulled
    wanted = [
        "as planned", "static batching", "whole prompts, no chunked prefill", "prompt cache off", "prompt cache on",
        "context -25 %", "quantised, same GPU", "other GPU", "smaller model: Qwen3-30B-A3B", "autoscaled", "scale to zero",
        "spot with redundancy", "API",
    ]  # fmt: skip
    assert set(wanted) <= set(rows)
    assert {f"targets x {times:g}" for times in TARGETS} <= set(rows)


def test_the_plan_itself_is_the_row_that_others_are_measured_by(pulled) -> None:
    plan, _, rows = pulled
    base = rows["as planned"]
    assert plan.chosen is not None
    assert (base.option, base.replicas) == (plan.chosen.name, plan.chosen.replicas)
    assert base.usd_change_share == 0
    for row in rows.values():
        if row.usd_per_mtok_total is not None:
            assert row.usd_change_share == pytest.approx(float(row.usd_per_mtok_total / base.usd_per_mtok_total) - 1)


def test_static_batching_is_dearer_or_misses_a_target(pulled) -> None:
    _, _, rows = pulled
    static = rows["static batching"]
    assert static.usd_change_share > 0 or "is above" in static.remark


def test_looser_targets_never_cost_more(pulled) -> None:
    _, found, _ = pulled
    costs = [point.usd_per_mtok_total for point in found.curve if point.usd_per_mtok_total is not None]
    assert len(costs) > 2
    assert all(later <= earlier for earlier, later in pairwise(costs))


def test_quality_is_carried_through(pulled) -> None:
    _, _, rows = pulled
    same = {
        "static batching",
        "prompt cache off",
        "prompt cache on",
        "other GPU",
        "spot with redundancy",
        "scale to zero",
    }
    assert all(rows[name].quality == "same weights" for name in same if rows[name].option)
    changed = ("context -25 %", "smaller model: Qwen3-30B-A3B", "quantised, same GPU")
    assert all("needs quality check" in rows[name].quality for name in changed)


def test_without_hashes_a_prompt_cache_shares_nothing_and_says_so(pulled) -> None:
    _, _, rows = pulled
    assert rows["prompt cache off"].usd_per_mtok_total == rows["prompt cache on"].usd_per_mtok_total
    assert "no hashes" in rows["prompt cache on"].remark


def test_spot_stands_with_its_redundancy_or_is_refused(pulled) -> None:
    plan, _, rows = pulled
    spot = rows["spot with redundancy"]
    assert plan.chosen is not None
    if spot.option:
        assert spot.replicas >= plan.chosen.replicas
        assert ("don't" in spot.remark) == (spot.usd_change_share >= 0)
    else:
        assert "don't" in spot.remark


def test_the_page_has_a_row_for_each(pulled) -> None:
    plan, found, rows = pulled
    section = next(one for one in serve_page(replace(plan, levers=found)).sections if one.key == "levers")
    assert len(section.tables[0].rows) == len(rows)
    assert section.charts


def test_without_a_plan_there_is_nothing_to_pull(tmp_path: Path) -> None:
    prices = Prices(open_workspace(tmp_path, as_of="2026-07-01"), own=[_rental("H100-80GB", "2.50")])
    ask = replace(ASK, limits=Limits(ttft_p95_s=0.001), gpus=("H100-80GB",))
    plan, searched = plan_serve(ask, prices)
    assert plan.chosen is None
    assert "no option keeps the targets" in plan.messages[-1]
    with pytest.raises(UnitcostError, match="no plan to pull levers on"):
        pull_levers(ask, searched, prices, plan.api)


def test_the_smaller_model_is_of_the_family_where_there_is_one() -> None:
    assert smaller_model("llama-3.1-70b") == "meta-llama/Meta-Llama-3.1-8B"
    assert smaller_model("qwen3-32b").startswith("Qwen/")


def test_larger_weights_take_longer_to_load() -> None:
    def served(model: str, gpus: int) -> Served:
        return Served(model=model, gpu="H100-80GB", precision="bf16", backend="vllm", tensor_parallel=gpus)

    small, large = cold_start(served("llama-3.1-8b", 1)), cold_start(served("llama-3.1-70b", 1))
    assert small.total_s < large.total_s
    assert cold_start(served("llama-3.1-70b", 8)).total_s < large.total_s


def test_more_bits_are_not_called_quantised(tmp_path: Path) -> None:
    own = [_rental("H100-80GB", "2.50", "on-demand")]
    prices = Prices(open_workspace(tmp_path, as_of="2026-07-01"), own=own)
    ask = replace(ASK, gpus=("H100-80GB",), precisions=("bf16", "fp8"), qualities={"fp8": Decimal("0.7")})
    plan, searched = plan_serve(ask, prices)
    rows = {row.lever: row for row in pull_levers(ask, searched, prices, plan.api).rows}
    assert plan.chosen is not None
    assert plan.chosen.precision == "fp8"
    assert {option.precision for option in plan.options} == {"bf16", "fp8"}
    quantised = rows["quantised, any GPU"]
    assert quantised.option == ""
    assert "--precision" in quantised.remark
