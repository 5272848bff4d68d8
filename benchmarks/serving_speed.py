"""How fast the serving simulator is, and how its time grows.

    python benchmarks/serving_speed.py [--json]

Requests arrive as a Poisson process at 80 a second, with prompts of 1 to 1,600 and answers of 1 to 400 tokens, on 8
replicas behind least-loaded routing. Each size runs in a fresh process that has the machine code loaded already (one core).

Figures, all from trace to result, best of three, in processor time of one thread, which other work on the machine changes
little: `iterations_per_s` and `iterations` of a million requests; `seconds_1m_requests_8_replicas`, with
`clock_seconds_1m_requests_8_replicas` beside it; `peak_rss_mib` of that process; `slope` of the logarithm of processor time
over that of the number of requests, from 10,000 to 3 million (1 is linear). Vidur (Agrawal et al., MLSys 2024) simulates
about 3,000 iterations a second on one core. A stretch of pure decode counts with all iterations it stands for.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from unitcost.machine.steps import Served, StepGrid
from unitcost.serving.fleet import Fleet
from unitcost.serving.simulate import run
from unitcost.serving.traces import Trace
from unitcost.units import KIB

SIZES = (10_000, 100_000, 1_000_000, 3_000_000)
MILLION = 1_000_000
TARGETS = {"iterations_per_s": 5e6, "seconds_1m_requests_8_replicas": 2.0, "peak_rss_mib": 1024.0}


def grid() -> StepGrid:
    """Step times of the size of an 8-billion model on one H100."""
    tokens = np.array([1.0, 8, 64, 256, 512, 1024, 2048, 4096, 8192, 16384])
    chunk, past = np.array([1.0, 128, 512, 2048, 8192]), np.array([0.0, 512, 2048, 8192, 32768])
    batch = np.array([1.0, 8, 16, 32, 64, 128, 256])
    context = np.array([1.0, 128, 512, 1024, 2048, 4096, 16384, 65536])
    attention = 2e-8 * batch[:, None] * context[None, :]
    return StepGrid(
        tokens_axis=tokens, shared_s=0.008 + 1e-5 * tokens, chunk_axis=chunk, past_axis=past,
        chunk_attention_s=5e-10 * chunk[:, None] * (past[None, :] + chunk[:, None] / 2), batch_axis=batch,
        context_axis=context, decode_attention_s=attention, decode_step_s=0.008 + 1e-5 * batch[:, None] + attention,
        kv_tokens_per_replica=500_000, max_batch=256, origin="roofline", source="made up", version="1",
        served=Served(model="8b", gpu="H100-80GB", precision="bf16", backend="vllm"),
    )  # fmt: skip


def trace(requests: int) -> Trace:
    """Poisson arrivals, the same for the same number."""
    rng = np.random.default_rng(1)
    at = np.cumsum(rng.exponential(1 / 80, requests))
    return Trace(
        arrival_s=at, input_tokens=rng.integers(1, 1601, requests), output_tokens=rng.integers(1, 401, requests),
        duration_s=float(at[-1]),
    )  # fmt: skip


def measure(requests: int) -> dict[str, float]:
    """Time and memory of this process for so many requests; the best of three."""
    fleet = Fleet(grid=grid(), places={"on-demand": 8})
    run(trace(100), fleet)  # loads the machine code, or makes it
    arrivals = trace(requests)
    clock, cpu = [], []
    for _ in range(3):
        started, cpu_started = time.perf_counter(), time.process_time()
        found = run(arrivals, fleet)
        clock.append(time.perf_counter() - started)
        cpu.append(time.process_time() - cpu_started)
    return {
        "requests": requests, "seconds": min(clock), "cpu_seconds": min(cpu),
        "iterations": int(found.replicas["iterations"].sum()),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB,
    }  # fmt: skip


def figures(parts: list[dict[str, float]]) -> dict[str, Any]:
    """What the parts come to."""
    [million] = [part for part in parts if part["requests"] == MILLION]
    logs = np.log([[part["requests"], part["cpu_seconds"]] for part in parts])
    return {
        "iterations_per_s": round(million["iterations"] / million["cpu_seconds"]), "iterations": million["iterations"],
        "seconds_1m_requests_8_replicas": round(million["cpu_seconds"], 3),
        "clock_seconds_1m_requests_8_replicas": round(million["seconds"], 3),
        "peak_rss_mib": round(million["rss_mib"], 1), "slope": round(float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]), 3),
    }  # fmt: skip


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--requests", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.requests:
        print(json.dumps(measure(options.requests)))
        return 0
    parts = []
    for size in (100, *SIZES):  # the first makes the machine code where it is not kept yet
        done = subprocess.run(
            [sys.executable, __file__, "--requests", str(size)], check=True, capture_output=True, text=True
        )
        parts.append(json.loads(done.stdout))
    found = figures(parts[1:])
    if options.json:
        print(json.dumps(found))
    else:
        for part in parts[1:]:
            print(f"{part['requests']:>9,} requests {part['cpu_seconds']:8.3f} s of processor time")
        for name, value in found.items():
            target = TARGETS.get(name)
            sign = ">=" if name == "iterations_per_s" else "<"
            print(f"{name:36} {value:>14,}" + (f"   target {sign} {target:,.0f}" if target else ""))
        print(f"{'Vidur, as its authors give it':36} {3_000:>14,} iterations/s")
    slow = found["iterations_per_s"] < TARGETS["iterations_per_s"]
    return int(slow or any(found[name] >= target for name, target in list(TARGETS.items())[1:]))


if __name__ == "__main__":
    sys.exit(main())
