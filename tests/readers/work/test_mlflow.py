"""Runs of MLflow reach the ledger as what they are: sweeps, trials, failures, and what they say they held."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Desk
from tracker_files import SAMPLES, Told, ask, into_ledger, read, read_text

from unitcost.facts.work import STATUSES
from unitcost.readers.work.mlflow_answers import RUN_STATUSES

START_MS = 1932768000000  # 2031-04-01T00:00:00Z
HOUR_MS = 3_600_000


def run(run_id: str = "r", **parts: Any) -> dict[str, Any]:
    """Run of a REST answer; members of `info` as arguments, `data` given whole."""
    data = parts.pop("data", {})
    info = {"run_id": run_id, "experiment_id": "1", "status": "FINISHED", "start_time": START_MS}
    return {"info": {**info, "end_time": START_MS + HOUR_MS, **parts}, "data": data}


def answer(*runs: Any) -> str:
    return json.dumps({"runs": list(runs)})


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return read(SAMPLES / "mlflow_runs.json", tmp_path_factory.mktemp("mlflow"))


def test_each_run_is_a_workload(sample: Told) -> None:
    written = json.loads((SAMPLES / "mlflow_runs.json").read_text(encoding="utf-8"))
    assert sample.plan.reader == "mlflow"
    assert sample.plan.rows_read == len(written["runs"]) == len(sample.rows("workloads"))
    assert sample.plan.rejects == ()


def test_parents_are_sweeps_and_children_trials(sample: Told) -> None:
    kinds = {name: row["kind"] for name, row in sample.by("workloads", "workload_id").items()}
    assert kinds["sweep-a"] == "sweep"
    assert {kinds[f"trial-{n}"] for n in (1, 2, 3, 5, 6)} == {"trial"}
    assert kinds["in-slurm"] == "training"
    assert kinds["evaluation"] == "evaluation"


def test_statuses_are_ours(sample: Told) -> None:
    statuses = {name: row["status"] for name, row in sample.by("workloads", "workload_id").items()}
    assert statuses == {
        "trial-1": "completed", "trial-2": "completed", "trial-3": "pruned", "trial-5": "failed",
        "trial-6": "completed", "sweep-a": "completed", "in-slurm": "completed", "evaluation": "cancelled",
        "unfinished": "running", "planned": "never started",
    }  # fmt: skip
    assert set(RUN_STATUSES.values()) <= set(STATUSES)


def test_who_and_when(sample: Told) -> None:
    trial = sample.by("workloads", "workload_id")["trial-2"]
    assert trial["started_at"] == "2031-04-01 00:00:00.000000"
    assert trial["ended_at"] == "2031-04-01 04:00:00.000000"
    assert (trial["parent"], trial["team"], trial["experiment"]) == ("sweep-a", "search", "fraud model")
    assert trial["tags"]["mlflow.user"] == "u1"
    assert "ended_at" not in sample.by("workloads", "workload_id")["unfinished"]
    assert all("accepted" not in row for row in sample.rows("workloads"))


def test_metrics_parameters_and_tags_are_kept(sample: Told) -> None:
    trial = sample.by("workloads", "workload_id")["trial-2"]
    assert trial["metrics"]["auc"] == "0.93"
    assert trial["tags"]["params.lr"] == "0.001"
    assert trial["tags"]["accepted"] == "yes"
    assert sample.by("workloads", "workload_id")["trial-5"]["metrics"] == {"auc": "NaN"}
    assert "1 runs logged a metric that is no number" in sample.flags


def test_equal_parameters_are_one_configuration(sample: Told) -> None:
    keys = {name: row.get("config_key") for name, row in sample.by("workloads", "workload_id").items()}
    assert keys["trial-1"] == keys["trial-6"]
    assert keys["trial-1"] != keys["trial-2"], "another seed is another configuration"
    assert keys["sweep-a"] is None, "without parameters nothing tells that runs are alike"


def test_only_stated_accelerators_are_held(sample: Told) -> None:
    held = {name: row["quantity"] for name, row in sample.by("holdings", "workload_id").items()}
    counts = {name: Decimal(quantity) for name, quantity in held.items()}
    assert counts == {
        "trial-1": 1, "trial-2": 1, "trial-3": 1, "trial-5": 1, "trial-6": 1, "evaluation": 8, "unfinished": 2
    }  # fmt: skip
    assert "1 sweeps state accelerators that their trials state too" in sample.flags
    evaluation = sample.by("holdings", "workload_id")["evaluation"]
    assert (evaluation["accelerator"], evaluation["node"], evaluation["pricing_category"]) == ("L4", "n7", "Dynamic")
    assert "ended_at" not in sample.by("holdings", "workload_id")["unfinished"]


def test_what_the_tracker_saw_of_the_node_counts_nothing(tmp_path: Path) -> None:
    seen = [{"key": f"system/gpu_{n}_utilization_percentage", "value": 90.0, "timestamp": 1} for n in range(8)]
    told = read_text(answer(run(data={"metrics": seen})), tmp_path)
    assert told.rows("holdings") == []
    assert len(told.rows("workloads")[0]["metrics"]) == 8
    assert "1 of 1 runs do not say how many accelerators they held" in told.flags


def test_a_run_in_a_job_names_the_job_and_holds_nothing_itself(sample: Told) -> None:
    workload = sample.by("workloads", "workload_id")["in-slurm"]
    assert workload["tags"]["scheduler_job"] == "slurm:500"
    assert "in-slurm" not in sample.by("holdings", "workload_id")
    assert "1 of 10 runs are part of a scheduler's job" in sample.flags


@pytest.mark.parametrize(
    ("tags", "job"),
    [
        ({"SLURM_JOB_ID": " 77 "}, "slurm:77"),
        ({"SLURM_JOB_ID": "90", "SLURM_ARRAY_JOB_ID": "88", "SLURM_ARRAY_TASK_ID": "3"}, "slurm:88_3"),
        ({"pod_name": "train-0"}, "kubernetes:train-0"),
        ({"SLURM_JOB_ID": ""}, None),
    ],
)
def test_which_job_a_run_is_part_of(tmp_path: Path, tags: dict[str, str], job: str | None) -> None:
    told = read_text(answer(run(data={"tags": tags})), tmp_path)
    assert told.rows("workloads")[0]["tags"].get("scheduler_job") == job


def test_metrics_with_a_data_set_are_qualities(sample: Told) -> None:
    found = {(row["subject"], row["metric"]): row for row in sample.rows("qualities")}
    assert set(found) == {("in-slurm", "f1"), ("evaluation", "recall")}
    stated = found["in-slurm", "f1"]
    assert (stated["value"], stated["n"], stated["data_set"]) == ("0.81", "5000", "fraud-holdout@ab12")
    assert found["evaluation", "recall"]["data_set"] == "holdout@ef56"
    assert stated["measured_at"] == "2031-04-01 04:00:00.000000"


def test_a_further_page_is_missed(sample: Told) -> None:
    assert "names a next page" in sample.flags


def test_pages_one_after_the_other_are_one_answer(tmp_path: Path) -> None:
    first = json.dumps({"runs": [run("a")], "next_page_token": "x"})
    told = read_text(
        first + "\n" + answer(run("b", data={"tags": [{"key": "mlflow.parentRunId", "value": "a"}]})), tmp_path
    )
    assert {name: row["kind"] for name, row in told.by("workloads", "workload_id").items()} == {
        "a": "sweep",
        "b": "trial",
    }
    assert "next page" not in told.flags


@pytest.mark.parametrize("form", ["array", "lines"])
def test_runs_as_the_client_prints_them(tmp_path: Path, form: str) -> None:
    data = {"metrics": {"auc": 0.5}, "params": {"lr": "1"}, "tags": {"gpus": "3"}}
    runs = [run("a", data=data), run("b", data=data)]
    told = read_text(json.dumps(runs) if form == "array" else "\n".join(map(json.dumps, runs)), tmp_path)
    assert [row["quantity"] for row in told.rows("holdings")] == ["3.000000000000"] * 2
    assert told.rows("workloads")[0]["metrics"] == {"auc": "0.5"}


def test_versions_name_their_run_endpoint_and_predecessor(tmp_path: Path) -> None:
    told = read(SAMPLES / "mlflow_versions.json", tmp_path)
    assert told.by("model_versions", "model_version") == {
        "fraud/1": {"model_version": "fraud/1", "run": "trial-1"},
        "fraud/2": {"model_version": "fraud/2", "run": "in-slurm", "predecessor": "fraud/1"},
        "fraud/3": {"model_version": "fraud/3", "run": "trial-2", "predecessor": "fraud/2", "endpoint": "ep/fraud"},
    }


def test_registered_models_tell_of_their_latest_versions(tmp_path: Path) -> None:
    latest = [{"name": "m", "version": 4, "run_id": "r", "tags": {"serving_endpoint": "ep/m"}}]
    told = read_text(json.dumps({"registered_models": [{"name": "m", "latest_versions": latest}]}), tmp_path)
    assert told.rows("model_versions") == [{"model_version": "m/4", "run": "r", "endpoint": "ep/m"}]


def test_a_table_of_runs(tmp_path: Path) -> None:
    told = read(SAMPLES / "mlflow_search_runs.csv", tmp_path)
    runs = told.by("workloads", "workload_id")
    assert told.plan.dialect == "search_runs"
    assert runs["a1"]["started_at"] == "2031-04-01 00:00:00.250000"
    assert runs["a2"]["name"] == 'second, "again"'
    assert (runs["a1"]["kind"], runs["a2"]["kind"], runs["a3"]["kind"]) == ("sweep", "trial", "training")
    assert runs["a1"]["metrics"] == {"auc": "0.9"}
    assert runs["a2"]["metrics"] == {"loss": "1.25"}
    assert [(row["workload_id"], Decimal(row["quantity"])) for row in told.rows("holdings")] == [("a1", 2)]


def test_records_of_a_table_say_the_same(tmp_path: Path) -> None:
    record = {
        "run_id": "a", "experiment_id": "7", "status": "FINISHED", "artifact_uri": "x", "start_time": START_MS,
        "end_time": START_MS + HOUR_MS, "metrics.auc": 0.5, "params.num_gpus": "2", "tags.team": None,
    }  # fmt: skip
    told = read_text(json.dumps([record]), tmp_path)
    assert told.rows("workloads")[0]["ended_at"] == "2031-04-01 01:00:00.000000"
    assert told.rows("workloads")[0]["metrics"] == {"auc": "0.5"}
    assert Decimal(told.rows("holdings")[0]["quantity"]) == 2


BAD = {
    "ends before its start": (run(end_time=START_MS - 1), "before its start"),
    "no id": (run("", run_uuid=None), "no id"),
    "a moment in words": (run(start_time="soon"), "'soon' is not an ISO date"),
    "a moment beyond time": (run(start_time=10**30), "no time in milliseconds"),
    "a moment before computers": (run(start_time=-5), "is not an ISO date"),
    "no object": (["x"], "the run is"),
    "no info": ({"data": {}}, "info is missing"),
    "metrics of another type": (run(data={"metrics": 5}), "neither a list nor an object"),
    "a metric that is a list": (run(data={"metrics": [{"key": "a", "value": [1]}]}), "no single value"),
    "a tag without a key": (run(data={"tags": [{"value": "x"}]}), "has no key"),
    "a run that stands twice": (run("good"), "stands in the file already"),
    "a row beyond all measure": (run(data={"tags": {"t": "x" * 5_000_000}}), "longer than 4 MiB"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_run_is_set_aside_and_the_others_load(tmp_path: Path, name: str) -> None:
    bad, reason = BAD[name]
    told = read_text(answer(run("good"), bad, run("after")), tmp_path)
    assert [row["workload_id"] for row in told.rows("workloads")] == ["good", "after"]
    assert len(told.reasons) == 1
    assert reason in told.reasons[0]
    record = into_ledger(told, tmp_path / "ledger.duckdb")
    assert (record.rows_read, record.rows_accepted, record.rows_rejected) == (3, 2, 1)


def test_a_truncated_answer_keeps_the_runs_before_the_cut(tmp_path: Path) -> None:
    whole = answer(run("a"), run("b"), run("c"))
    for cut in (len(whole) - 1, len(whole) - 30, whole.index('"b"') + 2):
        told = read_text(whole[:cut], tmp_path)
        assert told.plan.rejects
        assert told.plan.rows_read == len(told.rows("workloads")) + len(told.plan.rejects)
        assert told.rows("workloads")[0]["workload_id"] == "a"


def test_ten_thousand_parameters_are_one_run(tmp_path: Path) -> None:
    params = {f"layer.{n}.size": str(n) for n in range(10_000)}
    told = read_text(answer(run(data={"params": [{"key": k, "value": v} for k, v in params.items()]})), tmp_path)
    into_ledger(told, tmp_path / "ledger.duckdb")
    assert ask(
        tmp_path / "ledger.duckdb", "SELECT cardinality(tags), tags['params.layer.9999.size'] FROM workloads"
    ) == [(10_000, "9999")]


def test_a_metric_that_is_no_number_is_no_quality(tmp_path: Path) -> None:
    metrics = [
        {"key": key, "value": value, "timestamp": START_MS, "dataset_name": "d"}
        for key, value in {"a": float("nan"), "b": "Infinity", "c": 0.25, "d": "n/a"}.items()
    ]
    told = read_text(answer(run(data={"metrics": metrics})), tmp_path)
    assert [row["metric"] for row in told.rows("qualities")] == ["c"]
    into_ledger(told, tmp_path / "ledger.duckdb")
    assert ask(tmp_path / "ledger.duckdb", "SELECT metrics['a'], metrics['b'] FROM workloads") == [("NaN", "Infinity")]


@pytest.mark.parametrize(
    ("tags", "params", "count"),
    [
        ({"gpus": "4"}, {"num_gpus": "8"}, 4),
        ({}, {"num_gpus": "8"}, 8),
        ({}, {"gpus": "8", "num_nodes": "2"}, 16),
        ({"gpus": "0.25"}, {}, Decimal("0.25")),
        ({"gpus": "auto"}, {}, None),
        ({"gpus": "-1"}, {}, None),
        ({"gpus": "0"}, {}, None),
        ({}, {"devices": "auto", "num_nodes": "2"}, None),
        ({}, {"devices": "4"}, None),
    ],
)
def test_how_many_accelerators_a_run_states(tmp_path: Path, tags: Any, params: Any, count: Any) -> None:
    told = read_text(answer(run(data={"tags": tags, "params": params})), tmp_path)
    held = [Decimal(row["quantity"]) for row in told.rows("holdings")]
    assert held == ([] if count is None else [count])


def test_39_a_sweep_with_pruned_trials_through_the_reader(tmp_path: Path, shared_cases: Path) -> None:
    folder = shared_cases / "39-sweep-with-pruned-trials"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "prices.csv").open(encoding="utf-8") as stream:
        [prices] = csv.DictReader(stream)
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        trials = [_as_run(row) for row in csv.DictReader(stream)]
    desk = Desk(tmp_path)
    price = prices["usd_per_gpu_hour"]
    desk.write(
        "unitcost.toml",
        f"[work]\nprices = [ {{ accelerator = '*', usd_per_hour = {price} }} ]\n"
        "accepted = \"tags.accepted = 'yes' and metrics.auc >= 0.9\"\n",
    )
    desk.load(str(desk.write("runs.json", answer(run("sweep"), *trials))))
    runs = desk.report()["runs"]
    (experiment,) = runs["experiments"]
    assert Decimal(experiment["cost"]) == Decimal(expected["total_usd"])
    assert Decimal(experiment["per_accepted"]) == Decimal(expected["usd_per_accepted"])
    assert Decimal(experiment["pruning_saved"]) == Decimal(expected["pruning_saved_usd"])
    by_outcome: dict[str, Decimal] = defaultdict(Decimal)
    for found in runs["runs"]:
        by_outcome[found["outcome"]] += Decimal(found["cost"] or 0)
    assert by_outcome["failed"] == Decimal(expected["failed_usd"])
    assert by_outcome["duplicate"] == Decimal(expected["duplicate_usd"])


def _as_run(row: dict[str, str]) -> dict[str, Any]:
    """A trial of the case as MLflow would tell of it."""
    start = START_MS + int(row["trial"])
    tags = {"mlflow.parentRunId": "sweep", "gpus": row["gpus"], "accepted": row["accepted"]}
    if row["state"] == "pruned":
        tags["state"] = "TrialState.PRUNED"
    data = {
        "tags": tags, "params": {"configuration": row["duplicate_of"] or row["trial"]},
        "metrics": {"auc": row["metric"]} if row["metric"] else {},
    }  # fmt: skip
    status = "FAILED" if row["state"] == "failed" else "FINISHED"
    end = start + int(Decimal(row["hours"]) * HOUR_MS)
    return run(row["trial"], status=status, start_time=start, end_time=end, data=data)
