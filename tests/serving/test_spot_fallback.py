"""Laws of spot replicas with on-demand replicas that stand in for lost ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.grids import grid, trace
from unitcost import money
from unitcost.serving.costs import Rates, interval_usd, price
from unitcost.serving.fleet import Autoscaler, CapacityEvent, Category, ColdStart, Fleet, LossRate, Targets
from unitcost.serving.kernel.layout import DONE, UNSERVED
from unitcost.serving.occupancy import OPEN, arrivals_per_s, mean_replicas, replica_hours
from unitcost.serving.outcome import simulate
from unitcost.serving.simulate import run
from unitcost.serving.spot import draw_losses
from unitcost.serving.traces import Trace

COLD = ColdStart(provision_s=4.0, image_s=2.0, warm_up_s=2.0)
RATES = Rates(usd_per_hour={"spot": Decimal("1.1"), "on-demand": Decimal("3.33")})
TARGETS = Targets(ttft_s=1.0, tpot_s=0.2)


def spot_fleet(needed: int, spare: int, fallback: int, seed: int, *, notice_s: float = 2.0, until_s: float) -> Fleet:
    """A fleet with its losses drawn; the spot places lose the same whatever the fallback."""
    places: Mapping[Category, int] = {"spot": needed + spare, "on-demand": fallback}
    fleet = Fleet(
        grid=grid(), places=places, minimum=needed, initial=needed + spare, spare=spare, spare_on_spot=True, cold_start=COLD,
        losses=LossRate(per_hour=90.0, notice_s=notice_s, return_s=40.0),
    )  # fmt: skip
    return draw_losses(fleet, until_s=until_s, seed=seed)


FLEETS = {
    "needed": st.integers(1, 3), "spare": st.integers(0, 2), "seed": st.integers(0, 10_000),
    "notice_s": st.sampled_from([0.0, 0.5, 12.0]), "rate": st.sampled_from([2.0, 10.0, 25.0]),
}  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(**FLEETS)
def test_no_request_and_no_token_is_lost(needed: int, spare: int, seed: int, notice_s: float, rate: float) -> None:
    requests = trace(300, rate=rate, seed=seed)
    found = run(requests, spot_fleet(needed, spare, needed, seed, notice_s=notice_s, until_s=requests.duration_s))
    assert not (found.status == UNSERVED).any()
    done = found.status == DONE
    assert done.all()
    assert (found.generated_tokens == requests.output_tokens).all()
    assert (found.last_s >= found.first_s).all()
    assert (found.first_s > requests.arrival_s).all()


@settings(max_examples=40, deadline=None)
@given(**FLEETS)
def test_fast_forward_changes_nothing_and_the_same_input_gives_the_same_bytes(
    needed: int, spare: int, seed: int, notice_s: float, rate: float
) -> None:
    requests = trace(200, rate=rate, seed=seed)
    fleet = spot_fleet(needed, spare, needed, seed, notice_s=notice_s, until_s=requests.duration_s)
    fast, again, slow = run(requests, fleet), run(requests, fleet), run(requests, fleet, fast_forward=False)
    assert fast.intervals.tobytes() == again.intervals.tobytes()
    assert fast.last_s.tobytes() == again.last_s.tobytes()
    assert (fast.kills == slow.kills).all()
    np.testing.assert_allclose(fast.last_s, slow.last_s, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fast.intervals["end"], slow.intervals["end"], rtol=0, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(**FLEETS)
def test_fallback_answers_at_least_as_many_in_time(
    needed: int, spare: int, seed: int, notice_s: float, rate: float
) -> None:
    requests = trace(300, rate=rate, seed=seed)
    until_s = requests.duration_s

    def good(fallback: int) -> float:
        fleet = spot_fleet(needed, spare, fallback, seed, notice_s=notice_s, until_s=until_s)
        return simulate(requests, fleet, TARGETS).good_share

    assert good(needed) >= good(0)


@settings(max_examples=25, deadline=None)
@given(**FLEETS)
def test_money_is_the_sum_of_intervals_by_category(
    needed: int, spare: int, seed: int, notice_s: float, rate: float
) -> None:
    requests = trace(200, rate=rate, seed=seed)
    fleet = spot_fleet(needed, spare, needed, seed, notice_s=notice_s, until_s=requests.duration_s)
    outcome = simulate(requests, fleet, TARGETS)
    cost = price(outcome, RATES)
    assert cost.usd == money.add(interval_usd(one, RATES) for one in outcome.intervals)
    assert cost.usd == money.add(cost.by_category.values()) == money.add(cost.by_state.values())
    categories = fleet.categories
    assert all(one.category == categories[one.replica] for one in outcome.intervals)
    hours = replica_hours(outcome)
    paid = {"provisioning": 0.0}
    for one in outcome.intervals:
        paid[one.state] = paid.get(one.state, 0.0) + one.end_s - one.start_s
    assert hours.spot + hours.on_demand == pytest.approx(sum(paid.values()) / 3600, rel=1e-9)
    assert hours.busy + hours.idle + hours.cold + hours.warm == pytest.approx(sum(paid.values()) / 3600, rel=1e-9)


def _calm(requests: Trace, fleet: Fleet) -> list[tuple[str, str, float, float]]:
    return [(i.category, i.state, i.start_s, i.end_s) for i in simulate(requests, fleet, TARGETS).intervals]


def test_on_demand_stands_in_only_below_what_is_needed() -> None:
    """Two are needed and one more is there: the first loss takes the spare, the second starts a replica on demand."""
    requests = trace(600, rate=2.0)
    kills = (CapacityEvent(at_s=50.0, replica=0, change="kill"), CapacityEvent(at_s=100.0, replica=1, change="kill"))
    fleet = Fleet(
        grid=grid(), places={"spot": 3, "on-demand": 2}, minimum=2, initial=3, spare=1, spare_on_spot=True, cold_start=COLD,
        events=kills[:1],
    )  # fmt: skip
    assert not [row for row in _calm(requests, fleet) if row[0] == "on-demand"]
    both = [row for row in _calm(requests, replace(fleet, events=kills)) if row[0] == "on-demand"]
    assert [row[1] for row in both] == ["provisioning", "loading", "ready"]
    assert both[0][2] == pytest.approx(100.0)
    assert both[2][2] == pytest.approx(100.0 + COLD.total_s)


def test_on_demand_is_drained_when_spot_is_back() -> None:
    requests = trace(600, rate=2.0)
    events = (
        CapacityEvent(at_s=100.0, replica=0, change="kill"), CapacityEvent(at_s=150.0, replica=0, change="back"),
    )  # fmt: skip
    fleet = Fleet(
        grid=grid(), places={"spot": 2, "on-demand": 2}, minimum=2, cold_start=COLD, events=events
    )  # fmt: skip
    found = [row for row in _calm(requests, fleet) if row[0] == "on-demand"]
    ready = next(row for row in found if row[1] == "ready")
    assert ready[3] == pytest.approx(150.0 + COLD.total_s)
    assert max(row[3] for row in found) < 170.0


def test_without_the_rule_the_fallback_fills_the_spares_too() -> None:
    requests = trace(600, rate=2.0)
    kill = (CapacityEvent(at_s=50.0, replica=0, change="kill"),)
    fleet = Fleet(
        grid=grid(), places={"spot": 3, "on-demand": 2}, minimum=2, initial=3, spare=1, cold_start=COLD, events=kill
    )  # fmt: skip
    assert [row for row in _calm(requests, fleet) if row[0] == "on-demand"]


def test_autoscaled_spot_with_fallback_loses_nothing() -> None:
    requests = trace(600, rate=8.0, seed=3)
    fleet = Fleet(
        grid=grid(), places={"spot": 3, "on-demand": 2}, minimum=1, initial=2, spare=1, spare_on_spot=True, cold_start=COLD,
        autoscaler=Autoscaler(target_in_flight=4, interval_s=2.0, stabilisation_s=10.0),
        losses=LossRate(per_hour=120.0, notice_s=1.0, return_s=20.0),
    )  # fmt: skip
    drawn = draw_losses(fleet, until_s=requests.duration_s, seed=1)
    fast, slow = run(requests, drawn), run(requests, drawn, fast_forward=False)
    assert (fast.status == DONE).all()
    np.testing.assert_allclose(fast.last_s, slow.last_s, rtol=0, atol=1e-6)


def test_mean_replicas_add_up_to_the_hours() -> None:
    requests = trace(400, rate=5.0)
    outcome = simulate(requests, Fleet(grid=grid(), places={"on-demand": 2}), TARGETS)
    edges_s = np.linspace(0.0, outcome.end_s, 11)
    mean = mean_replicas(outcome.intervals, edges_s, states=OPEN)
    assert mean == pytest.approx(2.0)
    assert float((mean * np.diff(edges_s)).sum()) / 3600 == pytest.approx(replica_hours(outcome).on_demand)
    came = arrivals_per_s(requests, edges_s) * np.diff(edges_s)
    assert came.sum() == pytest.approx(len(requests))
