"""Runs of the sample as an experiment tracker knows them: what was tried, what came of it, and the job that each was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from unitcost.samples.aws_work import RUNS
from unitcost.samples.lines import draw
from unitcost.samples.work import SWEEP, Job, Work, moment
from unitcost.samples.world import World

#: Rule of the settings: which results count. `lift` is the gain over the model that serves, in percent.
METRIC, ACCEPTED = "lift", "metrics.lift >= 1"
#: What a name begins with -> its metric, from and to, and from what on it is accepted [10^-4].
_LIFTS = {"ranker": (-6_000, 34_000), "bidder": (-9_000, 21_000), SWEEP: (-40_000, 14_000)}
_BAR = 10_000
_STATUS = {"COMPLETED": "FINISHED", "FAILED": "FAILED", "OUT_OF_MEMORY": "FAILED", "PREEMPTED": "KILLED"}
_PLACES = 4
_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """A run of the tracker: the job that it was, its lift in 10^-4 percent, and whether that is accepted; None = not told."""

    job: Job
    run_id: str
    params: dict[str, str]
    value: int | None
    accepted: bool | None
    outcome: str


def tracked(world: World, work: Work) -> list[Tracked]:
    """Runs of all jobs that trained, in the order of their jobs; a duplicate repeats the trial before it."""
    found: list[Tracked] = []
    finished: Tracked | None = None
    for job in work.jobs:
        if job.run not in RUNS:
            continue
        repeats = finished if job.outcome == "duplicate" else None
        run = _tracked(world, job, repeats)
        found.append(run)
        if run.outcome == "completed" and run.accepted is False and job.run == SWEEP:
            finished = run
    return found


def _tracked(world: World, job: Job, repeats: Tracked | None) -> Tracked:
    low, high = next(lift for name, lift in _LIFTS.items() if job.run.startswith(name))
    bits = world.bits("metric", job.name, job.job_id)
    drawn = int(draw(bits, 1, low, high)[0])
    outcome = _outcome(job, repeats)
    value: int | None = drawn if outcome in ("completed", "duplicate", "pruned") else None
    if outcome == "pruned":
        value = min(drawn, 0)
    if repeats:
        value = repeats.value
    return Tracked(
        job=job, run_id=hashlib.sha256(f"{world.seed} {job.key}".encode()).hexdigest()[:32], value=value,
        params=repeats.params if repeats else _params(bits, job), outcome=outcome, accepted=None if value is None else value >= _BAR,
    )  # fmt: skip


def _outcome(job: Job, repeats: Tracked | None) -> str:
    status = {"FAILED": "failed", "OUT_OF_MEMORY": "failed", "PREEMPTED": "cancelled"}.get(job.state)
    if job.state.startswith("CANCELLED"):
        status = "cancelled"
    if status:
        return status
    if job.outcome == "duplicate":
        return "duplicate" if repeats else "completed"
    return job.outcome


def _params(bits: Any, job: Job) -> dict[str, str]:
    rate, dropout, seed = draw(bits, 3, 1, 10_000).tolist()
    return {"learning_rate": f"{rate / 10_000_000:.7f}", "dropout": f"{dropout % 50 / 100:.2f}", "seed": str(seed)}


def answers(world: World, work: Work) -> Iterator[str]:
    """What the tracking server answers: the experiments, then the runs, one document a line."""
    experiments = {run: str(number) for number, run in enumerate(RUNS, 1)}
    yield json.dumps({"experiments": [{"experiment_id": key, "name": run} for run, key in experiments.items()]})
    runs = [_record(world, run, experiments) for run in tracked(world, work)]
    trials = [run for run in tracked(world, work) if run.job.run == SWEEP]
    if trials:
        runs.insert(0, _sweep(world, trials, experiments[SWEEP]))
    yield json.dumps({"runs": runs})


def sweep_id(world: World) -> str:
    """Id of the run that is the sweep itself."""
    return hashlib.sha256(f"{world.seed} {SWEEP}".encode()).hexdigest()[:32]


def _record(world: World, run: Tracked, experiments: dict[str, str]) -> dict[str, Any]:
    job = run.job
    tags = {"team": job.account, "project": RUNS[job.run][4]["project"], "mlflow.user": job.user}
    array, _, task = job.job_id.partition("_")
    tags |= {"SLURM_ARRAY_JOB_ID": array, "SLURM_ARRAY_TASK_ID": task} if task else {"SLURM_JOB_ID": array}
    if job.run == SWEEP:
        tags["mlflow.parentRunId"] = sweep_id(world)
    if run.outcome == "pruned":
        tags["optuna.state"] = "PRUNED"
    info = _info(run.run_id, job.name, experiments[job.run], _STATUS.get(job.state, "KILLED"))
    info |= {
        "start_time": _ms(moment(world, job.lives[0].start)),
        "end_time": _ms(moment(world, job.lives[-1].end or 0)),
    }
    metrics = [] if run.value is None else [_metric(run, info["end_time"])]
    return {"info": info, "data": {"metrics": metrics, "params": _pairs(run.params), "tags": _pairs(tags)}}


def _metric(run: Tracked, at: int) -> dict[str, Any]:
    return {"key": METRIC, "value": (run.value or 0) / 10**_PLACES, "timestamp": at, "step": 0}


def _sweep(world: World, trials: list[Tracked], experiment: str) -> dict[str, Any]:
    """The sweep: it holds nothing besides its trials."""
    team = RUNS[SWEEP][4]
    info = _info(sweep_id(world), SWEEP, experiment, "FINISHED")
    info["start_time"] = _ms(moment(world, min(run.job.lives[0].start for run in trials)))
    info["end_time"] = _ms(moment(world, max(run.job.lives[-1].end or 0 for run in trials)))
    tags = {"team": team["team"], "project": team["project"], "mlflow.user": trials[0].job.user}
    return {"info": info, "data": {"metrics": [], "params": [], "tags": _pairs(tags)}}


def _info(run_id: str, name: str, experiment: str, status: str) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "run_name": name,
        "experiment_id": experiment,
        "status": status,
        "lifecycle_stage": "active",
    }


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def _ms(at: datetime) -> int:
    return int(at.timestamp()) * _MS
