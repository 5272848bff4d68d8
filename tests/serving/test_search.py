"""The search for the fewest replicas."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tests.serving.grids import flat, grid
from unitcost.errors import BadSetting
from unitcost.serving.search import Limits, Option, Search, frontier, least_replicas, search, unloaded_misses
from unitcost.serving.synthetic import constant
from unitcost.serving.traces import Trace
from unitcost.serving.windows import busiest

TRACE = constant(per_s=200.0, input_tokens=400, output_tokens=40, duration_s=20.0, seed=3)
LIMITS = Limits(ttft_p95_s=1.0, tpot_p95_s=0.08)


def option(name: str, usd: str = "2", **more) -> Option:
    return Option(name=name, grid=grid(), usd_per_replica_hour=Decimal(usd), **more)


def test_the_fewest_replicas_keep_the_targets_and_one_less_does_not() -> None:
    run = Search(TRACE, LIMITS)
    found = run.fewest(option("a"))
    assert found is not None
    assert not found.misses
    assert found.replicas > 1
    assert run.play(option("a"), found.replicas - 1).misses
    by_hand = [run.play(option("a"), n).misses for n in range(1, found.replicas + 1)]
    assert [not missed for missed in by_hand] == [False] * (found.replicas - 1) + [True]


@pytest.mark.parametrize("start", [1, 2, 3, 7, 20])
def test_where_it_starts_does_not_matter(start: int) -> None:
    first, second = Search(TRACE, LIMITS).fewest(option("a")), Search(TRACE, LIMITS).fewest(option("a"), start=start)
    assert first is not None
    assert second is not None
    assert first.replicas == second.replicas


def test_the_cheapest_comes_first_and_costs_replicas_times_price() -> None:
    found = search([option("dear", "3"), option("cheap", "2")], Search(TRACE, LIMITS))
    assert [t.option.name for t in found.fewest] == ["cheap", "dear"]
    best = found.fewest[0]
    hours = Decimal(round(best.outcome.end_s * 10**6)) / Decimal(3600 * 10**6)
    assert float(best.cost.usd) == pytest.approx(float(best.usd_per_hour * hours), rel=1e-9)
    assert best.units.per_mtok_total is not None
    tokens = best.outcome.input_tokens + best.outcome.output_tokens
    assert float(best.units.per_mtok_total) == pytest.approx(float(best.cost.usd) / tokens * 1e6, rel=1e-9)


def test_a_bound_rules_out_only_what_no_number_of_replicas_mends() -> None:
    slow = Option(name="slow", grid=flat(2.0), usd_per_replica_hour=Decimal(1))
    assert "alone on a replica" in unloaded_misses(slow, TRACE, LIMITS)
    found = search([slow, option("a")], Search(TRACE, LIMITS, most_replicas=16))
    assert [(r.name, r.stage) for r in found.refused] == [("slow", "bound")]
    assert Search(TRACE, LIMITS, most_replicas=16).fewest(slow) is None
    assert unloaded_misses(option("a"), TRACE, LIMITS) == ""


def test_a_request_that_no_replica_holds_rules_an_option_out() -> None:
    small = Option(name="small", grid=grid(kv_tokens=430), usd_per_replica_hour=Decimal(1))
    assert "KV cache holds 430 tokens" in unloaded_misses(small, TRACE, Limits())


def test_what_is_given_up_says_which_target_it_misses() -> None:
    found = search([option("a")], Search(TRACE, LIMITS, most_replicas=1))
    assert not found.fewest
    assert found.refused[0].reason.startswith("with 1 replicas: T")


def test_the_bound_on_replicas_is_below_what_is_found() -> None:
    found = Search(TRACE, LIMITS).fewest(option("a"))
    assert found is not None
    assert 1 <= least_replicas(option("a"), TRACE) <= found.replicas


def test_on_a_short_sample_the_answer_is_that_of_the_whole_trace() -> None:
    whole = search([option("a"), option("b", "2.5")], Search(TRACE, LIMITS))
    short = search([option("a"), option("b", "2.5")], Search(TRACE, LIMITS, sample_requests=200))
    assert [(t.option.name, t.replicas) for t in whole.fewest] == [(t.option.name, t.replicas) for t in short.fewest]
    assert short.runs > whole.runs


def test_an_option_far_above_the_best_is_not_played_on_the_whole_trace() -> None:
    both = [option("a"), option("b", "20")]
    assert len(search(both, Search(TRACE, LIMITS)).fewest) == 2  # the whole trace is its own sample
    found = search(both, Search(TRACE, LIMITS, sample_requests=500))
    assert [t.option.name for t in found.fewest] == ["a"]
    assert [(r.name, r.stage) for r in found.refused] == [("b", "sample")]


def test_on_the_frontier_lower_latency_costs_more() -> None:
    found = search([option("a"), option("b", "2.5")], Search(TRACE, LIMITS))
    edge = frontier(found.tried, LIMITS)
    assert edge
    costs = [t.cost.usd for t in edge]
    waits = [t.outcome.latencies["ttft_s"].p95 for t in edge]
    assert costs == sorted(costs)
    assert waits == sorted(waits, reverse=True)
    for one in found.tried:
        wait = one.outcome.latencies["ttft_s"].p95
        assert not any(one.cost.usd < t.cost.usd and wait < t.outcome.latencies["ttft_s"].p95 for t in edge)


def test_the_busiest_stretch_is_where_most_tokens_come() -> None:
    calm, rush = np.arange(100) * 10.0, 1000.0 + np.arange(50) * 0.1
    at = np.concatenate([calm, rush])
    trace = Trace(arrival_s=at, input_tokens=np.full(150, 10), output_tokens=np.full(150, 5), duration_s=1010.0)
    found = busiest(trace, 50)
    assert len(found) == 50
    assert found.arrival_s[0] == 0
    assert found.duration_s < 20
    assert busiest(trace, 150) is trace


@pytest.mark.parametrize("limit", [0.0, -1.0, float("inf"), float("nan")])
def test_a_target_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(BadSetting):
        Limits(ttft_p95_s=limit)
