"""Markets: gangs, prices, clocks."""

from __future__ import annotations

import pytest

from unitcost.errors import BadFile, BadSetting
from unitcost.facts.spot import SpotTrace
from unitcost.training.market import market_of


def trace(counts, **more) -> SpotTrace:
    about = {"zone": "us-east-1a", "region": "us-east-1", "device": "v100_1", "nodes": 16, "gap_s": 300.0}
    return SpotTrace(**{**about, "counts": counts, **more})


def test_a_gang_has_its_own_availability() -> None:
    market = market_of([trace([16, 8, 16, 15, 0])], nodes=16)
    assert market.available.tolist() == [[True, False, True, False, False]]
    assert market_of([trace([16, 8, 16, 15, 0])], nodes=8).available.sum() == 4


def test_prices_are_those_of_all_nodes() -> None:
    market = market_of([trace([16, 16], spot_usd_per_hour=[1.0, 2.0], on_demand_usd_per_hour=4.0)], nodes=4)
    assert market.spot_usd_per_hour.tolist() == [[4.0, 8.0]]
    assert market.on_demand_usd_per_hour == 16.0
    assert market.priced


def test_without_prices_spot_is_a_share_of_on_demand() -> None:
    market = market_of([trace([16, 16])], on_demand_usd_per_hour=10.0)
    assert market.spot_usd_per_hour.tolist() == [[3.0, 3.0]]
    assert not market.priced


def test_without_an_on_demand_price_it_is_three_times_the_mean_spot_price() -> None:
    assert market_of([trace([16, 16], spot_usd_per_hour=[1.0, 2.0])]).on_demand_usd_per_hour == 4.5


def test_zones_of_unlike_clocks_are_refused() -> None:
    with pytest.raises(BadSetting, match="one clock"):
        market_of([trace([1]), trace([1], gap_s=60.0)])


def test_a_gang_larger_than_the_recording_is_refused() -> None:
    with pytest.raises(BadSetting, match="recorded 16 nodes"):
        market_of([trace([16])], nodes=17)


@pytest.mark.parametrize(
    "wrong",
    [
        {"counts": []},
        {"counts": [17]},
        {"counts": [-1]},
        {"counts": [1], "gap_s": 0.0},
        {"counts": [1], "gap_s": float("nan")},
        {"counts": [1, 1], "spot_usd_per_hour": [1.0]},
        {"counts": [1], "spot_usd_per_hour": [float("nan")]},
        {"counts": [1], "on_demand_usd_per_hour": -1.0},
    ],
)
def test_a_trace_that_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(BadFile):
        trace(**wrong)
