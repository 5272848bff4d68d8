"""What a run cost over all its attempts, and what of its time was useful."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.formulas import cost_per_result_usd, cost_per_run_usd
from unitcost.economics.runs import realised_saving, run_cost, usd_per_1k_useful_steps
from unitcost.facts.runs import Life

START = datetime(2031, 4, 1, tzinfo=UTC)


def life(attempt: int = 1, hours: str | None = "1", **said: object) -> Life:
    """Attempt of some hours; each begins a day after the one before."""
    start = START + timedelta(days=attempt)
    values = {
        "status": "completed", "quantity": Decimal(1), "usd_per_hour": Decimal(2), "started_at": start,
        "ended_at": start + timedelta(hours=float(hours)) if hours is not None else None,
    }  # fmt: skip
    return Life(attempt=attempt, **{**values, **said})  # type: ignore[arg-type]


def case_22(folder: Path) -> tuple[list[Life], dict[str, Decimal]]:
    with (folder / "prices.csv").open(encoding="utf-8") as stream:
        prices = {row["kind"]: Decimal(row["usd_per_hour"]) for row in csv.DictReader(stream)}
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))

    def at(text: str) -> datetime:
        return datetime.fromisoformat(f"2031-04-01T{text}:00+00:00")

    lives, kept = [], 0
    for row in rows:
        lives.append(
            Life(
                attempt=int(row["attempt"]), status="completed" if row["reason"] == "done" else row["reason"],
                quantity=Decimal(1), started_at=at(row["start"]), ended_at=at(row["end"]), usd_per_hour=prices["spot"],
                startup_s=Decimal(row["provision_min"]) * 60, start_step=kept, end_step=int(row["end_step"]),
                kept_step=int(row["last_checkpoint_step"]),
            )
        )  # fmt: skip
        kept = int(row["last_checkpoint_step"])
    return lives, prices


def test_22_one_job_three_machines_and_work_done_twice(shared_cases: Path) -> None:
    folder = shared_cases / "22-spot-recovery-chain"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    lives, prices = case_22(folder)
    cost = run_cost(list(reversed(lives)))
    assert cost.usd == Decimal(expected["usd"])
    assert cost.gpu_hours == 12
    assert cost.effort is not None
    assert cost.effort.useful_steps == expected["useful_steps"]
    assert cost.effort.repeated_steps == expected["repeated_steps"]
    assert cost.effort.lost_steps == 0
    assert cost.effort.startup_hours == Decimal("0.5")
    assert cost.effort.startup_usd == 5
    per_1k = usd_per_1k_useful_steps(cost)
    assert per_1k is not None
    assert money.round_places(per_1k, 2) == Decimal(expected["usd_per_1000_useful_steps"])
    saving = realised_saving(lives, prices["on-demand"])
    assert saving is not None
    assert money.round_places(saving.on_demand_usd, 2) == Decimal(expected["on_demand_equivalent_usd"])
    assert money.round_places(saving.share, 4) == Decimal(expected["realised_saving"])


def test_an_attempt_that_never_started_costs_nothing() -> None:
    cost = run_cost([life(status="never started"), life(2, None, status="never started")])
    assert (cost.usd, cost.gpu_hours, cost.open_attempts) == (0, 0, ())
    assert cost.no_effort == "it never started"


def test_a_missing_end_is_listed_apart() -> None:
    cost = run_cost([life(1, "3"), life(2, None, status="running")])
    assert (cost.usd, cost.gpu_hours, cost.open_attempts) == (6, 3, (2,))
    assert cost.no_effort


def test_an_attempt_without_a_price_counts_its_time_only() -> None:
    cost = run_cost([life(1, "3"), life(2, "1", usd_per_hour=None)])
    assert (cost.usd, cost.gpu_hours, cost.unpriced_attempts) == (6, 4, (2,))


def test_steps_that_were_never_saved_are_lost_not_repeated() -> None:
    steps = {"startup_s": Decimal(0), "start_step": 0}
    failed = life(hours="10", status="failed", end_step=1000, kept_step=600, **steps)
    effort = run_cost([failed]).effort
    assert effort is not None
    assert (effort.useful_steps, effort.repeated_steps, effort.lost_steps) == (600, 0, 400)
    assert (effort.useful_hours, effort.lost_hours, effort.lost_usd) == (6, 4, 8)


def test_a_restart_from_the_beginning_repeats_everything() -> None:
    steps = {"startup_s": Decimal(0), "start_step": 0}
    lives = [life(1, "1", status="preempted", end_step=50, **steps), life(2, "2", end_step=100, **steps)]
    effort = run_cost(lives).effort
    assert effort is not None
    assert (effort.useful_steps, effort.repeated_steps, effort.lost_steps) == (100, 50, 0)
    assert effort.repeated_hours == 1


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"end_step": None}, "steps of attempt 1"),
        ({"startup_s": None}, "start-up time of attempt 1"),
        ({"startup_s": Decimal(4000)}, "longer than the attempt"),
        ({"start_step": 11}, "before its start"),
        ({"ended_at": None}, "no end"),
    ],
)
def test_why_the_effort_is_not_known(wrong: dict[str, object], reason: str) -> None:
    known = {"startup_s": Decimal(60), "start_step": 0, "end_step": 10}
    cost = run_cost([life(**{**known, **wrong})])
    assert cost.effort is None
    assert reason in cost.no_effort


def test_without_useful_steps_there_is_no_unit_cost_and_no_saving() -> None:
    started = [life(startup_s=Decimal(60), start_step=0, end_step=0)]
    assert usd_per_1k_useful_steps(run_cost(started)) is None
    assert realised_saving(started, Decimal(3)) is None
    assert realised_saving([life()], Decimal(3)) is None


def test_a_run_with_storage_and_what_an_accepted_result_cost() -> None:
    run_usd = cost_per_run_usd(Decimal("2.50"), Decimal(10), Decimal(100), Decimal("0.02"))
    assert run_usd == Decimal("27.00")
    assert cost_per_result_usd([run_usd, run_usd], 1) == Decimal("54.00")


@st.composite
def chains(draw: st.DrawFn) -> list[Life]:
    """Attempts, each from what an earlier one may have saved, on quantities and prices of any kind."""
    lives = []
    for attempt in range(1, draw(st.integers(1, 6)) + 1):
        seconds = draw(st.integers(1, 10**6))
        start_step = draw(st.integers(0, 500))
        end_step = draw(st.integers(start_step, 1000))
        start = START + timedelta(days=30 * attempt)
        lives.append(
            Life(
                attempt=attempt, status=draw(st.sampled_from(["completed", "failed", "preempted"])),
                quantity=draw(st.decimals("0.001", 64, places=3)), started_at=start,
                ended_at=start + timedelta(seconds=seconds), usd_per_hour=draw(st.decimals(0, 100, places=4)),
                startup_s=Decimal(draw(st.integers(0, seconds))), start_step=start_step, end_step=end_step,
                kept_step=draw(st.one_of(st.none(), st.integers(start_step, end_step))),
            )
        )  # fmt: skip
    return lives


@given(chains())
def test_the_parts_are_all_of_the_run(lives: list[Life]) -> None:
    cost = run_cost(lives)
    effort = cost.effort
    assert effort is not None
    assert money.add([effort.useful_usd, effort.repeated_usd, effort.lost_usd, effort.startup_usd]) == cost.usd
    made = sum((x.end_step or 0) - (x.start_step or 0) for x in lives)
    assert effort.useful_steps + effort.repeated_steps + effort.lost_steps == made
    assert min(effort.useful_steps, effort.repeated_steps, effort.lost_steps) >= 0
    hours = money.add([effort.useful_hours, effort.repeated_hours, effort.lost_hours, effort.startup_hours])
    assert abs(money.subtract(hours, cost.gpu_hours)) < Decimal("1e-24"), "four quotients of 34 digits"


@given(chains())
def test_each_step_counts_once_as_useful_or_lost(lives: list[Life]) -> None:
    effort = run_cost(lives).effort
    assert effort is not None
    seen = {step for x in lives for step in range(x.start_step or 0, x.end_step or 0)}
    assert effort.useful_steps + effort.lost_steps == len(seen)


@given(chains(), st.randoms(use_true_random=False))
def test_the_order_of_the_attempts_given_does_not_matter(lives: list[Life], random: object) -> None:
    shuffled = list(lives)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert run_cost(shuffled) == run_cost(lives)


@given(chains(), st.integers(1, 9))
def test_twice_the_price_is_twice_the_cost_and_the_same_saving(lives: list[Life], factor: int) -> None:
    dearer = [
        Life(**{name: getattr(x, name) for name in Life.__slots__ if name != "usd_per_hour"},
             usd_per_hour=(x.usd_per_hour or Decimal(0)) * factor)
        for x in lives
    ]  # fmt: skip
    assert abs(run_cost(dearer).usd - run_cost(lives).usd * factor) < Decimal("1e-18")
    first, second = realised_saving(lives, Decimal(7)), realised_saving(dearer, Decimal(7 * factor))
    assert (first is None) == (second is None)
    if first and second:
        assert abs(first.share - second.share) < Decimal("1e-18")


@given(chains())
def test_one_whole_attempt_at_the_same_price_saves_nothing(lives: list[Life]) -> None:
    only = lives[0]
    price = only.usd_per_hour or Decimal(0)
    ended_well = Life(**{**{name: getattr(only, name) for name in Life.__slots__}, "status": "completed"})
    saving = realised_saving([ended_well], price)
    if saving is not None:
        assert saving.share == 0
