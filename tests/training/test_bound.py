"""The bound is exact: it equals the plain programme tick by tick, and no policy beats it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.markets import GAP_S, job, market_from, recordings
from tests.training.test_replay import POLICIES
from unitcost.training.bound import least_usd
from unitcost.training.replay import replay
from unitcost.units import SECONDS_PER_HOUR

UNIT_S = 60.0


def plain_bound(market, jobs) -> float:
    """Least cost by the plain backward programme, tick by tick: state = what is held, where the checkpoint lies, work left."""
    zones, work = len(market.zones), round(float(jobs.work_s[0]) / UNIT_S)
    change, gap = round(float(jobs.changeover_s[0]) / UNIT_S), round(market.gap_s / UNIT_S)
    size = work + 2 * change + 1
    left = np.arange(size)
    places = ["nowhere", *sorted(set(market.regions))]
    held = ["idle", "bought", *range(zones)]
    hours = market.gap_s / SECONDS_PER_HOUR
    done = np.where(left <= 0, 0.0, np.inf)
    value = {(h, p): done for h in held for p in places}
    start = int(jobs.start[0])
    for tick in range(start + int(jobs.ticks[0]) - 1, start - 1, -1):
        new = {}
        for h in held:
            for p in places:
                options = [value["idle", p]]
                for choice in held[1:]:
                    if choice != "bought" and not market.available[choice, tick]:
                        continue
                    need = left if choice == h else left + change
                    to = p if choice == "bought" else market.regions[choice]
                    move = 0.0
                    if choice != "bought" and choice != h and p not in ("nowhere", to):
                        move = market.egress_usd[market.regions.index(p)]
                    price = (
                        market.on_demand_usd_per_hour if choice == "bought" else market.spot_usd_per_hour[choice, tick]
                    )
                    then = need - gap
                    after = np.where(then < size, value[choice, to][np.clip(then, 0, size - 1)], np.inf)
                    paid = price * hours
                    options.append(move + np.where(then <= 0, paid * need / gap, paid + after))
                new[h, p] = np.where(left <= 0, 0.0, np.minimum.reduce(options))
        value = new
    return float(value["idle", "nowhere"][work])


@given(
    zones=st.integers(1, 3),
    data=st.data(),
    changeover=st.sampled_from([0.0, 0.05, 0.25]),
    ratio=st.sampled_from([1.1, 1.5, 2.5]),
    egress=st.sampled_from([0.0, 0.05, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_it_equals_the_plain_programme(zones, data, changeover, ratio, egress) -> None:
    there = data.draw(recordings(zones=zones, ticks=30))
    usd = data.draw(st.lists(st.sampled_from([0.2, 0.5, 1.3]), min_size=zones * 30, max_size=zones * 30))
    market = market_from(
        there, usd=np.repeat(np.reshape(usd, (zones, 30))[:, ::5], 5, axis=1), egress=(egress,) * zones
    )
    jobs = job(market, hours=1.75, ratio=ratio, changeover_hours=changeover)
    assert least_usd(market, jobs)[0] == pytest.approx(plain_bound(market, jobs), rel=1e-9)


@pytest.mark.parametrize("name", POLICIES)
@given(there=recordings(zones=2, ticks=90), usd=st.floats(0.1, 1.5), ratio=st.sampled_from([1.1, 1.5, 2.5]))
@settings(max_examples=20, deadline=None)
def test_no_policy_beats_it(name, there, usd, ratio) -> None:
    market = market_from(there, usd=usd, egress=(0.01, 0.02))
    jobs = job(market, hours=5, ratio=ratio)
    cost = replay(market, jobs, POLICIES[name](market, jobs)).cost_usd[0]
    assert cost >= least_usd(market, jobs)[0] * (1 - 1e-9)


@given(there=recordings(ticks=90))
@settings(max_examples=30, deadline=None)
def test_more_slack_never_costs_more(there) -> None:
    market = market_from(there)
    costs = [least_usd(market, job(market, hours=5, ratio=ratio))[0] for ratio in (1.1, 1.3, 1.7, 2.6)]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(costs))


def test_a_deadline_that_cannot_be_met_has_no_bound() -> None:
    market = market_from([True] * 40)
    assert np.isinf(least_usd(market, job(market, hours=5, ratio=1.0))[0])


def test_work_too_fine_for_the_lattice_gives_a_lower_bound() -> None:
    market = market_from([True, False, False] * 40, gap_s=GAP_S)
    jobs = job(market, hours=5.000123456, ratio=1.6, changeover_hours=0.0123457)
    near = job(market, hours=5, ratio=1.6, changeover_hours=0.0125)
    assert least_usd(market, jobs)[0] == pytest.approx(least_usd(market, near)[0], rel=0.01)
    assert least_usd(market, jobs)[0] <= replay(market, jobs, POLICIES["planner"](market, jobs)).cost_usd[0]
