"""Ways to keep replicas over a long stretch of traffic: each has the smallest setting that keeps the targets."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tests.serving.grids import grid
from unitcost.serving.fleet import ColdStart, LossRate
from unitcost.serving.fleet_ways import (
    DRAWS,
    FIXED,
    SCALED,
    SPOT,
    SPOT_ALONE,
    SPOT_SCALED,
    WARM,
    WAYS,
    Market,
    Terms,
    Ways,
    cheapest,
    repriced,
)
from unitcost.serving.search import Limits, Option, Search
from unitcost.serving.traces import Trace

TERMS = Terms(on_demand=Decimal(4), spot=Decimal("1.5"))
CALM = Market(losses=LossRate(per_hour=0.0))
STORMY = Market(losses=LossRate(per_hour=2.0, notice_s=30.0, return_s=900.0))


def tide(hours: float = 1.2, low: float = 1.0, high: float = 30.0) -> Trace:
    """Requests whose rate rises and falls once."""
    rng = np.random.default_rng(4)
    duration_s = hours * 3600
    at = np.sort(rng.uniform(0, duration_s, int(high * duration_s)))
    rate = low + (high - low) * np.sin(np.pi * at / duration_s) ** 2
    at = at[rng.uniform(0, high, len(at)) < rate]
    return Trace(
        arrival_s=at, input_tokens=rng.integers(50, 800, len(at)), output_tokens=rng.integers(1, 150, len(at)),
        duration_s=duration_s, name="tide",
    )  # fmt: skip


def ways_of(market: Market, *, terms: Terms = TERMS, warm_pool: int = 0) -> Ways:
    run = Search(tide(), Limits(ttft_p95_s=1.0, tpot_p95_s=0.05), sample_requests=2_000)
    option = Option(name="g", grid=grid(max_batch=3), usd_per_replica_hour=terms.on_demand)
    base = run.fewest(option)
    assert base is not None
    cold = ColdStart(provision_s=20.0, image_s=20.0, warm_up_s=20.0, wake_s=2.0)
    return Ways(run=run, base=base, cold=cold, terms=terms, market=market, warm_pool=warm_pool)


@pytest.fixture(scope="module")
def stormy() -> Ways:
    return ways_of(STORMY)


def test_each_way_is_played_on_all_requests(stormy: Ways) -> None:
    found = list(stormy.played())
    assert [way.name for way in found] == [FIXED, SCALED, WARM, SPOT_ALONE, SPOT, SPOT_SCALED]
    assert len(found) == WAYS
    assert all(way.tried is not None and way.tried.outcome.requests == len(stormy.run.trace) for way in found)
    best = cheapest(found)
    assert best is not None
    assert best.tried is not None
    kept = [way.usd for way in found if way.usd is not None and way.tried is not None and not way.tried.misses]
    assert best.usd == min(kept)


def test_an_autoscaler_pays_less_than_the_peak_all_day(stormy: Ways) -> None:
    scaled, fixed = stormy.autoscaled().tried, stormy.fixed().tried
    assert fixed is not None
    assert scaled is not None
    assert not scaled.misses
    assert scaled.cost.usd < fixed.cost.usd
    assert fixed.cost.usd == stormy.base.cost.usd
    assert {i.category for i in scaled.outcome.intervals} == {"on-demand"}


def test_an_autoscaler_has_no_more_replicas_than_it_needs(stormy: Ways) -> None:
    assert stormy.autoscaled().setting.startswith(f"1 to {stormy.base.replicas}, ")


def test_spot_with_fallback_meets_targets_that_losses_would_break(stormy: Ways) -> None:
    way = stormy.spot()
    assert way.tried is not None
    assert not way.tried.misses
    assert len(way.draws) == DRAWS
    assert way.tried.outcome.good_share == min(one.outcome.good_share for one in way.draws)
    assert {i.category for i in way.tried.outcome.intervals} == {"spot", "on-demand"}


def test_without_losses_spot_costs_what_its_price_says() -> None:
    calm = ways_of(CALM)
    alone, fixed = calm.spot_alone(), calm.fixed().tried
    assert fixed is not None
    assert alone.tried is not None
    assert "0 spare" in alone.setting
    assert alone.tried.cost.usd * 4 == pytest.approx(fixed.cost.usd * Decimal("1.5"), abs=Decimal("0.0001"))
    assert alone.tried.outcome.good_share == fixed.outcome.good_share


def test_without_a_spot_price_spot_is_not_played() -> None:
    found = list(ways_of(CALM, terms=Terms(on_demand=Decimal(4))).played())
    assert [way.name for way in found if way.tried is None] == [SPOT_ALONE, SPOT, SPOT_SCALED]
    assert all("no spot price" in way.why_not for way in found if way.tried is None)


def test_a_warm_pool_is_paid_at_its_own_price() -> None:
    ways = ways_of(CALM, terms=Terms(on_demand=Decimal(4), standby=Decimal(1)), warm_pool=2)
    way = ways.warm()
    assert way.tried is not None
    assert way.setting.endswith("2 in standby")
    standby_s = sum(i.end_s - i.start_s for i in way.tried.outcome.intervals if i.state == "standby")
    assert float(way.tried.cost.warm_usd) == pytest.approx(standby_s / 3600, rel=1e-6)
    assert repriced(way, Terms(on_demand=Decimal(4), standby=Decimal(4)).rates) > way.tried.cost.usd


def test_a_recording_with_too_few_nodes_is_said() -> None:
    market = Market(losses=LossRate(per_hour=0.0), counts=[1] * 40, gap_s=300.0, nodes=1)
    ways = ways_of(market)
    assert ways.base.replicas > 1
    for way in (ways.spot_alone(), ways.spot(), ways.spot_scaled()):
        assert way.tried is None
        assert "the recording counts 1 nodes" in way.why_not


def test_a_recording_decides_when_spot_is_there() -> None:
    counts = [8] * 5 + [0] * 5 + [8] * 5
    ways = ways_of(Market(losses=LossRate(per_hour=5.0, notice_s=60.0), counts=counts, gap_s=300.0, nodes=8))
    way = ways.spot()
    assert way.tried is not None
    assert len(way.draws) == 1
    spot = [i for i in way.tried.outcome.intervals if i.category == "spot" and i.state == "ready"]
    assert not any(i.start_s < 2_900 and i.end_s > 1_600 for i in spot)
    helped = [i for i in way.tried.outcome.intervals if i.category == "on-demand" and i.state == "ready"]
    assert any(i.start_s < 1_700 < i.end_s for i in helped)


def test_the_fallback_has_a_price_of_its_own(stormy: Ways) -> None:
    way = stormy.spot()
    dear = Terms(on_demand=Decimal(4), spot=Decimal("1.5"), fallback=Decimal(40)).spot_rates
    assert way.usd is not None
    assert repriced(way, stormy.terms.spot_rates) == way.usd
    assert repriced(way, dear) > way.usd


def test_how_often_spot_is_there() -> None:
    rate = Market(losses=LossRate(per_hour=0.5, return_s=7_200.0))
    assert rate.there_share == pytest.approx(0.5)
    recorded = Market(losses=LossRate(per_hour=9.0), counts=[4, 0, 2], gap_s=60.0, nodes=4)
    assert recorded.there_share == pytest.approx(0.5)
