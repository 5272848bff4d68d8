"""The serving plan through its job."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost.errors import BadSetting, NotMeasured, UnknownName
from unitcost.facts.rentals import Rental
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import plan_serve, traffic_of
from unitcost.jobs.plan_serve_page import flip_words, serve_page
from unitcost.jobs.plan_words import as_data
from unitcost.jobs.serve_answers import ApiOffer, ServeAsk
from unitcost.jobs.workspace import open_workspace
from unitcost.report.plan_page import as_html
from unitcost.serving.own_or_api import OwnReplicas, flips
from unitcost.serving.search import Limits

ASK = ServeAsk(
    model="llama-3.1-8b", limits=Limits(ttft_p95_s=1.0, tpot_p95_s=0.06), per_s=10.0, input_tokens=1500, output_tokens=200,
    duration_s=60.0,
)  # fmt: skip


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    own = [_rental("H100-80GB", "2.50"), _rental("H200", "3.20"), _rental("L40S", "0.90"), _rental("A100-80GB", "1.30")]
    return Prices(open_workspace(tmp_path, as_of="2026-07-01"), own=own)


def _rental(gpu: str, usd: str) -> Rental:
    return Rental(
        accelerator=gpu, machine="m", count=1, usd_per_hour=Decimal(usd), category="on-demand", region="r", source="test",
        as_of=date(2026, 7, 1),
    )  # fmt: skip


def test_the_choice_is_the_cheapest_whose_quality_is_not_in_doubt(prices: Prices) -> None:
    plan, _ = plan_serve(ASK, prices)
    assert plan.chosen is not None
    assert plan.chosen.precision == "bf16"
    sure = [option for option in plan.options if not option.needs_check]
    assert plan.chosen == sure[0]
    assert all(not option.misses for option in plan.options)
    assert all("needs quality check" in option.needs_check for option in plan.options if option.precision != "bf16")
    if plan.after_check is not None:
        assert plan.after_check.usd_per_hour < plan.chosen.usd_per_hour


def test_a_quality_of_nothing_is_refused_with_near_names(prices: Prices) -> None:
    with pytest.raises(UnknownName, match="fp9") as caught:
        plan_serve(replace(ASK, qualities={"fp9": Decimal("0.71")}), prices)
    assert "fp8" in str(caught.value)
    plan_serve(replace(ASK, qualities={"qwen3-8b": Decimal("0.71")}), prices)


def test_a_measured_quality_lets_a_precision_take_part_or_rules_it_out(prices: Prices) -> None:
    bar = Decimal("0.70")
    good = replace(ASK, qualities={"fp8": Decimal("0.71")}, quality_bar=bar)
    plan, _ = plan_serve(good, prices)
    assert not any(option.needs_check for option in plan.options if option.precision == "fp8")
    bad, _ = plan_serve(replace(ASK, qualities={"fp8": Decimal("0.69")}, quality_bar=bar), prices)
    assert not any(option.precision == "fp8" for option in bad.options)
    assert any("below the bar 0.7" in one.reason for one in bad.ruled_out)


def test_every_plan_states_its_bands(prices: Prices) -> None:
    plan, _ = plan_serve(ASK, prices)
    bands = plan.bands
    assert bands is not None
    assert bands.tpot_p95_s is not None
    assert bands.tpot_p95_s.low < bands.tpot_p95_s.value < bands.tpot_p95_s.high
    assert bands.usd_per_month.low <= bands.usd_per_month.value <= bands.usd_per_month.high
    fewest, planned, most = bands.replicas
    assert fewest <= planned
    assert most is None or planned <= most


def test_a_gpu_without_measured_kernels_is_planned_from_the_roofline_and_says_so(prices: Prices) -> None:
    own = Prices(prices.workspace, own=[_rental("L4", "0.70")])
    plan, _ = plan_serve(replace(ASK, gpus=("L4",), per_s=0.5, limits=Limits(ttft_p95_s=5.0, tpot_p95_s=0.2)), own)
    assert {option.gpu for option in plan.options} == {"L4"}
    assert all("roofline" in option.step_times[0] for option in plan.options)


def test_what_does_not_fit_names_the_smallest_change_that_fits(prices: Prices) -> None:
    plan, _ = plan_serve(replace(ASK, model="llama-3.1-70b", per_s=1.0), prices)
    unfit = {one.name: one.reason for one in plan.ruled_out if one.stage == "does not fit"}
    assert "fits with 2 GPUs in one replica" in unfit["1 x H200 bf16"] or "fp8" in unfit["1 x H200 bf16"]


def test_the_api_stands_beside_and_the_flip_is_where_the_costs_cross(prices: Prices) -> None:
    plan, searched = plan_serve(ASK, prices)
    assert plan.api
    order = [(bool(offer.needs_check), offer.usd_per_month) for offer in plan.api]
    assert order == sorted(order)
    assert searched.chosen is not None
    for offer in plan.api:
        if offer.flips:
            tokens, who = offer.flips[0]
            assert who == "own"
            api_usd = float(tokens) * float(offer.usd_per_mtok_total) / 1e6
            per_replica = float(searched.chosen.option.usd_per_replica_hour) * 730
            assert api_usd / per_replica == pytest.approx(round(api_usd / per_replica), abs=1e-6)


def test_the_page_and_the_data_say_the_same(prices: Prices) -> None:
    plan, _ = plan_serve(ASK, prices)
    page, data = serve_page(plan), as_data(plan)
    assert plan.chosen is not None
    assert page.tiles[0].value == f"{plan.chosen.replicas} x ({plan.chosen.name})"
    assert data["chosen"]["usd_per_hour"] == str(plan.chosen.usd_per_hour.normalize())
    assert isinstance(data["options"][0]["latencies"]["ttft_s"]["p95"], float)
    assert 'data-chart="' in as_html(page)


def test_names_stay_whole_and_the_choice_is_marked(prices: Prices) -> None:
    plan, _ = plan_serve(ASK, prices)
    assert plan.chosen is not None
    limited = replace(plan.chosen, name=f"{plan.chosen.name.partition(', ')[0]}, steps of 1234 tokens")
    page = serve_page(replace(plan, chosen=limited, options=(limited, *plan.options)))
    first, *others = [[str(cell) for cell in row] for row in page.sections[0].tables[0].rows]
    assert first[0] == limited.name.partition(", ")[0]
    assert first[-1].startswith("taken; steps of 1234 tokens")
    assert not any("taken" in row[-1] for row in others)
    assert page.tiles[0].value == f"{limited.replicas} x ({first[0]})"
    assert page.tiles[0].beside.startswith("steps of 1234 tokens; ")


def test_a_range_that_misses_the_target_says_so_and_an_endless_queue_is_no_number(prices: Prices) -> None:
    plan, _ = plan_serve(ASK, prices)
    assert plan.bands is not None
    assert plan.bands.ttft_p95_s is not None
    wide = replace(plan.bands.ttft_p95_s, high=2642.5)
    tiles = {tile.name: tile for tile in serve_page(replace(plan, bands=replace(plan.bands, ttft_p95_s=wide))).tiles}
    assert "to over 60,000)" in tiles["TTFT p95, ms"].value
    assert "this many replicas miss the target" in tiles["TTFT p95, ms"].beside
    narrow = replace(wide, high=wide.value)
    tiles = {tile.name: tile for tile in serve_page(replace(plan, bands=replace(plan.bands, ttft_p95_s=narrow))).tiles}
    assert tiles["TTFT p95, ms"].beside == "range: error of measured runs"


def test_without_traffic_it_asks_for_some(prices: Prices) -> None:
    with pytest.raises(BadSetting, match="no traffic"):
        plan_serve(replace(ASK, per_s=0.0), prices)
    with pytest.raises(BadSetting, match="needs lengths"):
        plan_serve(replace(ASK, input_tokens=0), prices)


def test_unknown_models_and_gpus_are_answered_with_near_names(prices: Prices) -> None:
    with pytest.raises(UnknownName, match="llama"):
        plan_serve(replace(ASK, model="lama-3.1-8b"), prices)
    with pytest.raises(UnknownName, match="H100"):
        plan_serve(replace(ASK, gpus=("H101-80GB",)), prices)


def test_a_precision_without_step_times_is_refused(prices: Prices) -> None:
    with pytest.raises(NotMeasured, match="bf16"):
        plan_serve(replace(ASK, precisions=("mxfp4",)), prices)


def test_the_traffic_of_a_file_is_played(prices: Prices, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    rows = [f"{i * 0.25},{600 + i},{20 + i % 30}" for i in range(200)]
    file.write_text("\n".join(["timestamp,input_tokens,output_tokens", *rows]) + "\n")
    plan, _ = plan_serve(replace(ASK, trace=file, requests=100), prices)
    assert plan.traffic.requests == 100
    assert plan.traffic.input_tokens == sum(600 + i for i in range(100))


def test_a_rate_curve_is_scaled_to_a_mean_day(prices: Prices, tmp_path: Path) -> None:
    curve, lengths = tmp_path / "curve.csv", tmp_path / "lengths.csv"
    curve.write_text("t,rate\n0,1\n600,3\n1200,50\n")
    lengths.write_text(
        "set,client,field,mean,q50,q100\na,0,input_tokens,800,700,1200\na,0,output_tokens,60,50,100\n"
        "b,0,input_tokens,9000,9000,9000\nb,0,output_tokens,9,9,9\n"
    )
    ask = replace(
        ASK, per_s=0.0, curve=curve, lengths=lengths, lengths_group="a", duration_s=1200.0, per_day=86_400.0
    )  # fmt: skip
    trace, traffic = traffic_of(ask, prices.workspace)
    assert traffic.requests == pytest.approx(1200, abs=5 * 1200**0.5)  # one a second in the mean, drawn
    early = int((trace.arrival_s < 600).sum())
    assert early / traffic.requests == pytest.approx(0.25, abs=0.07)
    assert trace.input_tokens.max() <= 1200
    assert trace.output_tokens.max() <= 100


def test_an_answer_that_flips_often_says_how_it_ends() -> None:
    own = OwnReplicas(usd_per_month=Decimal(635), units_per_month=Decimal(24_000_000_000))
    offer = ApiOffer(
        provider="p", model="m", usd_per_month=Decimal(900), usd_per_mtok_total=Decimal("0.04"), needs_check="", source="s",
        usd_per_mtok_input=Decimal("0.05"), usd_per_mtok_output=Decimal("0.2"), flips=tuple(flips(own, Decimal("0.04e-6"))),
    )  # fmt: skip
    # One replica is cheaper from 635 USD / 0.04 = 15,875 M tokens; two cost 1,270 from 24,000 M on, where the API costs 960, until
    # 1,270 / 0.04 = 31,750 M; three cost 1,905 from 48,000 M on, less than the API's 1,920.
    words = flip_words(offer)
    assert words.startswith("own cheaper from 15,875 million tokens a month")
    assert words.endswith("; it flips 3 times with up to 64 replicas, last to own at 31,750")
    assert flip_words(replace(offer, flips=offer.flips[:1])) == "own cheaper from 15,875 million tokens a month"
