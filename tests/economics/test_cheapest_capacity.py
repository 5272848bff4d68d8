"""Capacity: machines that hold enough accelerators, with prices per machine and per accelerator."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.capacity import hourly_rate, rank_capacity
from unitcost.facts.offers import Offer, Shape
from unitcost.facts.prices import Commitment, PriceRecord, Source, flat, midnight

SOURCE = Source(key="test", licence="MIT")


def record(price: str, *, unit: str = "machine-hour") -> PriceRecord:
    return PriceRecord(
        kind="instance", provider="p", sku="m", unit=unit, currency="USD", tiers=flat(Decimal(price)),
        observed="2026-07-20", effective_from=midnight(date(2026, 7, 20)), source=SOURCE,
    )  # fmt: skip


def offer(name: str, count: str, on_demand: str = "", spot: str = "", unit: str = "machine-hour") -> Offer:
    return Offer(
        shape=Shape(provider="p", instance_type=name, accelerator="H100-80GB", accelerator_count=Decimal(count)),
        region="r", on_demand=record(on_demand, unit=unit) if on_demand else None,
        spot=record(spot, unit=unit) if spot else None,
    )  # fmt: skip


def test_a_price_per_accelerator_and_one_per_machine_are_told_apart() -> None:
    per_machine = hourly_rate(record("24"), Decimal(8))
    per_gpu = hourly_rate(record("3", unit="accelerator-hour"), Decimal(8))
    assert per_machine.usd_per_machine_hour == per_gpu.usd_per_machine_hour == 24
    assert per_machine.usd_per_accelerator_hour == per_gpu.usd_per_accelerator_hour == 3


def test_the_cheapest_comes_first_and_what_has_no_such_price_last() -> None:
    offers = [offer("none", "8", spot="1"), offer("dear", "8", "30", "20"), offer("cheap", "8", "24", "22")]
    ranked = rank_capacity(offers, Decimal(8))
    assert [item.offer.shape.instance_type for item in ranked] == ["cheap", "dear", "none"]
    ranked = rank_capacity(offers, Decimal(8), by="spot")
    assert [item.offer.shape.instance_type for item in ranked] == ["none", "dear", "cheap"]


def test_one_machine_must_hold_them_unless_several_may() -> None:
    offers = [offer("one", "1", "3"), offer("eight", "8", "30")]
    assert [item.offer.shape.instance_type for item in rank_capacity(offers, Decimal(8))] == ["eight"]
    one, eight = rank_capacity(offers, Decimal(8), split=True)
    assert (one.machines, one.on_demand and one.on_demand.usd_per_hour) == (8, Decimal(24))
    assert (eight.machines, eight.on_demand and eight.on_demand.usd_per_hour) == (1, Decimal(30))


def test_of_several_promises_the_cheapest_counts() -> None:
    one, three = (Commitment(plan="RI", term_months=term) for term in (12, 36))
    promised = replace(
        offer("m", "8", "30"),
        committed=(replace(record("20"), commitment=one), replace(record("15"), commitment=three)),
    )
    [found] = rank_capacity([promised], Decimal(8))
    assert found.committed is not None
    assert found.committed.record.commitment == three


def test_three_thirds_of_a_device_are_one() -> None:
    [found] = rank_capacity([offer("third", "0.333333", "0.9")], Decimal(1), split=True)
    assert found.machines == 3


@given(st.integers(1, 64), st.integers(1, 16), st.decimals(min_value=1, max_value=100, places=4))
def test_the_machines_hold_enough_and_not_one_too_many(count: int, devices: int, price: Decimal) -> None:
    [found] = rank_capacity([offer("m", str(devices), str(price))], Decimal(count), split=True)
    assert found.machines * devices >= count
    assert (found.machines - 1) * devices < count
    assert found.on_demand is not None
    assert found.on_demand.usd_per_hour == money.multiply(price, Decimal(found.machines))
