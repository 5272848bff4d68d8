"""Runs of Weights & Biases, from its table and its API."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tracker_files import into_ledger, read_text

HEAD = "Name,State,Notes,User,Tags,Created,Runtime,Sweep,gpus,lr,val/acc\n"


def run(run_id: str = "abc", **said: Any) -> dict[str, Any]:
    plain = {
        "id": run_id, "name": f"{run_id}-name", "state": "finished", "created_at": "2031-04-01T00:00:00Z", "config": {},
        "summary": {"_runtime": 3600.5},
    }  # fmt: skip
    return {**plain, **said}


def test_runs_of_the_exported_table(tmp_path: Path) -> None:
    rows = (
        '"fast-1",finished,,ann,"team:ads, best",2031-04-01T00:00:00.000Z,7200,sw1,4,0.1,0.93\n'
        '"fast-2",crashed,,ann,,2031-04-01T00:00:00.000Z,3600,sw1,4,0.2,NaN\n'
        '"fast-1",running,,ann,,2031-04-02T00:00:00.000Z,60,,,0.1,\n'
    )
    told = read_text(HEAD + rows, tmp_path)
    assert (told.plan.reader, told.plan.dialect, told.plan.rejects) == ("wandb", "exported table", ())
    runs = told.by("workloads", "workload_id")
    first = runs["fast-1@2031-04-01T00:00:00.000Z"]
    assert (first["kind"], first["parent"], first["team"], first["status"]) == ("trial", "sw1", "ads", "completed")
    assert first["ended_at"] == "2031-04-01 02:00:00.000000"
    assert first["tags"]["best"] == "yes"
    assert first["metrics"]["val/acc"] == "0.93"
    assert "config_key" not in first
    assert runs["fast-2@2031-04-01T00:00:00.000Z"]["status"] == "crashed"
    assert runs["sw1"]["kind"] == "sweep"
    assert "ended_at" not in runs["fast-1@2031-04-02T00:00:00.000Z"]
    assert [Decimal(row["quantity"]) for row in told.rows("holdings")] == [4, 4]
    assert "1 of 3 runs do not say how many accelerators" in told.flags


def test_runs_of_the_api(tmp_path: Path) -> None:
    runs = [
        run("a", config={"lr": {"value": 0.10, "desc": None}, "num_gpus": 2, "_wandb": {"x": 1}}, sweep={"id": "sw"}),
        run("b", config={"num_gpus": 2, "lr": 0.10}, sweep="sw", state="killed", tags=["spot=true"], group="ctr"),
        run("c", job_type="eval", metadata={"gpu_count": 8}, summary={"acc": 0.5, "table": {"_type": "table"}}),
    ]
    told = read_text(json.dumps(runs), tmp_path)
    found = told.by("workloads", "workload_id")
    assert (told.plan.dialect, told.plan.rejects) == ("public API", ())
    assert found["a"]["config_key"] == found["b"]["config_key"]
    assert (found["b"]["status"], found["b"]["experiment"]) == ("cancelled", "ctr")
    assert (found["c"]["kind"], found["c"]["metrics"]) == ("evaluation", {"acc": "0.5"})
    assert "ended_at" not in found["c"]
    assert found["a"]["ended_at"] == "2031-04-01 01:00:00.500000"
    held = told.by("holdings", "workload_id")
    assert {name: Decimal(row["quantity"]) for name, row in held.items()} == {"a": 2, "b": 2}, (
        "not the eight of the machine"
    )
    assert held["b"]["pricing_category"] == "Dynamic"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (run("x", id=None), "no id"),
        (run("x", created_at="soon"), "not an ISO date"),
        (run("x", config=[1]), "config is [1], no object"),
        (run("x", summary={"_runtime": "long"}), "not a number"),
        (run("x", summary={"_runtime": -5}), "before its start"),
        (run("x", summary={"_runtime": 1e300}), "longer than there is time"),
        (run("good"), "stands in the file already"),
        ("text", "the run is no object"),
    ],
)
def test_a_bad_run_is_set_aside(tmp_path: Path, bad: Any, reason: str) -> None:
    told = read_text(json.dumps([run("good"), bad, run("after")]), tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"good", "after"}
    assert len(told.reasons) == 1
    assert reason in told.reasons[0]
    assert into_ledger(told, tmp_path / "ledger.duckdb").rows_rejected == 1


def test_a_cut_file_keeps_the_runs_before_the_cut(tmp_path: Path) -> None:
    told = read_text(json.dumps([run("a"), run("b")])[:-30], tmp_path)
    assert set(told.by("workloads", "workload_id")) == {"a"}
    assert len(told.plan.rejects) == 1
