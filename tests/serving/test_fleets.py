"""Replicas come and go: autoscaling, the warm pool, lost spot capacity, and what is told of a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.serving.grids import flat, grid, trace
from unitcost.errors import BadSetting
from unitcost.serving.fleet import (
    Autoscaler,
    CapacityEvent,
    ColdStart,
    Engine,
    Fleet,
    LossRate,
    ScaleToZero,
    Targets,
)
from unitcost.serving.outcome import Outcome, simulate, summarise
from unitcost.serving.simulate import run
from unitcost.serving.spot import draw_losses, recorded_losses
from unitcost.serving.traces import Trace

COLD = ColdStart(provision_s=20, image_s=5, weights_bytes=1e10, bandwidth_bytes_per_s=2e9, warm_up_s=10, wake_s=3)


def spent(outcome: Outcome, state: str, category: str = "") -> float:
    """Time in a state over all replicas. [s]."""
    return sum(i.end_s - i.start_s for i in outcome.intervals if i.state == state and category in ("", i.category))


def rising(rates: list[float], seed: int = 0) -> Trace:
    """Ten minutes at each rate."""
    rng = np.random.default_rng(seed)
    parts = [np.sort(rng.uniform(600 * i, 600 * (i + 1), rng.poisson(600 * rate))) for i, rate in enumerate(rates)]
    at = np.concatenate(parts)
    return Trace(
        arrival_s=at, input_tokens=rng.integers(1, 400, len(at)), output_tokens=rng.integers(1, 80, len(at)),
        duration_s=600.0 * len(rates),
    )  # fmt: skip


SCALER = Autoscaler(target_in_flight=10, interval_s=15, stabilisation_s=60, surge=2)


def test_a_cold_start_is_the_sum_of_its_parts() -> None:
    assert COLD.loading_s == 5 + 5 + 10
    assert COLD.total_s == 40
    fleet = Fleet(
        grid=flat(0.1),
        places={"on-demand": 1},
        minimum=0,
        scale_to_zero=ScaleToZero(idle_timeout_s=30),
        cold_start=COLD,
    )
    outcome = simulate(
        Trace(arrival_s=np.array([100.0]), input_tokens=np.ones(1, int), output_tokens=np.ones(1, int), duration_s=300.0),
        fleet, Targets(),
    )  # fmt: skip
    assert outcome.latencies["ttft_s"].mean == pytest.approx(40.1)
    assert [(i.state, i.start_s, pytest.approx(i.end_s)) for i in outcome.intervals] == [
        ("provisioning", 100, 120), ("loading", 120, 140), ("ready", 140, 140.1 + 30),
    ]  # fmt: skip


def test_the_autoscaler_follows_the_load_up_and_down() -> None:
    fleet = Fleet(grid=grid(), places={"on-demand": 8}, minimum=1, autoscaler=SCALER, cold_start=COLD)
    outcome = simulate(rising([2, 40, 2]), fleet, Targets())
    assert outcome.answered == outcome.requests

    def ready_at(moment: float) -> int:
        return sum(i.state == "ready" and i.start_s <= moment < i.end_s for i in outcome.intervals)

    assert ready_at(500) == 1
    assert ready_at(1_150) >= 2
    assert ready_at(1_750) == 1
    fixed = simulate(rising([2, 40, 2]), Fleet(grid=grid(), places={"on-demand": 8}), Targets())
    assert spent(outcome, "ready") < 0.6 * spent(fixed, "ready")


def test_surge_and_stabilisation_hold_it_back() -> None:
    fleet = Fleet(grid=grid(), places={"on-demand": 8}, minimum=1, autoscaler=SCALER, cold_start=ColdStart())
    starts = [i.start_s for i in simulate(rising([60]), fleet, Targets()).intervals if i.state == "ready"]
    assert max(np.unique(starts, return_counts=True)[1]) <= 2
    patient = replace(fleet, autoscaler=replace(SCALER, stabilisation_s=600))
    load = rising([2, 40, 2])
    assert spent(simulate(load, patient, Targets()), "ready") > spent(simulate(load, fleet, Targets()), "ready")


def test_a_warm_pool_answers_sooner_than_a_cold_start() -> None:
    requests = Trace(
        arrival_s=np.array([0.0, 500.0]), input_tokens=np.ones(2, int), output_tokens=np.ones(2, int), duration_s=1000.0
    )
    zero = Fleet(
        grid=flat(0.1),
        places={"on-demand": 2},
        minimum=0,
        scale_to_zero=ScaleToZero(idle_timeout_s=30),
        cold_start=COLD,
    )
    warm = replace(zero, warm_pool=1)
    cold_outcome, warm_outcome = simulate(requests, zero, Targets()), simulate(requests, warm, Targets())
    assert cold_outcome.latencies["ttft_s"].mean == pytest.approx(40.1)
    assert warm_outcome.latencies["ttft_s"].mean == pytest.approx(3.1)
    assert spent(cold_outcome, "standby") == 0 < spent(warm_outcome, "standby")


def test_spot_is_replaced_by_on_demand_and_takes_over_again() -> None:
    events = (
        CapacityEvent(at_s=95, replica=0, change="notice"), CapacityEvent(at_s=100, replica=0, change="kill"),
        CapacityEvent(at_s=300, replica=0, change="back"),
    )  # fmt: skip
    fleet = Fleet(grid=grid(), places={"spot": 2, "on-demand": 1}, minimum=2, cold_start=COLD, events=events)
    outcome = simulate(rising([5]), fleet, Targets())
    assert outcome.answered == outcome.requests
    helper = [i for i in outcome.intervals if i.category == "on-demand"]
    assert [i.state for i in helper[:3]] == ["provisioning", "loading", "ready"]
    assert [i.state for i in helper[3:]] in ([], ["draining"])  # no time passes in draining when it has nothing to do
    assert helper[0].start_s == 95
    assert helper[2].end_s == pytest.approx(340)  # spot is ready again 40 s after it is back
    again = [i for i in outcome.intervals if i.replica == 0 and i.start_s >= 300]
    assert [i.state for i in again] == ["provisioning", "loading", "ready"]


def test_a_loss_without_notice_throws_requests_back() -> None:
    kill = CapacityEvent(at_s=100.0, replica=0, change="kill")
    fleet = Fleet(grid=grid(), places={"spot": 1, "on-demand": 1}, minimum=2, events=(kill,), routing="round robin")
    found = run(trace(2_000, rate=20.0), fleet)
    outcome = summarise(found, fleet, Targets())
    assert outcome.lost == found.kills.sum() > 0
    assert outcome.answered == 2_000
    assert (found.replica[found.kills > 0] == 1).all()
    calm = run(trace(2_000, rate=20.0), replace(fleet, events=()))
    hit = found.kills > 0
    assert (found.last_s[hit] >= calm.last_s[hit]).all()


def test_with_nothing_left_requests_are_unserved() -> None:
    kill = CapacityEvent(at_s=5.0, replica=0, change="kill")
    outcome = simulate(
        trace(200, rate=10.0), Fleet(grid=grid(), places={"spot": 1}, minimum=1, events=(kill,)), Targets(e2e_s=60)
    )
    assert outcome.answered + outcome.unserved == 200
    assert outcome.unserved > 100
    assert outcome.good_share == outcome.answered / 200


def test_losses_of_a_place_do_not_depend_on_the_others() -> None:
    small, large = (
        draw_losses(
            Fleet(grid=grid(), places={"spot": n}, minimum=1, losses=LossRate(per_hour=30)), until_s=3_600, seed=3
        )
        for n in (2, 5)
    )
    assert [e for e in large.events if e.replica < 2] == list(small.events)
    assert draw_losses(replace(small, events=()), until_s=3_600, seed=3).events == ()


def test_a_recorded_market() -> None:
    events = recorded_losses([2, 1, 1, 0, 2], gap_s=60, places=[0, 1], notice_s=30)
    assert [(e.at_s, e.replica, e.change) for e in events] == [
        (30, 1, "notice"), (60, 1, "kill"), (150, 0, "notice"), (180, 0, "kill"), (240, 0, "back"), (240, 1, "back"),
    ]  # fmt: skip


def test_both_definitions_of_time_per_output_token() -> None:
    requests = Trace(
        arrival_s=np.array([0.0, 0.5]), input_tokens=np.array([10, 10]), output_tokens=np.array([11, 1]), duration_s=5.0
    )
    outcome = simulate(requests, Fleet(grid=flat(0.1, max_batch=4), places={"on-demand": 1}), Targets())
    assert outcome.latencies["ttft_s"].p50 == pytest.approx(0.1)
    assert outcome.latencies["tpot_s"].mean == pytest.approx((1.1 - 0.1) / 10)
    assert outcome.latencies["tpot_with_first_s"].mean == pytest.approx((1.1 / 11 + 0.1) / 2)
    assert outcome.latencies["itl_s"].p50 == pytest.approx(0.1, rel=0.01)
    assert outcome.output_tokens == 12


def test_goodput_counts_what_keeps_every_target() -> None:
    requests = trace(1_000, rate=40.0)
    fleet = Fleet(grid=grid(), places={"on-demand": 2})
    free = simulate(requests, fleet, Targets())
    assert free.good_share == 1.0
    tight = simulate(requests, fleet, Targets(ttft_s=free.latencies["ttft_s"].p50))
    assert tight.good_share == pytest.approx(0.5, abs=0.01)
    both = simulate(requests, fleet, Targets(ttft_s=free.latencies["ttft_s"].p50, tpot_s=free.latencies["tpot_s"].p50))
    assert both.good_share < tight.good_share
    assert both.good_per_s == pytest.approx(both.good_share * 1_000 / both.end_s)


def test_the_time_at_the_front_delays_a_request_but_not_the_engine() -> None:
    plain = grid()
    constants = replace(plain.constants, per_request_s=0.5, per_input_token_s=0.001)
    requests = trace(100, rate=0.001)
    found, delayed = (
        run(requests, Fleet(grid=replace(plain, constants=c), places={"on-demand": 1}))
        for c in (plain.constants, constants)
    )
    # so few come that each is alone
    np.testing.assert_allclose(delayed.first_s - found.first_s, 0.5 + 0.001 * requests.input_tokens, atol=1e-6)
    assert delayed.replicas["busy_s"].sum() == pytest.approx(found.replicas["busy_s"].sum())


@pytest.mark.parametrize(
    "wrong",
    [
        {"places": {}}, {"places": {"on-demand": 1}, "minimum": 2}, {"places": {"on-demand": 1}, "spare": -1},
        {"places": {"spot": 1}, "events": (CapacityEvent(at_s=1, replica=4, change="kill"),)},
        {"places": {"on-demand": 2}, "initial": 2, "warm_pool": 1},
    ],
)  # fmt: skip
def test_a_fleet_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadSetting):
        Fleet(grid=grid(), **wrong)  # type: ignore[arg-type]


def test_static_batches_pad_to_the_longest() -> None:
    requests = Trace(
        arrival_s=np.array([0.0, 0.0, 0.1]), input_tokens=np.array([5, 5, 5]), output_tokens=np.array([2, 10, 3]),
        duration_s=5.0,
    )  # fmt: skip
    fleet = Fleet(grid=flat(0.1, max_batch=4), places={"on-demand": 1}, engine=Engine(scheduler="static"))
    found = run(requests, fleet)
    np.testing.assert_allclose(found.last_s, [1.0, 1.0, 1.3])
    continuous = run(requests, replace(fleet, engine=Engine()))
    np.testing.assert_allclose(continuous.last_s, [0.2, 1.0, 0.4])


def test_a_spare_is_not_started_again_and_again_while_nobody_asks() -> None:
    fleet = Fleet(
        grid=grid(), places={"spot": 2, "on-demand": 1, "reserved": 1}, minimum=0, spare=1, warm_pool=1,
        engine=Engine(max_batch=4, max_step_tokens=128), scale_to_zero=ScaleToZero(idle_timeout_s=0, max_wait_s=5),
        autoscaler=Autoscaler(target_in_flight=1, interval_s=1.5, stabilisation_s=6, surge=2, cooldown_s=3),
        cold_start=ColdStart(wake_s=1), losses=LossRate(per_hour=300, notice_s=0.2, return_s=8),
    )  # fmt: skip
    outcome = simulate(trace(400, rate=5.0, seed=279), fleet, Targets(), seed=279)
    assert outcome.answered == 400
    assert len(outcome.intervals) < 2_000
