"""Files of `unitcost.track`: ranks become one life, lives one run."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracker_files import Told, ask, into_ledger, read_text

import unitcost
from unitcost import money
from unitcost.economics.runs import realised_saving, run_cost
from unitcost.facts.runs import Life

HEAD = {"unitcost_track": 1, "host": "n1", "ranks": 1, "job": ""}


def start(run: str = "r", launch: str = "l", process: str = "p", at: str = "00:00", **said: Any) -> dict[str, Any]:
    about = {"event": "start", "rank": 0, "accelerators": ["GPU-a"], "accelerator": "NVIDIA H100"}
    return {**HEAD, **about, "run_id": run, "launch": launch, "process": process, "at": moment(at), **said}


def end(run: str = "r", launch: str = "l", process: str = "p", at: str = "02:00", **said: Any) -> dict[str, Any]:
    about = {"event": "end", "status": "completed", "metrics": {}, "accepted": None}
    return {"unitcost_track": 1, **about, "run_id": run, "launch": launch, "process": process, "at": moment(at), **said}


def moment(clock: str) -> str:
    return f"2031-04-01T{clock}:00.000+00:00"


def told(folder: Path, *lines: Any) -> Told:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return read_text(text, folder)


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    [row] = rows
    return row


def test_a_recorded_run_is_a_workload_and_a_holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with unitcost.track(
        "ctr", folder=tmp_path, params={"lr": 1}, tags={"spot": True}, team="ads", accepted=True
    ) as run:
        run.metrics["auc"] = 0.75
        run.step(10)
        run.step(20, kept=True)
    [path] = tmp_path.glob("*.jsonl")
    found = read_text(path.read_bytes(), tmp_path)
    assert found.plan.reader == "track"
    assert found.plan.rejects == ()
    workload, holding = only(found.rows("workloads")), only(found.rows("holdings"))
    assert (workload["experiment"], workload["team"], workload["status"]) == ("ctr", "ads", "completed")
    assert (workload["accepted"], workload["metrics"], workload["kind"]) == ("true", {"auc": "0.75"}, "training")
    assert workload["tags"]["params.lr"] == "1"
    assert (Decimal(holding["quantity"]), holding["pricing_category"]) == (2, "Dynamic")
    assert (holding["start_step"], holding["end_step"], holding["kept_step"]) == ("10", "20", "20")
    assert holding["ended_at"] >= holding["started_at"]


def test_ranks_of_one_machine_hold_each_device_once(tmp_path: Path) -> None:
    ranks = [start(process=f"p{n}", rank=n, ranks=4, accelerators=["GPU-a", f"GPU-{n}"]) for n in range(4)]
    ends = [end(process=f"p{n}", at=f"02:0{n}") for n in reversed(range(4))]
    found = told(tmp_path, *ranks, *ends)
    holding = only(found.rows("holdings"))
    assert Decimal(holding["quantity"]) == 5
    assert holding["ended_at"] == "2031-04-01 02:03:00.000000"
    assert only(found.rows("workloads"))["tags"]["accelerators"] == "GPU-0 GPU-1 GPU-2 GPU-3 GPU-a"


@pytest.mark.parametrize(
    ("ends", "status", "ended"),
    [
        (["completed", "completed"], "completed", True),
        (["completed", "failed"], "failed", True),
        (["failed", None], "failed", True),
        (["completed", None], "running", False),
        (["cancelled", None], "running", False),
        (["cancelled", "completed"], "cancelled", True),
        ([None, None], "running", False),
    ],
)
def test_how_ranks_end_together(tmp_path: Path, ends: list[str | None], status: str, ended: bool) -> None:
    lines = [start(process=f"p{n}", rank=n, ranks=2) for n in range(2)]
    lines += [end(process=f"p{n}", status=said) for n, said in enumerate(ends) if said]
    found = told(tmp_path, *lines)
    workload = only(found.rows("workloads"))
    assert workload["status"] == status
    assert ("ended_at" in workload) is ended
    assert ("still running?" in found.flags) is (status == "running")


def test_a_run_that_was_started_again_has_lives(tmp_path: Path) -> None:
    found = told(tmp_path, start(launch="b", at="05:00"), end(launch="b", at="06:00"), start(launch="a", at="01:00"))
    workload = only(found.rows("workloads"))
    assert (workload["started_at"], workload["status"]) == ("2031-04-01 01:00:00.000000", "completed")
    first, second = found.rows("holdings")
    assert (first["attempt"], first["status"], first.get("ended_at")) == ("1", "unknown", None)
    assert (second["attempt"], second["status"]) == ("2", "completed")


@pytest.mark.parametrize(
    ("said", "quantity"),
    [
        ({"accelerators": None}, None),
        ({"accelerators": ["MIG-1"], "accelerator": "NVIDIA A100-SXM4-40GB MIG 3g.20gb"}, "0.500000000000"),
        ({"accelerators": ["MIG-1"], "accelerator": "NVIDIA A100-SXM4-40GB"}, None),
        ({"accelerators": ["GPU-a", "GPU-b"]}, "2.000000000000"),
        ({"job": "slurm:500"}, None),
    ],
)
def test_what_is_not_known_is_not_counted(tmp_path: Path, said: dict[str, Any], quantity: str | None) -> None:
    found = told(tmp_path, start(**said), end())
    assert only(found.rows("holdings")).get("quantity") == quantity
    assert only(found.rows("workloads"))["tags"].get("scheduler_job") == said.get("job")


def test_a_run_without_accelerators_holds_none(tmp_path: Path) -> None:
    assert told(tmp_path, start(accelerators=[]), end()).rows("holdings") == []


def test_ranks_of_other_machines_are_missed(tmp_path: Path) -> None:
    assert "1 runs have ranks that are not in this file" in told(tmp_path, start(ranks=2), end()).flags


BAD = {
    "cut off": ('{"unitcost_track": 1, "event": "sta', "not JSON"),
    "of a later version": (start(unitcost_track=2), "version '2'"),
    "an end before the start": (end(process="good", at="00:00"), "is before the start"),
    "an end without a start": (end(process="other"), "no start in this file"),
    "a second start": (start(process="good"), "begun already"),
    "another event": (end(process="good", event="pause"), "no event"),
    "another way to end": (end(process="good", status="done"), "no way to end"),
    "no process": (start(process=""), "names no run, launch or process"),
    "a moment in words": (start(process="x", at_=1) | {"at": "now"}, "not an ISO date"),
    "a rank in words": (start(process="x", rank="first"), "no whole number"),
    "devices of another type": (start(process="x", accelerators={"a": 1}) | {"accelerators": "GPU"}, "Expecting value"),
    "tags of another type": (start(process="x", tags=["a"]), "which it cannot be"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_set_aside_and_the_run_loads(tmp_path: Path, name: str) -> None:
    bad, reason = BAD[name]
    found = told(tmp_path, start(process="good", at="00:30"), bad, end(process="good"))
    assert len(found.reasons) == 1
    assert reason in found.reasons[0]
    assert only(found.rows("workloads"))["status"] == "completed"
    record = into_ledger(found, tmp_path / "ledger.duckdb")
    assert (record.rows_read, record.rows_accepted, record.rows_rejected) == (3, 2, 1)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(3)), st.permutations(range(3)))
def test_the_order_in_which_ranks_write_does_not_matter(tmp_path: Path, starts: list[int], ends: list[int]) -> None:
    lines = [start(process=f"p{n}", rank=n, ranks=3, accelerators=[f"GPU-{n}"], at=f"00:0{n}") for n in starts]
    lines += [end(process=f"p{n}", at=f"02:0{n}", metrics={"auc": n}) for n in ends]
    found = told(tmp_path, *lines)
    holding, workload = only(found.rows("holdings")), only(found.rows("workloads"))
    assert (holding["quantity"], holding["started_at"], holding["ended_at"]) == (
        "3.000000000000", "2031-04-01 00:00:00.000000", "2031-04-01 02:02:00.000000"
    )  # fmt: skip
    assert workload["metrics"] == {"auc": "0"}


def test_22_a_chain_of_attempts_through_the_reader(tmp_path: Path, shared_cases: Path) -> None:
    folder = shared_cases / "22-spot-recovery-chain"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "input.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with (folder / "prices.csv").open(encoding="utf-8") as stream:
        prices = {row["kind"]: Decimal(row["usd_per_hour"]) for row in csv.DictReader(stream)}
    lines, kept = [], "0"
    for row in rows:
        steps = {
            "start_step": int(kept), "end_step": int(row["end_step"]), "kept_step": int(row["last_checkpoint_step"]),
            "startup_s": int(row["provision_min"]) * 60, "status": "completed" if row["reason"] == "done" else "failed",
        }  # fmt: skip
        name = row["attempt"]
        lines += [start(launch=name, at=row["start"], tags={"spot": "true"}), end(launch=name, at=row["end"], **steps)]
        kept = row["last_checkpoint_step"]
    into_ledger(told(tmp_path, *lines), tmp_path / "ledger.duckdb")
    columns = "attempt, status, quantity, started_at, ended_at, startup_s, start_step, end_step, kept_step"
    found = ask(tmp_path / "ledger.duckdb", f"SELECT {columns} FROM holdings")
    lives = [
        Life(
            attempt=h[0], status=h[1], quantity=h[2], started_at=h[3].replace(tzinfo=UTC), ended_at=utc(h[4]),
            usd_per_hour=prices["spot"], startup_s=Decimal(h[5]), start_step=h[6], end_step=h[7], kept_step=h[8],
        )
        for h in found
    ]  # fmt: skip
    cost, saving = run_cost(lives), realised_saving(lives, prices["on-demand"])
    assert cost.usd == Decimal(expected["usd"])
    assert cost.effort is not None
    assert cost.effort.repeated_steps == expected["repeated_steps"]
    assert saving is not None
    assert money.round_places(saving.share, 4) == Decimal(expected["realised_saving"])


def utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None
