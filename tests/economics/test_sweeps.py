"""What a sweep cost, and what pruning saved."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.sweeps import duplicates_of, sweep_cost
from unitcost.facts.runs import Life, Trial

START = datetime(2031, 4, 1, tzinfo=UTC)


def trial(
    name: str, status: str = "completed", hours: str | None = "4", *, price: str | None = "3", key: str = "", day: int = 0,
    accepted: bool | None = False, gpus: str = "1",
) -> Trial:  # fmt: skip
    start = START + timedelta(days=day)
    end = start + timedelta(seconds=int(Decimal(hours) * 3600)) if hours is not None else None
    held = Life(
        attempt=1, status=status, quantity=Decimal(gpus), started_at=start, ended_at=end,
        usd_per_hour=Decimal(price) if price is not None else None,
    )  # fmt: skip
    return Trial(trial_id=name, status=status, lives=(held,), accepted=accepted, config_key=key)


def test_39_a_sweep_with_pruned_trials(shared_cases: Path) -> None:
    folder = shared_cases / "39-sweep-with-pruned-trials"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "prices.csv").open(encoding="utf-8") as stream:
        [prices] = csv.DictReader(stream)
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    trials = [
        trial(
            row["trial"], row["state"], row["hours"], price=prices["usd_per_gpu_hour"], day=int(row["trial"]),
            key=row["duplicate_of"] or row["trial"], accepted=row["accepted"] == "yes", gpus=row["gpus"],
        )
        for row in rows
    ]  # fmt: skip
    for full_hours in (Decimal(prices["full_trial_hours"]), None):
        cost = sweep_cost(trials, full_hours)
        assert cost.usd == Decimal(expected["total_usd"])
        assert cost.usd_per_accepted == Decimal(expected["usd_per_accepted"])
        assert cost.pruning_saved_usd == Decimal(expected["pruning_saved_usd"])
        assert cost.failed_usd == Decimal(expected["failed_usd"])
        assert cost.duplicate_usd == Decimal(expected["duplicate_usd"])
        assert cost.duplicates == (("6", "1"),)
        assert cost.full_hours == 4


def test_without_an_accepted_trial_there_is_no_cost_per_accepted() -> None:
    cost = sweep_cost([trial("a"), trial("b", accepted=None)])
    assert (cost.usd, cost.accepted, cost.usd_per_accepted) == (24, 0, None)


def test_trying_a_failed_configuration_again_is_no_duplicate() -> None:
    trials = [trial("a", "failed", key="k"), trial("b", key="k", day=1), trial("c", key="k", day=2), trial("d", key="")]
    assert duplicates_of(trials) == {"c": "b"}


def test_what_is_not_known_is_listed_apart() -> None:
    trials = [
        trial("done"), trial("open", "running", None), trial("unpriced", price=None),
        trial("never", "never started", None), Trial(trial_id="unheld", status="completed", lives=()),
    ]  # fmt: skip
    cost = sweep_cost(trials)
    assert cost.usd == 12
    assert cost.open_trials == ("open",)
    assert cost.unpriced_trials == ("unheld", "unpriced")
    assert cost.never_started == ("never",)


def test_a_pruned_trial_longer_than_the_others_saved_nothing() -> None:
    assert sweep_cost([trial("a", hours="2"), trial("b", "pruned", "3")]).pruning_saved_usd == 0
    assert sweep_cost([trial("b", "pruned", "3")]).pruning_saved_usd is None


def test_what_the_sweep_held_itself_is_part_of_it() -> None:
    own = trial("own", hours="1").lives
    cost = sweep_cost([trial("a", accepted=True)], own=own)
    assert (cost.usd, cost.own_usd, cost.usd_per_accepted) == (15, 3, 15)


STATUSES = ["completed", "pruned", "failed", "timeout", "cancelled", "preempted", "running", "unknown", "never started"]
TRIALS = st.lists(
    st.builds(
        trial,
        name=st.uuids().map(str),
        status=st.sampled_from(STATUSES),
        hours=st.one_of(st.none(), st.decimals(0, 99, places=2).map(str)),
        price=st.one_of(st.none(), st.decimals(0, 99, places=5).map(str)),
        key=st.sampled_from(["", "a", "b"]),
        day=st.integers(0, 9),
        accepted=st.sampled_from([True, False, None]),
        gpus=st.decimals("0.125", 16, places=3).map(str),
    ),
    max_size=9,
)


@given(TRIALS)
def test_the_parts_are_all_of_the_sweep(trials: list[Trial]) -> None:
    cost = sweep_cost(trials)
    parts = [cost.completed_usd, cost.duplicate_usd, cost.pruned_usd, cost.failed_usd, cost.stopped_usd, cost.own_usd]
    assert money.add(parts) == cost.usd
    assert min(parts) >= 0


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_the_trials_does_not_matter(trials: list[Trial], random: object) -> None:
    shuffled = list(trials)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sweep_cost(shuffled) == sweep_cost(trials)


@given(TRIALS, st.decimals(0, 50, places=2))
def test_only_pruned_trials_save_and_no_more_than_their_full_length(trials: list[Trial], full: Decimal) -> None:
    saved = sweep_cost(trials, full).pruning_saved_usd
    most = sum(
        full * x.lives[0].quantity * (x.lives[0].usd_per_hour or Decimal(0)) for x in trials if x.status == "pruned"
    )
    assert saved is not None
    assert 0 <= saved <= most
