"""Files about work: how fast they load, and in how much memory.

    python benchmarks/prometheus.py [--prometheus-mb N] [--runs K] [--folder F] [--json]

The files are made here, the same for the same size. What stands beside what, in turn, each in a fresh process:

prometheus
    A `query_range` answer of N megabytes: a week of cards and a week of token counters, a sample a minute. Ours: the file
    into the ledger as `unitcost load` does it, read series by series, checked, written anew and loaded in one transaction;
    then, apart, what all counters have counted by day and the means of all cards. Peer: `json.load` of the same file, which
    only makes objects of it.

Figures: `prometheus_mb_per_s` and `peer_mb_per_s` (best of K runs), `prometheus_ratio` (our time over the peer's),
`increments_s`, `gauges_s`, `peak_rss_mib` (largest resident set of our processes), `peer_peak_rss_mib`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RSS_TARGET_MIB = 1536.0
_MB = 1_000_000
_START_S, _STEP_S, _POINTS = 1_945_987_200, 60, 7 * 24 * 60


def run_task(task: str, file: Path, workspace: Path) -> dict[str, Any]:
    """Do one step in this process; its result and the largest resident set."""
    tasks: dict[str, Callable[[Path, Path], Any]] = {
        "prometheus-peer": peer_prometheus,
        "prometheus-load": load_file,
        "prometheus-ask": ask_prometheus,
    }
    result = tasks[task](file, workspace)
    return {"result": result, "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def in_fresh_process(task: str, file: Path, workspace: Path) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--task", task, "--file", str(file), "--folder", str(workspace)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def load_file(file: Path, workspace: Path) -> float:
    """Seconds of a load into a fresh ledger."""
    from unitcost.jobs.ingest import load
    from unitcost.jobs.workspace import open_workspace

    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir()
    start = time.perf_counter()
    outcome = load(open_workspace(workspace, as_of="2031-10-01"), [str(file)])
    spent = time.perf_counter() - start
    if outcome.exit_code():
        raise SystemExit(f"the load failed: {outcome}")
    return spent


# --- prometheus -------------------------------------------------------------------------------------------------------


def generate_prometheus(folder: Path, size_mb: int) -> Path:
    """Answer of so many megabytes; made anew only when it is not there."""
    file = folder / f"matrix-{size_mb}.json"
    if file.exists():
        return file
    chance = random.Random(1)
    with file.open("w") as stream:
        stream.write('{"status":"success","data":{"resultType":"matrix","result":[')
        number = 0
        while stream.tell() < size_mb * _MB:
            stream.write("," * bool(number) + _series(number, chance))
            number += 1
        stream.write("]}}")
    return file


def _series(number: int, chance: random.Random) -> str:
    """A card's utilisation, or a replica's counter that restarts now and then."""
    place = {"namespace": "ml", "pod": f"replica-{number}", "instance": f"10.0.{number // 250}.{number % 250}:8000"}
    if number % 2:
        labels = {"__name__": "vllm:generation_tokens_total", "model_name": f"model-{number % 20}", **place}
        values, total = [], 0
        for _ in range(_POINTS):
            total = 0 if chance.random() < 0.0002 else total + chance.randrange(60_000)
            values.append(total)
    else:
        card = {"UUID": f"GPU-{number:08x}", "Hostname": f"node-{number // 16}", "modelName": "NVIDIA H100 80GB HBM3"}
        labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", **card, **place}
        values = [chance.randrange(101) for _ in range(_POINTS)]
    points = [[_START_S + _STEP_S * minute, str(value)] for minute, value in enumerate(values)]
    return json.dumps({"metric": labels, "values": points}, separators=(",", ":"))


def peer_prometheus(file: Path, workspace: Path) -> float:
    """Seconds of `json.load`."""
    start = time.perf_counter()
    with file.open() as stream:
        json.load(stream)
    return time.perf_counter() - start


def ask_prometheus(file: Path, workspace: Path) -> dict[str, float]:
    """Seconds of the two questions that reports ask."""
    from unitcost.jobs.workspace import open_workspace

    with open_workspace(workspace).open_ledger() as ledger:
        start = time.perf_counter()
        ledger.increments(by="workload", daily=True)
        middle = time.perf_counter()
        ledger.gauges()
        return {"increments_s": middle - start, "gauges_s": time.perf_counter() - middle}


def prometheus_figures(folder: Path, size_mb: int, runs: int) -> dict[str, float]:
    """Figures of a large answer."""
    file = generate_prometheus(folder, size_mb)
    workspace = folder / "prometheus"
    megabytes = file.stat().st_size / _MB
    ours, peers = [], []
    for _ in range(runs):
        peers.append(in_fresh_process("prometheus-peer", file, workspace))
        ours.append(in_fresh_process("prometheus-load", file, workspace))
    asked = in_fresh_process("prometheus-ask", file, workspace)
    our_s, peer_s = (min(run["result"] for run in found) for found in (ours, peers))
    return {
        "prometheus_mb_per_s": megabytes / our_s,
        "peer_mb_per_s": megabytes / peer_s,
        "prometheus_ratio": our_s / peer_s,
        **asked["result"],
        "peak_rss_mib": max(run["rss_mib"] for run in [*ours, asked]),
        "peer_peak_rss_mib": max(run["rss_mib"] for run in peers),
    }


# --- all --------------------------------------------------------------------------------------------------------------


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prometheus-mb", type=int, default=200, help="size of the answer [MB]; 0 = leave it out")
    parser.add_argument("--runs", type=int, default=2, help="loads per figure")
    parser.add_argument("--folder", type=Path, help="where to put the files, which are then kept")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(run_task(options.task, options.file, options.folder)))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found: dict[str, float] = {}
        if options.prometheus_mb:
            found |= prometheus_figures(folder, options.prometheus_mb, options.runs)
    if options.json:
        print(json.dumps({name: round(value, 3) for name, value in found.items()}))
    else:
        for name, value in found.items():
            print(f"{name:22} {value:10.2f}")
    return 1 if found.get("peak_rss_mib", 0.0) > RSS_TARGET_MIB else 0


if __name__ == "__main__":
    sys.exit(main())
