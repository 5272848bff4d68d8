"""Laws of the replay: what is paid, and that nobody is late."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.markets import GAP_S, job, market_from, recordings
from unitcost.errors import BadSetting
from unitcost.training.planning import planner
from unitcost.training.policies import greedy, late_line, on_demand, uniform_progress
from unitcost.training.replay import IDLE, Jobs, replay
from unitcost.units import SECONDS_PER_HOUR

POLICIES = {
    "on-demand": lambda market, jobs: on_demand,
    "greedy": lambda market, jobs: greedy,
    "uniform progress": lambda market, jobs: uniform_progress,
    "late line": lambda market, jobs: late_line(len(jobs)),
    "planner": planner,
}
every_policy = pytest.mark.parametrize("name", POLICIES)


def test_on_demand_costs_price_times_hours_and_the_first_changeover() -> None:
    market = market_from([False] * 200, on_demand=2.5)
    jobs = job(market, hours=12, ratio=1.5, changeover_hours=0.2)
    outcome = replay(market, jobs, on_demand)
    assert outcome.cost_usd[0] == pytest.approx(2.5 * 12.2, rel=1e-12)
    assert outcome.changeovers[0] == 1


@every_policy
def test_capacity_that_is_always_there_costs_spot_price_times_hours(name: str) -> None:
    market = market_from([True] * 200, usd=0.4)
    jobs = job(market, hours=12, ratio=1.5, changeover_hours=0.2)
    outcome = replay(market, jobs, POLICIES[name](market, jobs))
    price = 1.0 if name == "on-demand" else 0.4
    assert outcome.cost_usd[0] == pytest.approx(price * 12.2, rel=1e-12)


@every_policy
@given(
    there=recordings(ticks=90), ratio=st.sampled_from([1.1, 1.25, 2.0]), changeover=st.sampled_from([0.0, 0.05, 0.3])
)
@settings(max_examples=25, deadline=None)
def test_nobody_is_late(name, there, ratio, changeover) -> None:
    market = market_from(there)
    jobs = job(market, hours=5, ratio=ratio, changeover_hours=changeover)
    outcome = replay(market, jobs, POLICIES[name](market, jobs))
    assert outcome.late == 0
    assert outcome.finished_s[0] <= jobs.ticks[0] * GAP_S


@every_policy
@given(there=recordings(ticks=90), usd=st.floats(0.05, 0.5), factor=st.floats(1.0, 1.8))
@settings(max_examples=15, deadline=None)
def test_cost_rises_with_all_prices(name, there, usd, factor) -> None:
    jobs = job(market_from(there), hours=5, ratio=1.5)
    low, high = (market_from(there, usd=usd * f, on_demand=f) for f in (1.0, factor))
    costs = [replay(m, jobs, POLICIES[name](m, jobs)).cost_usd[0] for m in (low, high)]
    assert costs[1] == pytest.approx(factor * costs[0], rel=1e-9)


def test_capacity_dearer_than_on_demand_is_not_taken() -> None:
    market = market_from([True] * 100, usd=1.2)
    jobs = job(market, hours=5, ratio=1.5)
    for make in POLICIES.values():
        outcome = replay(market, jobs, make(market, jobs))
        assert outcome.spot_s[0] == 0


def test_the_safety_net_stands_under_a_policy_that_never_works() -> None:
    market = market_from([True] * 100)
    jobs = job(market, hours=5, ratio=1.5)
    outcome = replay(market, jobs, lambda view: np.full(len(view.held), IDLE))
    assert outcome.late == 0
    assert outcome.on_demand_s[0] == pytest.approx(5.2 * SECONDS_PER_HOUR)


def test_leaving_a_region_costs_egress_once() -> None:
    first, second = [True] * 10 + [False] * 90, [False] * 10 + [True] * 90
    market = market_from([first, second], usd=0.3, egress=(7.0, 11.0))
    jobs = job(market, hours=5, ratio=2.0, changeover_hours=0.0)
    outcome = replay(market, jobs, greedy)
    assert outcome.cost_usd[0] == pytest.approx(0.3 * 5 + 7.0, rel=1e-12)
    at_home = market_from([first, second], usd=0.3, egress=(7.0, 7.0), regions=("r", "r"))
    assert replay(at_home, jobs, greedy).cost_usd[0] == pytest.approx(0.3 * 5, rel=1e-12)


def test_a_changeover_is_lost_when_capacity_goes() -> None:
    flicker = [True, False] * 20 + [True] * 60
    market = market_from(flicker)
    jobs = job(market, hours=5, ratio=2.9, changeover_hours=0.2)
    outcome = replay(market, jobs, greedy)
    assert outcome.spot_s[0] == pytest.approx(20 * GAP_S + 5.2 * SECONDS_PER_HOUR)


def test_what_cannot_be_done_is_refused() -> None:
    market = market_from([True] * 30)
    with pytest.raises(BadSetting, match="even on demand"):
        replay(market, job(market, hours=4, ratio=1.0), greedy)
    with pytest.raises(BadSetting, match="behind the recording"):
        replay(market, job(market, hours=5, ratio=1.5), greedy)
    one = np.array([1])
    with pytest.raises(BadSetting, match="no work"):
        replay(market, Jobs(start=one, ticks=one, work_s=-one * 1.0, changeover_s=one * 0.0), greedy)
