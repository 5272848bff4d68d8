"""The life of a model version whose runs are in the ledger."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_capacity import DAY, HEADER, holding, hours, node, work

SERVED = ("--predictions-per-day", "200000", "--usd-per-1k", "3")


def run(name: str, kind: str, status: str, experiment: str = "ctr") -> tuple[str, dict[str, Any]]:
    values = {"workload_id": name, "kind": kind, "status": status, "experiment": experiment}
    return "workloads", {**values, "started_at": DAY, "ended_at": DAY + timedelta(hours=6)}


@pytest.fixture
def trained(desk: Desk) -> Desk:
    """A machine of 8 at 20 USD an hour for a day: its runs hold quarters of it, one of another experiment."""
    desk.load(str(desk.write("bill.csv", HEADER + hours("i-1", "n1", "20"))))
    runs = [
        run("final", "training", "completed"), run("crash", "training", "failed"), run("trial", "trial", "pruned"),
        run("other", "training", "completed", "cvr"),
    ]  # fmt: skip
    held = [holding(values["workload_id"], "n1", "2") for _, values in runs]
    work(desk, [node("n1", 8, "i-1"), *runs, *held])  # type: ignore[list-item]
    registry = {"model_versions": [{"name": "ctr", "version": "3", "run_id": "final", "current_stage": "None"}]}
    desk.load(str(desk.write("registry.json", json.dumps(registry))))
    return desk


def plan(desk: Desk, *more: str) -> dict[str, Any]:
    result = desk.run("plan", "lifetime", "--model-version", "ctr/3", *SERVED, "--json", *more)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_training_is_all_runs_of_the_experiment(trained: Desk) -> None:
    told = plan(trained)
    # each run held a quarter of 24 h x 20 USD; the run of the other experiment is not counted
    assert told["life"]["training"]["parts_usd"] == [
        ["completed trainings", "120"], ["failed trainings", "120"], ["pruned trials", "120"],
    ]  # fmt: skip
    assert told["answer"]["passing_day"] == 1


def test_what_the_settings_state_for_the_experiment_is_training_too(trained: Desk) -> None:
    trained.write(
        "unitcost.toml",
        "".join(
            f'[[charge]]\nwhat = "{what}"\nusd = {usd}\non = 2031-06-01\nowner.experiment = "{owner}"\ndriver = "{driver}"\n'
            for what, usd, owner, driver in (
                ("labelling", 3000, "ctr", "training"), ("hosting", 70, "ctr", "serving"), ("labels", 5, "cvr", "training"),
            )
        ),
    )  # fmt: skip
    told = plan(trained)
    assert ["labelling", "3000"] in told["life"]["training"]["parts_usd"]
    # 3,360 USD of training at 600 USD of serving a day
    assert told["answer"]["passing_day"] == 6
    assert plan(trained, "--part", "review=600")["answer"]["passing_day"] == 7


def test_an_unknown_version_is_answered_with_the_near_ones(trained: Desk) -> None:
    result = trained.run("plan", "lifetime", "--model-version", "ctr/2", *SERVED)
    assert result.exit_code == 2
    assert "`ctr/3`" in result.output
