"""Trials of a sweep: which repeat others, and what pruning saved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.run_answers import Known, group_answers, run_answers
from unitcost.economics.sweeps import duplicates_of
from unitcost.facts.runs import HeldLife, Run, RunAnswer

START = datetime(2031, 4, 1, tzinfo=UTC)


def run(
    name: str, status: str, hours: float, *, kind: str = "trial", parent: str = "own:sweep", key: str = "", day: int = 0,
) -> Run:  # fmt: skip
    began = START + timedelta(days=day)
    return Run(
        workload=f"own:{name}", kind=kind, name=name, parent=parent, experiment="e", project="", status=status,
        accepted=False, started_at=began, ended_at=began + timedelta(hours=hours), config_key=key, metrics={}, tags={},
    )  # fmt: skip


def life(of: Run, quantity: int) -> HeldLife:
    return HeldLife(
        attempt=1, status=of.status, accelerator="A100", pricing_category="", quantity=Decimal(quantity),
        started_at=of.started_at, ended_at=of.ended_at, startup_s=None, start_step=None, end_step=None, kept_step=None,
    )  # fmt: skip


def answers(*runs: Run, price: str | None = "3", quantity: int = 1) -> dict[str, RunAnswer]:
    usd = None if price is None else Decimal(price)
    known = Known(
        bills={}, lives={r.workload: [(life(r, quantity), usd)] for r in runs}, accepted=dict.fromkeys((r.workload for r in runs), False)
    )  # fmt: skip
    return {answer.run.name: answer for answer in run_answers(runs, known, at="t")}


def saved(answer: RunAnswer) -> Decimal | None:
    assert answer.pruning_saved is not None
    return answer.pruning_saved.value


def test_the_rest_of_the_full_length_is_saved_on_all_cards() -> None:
    found = answers(run("a", "completed", 4), run("p", "pruned", 1), quantity=2)
    assert saved(found["p"]) == 3 * 2 * 3
    assert found["a"].pruning_saved is None


def test_the_full_length_is_that_of_trials_of_the_same_sweep() -> None:
    """Neither the sweep itself, nor the last training, nor another sweep of the experiment is a full trial."""
    others = [
        run("sweep", "completed", 40, kind="sweep", parent=""), run("final", "completed", 90, kind="training"),
        run("other", "completed", 9, parent="own:sweep-2"),
    ]  # fmt: skip
    assert saved(answers(run("a", "completed", 4), run("p", "pruned", 1), *others)["p"]) == 9
    alone = answers(run("p", "pruned", 1), *others)["p"]
    assert saved(alone) is None
    assert alone.pruning_saved is not None
    assert alone.pruning_saved.note == "no trial of its sweep ran to its end"


def test_a_trial_pruned_after_the_full_length_saved_nothing() -> None:
    assert saved(answers(run("a", "completed", 4), run("p", "pruned", 5))["p"]) == 0


def test_what_an_unpriced_trial_saved_is_not_known() -> None:
    found = answers(run("a", "completed", 4), run("p", "pruned", 1), price=None)["p"]
    assert found.pruning_saved is not None
    assert found.pruning_saved.value is None
    assert "no price" in found.pruning_saved.note


def test_trying_a_failed_configuration_again_is_no_duplicate() -> None:
    trials = [
        run("a", "failed", 1, key="k"), run("b", "completed", 1, key="k", day=1), run("c", "completed", 1, key="k", day=2),
        run("d", "completed", 1), run("e", "completed", 1, key="k", day=3, parent="own:other"),
    ]  # fmt: skip
    assert duplicates_of(trials) == {"own:c": "own:b"}


STATUSES = ["completed", "pruned", "failed", "timeout", "cancelled", "preempted", "unknown"]
TRIALS = st.lists(
    st.builds(
        run, name=st.uuids().map(str), status=st.sampled_from(STATUSES), hours=st.integers(0, 99),
        key=st.sampled_from(["", "a", "b"]), day=st.integers(0, 9),
    ),
    min_size=1, max_size=9,
)  # fmt: skip


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_the_trials_does_not_matter(trials: list[Run], random: Random) -> None:
    shuffled = list(trials)
    random.shuffle(shuffled)
    assert answers(*shuffled) == answers(*trials)


@given(TRIALS)
def test_the_trials_are_all_of_the_sweep_and_only_pruned_ones_save(trials: list[Run]) -> None:
    found = list(answers(*trials).values())
    (group,) = group_answers(found, at="t")
    assert group.cost.value == money.add(answer.cost.value or money.ZERO for answer in found)
    assert all((answer.pruning_saved is None) == (answer.outcome != "pruned") for answer in found)
    assert all((saved(answer) or 0) >= 0 for answer in found if answer.pruning_saved)
