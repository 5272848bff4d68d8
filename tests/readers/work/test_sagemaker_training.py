"""Training jobs of SageMaker: lives, what they held, and what was billed."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tracker_files import SAMPLES, Told, into_ledger, read, read_text

from unitcost.facts.work import CPU
from unitcost.readers.work.aws_json import accelerators_of


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return read(SAMPLES / "sagemaker_training_jobs.json", tmp_path_factory.mktemp("sagemaker"))


def held(told: Told, job: str) -> list[dict[str, Any]]:
    return [row for row in told.rows("holdings") if row["workload_id"] == job]


def job(name: str = "j", **said: Any) -> dict[str, Any]:
    plain = {
        "TrainingJobName": name, "TrainingJobArn": f"arn/{name}", "TrainingJobStatus": "Completed",
        "SecondaryStatus": "Completed", "ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1},
        "TrainingStartTime": "2031-04-01T00:00:00Z", "TrainingEndTime": "2031-04-01T01:00:00Z",
    }  # fmt: skip
    return {**plain, **said}


def test_each_answer_is_a_workload(sample: Told) -> None:
    assert sample.plan.reader == "sagemaker-training"
    assert sample.plan.rejects == ()
    statuses = {name: row["status"] for name, row in sample.by("workloads", "workload_id").items()}
    assert statuses == {
        "fraud-spot-3": "completed", "preprocess-cpu": "failed", "never-got-one": "never started", "still-on": "running"
    }  # fmt: skip


def test_a_spot_job_has_lives_and_a_weight(sample: Told) -> None:
    first, second = held(sample, "fraud-spot-3")
    assert (first["attempt"], first["status"], second["status"]) == ("1", "preempted", "completed")
    assert (first["started_at"], first["ended_at"]) == ("2031-04-01 00:10:00.000000", "2031-04-01 02:10:00.000000")
    assert (second["started_at"], second["ended_at"]) == ("2031-04-01 03:10:00.000000", "2031-04-01 05:10:00.000000")
    assert (first["startup_s"], second["startup_s"]) == ("600.0", "300.0")
    assert (Decimal(first["quantity"]), first["accelerator"]) == (8, "A10G")
    # 4,320 of 14,400 s are billed: eight cards cost as much as 2.4 on demand.
    assert Decimal(first["billing_weight"]) == Decimal("2.4")
    assert first["pricing_category"] == "Dynamic"
    assert first["resource_id"].endswith("training-job/fraud-spot-3")


def test_a_job_of_a_tuning_job_is_a_trial(sample: Told) -> None:
    trial = sample.by("workloads", "workload_id")["fraud-spot-3"]
    assert (trial["kind"], trial["parent"], trial["team"]) == ("trial", "fraud-tuning", "risk")
    assert trial["tags"]["params.lr"] == "0.1"
    assert trial["metrics"]["validation:auc"] == "0.91"
    assert trial["metrics"]["BillableTimeInSeconds"] == "4320"
    assert trial["config_key"]


def test_a_machine_without_accelerators_counts_its_cores(sample: Told) -> None:
    [life] = held(sample, "preprocess-cpu")
    assert (life["accelerator"], Decimal(life["quantity"]), life["pricing_category"]) == (CPU, 16, "Standard")
    assert life["started_at"] == "2031-04-01 00:01:00.500000"
    assert sample.by("workloads", "workload_id")["preprocess-cpu"]["tags"]["failure"].startswith("AlgorithmError")


def test_a_job_that_got_no_instance_holds_nothing(sample: Told) -> None:
    assert held(sample, "never-got-one") == []


def test_unlike_instances_are_held_side_by_side(sample: Told) -> None:
    known, unknown = held(sample, "still-on")
    assert (known["accelerator"], Decimal(known["quantity"])) == ("A100-40GB", 8)
    assert "quantity" not in unknown
    assert "ended_at" not in known
    assert "1 jobs ran on instance types that are not known here" in sample.flags
    assert "1 jobs have no end" in sample.flags
    assert [row["instance_type"] for row in sample.rows("resources")][-2:] == ["ml.p4d.24xlarge", "ml.q9.huge"]


@pytest.mark.parametrize("form", ["{0}\n{1}", "[{0}, {1}]", '{{"TrainingJobs": [{0}, {1}], "NextToken": "x"}}'])
def test_answers_stand_in_several_forms(tmp_path: Path, form: str) -> None:
    told = read_text(form.format(json.dumps(job("a")), json.dumps(job("b"))), tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"a", "b"}
    assert told.plan.rejects == ()


def test_a_limit_of_time_is_a_timeout(tmp_path: Path) -> None:
    told = read_text(json.dumps(job(TrainingJobStatus="Stopped", SecondaryStatus="MaxRuntimeExceeded")), tmp_path)
    assert told.rows("workloads")[0]["status"] == "timeout"
    told = read_text(json.dumps(job(TrainingJobStatus="Stopped", SecondaryStatus="Stopped")), tmp_path)
    assert told.rows("workloads")[0]["status"] == "cancelled"


def test_lives_that_do_not_add_up_are_said(tmp_path: Path) -> None:
    assert "do not add up" in read_text(json.dumps(job(TrainingTimeInSeconds=7200)), tmp_path).flags
    assert "do not add up" not in read_text(json.dumps(job(TrainingTimeInSeconds=3601)), tmp_path).flags


STEP = {"Status": "Training", "StartTime": "2031-04-01T02:00:00Z", "EndTime": "2031-04-01T01:00:00Z"}
BAD = {
    "an end before the start": (job(TrainingEndTime="2031-03-01T00:00:00Z"), "before its start"),
    "a step that ends before it starts": (job(SecondaryStatusTransitions=[STEP]), "before its start"),
    "a step without a start": (job(SecondaryStatusTransitions=[{"Status": "Training"}]), "no transition with a start"),
    "steps of another type": (job(SecondaryStatusTransitions={"a": 1}), "is no list"),
    "no name": (job(TrainingJobName=None), "names no training job"),
    "no object": (["x"], "names no training job"),
    "a config of another type": (job(ResourceConfig="ml.g5.xlarge"), "no object"),
    "fewer than no instances": (job(ResourceConfig={"InstanceType": "ml.g5.xlarge", "InstanceCount": -1}), "negative"),
    "a moment in words": (job(TrainingStartTime="soon"), "not an ISO date"),
    "a moment beyond time": (job(TrainingStartTime=1e300), "no moment"),
    "a time in words": (job(TrainingTimeInSeconds="long"), "is not a number"),
    "the same job again": (job("good"), "stands in the file already"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_job_is_set_aside_and_the_others_load(tmp_path: Path, name: str) -> None:
    bad, reason = BAD[name]
    text = (
        json.dumps([job("good")])[:-1] + "," + json.dumps({"x": 0} | bad if isinstance(bad, dict) else {"y": bad}) + "]"
    )
    told = read_text(text, tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"good"}
    assert len(told.reasons) == 1
    assert reason in told.reasons[0]
    record = into_ledger(told, tmp_path / "ledger.duckdb")
    assert (record.rows_read, record.rows_accepted) == (2, 1)


def test_a_cut_answer_keeps_the_jobs_before_the_cut(tmp_path: Path) -> None:
    text = json.dumps([job("a"), job("b")])
    told = read_text(text[:-20], tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"a"}
    assert len(told.plan.rejects) == 1


@pytest.mark.parametrize(
    ("instance_type", "found"),
    [
        ("ml.p4d.24xlarge", ("A100-40GB", 8)), ("ml.g5.2xlarge", ("A10G", 1)), ("ml.g6e.48xlarge", ("L40S", 8)),
        ("ml.g7e.12xlarge", ("RTX-PRO-6000", 2)), ("ml.inf2.24xlarge", ("Inferentia2", 6)), ("c5.large", (CPU, 2)),
        ("ml.m5.24xlarge", (CPU, 96)), ("ml.g6f.xlarge", None), ("ml.m5.metal", None), ("nonsense", None), ("", None),
    ],
)  # fmt: skip
def test_what_an_instance_type_has(instance_type: str, found: tuple[str, int] | None) -> None:
    assert accelerators_of(instance_type) == found


def test_counts_are_those_of_the_price_list(shared_prices: Path) -> None:
    with (shared_prices / "instances.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["cloud"] == "aws"]
    checked = 0
    for row in rows:
        found = accelerators_of(row["instance_type"])
        if found is None:
            continue
        name, count = row["accelerator"] or CPU, row["accelerator_count"] or row["vcpus"]
        assert found == (name, Decimal(count)), row["instance_type"]
        checked += 1
    assert checked > 500
