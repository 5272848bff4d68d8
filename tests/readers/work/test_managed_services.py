"""Tables of training jobs and of requests, as other managed services give them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from tracker_files import into_ledger, read_text

VERTEX = "name,display_name,state,create_time,start_time,end_time,machine_type,accelerator_type,accelerator_count,replica_count,spot\n"
A = "projects/7/locations/eu/customJobs/1,ranker,JOB_STATE_SUCCEEDED,2031-04-01T00:00:00Z,2031-04-01T00:10:00Z,"
AZURE = "name,display_name,experiment_name,status,start_time,end_time,vm_size,instance_count,accelerator_count,tier,parent\n"


def test_jobs_of_vertex(tmp_path: Path) -> None:
    rows = (
        A + "2031-04-01T02:10:00Z,a2-highgpu-2g,NVIDIA_TESLA_A100,2,4,SPOT\n"
        "j2,,JOB_STATE_PENDING,2031-04-01T00:00:00Z,,,g2-standard-4,NVIDIA_L4,1,1,\n"
        "j3,,JOB_STATE_RUNNING,2031-04-01T00:00:00Z,2031-04-01T00:10:00Z,,n1-standard-8,,,1,no\n"
        "j4,,JOB_STATE_EXPIRED,2031-04-01T00:00:00Z,2031-04-01T00:10:00Z,2031-04-02T00:10:00Z,n1-standard-8,,0,1,\n"
    )
    told = read_text(VERTEX + rows, tmp_path)
    assert (told.plan.reader, told.plan.dialect, told.plan.rejects) == ("managed-training", "Vertex AI", ())
    jobs = told.by("workloads", "workload_id")
    assert [row["status"] for row in jobs.values()] == ["completed", "never started", "running", "timeout"]
    assert jobs["projects/7/locations/eu/customJobs/1"]["name"] == "ranker"
    first, third = told.rows("holdings")
    assert (Decimal(first["quantity"]), first["accelerator"], first["pricing_category"]) == (
        8,
        "A100",
        "Dynamic",
    )
    assert ("quantity" in third, third["pricing_category"]) == (False, "Standard")
    assert told.rows("resources")[0]["instance_type"] == "a2-highgpu-2g"
    assert "1 jobs do not say how many accelerators" in told.flags


def test_jobs_of_azure(tmp_path: Path) -> None:
    rows = (
        "brave_sun,train,ctr,Completed,2031-04-01T00:10:00Z,2031-04-01T02:10:00Z,Standard_NC24ads_A100_v4,2,1,LowPriority,tune\n"
        "calm_sea,train,ctr,Canceled,2031-04-01T00:10:00Z,2031-04-01T02:10:00Z,Standard_NC24ads_A100_v4,1,1,Dedicated,\n"
        "odd_one,train,ctr,Resting,2031-04-01T00:10:00Z,2031-04-01T02:10:00Z,Standard_NC24ads_A100_v4,1,1,,\n"
    )
    told = read_text(AZURE + rows, tmp_path)
    assert told.plan.dialect == "Azure Machine Learning"
    jobs = told.by("workloads", "workload_id")
    assert [(row["kind"], row["status"]) for row in jobs.values()] == [
        ("trial", "completed"), ("training", "cancelled"), ("training", "unknown")
    ]  # fmt: skip
    assert [row.get("pricing_category") for row in told.rows("holdings")] == ["Dynamic", "Standard", None]
    assert "1 jobs have a state that is not known here" in told.flags


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (A + "2031-03-01T00:00:00Z,m,L4,1,1,\n", "lies before the start"),
        (A + "soon,m,L4,1,1,\n", "not a moment"),
        (A + "2031-04-02T00:00:00Z,m,L4,four,1,\n", "not a number"),
        (A + "2031-04-02T00:00:00Z,m,L4,-1,1,\n", "negative"),
        (A + "2031-04-02T00:00:00Z,m,L4,1,1,perhaps\n", "neither yes nor no"),
        (",,JOB_STATE_RUNNING,,,,m,,,1,\n", "name is missing"),
        ("good,,JOB_STATE_RUNNING,,,,m,,,1,\n", "stands in an earlier row"),
        ("short,row\n", "cells where the header has"),
    ],
)
def test_a_bad_job_is_set_aside(tmp_path: Path, row: str, reason: str) -> None:
    told = read_text(VERTEX + "good,,JOB_STATE_PENDING,,,,m,,,1,\n" + row, tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"good"}
    assert reason in told.reasons[0]
    assert into_ledger(told, tmp_path / "ledger.duckdb").rows_rejected == 1


def test_counts_of_endpoints(tmp_path: Path) -> None:
    day = "2031-04-01,2031-04-02"
    text = (
        "endpoint_id,start_time,end_time,prediction_count,error_count\n"
        f"rank,{day},800,50\nrank,{day},200,\nidle,{day},0,0\ndark,{day},,\n"
    )
    told = read_text(text, tmp_path)
    assert told.plan.reader == "managed-endpoints"
    made = [(r["service"], r["unit"], Decimal(r["quantity"]), r.get("attempts")) for r in told.rows("outputs")]
    assert made == [
        ("rank", "predictions", 750, "800.000000000000"), ("rank", "predictions", 200, None),
        ("idle", "predictions", 0, "0.000000000000"),
    ]  # fmt: skip
    assert set(told.by("workloads", "workload_id")) == {"rank", "idle", "dark"}
    assert "1 endpoints have no count: their traffic is unknown, not zero" in told.flags


def test_requests_and_predictions_are_not_added(tmp_path: Path) -> None:
    text = "endpoint,start_time,end_time,requests,predictions\na,2031-04-01,2031-04-02,10,80\n"
    assert {row["unit"]: Decimal(row["quantity"]) for row in read_text(text, tmp_path).rows("outputs")} == {
        "requests": 10, "predictions": 80
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,2031-04-02,2031-04-01,5,", "lies before the start"),
        ("a,2031-04-01,2031-04-01,5,", "no period"),
        ("a,2031-04-01,,5,", "no period"),
        ("a,2031-04-01,2031-04-02,5.5,", "not a whole number"),
        ("a,2031-04-01,2031-04-02,NaN,", "not a number"),
        ("a,2031-04-01,2031-04-02,5,6", "cannot have failed"),
        (",2031-04-01,2031-04-02,5,", "endpoint is missing"),
        ("a,2031-04-01,2031-04-02,9999999999999,", "cannot hold|can hold"),
    ],
)
def test_a_bad_count_is_set_aside(tmp_path: Path, row: str, reason: str) -> None:
    text = f"endpoint,start_time,end_time,requests,errors\ngood,2031-04-01,2031-04-02,1,0\n{row}\n"
    told = read_text(text, tmp_path)
    assert [r["service"] for r in told.rows("outputs")] == ["good"]
    assert any(part in told.reasons[0] for part in reason.split("|"))
    assert into_ledger(told, tmp_path / "ledger.duckdb").rows_rejected == 1
