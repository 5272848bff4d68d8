"""Training against serving over a model's life."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.economics.lifetime import Lifetime, Spending, Successor, follow, payback
from unitcost.errors import BadSetting

LIFE = Lifetime(
    training=Spending(parts_usd=(("training", Decimal(50_000)),)), predictions_per_day=Decimal(10_000_000),
    usd_per_1k=Decimal("0.50"),
)  # fmt: skip


def test_serving_passes_training_on_day_ten() -> None:
    answer = follow(LIFE)
    assert answer.passing_day == 10
    assert answer.serving_usd == 365 * 5000
    assert answer.larger == "serving"
    assert answer.tenth_of_serving_usd == Decimal("182500")
    assert answer.tenth_of_training_usd == 5000


def test_retraining_every_five_days_turns_the_answer_to_training() -> None:
    answer = follow(replace(LIFE, retrain_every_days=5))
    assert answer.passing_day is None
    assert answer.larger == "training"
    assert answer.training_usd == 50_000 * 73


def test_case_35_break_even_in_days(shared_cases: Path) -> None:
    folder = shared_cases / "35-break-even-in-days"
    given_, expected = (json.loads((folder / f"{name}.json").read_text()) for name in ("input", "expected"))
    life = Lifetime(
        training=Spending(
            parts_usd=(
                ("training", Decimal(given_["training_usd"])),
                ("failed runs and sweeps", Decimal(given_["failed_and_sweep_usd"])),
            )
        ),
        predictions_per_day=Decimal(given_["requests_per_day"]),
        usd_per_1k=Decimal(given_["usd_per_1k_predictions"]),
        first_served=date.fromisoformat(given_["first_served"]),
    )
    answer = follow(life)
    assert answer.passing_day == expected["serving_passes_training_days"]
    assert answer.passing_date == date.fromisoformat(expected["date"])
    told = given_["distilled"]
    successor = Successor(
        spending=Spending(
            parts_usd=(
                ("training", Decimal(told["training_usd"])),
                ("labelling", Decimal(told["teacher_labelling_usd"])),
            )
        ),
        usd_per_1k=Decimal(told["usd_per_1k_predictions"]),
        good_enough=told["quality_ok"],
        starts_on_day=told["starts_on_day"],
    )
    found = payback(life, successor)
    assert found.after_days == expected["payback_days"]
    assert found.on_day == 53
    assert found.daily_saving_usd == Decimal(expected["daily_saving_usd"])
    assert payback(life, replace(successor, good_enough=False)).verdict == "not comparable"
    assert payback(life, replace(successor, good_enough=None)).verdict == "not comparable"
    assert payback(life, replace(successor, usd_per_1k=Decimal(3))).verdict == "never"


def test_traffic_grows_by_the_month() -> None:
    life = replace(LIFE, growth_per_month=Decimal("0.1"), life_days=90)
    assert [life.predictions_on(day) for day in (1, 30, 31, 61)] == [
        10_000_000, 10_000_000, 11_000_000, 12_100_000,
    ]  # fmt: skip
    assert follow(life).serving_usd == 30 * 5000 + 30 * 5500 + 30 * 6050


def test_growth_brings_payback_nearer() -> None:
    successor = Successor(
        spending=Spending(parts_usd=(("training", Decimal(400_000)),)), usd_per_1k=Decimal("0.3"), good_enough=True
    )
    flat = payback(LIFE, successor).after_days
    growing = payback(replace(LIFE, growth_per_month=Decimal("0.2")), successor).after_days
    assert flat == 200
    assert growing is not None
    assert growing < flat


@given(
    training=st.integers(0, 10**7),
    per_1k=st.integers(1, 10**4),
    predictions=st.integers(1, 10**9),
    every=st.integers(1, 400),
)
@settings(max_examples=50)
def test_serving_passes_sooner_when_it_costs_more_and_later_when_trained_again(
    training, per_1k, predictions, every
) -> None:
    life = Lifetime(
        training=Spending(parts_usd=(("training", Decimal(training)),)), predictions_per_day=Decimal(predictions),
        usd_per_1k=Decimal(per_1k).scaleb(-3),
    )  # fmt: skip
    never = 10**6
    once = follow(life).passing_day or never
    dearer = follow(replace(life, usd_per_1k=life.usd_per_1k * 2)).passing_day or never
    again = follow(replace(life, retrain_every_days=every)).passing_day or never
    assert dearer <= once <= again


@pytest.mark.parametrize(
    "wrong",
    [{"predictions_per_day": Decimal(-1)}, {"life_days": 0}, {"retrain_every_days": 0}, {"usd_per_1k": Decimal("NaN")}],
)
def test_what_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(BadSetting):
        replace(LIFE, **wrong)
