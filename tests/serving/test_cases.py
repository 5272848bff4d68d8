"""Worked cases: cooldowns, a quantised model at two loads, whole replicas against an API."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serving.grids import flat
from unitcost.economics.prefix_cache import prefix_cache
from unitcost.serving.choice import ServingOption, choose, usd_per_mtok
from unitcost.serving.costs import Rates, price, unit_costs
from unitcost.serving.fleet import ColdStart, Engine, Fleet, ScaleToZero, Targets
from unitcost.serving.idle_gaps import ColdStartPrice, break_even_gap_s, cooldowns
from unitcost.serving.outcome import simulate
from unitcost.serving.own_or_api import OwnReplicas, at_volume, curve, flips, replicas_for
from unitcost.serving.traces import Trace

MINUTE = Decimal(60)


def case(folder: Path, name: str, file: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / name / file).read_text())
    return found


def test_prefix_hits_are_tokens(shared_cases: Path) -> None:
    given_, expected = (
        case(shared_cases, "13-prefix-hits-are-tokens", f"{part}.json") for part in ("input", "expected")
    )
    metrics = {name.removeprefix("vllm:"): Decimal(value) for name, value in given_["metrics"].items()}
    found = prefix_cache(
        prompt_tokens=metrics["prompt_tokens_total"], queries=metrics["prefix_cache_queries_total"],
        hits=metrics["prefix_cache_hits_total"], unit="tokens", block_tokens=given_["block_size"],
    )  # fmt: skip
    assert found.computed_prompt_tokens == expected["computed_prompt_tokens"]
    assert round(found.hit_share, 4) == Decimal(expected["hit_rate"])


def test_the_cheapest_cooldown(shared_cases: Path) -> None:
    given_, expected = (
        case(shared_cases, "34-scale-to-zero-cooldown", f"{part}.json") for part in ("input", "expected")
    )
    prices = ColdStartPrice(
        usd_per_hour=Decimal(given_["usd_per_hour_ready"]), start_s=given_["cold_start_minutes"] * MINUTE,
        start_billed=given_["cold_start_billed"], usd_per_slow_answer=Decimal(given_["usd_per_slow_request"]),
    )  # fmt: skip
    tried = [None if c == "never" else c * MINUTE for c in given_["cooldowns_to_try_minutes"]]
    found = cooldowns([gap * MINUTE for gap in given_["gaps_minutes"]], tried, prices)
    by_name = {"never" if c.cooldown_s is None else str(c.cooldown_s // MINUTE): c.usd for c in found}
    assert by_name == {name: Decimal(usd) for name, usd in expected["usd"].items()}
    best = min(found, key=lambda c: c.usd)
    assert best.cooldown_s == expected["best"] * MINUTE
    assert break_even_gap_s(prices) == expected["break_even_gap_minutes"] * MINUTE


def test_the_simulator_agrees_with_the_cooldowns_by_hand() -> None:
    """Instant answers with gaps between them: ready and loading time of the run are those of the formula."""
    gaps = [2, 3, 45, 4, 600, 5, 90]
    at, now, cold = [0.0], 0.0, 0
    for gap in gaps:  # the gap begins when the last answer is there, which a cold start delays
        cold = 8 if gap > 10 else 0
        at.append(now + gap * 60)
        now = at[-1] + cold * 60
    ones = np.ones(len(at), np.int64)
    requests = Trace(arrival_s=np.array(at), input_tokens=ones, output_tokens=ones, duration_s=now + 1)
    fleet = Fleet(
        grid=flat(1e-6), places={"on-demand": 1}, initial=1, engine=Engine(scheduler="static"),
        scale_to_zero=ScaleToZero(idle_timeout_s=600), cold_start=ColdStart(warm_up_s=480),
    )  # fmt: skip
    outcome = simulate(requests, fleet, Targets())
    spent = {
        state: sum(i.end_s - i.start_s for i in outcome.intervals if i.state == state) for state in ("loading", "ready")
    }
    assert spent["loading"] == pytest.approx(3 * 480)
    assert spent["ready"] == pytest.approx(44 * 60, abs=2)
    cost = price(outcome, Rates(usd_per_hour={"on-demand": Decimal(6)}))
    assert float(cost.usd) == pytest.approx(8.30 - 3 * 0.50, abs=0.01)
    assert outcome.latencies["ttft_s"].p99 == pytest.approx(480, abs=1)


def test_a_wait_beyond_the_gateways_limit_is_a_missed_target() -> None:
    at = np.array([0.0, 100.0])
    requests = Trace(
        arrival_s=at, input_tokens=np.ones(2, np.int64), output_tokens=np.ones(2, np.int64), duration_s=200
    )
    zero = ScaleToZero(idle_timeout_s=10, max_wait_s=30)
    answered = {
        wait: simulate(
            requests,
            Fleet(grid=flat(0.1), places={"on-demand": 1}, scale_to_zero=zero, cold_start=ColdStart(warm_up_s=wait)),
            Targets(),
        )
        for wait in (29.0, 31.0)
    }
    assert (answered[29.0].answered, answered[29.0].timed_out) == (2, 0)
    assert (answered[31.0].answered, answered[31.0].timed_out) == (0, 2)
    assert answered[31.0].good_share == 0


def test_quantised_is_not_always_cheaper(shared_cases: Path) -> None:
    folder = shared_cases / "37-quantised-is-not-always-cheaper"
    rules = json.loads((folder / "rules.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    options: dict[str, list[ServingOption]] = {}
    for row in csv.DictReader((folder / "input.csv").read_text().splitlines()):
        options.setdefault(row["concurrency"], []).append(
            ServingOption(
                name=row["config"], usd_per_hour=Decimal(rules["usd_per_gpu_hour"]), tokens_per_s=Decimal(row["tok_per_s"]),
                p95_s=int(row["p95_ms"]) / 1000, quality=Decimal(row["quality"]),
            )
        )  # fmt: skip
    limit_s, bar = rules["p95_ms_at_most"] / 1000, Decimal(rules["quality_at_least"])
    ruled_out, costs = {}, {}
    for load, group in options.items():
        found = choose(group, p95_at_most_s=limit_s, quality_at_least=bar)
        assert found.option.name == expected[f"at_{load}"]
        ruled_out |= {f"{out.name}@{load}": out.rule for out in found.ruled_out}
        costs |= {f"{name}@{load}": round(usd, 4) for name, usd in found.usd_per_mtok.items()}
    assert ruled_out == expected["ruled_out"]
    assert costs == {name: Decimal(usd) for name, usd in expected["usd_per_mtok"].items()}


def test_an_option_of_unknown_quality_needs_a_check() -> None:
    option = ServingOption(name="int4", usd_per_hour=Decimal(1), tokens_per_s=Decimal(100), p95_s=1.0)
    assert choose([option], p95_at_most_s=None, quality_at_least=Decimal("0.9")).option is None
    assert choose([option], p95_at_most_s=None, quality_at_least=None).option is option


def test_an_always_on_replica_of_a_classic_model() -> None:
    """40 million predictions a day on one replica at 2.50 USD an hour: 60.00 USD a day, 0.0015 per 1,000."""
    per_day, day_s = 40_000_000, 86_400
    simulated = 400_000  # one hundredth of a day at the full rate
    at = (np.arange(simulated) + 0.5) * (day_s / per_day)
    ones = np.ones(simulated, np.int64)
    requests = Trace(arrival_s=at, input_tokens=ones, output_tokens=ones, duration_s=day_s / 100)
    engine = Engine(scheduler="static", max_batch=32, max_delay_s=0.005)
    outcome = simulate(
        requests, Fleet(grid=flat(0.01, max_batch=32), places={"on-demand": 1}, engine=engine), Targets()
    )
    cost = price(outcome, Rates(usd_per_hour={"on-demand": Decimal("2.50")}))
    costs = unit_costs(cost.usd, outcome)
    assert outcome.answered == simulated
    # the run ends with the last answer, some milliseconds after the period
    assert float(costs.per_1k_requests) == pytest.approx(0.0015, rel=1e-4)
    assert float(cost.usd) == pytest.approx(0.60, rel=1e-4)
    assert outcome.latencies["e2e_s"].p99 < 0.05


OWN = OwnReplicas(usd_per_month=Decimal(1825), units_per_month=Decimal(10_000))


def test_own_replicas_are_a_staircase_and_the_api_a_line() -> None:
    api = Decimal("0.25")
    found = curve(OWN, api, [Decimal(n) for n in (1, 7_299, 7_301, 10_000, 10_001, 14_601, 20_000)])
    assert [v.replicas for v in found] == [1, 1, 1, 1, 2, 2, 2]
    assert [v.cheaper for v in found] == ["api", "api", "own", "own", "api", "own", "own"]
    assert flips(OWN, api, most_replicas=2) == [(7_300, "own"), (10_000, "api"), (14_600, "own")]
    assert flips(OWN, Decimal("0.18")) == []


@given(units=st.integers(0, 200_000), api=st.decimals(Decimal("0.01"), Decimal(1), places=3))
def test_the_flips_say_who_is_cheaper_everywhere(units: int, api: Decimal) -> None:
    state = "api"
    for volume, cheaper in flips(OWN, api):
        state = cheaper if volume < units else state
    at = at_volume(OWN, api, Decimal(units))
    assert at.cheaper in (state, "equal")
    assert (
        (replicas_for(OWN, Decimal(units)) - 1) * 10_000 < max(units, 1) <= replicas_for(OWN, Decimal(units)) * 10_000
    )


def test_cost_per_million_tokens() -> None:
    option = ServingOption(name="a", usd_per_hour=Decimal("3.60"), tokens_per_s=Decimal(260), p95_s=0.9)
    assert round(usd_per_mtok(option), 4) == Decimal("3.8462")
