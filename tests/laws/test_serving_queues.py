"""The simulator meets queueing theory, and keeps what every queue must keep."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serving.grids import flat, grid, trace

from unitcost import money
from unitcost.serving.costs import Rates, interval_usd, price, unit_costs
from unitcost.serving.fleet import Autoscaler, ColdStart, Engine, Fleet, LossRate, ScaleToZero, Targets
from unitcost.serving.kernel.layout import DONE
from unitcost.serving.outcome import request_times, simulate
from unitcost.serving.simulate import run
from unitcost.serving.spot import draw_losses
from unitcost.serving.traces import Trace

ONE_BY_ONE = Engine(scheduler="static", max_batch=1, prefix_caching=False)
PRICES = Rates(usd_per_hour={"reserved": Decimal(2), "spot": Decimal("1.1"), "on-demand": Decimal("3.33")})


def arrivals(at: np.ndarray, outputs: np.ndarray | int = 1) -> Trace:
    tokens = np.broadcast_to(np.asarray(outputs, np.int64), at.shape).copy()
    return Trace(arrival_s=at, input_tokens=np.ones(len(at), np.int64), output_tokens=tokens, duration_s=float(at[-1]))


def poisson(count: int, rate: float, seed: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).exponential(1 / rate, count))


def test_waiting_of_m_d_1_pollaczek_khinchine() -> None:
    service_s, load = 0.02, 0.7
    found = run(
        arrivals(poisson(300_000, load / service_s, 1)),
        Fleet(grid=flat(service_s), places={"on-demand": 1}, engine=ONE_BY_ONE),
    )
    wait_s = request_times(found)["queue_s"].mean()
    # 300,000 customers at 70 % load: the standard error of the mean wait is below 1 %
    assert wait_s == pytest.approx(load * service_s / (2 * (1 - load)), rel=0.03)


def test_waiting_of_m_m_c_erlang_c() -> None:
    servers, step_s, mean_tokens, load, count = 4, 0.001, 500, 0.75, 500_000
    rate = load * servers / (mean_tokens * step_s)
    at, tokens = poisson(count, rate, 2), np.random.default_rng(3).geometric(1 / mean_tokens, count)
    found = run(
        arrivals(at, tokens),
        Fleet(grid=flat(step_s, max_batch=servers), places={"on-demand": 1}, engine=Engine(max_batch=servers)),
    )
    wait_s = request_times(found)["queue_s"].mean()
    # the same customers in the textbook's queue: what is left is that a customer is taken up between two steps
    assert wait_s == pytest.approx(first_come_first_served(at, tokens * step_s, servers).mean(), abs=2 * step_s)
    offered = load * servers
    tail = offered**servers / math.factorial(servers) / (1 - load)
    waits = tail / (sum(offered**n / math.factorial(n) for n in range(servers)) + tail)
    # standard error of the mean wait of 500,000 customers at 75 % load: 1.4 %
    assert wait_s == pytest.approx(waits * mean_tokens * step_s / (servers * (1 - load)), rel=0.05)


def first_come_first_served(at: np.ndarray, service_s: np.ndarray, servers: int) -> np.ndarray:
    """Waits of customers of a queue with several servers. [s]."""
    free = [0.0] * servers
    waits = np.empty(len(at))
    for i, (moment, span) in enumerate(zip(at.tolist(), service_s.tolist(), strict=True)):
        begins = max(moment, heapq.heappop(free))
        waits[i] = begins - moment
        heapq.heappush(free, begins + span)
    return waits


@given(gaps=st.lists(st.floats(0, 0.1), min_size=1, max_size=60), service_s=st.floats(0.001, 0.2))
@settings(max_examples=60, deadline=None)
def test_a_server_never_rests_while_anyone_waits(gaps: list[float], service_s: float) -> None:
    at = np.cumsum(np.array(gaps))
    found = run(arrivals(at), Fleet(grid=flat(service_s), places={"on-demand": 1}, engine=ONE_BY_ONE))
    ends = at + first_come_first_served(at, np.full(len(at), service_s), 1) + service_s
    # within the nanosecond that the simulator takes for one moment, once per customer
    np.testing.assert_allclose(found.last_s, ends, rtol=0, atol=1e-9 * (len(gaps) + 1))
    assert found.replicas["busy_s"].sum() == pytest.approx(len(gaps) * service_s)


@given(gaps=st.lists(st.floats(0, 0.1), min_size=1, max_size=60), servers=st.integers(2, 5))
@settings(max_examples=40, deadline=None)
def test_nobody_waits_who_comes_while_a_replica_rests(gaps: list[float], servers: int) -> None:
    at = np.cumsum(np.array(gaps))
    found = run(arrivals(at), Fleet(grid=flat(0.07), places={"on-demand": servers}, engine=ONE_BY_ONE))
    for i, moment in enumerate(at):
        unanswered = (at[:i] <= moment) & (found.last_s[:i] > moment + 1e-9)
        if len(set(found.replica[:i][unanswered])) < servers:
            assert found.scheduled_s[i] == pytest.approx(moment, abs=1e-8)


def test_littles_law_holds_for_those_who_run() -> None:
    found = run(trace(3_000, rate=20.0), Fleet(grid=grid(), places={"on-demand": 2}))
    assert found.preemptions.sum() == 0
    assert found.replicas["batch_s"].sum() == pytest.approx((found.last_s - found.scheduled_s).sum(), rel=1e-9)


def test_every_token_is_computed_once_without_preemption() -> None:
    requests = trace(2_000, rate=30.0, families=5)
    found = run(requests, Fleet(grid=grid(), places={"on-demand": 3}, routing="prefix affinity"))
    assert found.preemptions.sum() == 0
    assert found.replicas["output_tokens"].sum() == requests.output_tokens.sum()
    assert found.replicas["prefilled"].sum() == requests.input_tokens.sum() - found.cached_tokens.sum()
    assert found.gaps.sum() == (requests.output_tokens - 1).sum()


def test_the_same_input_gives_the_same_bytes() -> None:
    fleet = Fleet(
        grid=grid(kv_tokens=8_000), places={"spot": 4, "on-demand": 2}, minimum=3, routing="prefix affinity",
        losses=LossRate(per_hour=200, notice_s=0.1, return_s=20), cold_start=ColdStart(provision_s=3, warm_up_s=2),
        autoscaler=Autoscaler(target_in_flight=8, interval_s=1, stabilisation_s=5),
    )  # fmt: skip
    first, second = (run(trace(2_000, rate=30.0, families=5), draw_losses(fleet, until_s=60, seed=7)) for _ in range(2))
    for column in ("scheduled_s", "first_s", "last_s", "status", "kills", "gaps", "intervals", "replicas"):
        assert getattr(first, column).tobytes() == getattr(second, column).tobytes()
    assert first.kills.sum() > 0


@given(gaps=st.lists(st.floats(0, 0.05), min_size=1, max_size=80), service_s=st.floats(0.001, 0.2))
@settings(max_examples=40, deadline=None)
def test_with_twice_the_replicas_nobody_waits_longer_and_an_hour_never_costs_less(
    gaps: list[float], service_s: float
) -> None:
    requests = arrivals(np.cumsum(np.array(gaps)))
    waits, costs = [], []
    for count in (1, 2, 4, 8):  # in turn, the customers of each replica are a part of those of one of the smaller fleet
        fleet = Fleet(grid=flat(service_s), places={"on-demand": count}, engine=ONE_BY_ONE, routing="round robin")
        waits.append(request_times(run(requests, fleet))["queue_s"])
        outcome = simulate(requests, fleet, Targets())
        costs.append(unit_costs(price(outcome, PRICES).usd, outcome).per_month)
    for fewer, more in itertools.pairwise(waits):
        assert (more <= fewer + 1e-7).all()
    assert costs == sorted(costs, key=lambda usd: usd or Decimal(0))


def test_more_replicas_of_an_llm_wait_less_on_average() -> None:
    requests = trace(3_000, rate=60.0)
    means = [
        simulate(requests, Fleet(grid=grid(), places={"on-demand": n}), Targets()).latencies["ttft_s"].mean
        for n in (1, 2, 3, 6, 12)
    ]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_lost_replicas_lose_no_request_and_no_token(seed: int) -> None:
    fleet = Fleet(
        grid=grid(), places={"spot": 3, "on-demand": 1}, minimum=3, cold_start=ColdStart(provision_s=4, warm_up_s=3),
        losses=LossRate(per_hour=400, notice_s=0.05 if seed % 2 else 0, return_s=15), routing="round robin",
    )  # fmt: skip
    requests = trace(1_500, rate=20.0, seed=seed)
    found = run(requests, draw_losses(fleet, until_s=requests.duration_s, seed=seed))
    assert found.kills.sum() > 0
    assert (found.status == DONE).all()
    assert (found.generated_tokens == requests.output_tokens).all()
    assert found.replicas["output_tokens"].sum() == requests.output_tokens.sum()
    assert (found.first_s >= requests.arrival_s).all()
    assert (found.last_s >= found.first_s).all()


def scaled_fleet() -> Fleet:
    return Fleet(
        grid=grid(), places={"reserved": 1, "spot": 2, "on-demand": 3}, warm_pool=1, minimum=0, initial=1,
        autoscaler=Autoscaler(target_in_flight=6, interval_s=2, stabilisation_s=6, surge=2, cooldown_s=4),
        scale_to_zero=ScaleToZero(idle_timeout_s=5), losses=LossRate(per_hour=60, notice_s=2, return_s=10),
        cold_start=ColdStart(provision_s=5, image_s=2, weights_bytes=4e9, bandwidth_bytes_per_s=2e9, warm_up_s=1, wake_s=1),
    )  # fmt: skip


def test_money_is_the_sum_of_intervals_times_price() -> None:
    outcome = simulate(trace(2_000, rate=15.0), scaled_fleet(), Targets(), seed=4)
    cost = price(outcome, PRICES)
    assert {i.state for i in outcome.intervals} >= {"provisioning", "loading", "standby", "ready", "draining"}
    hourly = {"reserved": 2.0, "spot": 1.1, "on-demand": 3.33}
    by_hand = sum(
        (i.end_s - i.start_s) / 3600 * hourly[i.category] for i in outcome.intervals if i.state != "provisioning"
    )
    # by hand in doubles, here in decimals of whole microseconds
    assert float(cost.usd) == pytest.approx(by_hand, rel=1e-6)
    assert cost.usd == money.add(interval_usd(i, PRICES) for i in outcome.intervals)
    assert cost.usd == money.add(cost.by_state.values()) == money.add(cost.by_category.values())
    assert cost.usd == money.add([cost.used_usd, cost.idle_usd, cost.cold_usd, cost.warm_usd])
    assert cost.used_usd > 0 < cost.idle_usd


def test_intervals_of_a_replica_follow_each_other_without_overlap() -> None:
    outcome = simulate(trace(2_000, rate=15.0), scaled_fleet(), Targets(), seed=4)
    for before, after in itertools.pairwise(outcome.intervals):
        if before.replica == after.replica:
            assert before.end_s <= after.start_s
    assert all(0 <= i.start_s < i.end_s <= outcome.end_s for i in outcome.intervals)


def test_another_price_of_the_same_run_needs_no_new_run() -> None:
    outcome = simulate(trace(500, rate=15.0), scaled_fleet(), Targets(), seed=4)
    double = replace(PRICES, usd_per_hour={name: usd * 2 for name, usd in PRICES.usd_per_hour.items()})
    assert price(outcome, double).usd == pytest.approx(price(outcome, PRICES).usd * 2)
