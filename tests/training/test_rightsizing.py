"""Options of a training run: cost, fit, and why some are ruled out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.machine.accelerators import chip
from unitcost.machine.shapes import model_shape
from unitcost.training.rightsizing import Capacity, TrainingAsk, cheapest, frontier, plan_option, rank
from unitcost.training.throughput import SpeedModel, shipped_runs

MODEL = SpeedModel(shipped_runs())
ASK = TrainingAsk(shape=model_shape("7b"), tokens=140e9, seq_len=2048)


def capacity(name: str = "H100", count: int = 64, price: float | None = 2.5) -> Capacity:
    return Capacity(chip=chip(name), accelerators=count, usd_per_accelerator_hour=price)


def test_a_run_has_time_and_cost_with_their_range() -> None:
    option = plan_option(ASK, capacity(), MODEL, deadline_hours=240)
    assert option.hours is not None
    assert option.usd is not None
    assert option.usd.value == pytest.approx(option.hours.value * 64 * 2.5)
    assert option.hours.low < option.hours.value < option.hours.high
    assert not option.ruled_out
    # 140e9 tokens at llm-foundry's measured 10,475 tokens/s on each of 64: 58 h
    assert option.hours.value == pytest.approx(58, rel=0.15)


@given(factor=st.floats(1.01, 5))
@settings(max_examples=10, deadline=None)
def test_cost_rises_with_price_and_with_tokens(factor: float) -> None:
    base = plan_option(ASK, capacity(), MODEL).usd
    dearer = plan_option(ASK, capacity(price=2.5 * factor), MODEL).usd
    longer = plan_option(replace(ASK, tokens=ASK.tokens * factor), capacity(), MODEL).usd
    assert base is not None
    assert dearer is not None
    assert longer is not None
    assert dearer.value == pytest.approx(base.value * factor)
    assert longer.value == pytest.approx(base.value * factor)


def test_what_does_not_fit_is_ruled_out_with_the_nearest_change() -> None:
    option = plan_option(replace(ASK, shape=model_shape("70b")), capacity("A100-40GB", 8), MODEL)
    assert "does not fit" in option.ruled_out[0]
    assert "nearest change" in option.ruled_out[0]


def test_a_precision_that_the_chip_lacks_rules_it_out() -> None:
    assert "has no bf16" in plan_option(ASK, capacity("V100-32GB"), MODEL).ruled_out[0]


def test_a_deadline_and_a_missing_price_rule_out() -> None:
    late = plan_option(ASK, capacity(count=8), MODEL, deadline_hours=100)
    assert "the deadline is 100 h" in late.ruled_out[0]
    assert plan_option(ASK, capacity(price=None), MODEL).ruled_out == ("no price is known",)


def test_options_are_ranked_and_beaten_ones_leave_the_frontier() -> None:
    options = [
        plan_option(ASK, capacity(count=n, price=p), MODEL) for n, p in ((8, 2.5), (64, 2.5), (64, 4.0), (256, 2.5))
    ]
    ranked = rank(options)
    assert ranked[0] == cheapest(options)
    kept = frontier(options)
    assert [o.capacity.usd_per_accelerator_hour for o in kept] == [2.5] * len(kept)
    hours = [o.hours.value for o in kept if o.hours]
    assert hours == sorted(hours)


def test_a_value_of_time_buys_more_accelerators() -> None:
    options = [plan_option(ASK, capacity(count=n), MODEL) for n in (8, 64, 512)]
    slow, fast = cheapest(options), cheapest(options, usd_per_hour_of_time=500.0)
    assert slow is not None
    assert fast is not None
    assert fast.capacity.accelerators > slow.capacity.accelerators


def test_a_large_batch_needs_more_tokens() -> None:
    counted = plan_option(replace(ASK, critical_batch=1024.0), capacity(), MODEL)
    assert counted.layout is not None
    batch = counted.layout.micro_batch * 64
    assert counted.tokens == pytest.approx(ASK.tokens * (1 + batch / 1024))
    assert f"{batch / 1024:.0%} more tokens" in counted.remarks[0]


def test_the_batch_shrinks_where_a_large_one_needs_too_many_tokens() -> None:
    """Small batches keep accelerators less busy, large ones need more tokens: the quickest in between is taken."""
    largest = plan_option(ASK, capacity(), MODEL)
    small = plan_option(replace(ASK, critical_batch=100.0), capacity(), MODEL)
    assert largest.layout is not None
    assert small.layout is not None
    assert small.layout.micro_batch < largest.layout.micro_batch
    kept = plan_option(replace(ASK, critical_batch=1e9), capacity(), MODEL)
    assert kept.layout == largest.layout


def test_without_a_deadline_one_accelerator_is_cheapest() -> None:
    ask = TrainingAsk(shape=model_shape("125m"), tokens=1e9, seq_len=1024, critical_batch=256.0)
    options = [plan_option(ask, capacity(count=n), MODEL) for n in (64, 16, 4, 1)]
    best = cheapest(options)
    assert best is not None
    assert best.capacity.accelerators == 1
    assert [o.capacity.accelerators for o in frontier(options)] == [64, 16, 4, 1]


@pytest.mark.parametrize(
    "wrong", [{"tokens": -1.0}, {"tokens": float("nan")}, {"seq_len": 0}, {"critical_batch": -2.0}]
)
def test_sizes_that_cannot_be_are_refused(wrong) -> None:
    with pytest.raises(BadSetting):
        replace(ASK, **wrong)
