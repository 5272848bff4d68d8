"""Cost at fixed quality: the worked numbers, limits in order, and what is never chosen."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost.economics.quality.choosing import choose
from unitcost.economics.quality.paired import decide
from unitcost.economics.quality.totals import infra, wilson
from unitcost.errors import UnknownName
from unitcost.facts.options import Demand, Limits, Option

LARGE = Option(name="large", usd_per_hour=Decimal("2.50"), quality=0.95)
SMALL = Option(name="small", usd_per_hour=Decimal("0.60"), quality=0.93)
TRAFFIC = Demand(per_day=40e6)


def test_an_always_on_replica_costs_what_it_costs_whatever_it_answers():
    found = {row.option.name: row for row in choose([LARGE, SMALL], TRAFFIC, Limits()).ranked}
    assert found["large"].infra_usd == Decimal("0.0015")
    assert found["small"].infra_usd == Decimal("0.00036")
    assert found["small"].break_even_error_usd == Decimal("0.000057")


def test_without_a_bar_or_the_cost_of_an_error_there_is_no_answer():
    found = choose([LARGE, SMALL], TRAFFIC, Limits())
    assert found.cheapest == ""
    assert found.reason.startswith("not comparable")
    assert "only if a wrong answer costs less than 0.000057 USD" in found.notes[0]


@pytest.mark.parametrize(("error_usd", "cheapest"), [("0.000056", "small"), ("0.000058", "large")])
def test_the_break_even_is_where_the_answer_turns(error_usd: str, cheapest: str):
    limits = Limits(error_cost_usd=Decimal(error_usd))
    assert choose([LARGE, SMALL], TRAFFIC, limits).cheapest == cheapest


def test_replicas_are_whole_and_the_peak_must_fit():
    option = Option(name="a", usd_per_hour=Decimal(1), per_s=100.0)
    assert infra(option, Demand(per_day=86_400.0 * 100)).replicas == 1
    assert infra(option, Demand(per_day=86_400.0 * 100, peak_per_s=250.0)).replicas == 3
    twice = infra(option, Demand(per_day=86_400.0, peak_per_s=101.0)).usd
    assert twice is not None
    assert float(twice) == pytest.approx(48 / 86.4)


@pytest.mark.parametrize(
    ("basis", "peak_per_s", "replicas"), [("stated", None, 1), ("stated", 9000.0, None), ("measured", None, None)]
)
def test_one_replica_is_not_supposed_to_take_a_peak_or_to_keep_a_limit(basis, peak_per_s, replicas):
    unknown = Option(name="a", usd_per_hour=Decimal(1), basis=basis)
    found = infra(unknown, Demand(per_day=40e6, peak_per_s=peak_per_s))
    assert found.replicas == replicas
    assert (found.usd is None) == (replicas is None) == bool(found.why_not)


def test_a_price_per_call_needs_no_machine():
    api = Option(name="api", usd_per_unit=Decimal("0.002"), quality=0.9)
    assert infra(api, Demand()).usd == Decimal("2.000")


def test_limits_rule_out_in_words_and_missing_measurements_too():
    slow = Option(
        name="slow", usd_per_hour=Decimal(1), per_s=10.0, latencies_s=(("p99", 0.02),), memory_bytes=5, quality=0.9
    )
    unknown = Option(name="unknown", usd_per_hour=Decimal(1), per_s=10.0)
    limits = Limits(latencies_s=(("p99", 0.015),), memory_bytes=4, bar=0.95)
    found = {
        row.option.name: [out.by for out in row.ruled_out] for row in choose([slow, unknown], Demand(), limits).ranked
    }
    assert found == {"slow": ["p99", "memory", "quality"], "unknown": ["p99", "memory", "quality"]}


def test_an_undecided_option_is_not_chosen_however_cheap():
    verdicts = {"small": decide(20, 15, 500, 0.01)}
    found = choose([LARGE, SMALL], TRAFFIC, Limits(reference="large"), verdicts)
    assert found.cheapest == "large"
    assert "needs" in next(row for row in found.ranked if row.option.name == "small").ruled_out[0].why


def test_an_estimate_is_a_shortlist_never_an_answer():
    guesses = [
        Option(name=f"g{n}", machine="m", usd_per_hour=Decimal(n), per_s=9e9, quality=0.96, basis="estimated")
        for n in range(1, 6)
    ]
    found = choose([LARGE, *guesses], TRAFFIC, Limits(bar=0.9))
    assert found.cheapest == "large"
    assert found.notes[0] == "worth measuring next: g1@m, g2@m, g3@m"


def test_no_traffic_and_an_unknown_reference():
    assert infra(LARGE, Demand(per_day=0.0)).why_not == "no useful unit"
    with pytest.raises(UnknownName, match="large"):
        choose([LARGE], TRAFFIC, Limits(reference="larg"))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0.5, 1)), min_size=1, max_size=6), st.floats(0.5, 1))
def test_the_cheapest_keeps_the_bar_and_nothing_that_does_is_cheaper(given_: list[tuple[int, float]], bar: float):
    options = [Option(name=f"o{n}", usd_per_hour=Decimal(usd), quality=q) for n, (usd, q) in enumerate(given_)]
    found = choose(options, TRAFFIC, Limits(bar=bar))
    kept = {o.name: o.usd_per_hour for o in options if o.quality is not None and o.quality >= bar}
    assert (kept.get(found.cheapest) == min(kept.values())) if kept else not found.cheapest


def test_wilson_has_a_width_when_nothing_was_hit():
    # R: prop.test(0, 50, correct=FALSE)$conf.int is 0 to 0.0713; binom's wilson of 15/148 is 0.0624 to 0.1604
    assert wilson(0, 50) == pytest.approx((0.0, 0.0713), abs=1e-4)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1604), abs=2e-4)
