"""A run records itself: start first, end when it ends, and never in the way of the run."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unitcost
from unitcost.tracking import run as run_module


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No launcher, no scheduler, no accelerators."""
    for name in list(os.environ):
        if name.startswith(("SLURM_", "CUDA_", "TORCHELASTIC_", "OMPI_", "UNITCOST_", "KUBERNETES_")):
            monkeypatch.delenv(name)
    for name in ("RANK", "WORLD_SIZE", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(run_module, "devices_in_use", lambda pid: run_module.devices_of({}, many_ranks=False))


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_run_writes_its_start_and_its_end(tmp_path: Path) -> None:
    with unitcost.track("ctr", folder=tmp_path, params={"lr": 0.1}, tags={"spot": True}, team="ads") as run:
        assert [line["event"] for line in lines(tmp_path)] == ["start"]
        run.metrics["auc"] = 0.75
        run.accepted = True
    start, end = lines(tmp_path)
    assert (start["experiment"], start["team"], start["params"], start["tags"]) == (
        "ctr", "ads", {"lr": "0.1"}, {"spot": "True"}
    )  # fmt: skip
    assert (end["event"], end["status"], end["accepted"], end["metrics"]) == ("end", "completed", True, {"auc": 0.75})
    assert start["process"] == end["process"]
    assert start["at"] <= end["at"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("x"), "failed"), (KeyboardInterrupt(), "cancelled"), (SystemExit(0), "completed"),
        (SystemExit(3), "failed"), (type("TrialPruned", (Exception,), {})(), "pruned"),
    ],
)  # fmt: skip
def test_an_exception_passes_through_and_is_the_end(tmp_path: Path, error: BaseException, status: str) -> None:
    with pytest.raises(type(error)), unitcost.track(folder=tmp_path):
        raise error
    end = lines(tmp_path)[1]
    assert (end["status"], end["exception"]) == (status, type(error).__name__)


def test_steps_tell_the_start_up_and_what_was_kept(tmp_path: Path) -> None:
    with unitcost.track(folder=tmp_path) as run:
        run.step(4000)
        run.step(4500, kept=True)
        run.step(4600)
    _, step, end = lines(tmp_path)
    assert (step["event"], step["end_step"], step["kept_step"]) == ("step", 4500, 4500)
    assert (end["start_step"], end["end_step"], end["kept_step"]) == (4000, 4600, 4500)
    assert 0 <= end["startup_s"] < 60


def test_many_steps_write_few_lines(tmp_path: Path) -> None:
    with unitcost.track(folder=tmp_path) as run:
        for step in range(10_000):
            run.step(step)
    assert len(lines(tmp_path)) == 2


def test_a_killed_run_leaves_its_start_and_a_whole_file(tmp_path: Path) -> None:
    code = (
        "import unitcost, os, signal\n"
        f"with unitcost.track('x', folder={str(tmp_path)!r}) as run:\n"
        "    run.step(0); run.step(7, kept=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [line["event"] for line in lines(tmp_path)] == ["start", "step"]


def test_a_line_that_was_torn_does_not_tear_the_next(tmp_path: Path) -> None:
    with unitcost.track(folder=tmp_path):
        pass
    [path] = tmp_path.iterdir()
    path.write_text(path.read_text() + '{"event": "sta')
    with unitcost.track(folder=tmp_path):
        pass
    written = path.read_text().splitlines()
    assert written[2] == '{"event": "sta'
    assert [json.loads(line)["event"] for line in written[3:]] == ["start", "end"]


def test_a_file_that_cannot_be_written_does_not_stop_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    done = False
    with caplog.at_level(logging.WARNING), unitcost.track(folder=tmp_path / "taken"):
        done = True
    assert done
    assert caplog.text.count("is not recorded") == 2


def test_what_json_cannot_hold_does_not_stop_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Tensor:
        def __float__(self) -> float:
            return 0.5

    with unitcost.track(folder=tmp_path) as run:
        run.metrics |= {"tensor": Tensor(), "thing": object, "nan": float("nan")}
    metrics = lines(tmp_path)[1]["metrics"]
    assert metrics["tensor"] == 0.5
    assert "object" in metrics["thing"]
    with caplog.at_level(logging.WARNING), unitcost.track(folder=tmp_path) as run:
        run.metrics[("a", "b")] = 1  # type: ignore[index]
    assert "the end of the run is not recorded" in caplog.text


def test_a_fork_that_leaves_the_block_does_not_end_the_run(tmp_path: Path) -> None:
    code = (
        "import unitcost, os, sys\n"
        f"with unitcost.track('x', folder={str(tmp_path)!r}):\n"
        "    child = os.fork()\n"
        "    if child: os.waitpid(child, 0)\n"
        "sys.exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [line["event"] for line in lines(tmp_path)] == ["start", "end"]


def test_the_folder_may_be_said_by_the_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNITCOST_TRACK_FOLDER", str(tmp_path / "deep/down"))
    with unitcost.track():
        pass
    assert len(lines(tmp_path / "deep/down")) == 2


def test_an_argument_that_is_not_known_is_refused_before_the_run() -> None:
    with pytest.raises(TypeError, match="colour"):
        unitcost.track("x", colour="red")


def test_ranks_of_one_launch_agree_on_the_run(tmp_path: Path) -> None:
    code = f"import unitcost\nwith unitcost.track('x', folder={str(tmp_path)!r}): pass\n"
    for rank in range(3):
        ranked = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "3", "CUDA_VISIBLE_DEVICES": str(rank)}
        subprocess.run([sys.executable, "-c", code], env=ranked, check=True)
    starts = [line for line in lines(tmp_path) if line["event"] == "start"]
    assert len({line["run_id"] for line in starts}) == 1
    assert len({line["process"] for line in starts}) == 3
    assert [line["accelerators"] for line in starts] == [["0"], ["1"], ["2"]]


def test_two_runs_of_one_process_are_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for _ in range(2):
        with unitcost.track(folder=tmp_path):
            pass
    assert len({line["run_id"] for line in lines(tmp_path)}) == 2


def modules_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running `code`."""
    show = "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code + show], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_tracking_loads_the_standard_library_only_and_little_of_it() -> None:
    loaded = modules_after("import unitcost; unitcost.track") - modules_after("pass")
    assert loaded - set(sys.stdlib_module_names) == {"unitcost"}
    slow = {"subprocess", "logging", "dataclasses", "inspect", "socket", "asyncio", "uuid"}
    assert not loaded & slow, "they would double the time that importing takes"
