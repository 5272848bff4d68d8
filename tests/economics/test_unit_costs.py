"""What one useful unit costs, and when there is no such number."""

from __future__ import annotations

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.fixed_quality import compare
from unitcost.economics.formulas import break_even_error_usd, cost_per_1k_usd, cost_per_result_usd, cost_per_run_usd
from unitcost.economics.unit_costs import scale_of, unit_costs
from unitcost.facts.answers import UnitCost
from unitcost.facts.rules import QualityBar
from unitcost.facts.spend import OutputRow
from unitcost.figure import Figure, recompute

DAY = date(2026, 9, 1)


def cost(name: str, value: str | Decimal, unit: str = "USD") -> Figure:
    """What a service cost."""
    return Figure(
        id=name, value=Decimal(value), unit=unit, basis="billed", op="given", formula="", label=f"cost of {name}"
    )


def made(service: str, unit: str, quantity: str | Decimal, attempts: str | None = None) -> OutputRow:
    """What a service made."""
    tried = Decimal(attempts) if attempts is not None else None
    return OutputRow(service=service, day=DAY, unit=unit, quantity=Decimal(quantity), attempts=tried)


def one(value: str, row: OutputRow, unit: str = "USD") -> UnitCost:
    """Unit cost of one service."""
    [found] = unit_costs({row.service: cost(row.service, value, unit)}, [row], at="all")
    return found


def test_11_cost_per_accepted_result_counts_failures(shared_cases: Path) -> None:
    folder = shared_cases / "11-cost-per-accepted-result"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    costs = {
        r["config"]: cost(r["config"], money.multiply(Decimal(r["attempts"]), Decimal(r["usd_per_attempt"])))
        for r in rows
    }
    outputs = [made(r["config"], "accepted", r["accepted"], r["attempts"]) for r in rows]
    found = {c.service: c for c in unit_costs(costs, outputs, at="all")}
    for service in ("A", "B"):
        assert found[service].per_unit.value == Decimal(expected[service]["usd_per_accepted"])
        wasted = found[service].wasted
        assert wasted is not None
        assert wasted.value == Decimal(expected[service]["wasted_usd"])
        assert recompute(wasted, lambda _: Decimal(0)) == wasted.value
    [answer] = compare(list(found.values()), [])
    assert answer.cheapest == expected["cheapest"]


@pytest.mark.parametrize(
    ("unit", "quantity", "value", "per_unit", "name"),
    [
        ("predictions", "40000000", "60", "0.0015", "1k predictions"),
        ("predictions", "40000000", "14.40", "0.00036", "1k predictions"),
        ("Requests", "1000", "2", "2", "1k requests"),
        ("tokens", "2000000", "3", "1.5", "million tokens"),
        ("cache read tokens", "500000", "1", "2", "million cache read tokens"),
        ("runs", "4", "10", "2.5", "run"),
        ("images", "8", "2", "0.25", "image"),
    ],
)
def test_each_unit_has_its_scale(unit: str, quantity: str, value: str, per_unit: str, name: str) -> None:
    found = one(value, made("s", unit, quantity))
    assert found.per_unit.value == Decimal(per_unit)
    assert found.per_unit.unit == f"USD/{name}"
    assert scale_of(unit)[1] == name


@pytest.mark.parametrize(("unit", "answer"), [("accepted", "no accepted unit"), ("predictions", "no useful unit")])
@pytest.mark.parametrize("quantity", ["0", "-5"])
def test_nothing_useful_has_a_cost_and_no_unit_cost(unit: str, answer: str, quantity: str) -> None:
    found = one("7", made("s", unit, quantity))
    assert found.cost.value == 7
    assert (found.per_unit.value, found.per_unit.note, found.per_unit.op) == (None, answer, "none")


def test_all_is_wasted_when_nothing_was_accepted() -> None:
    wasted = one("7", made("s", "accepted", "0", "10")).wasted
    assert wasted is not None
    assert wasted.value == 7


def test_waste_is_unknown_without_attempts_and_refused_when_they_contradict() -> None:
    assert one("7", made("s", "accepted", "3")).wasted is None
    odd = one("7", made("s", "accepted", "3", "2")).wasted
    assert odd is not None
    assert odd.value is None


def test_unknown_cost_is_not_free() -> None:
    [found] = unit_costs({}, [made("s", "runs", "3")], at="all")
    assert found.per_unit.value is None
    assert found.per_unit.note == "no charge belongs to s"
    assert one("0", made("s", "runs", "3")).per_unit.value == 0


quantities = st.decimals(0, 10**12, places=3)


@given(quantities, st.lists(quantities, min_size=1, max_size=5), st.sampled_from(["predictions", "tokens", "runs"]))
def test_unit_costs_are_recomputed(value: Decimal, parts: list[Decimal], unit: str) -> None:
    [found] = unit_costs({"s": cost("s", value)}, [made("s", unit, part) for part in parts], at="all")
    assert recompute(found.per_unit, lambda _: Decimal(0)) == found.per_unit.value
    assert (found.per_unit.value is None) == (money.add(parts) == 0)


def two(unit: str = "predictions", currency: str = "USD") -> list[UnitCost]:
    """A dear service and a cheap one."""
    costs = {"big": cost("big", "60"), "small": cost("small", "14.40", currency)}
    return unit_costs(costs, [made("big", unit, "40000000"), made("small", unit, "40000000")], at="all")


def bar(service: str, metric: str = "auc") -> QualityBar:
    """Bar of one service."""
    return QualityBar(service=service, metric=metric, bar=Decimal("0.91"), margin=Decimal("0.005"))


BARS = [bar("big"), bar("small")]


@pytest.mark.parametrize(
    ("bars", "measured", "reason"),
    [
        ([], {}, "not comparable: no quality bar is given for big, small"),
        (BARS[:1], {}, "not comparable: no quality bar is given for small"),
        (BARS, {}, "not comparable: no auc is measured for big, small"),
        (BARS, {"big": "0.95"}, "not comparable: no auc is measured for small"),
        ([BARS[0], bar("small", "f1")], {}, "not comparable: they are judged by auc and f1"),
        (BARS, {"big": "0.90", "small": "0.80"}, "none of them is good enough"),
    ],
)
def test_services_are_not_ranked_without_fixed_quality(bars, measured, reason: str) -> None:
    [answer] = compare(two(), bars, {name: Decimal(value) for name, value in measured.items()})
    assert (answer.cheapest, answer.reason) == ("", reason)


def test_the_cheapest_that_is_good_enough_wins() -> None:
    [answer] = compare(two(), BARS, {"big": Decimal("0.95"), "small": Decimal("0.905")})
    assert answer.cheapest == "small"
    [answer] = compare(two(), BARS, {"big": Decimal("0.95"), "small": Decimal("0.9049")})
    assert answer.cheapest == "big"
    assert answer.ruled_out == (("small", "auc 0.9049 is below the bar 0.91"),)


def test_currencies_are_not_compared() -> None:
    [answer] = compare(two("accepted", "EUR"), [])
    assert answer.reason == "not comparable: they are paid in EUR and USD"


def test_who_has_no_unit_cost_is_ruled_out() -> None:
    costs = {"a": cost("a", "1"), "b": cost("b", "1")}
    [answer] = compare(unit_costs(costs, [made("a", "accepted", "0"), made("b", "accepted", "2")], at="all"), [])
    assert (answer.cheapest, answer.ruled_out) == ("b", (("a", "no accepted unit"),))
    [answer] = compare(unit_costs(costs, [made("a", "accepted", "0"), made("b", "accepted", "0")], at="all"), [])
    assert answer.cheapest == ""


def test_the_numbers_of_an_always_on_replica() -> None:
    big = cost_per_1k_usd(Decimal("2.50"), Decimal(24), Decimal(40_000_000))
    small = cost_per_1k_usd(Decimal("0.60"), Decimal(24), Decimal(40_000_000))
    assert (big, small) == (Decimal("0.0015"), Decimal("0.00036"))
    assert break_even_error_usd(Decimal("45.60"), Decimal(800_000)) == Decimal("0.000057")


def test_formulas_answer_none_where_there_is_no_number() -> None:
    assert cost_per_1k_usd(Decimal(1), Decimal(1), Decimal(0)) is None
    assert cost_per_result_usd([Decimal(1)], 0) is None
    assert break_even_error_usd(Decimal(1), Decimal(0)) is None
    assert cost_per_run_usd(Decimal(2), Decimal(8), Decimal(100), Decimal("0.02")) == 18
    assert cost_per_result_usd([Decimal(18), Decimal(2)], 4) == 5
