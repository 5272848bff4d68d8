"""Measured vLLM runs, replayed by the simulator.

    python benchmarks/serving_replay.py --data DIR [--json]

DIR holds, for each run, `NAME__meta.json` (engine settings) and `NAME__requests.jsonl` (tokens and times of each request).
Step times are those of `benchmarks/grids/NAME.json`, made by aiconfigurator-core, or asked of that package where there is no
such file (`pip install 'unitcost[llm]'`). One number is fitted, a scale on all step times, on the requests
that finished first; every other request is predicted from its arrival, its lengths and the engine's settings.

Figures of each run: `e2e_mape` (mean absolute error of the time from arrival to last token, over the requests that were not
fitted on, in percent; at most 4), `scale`, `fitted`, `scored`, `p95_ttft_s` and `p95_ttft_measured_s` with
`p95_ttft_error`, in percent. Beside it stands `mean_e2e_mape`: what predicting the fitted requests' mean would err.

With that scale (`scaled_...`) and with the constants that ship (`default_...`): medians and 95 % quantiles of measured over
foretold (`..._ratio`, `..._ratio_95`), the ratio of the 95th percentiles (`..._p95_ratio`), and the share of requests inside
the band that a plan states (`..._covered`).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.machine.steps import Constants, Served, StepGrid
from unitcost.measure.aiconfigurator import measured_grid
from unitcost.measure.open_loops import open_loop_bands
from unitcost.measure.serving_defaults import shipped
from unitcost.serving.fleet import Engine, Fleet
from unitcost.serving.simulate import Run, run
from unitcost.serving.traces import Trace

#: GPU as the runs are named -> as the price book names it.
GPUS = {"RTXPRO6000": "RTX-PRO-6000"}
GRIDS = Path(__file__).parent / "grids"
FITTED, TARGET = 60, 4.0
TABLES = ("tokens_axis", "shared_s", "chunk_axis", "past_axis", "chunk_attention_s", "batch_axis", "context_axis",
          "decode_attention_s", "decode_step_s")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A measured run. Times are since the first request was queued. [s]."""

    name: str
    trace: Trace
    first_s: np.ndarray
    last_s: np.ndarray
    engine: dict[str, Any]


def read(folder: Path, name: str) -> Measured:
    """One run, in order of arrival."""
    lines = (folder / f"{name}__requests.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted((json.loads(line) for line in lines if line.strip()), key=lambda row: row["queued_ts"])
    start = rows[0]["queued_ts"]

    def column(key: str) -> np.ndarray:
        return np.array([row[key] for row in rows])

    at = column("queued_ts") - start
    meta = json.loads((folder / f"{name}__meta.json").read_text(encoding="utf-8"))
    trace = Trace(
        arrival_s=at, input_tokens=column("input_toks"), output_tokens=column("output_toks"), duration_s=float(at[-1]),
        name=name,
    )  # fmt: skip
    return Measured(
        name=name, trace=trace, first_s=column("first_token_ts") - start, last_s=column("last_token_ts") - start,
        engine=meta["engine_kwargs"],
    )  # fmt: skip


def grid_of(measured: Measured) -> StepGrid:
    """Step times of the same model, GPU and precision."""
    kept = GRIDS / f"{measured.name}.json"
    if not kept.exists():
        return asked_grid(measured)
    found = json.loads(kept.read_text(encoding="utf-8"))
    tables = {key: np.array(found[key], np.float64) for key in TABLES}
    return StepGrid(
        **tables, kv_tokens_per_replica=found["kv_tokens_per_replica"], max_batch=found["max_batch"],
        served=Served(**found["served"]), origin=found["origin"], source=found["source"], version=found["version"],
    )  # fmt: skip


def asked_grid(measured: Measured) -> StepGrid:
    """Step times put together from measured kernels now."""
    engine, gpu = measured.engine, measured.name.partition("_")[0]
    return measured_grid(
        Served(
            model=engine["model"], gpu=GPUS.get(gpu, gpu), precision="bf16", backend="vllm",
            tensor_parallel=int(engine.get("tensor_parallel_size", 1)), attention_data_parallel=together(engine),
            expert_parallel=together(engine),
        )
    )  # fmt: skip


def together(engine: dict[str, Any]) -> int:
    """Ranks that step together because they share their experts."""
    return int(engine.get("data_parallel_size", 1)) if engine.get("enable_expert_parallel") else 1


def fleet_of(measured: Measured, grid: StepGrid) -> Fleet:
    """The engine as it was set. Ranks that share their experts step together: they are one replica with the room of all."""
    engine = measured.engine
    ranks, shared = int(engine.get("data_parallel_size", 1)), together(engine)
    return Fleet(
        grid=grid, places={"on-demand": ranks // shared},
        engine=Engine(
            max_batch=shared * int(engine["max_num_seqs"]), prefix_caching=False,
            max_step_tokens=shared * int(engine["max_num_batched_tokens"]),
        ),
    )  # fmt: skip


def mape(found: np.ndarray, true: np.ndarray) -> float:
    """Mean absolute error, in percent."""
    return float(100 * np.mean(np.abs(found - true) / true))


def ratios(measured: Measured, found: Run, grid: StepGrid) -> dict[str, float]:
    """Measured over foretold, and the share of requests inside the band that a plan states."""
    at, tokens = measured.trace.arrival_s, np.maximum(measured.trace.output_tokens - 1, 1)
    several = measured.trace.output_tokens > 1
    pairs = {
        "ttft": (measured.first_s - at, found.first_s - at), "e2e": (measured.last_s - at, found.last_s - at),
        "tpot": ((measured.last_s - measured.first_s)[several] / tokens[several],
                 (found.last_s - found.first_s)[several] / tokens[several]),
    }  # fmt: skip
    bands = open_loop_bands(grid)
    shown = {}
    for name, (true, told) in pairs.items():
        ratio, band = true / told, bands.first if name == "ttft" else bands.steps
        shown[f"{name}_ratio"] = round(float(np.median(ratio)), 3)
        shown[f"{name}_ratio_95"] = round(float(np.quantile(ratio, 0.95)), 3)
        shown[f"{name}_covered"] = round(float(np.mean((ratio >= band[0]) & (ratio <= band[-1]))), 3)
        shown[f"{name}_p95_ratio"] = round(float(np.percentile(true, 95) / np.percentile(told, 95)), 3)
    return shown


def score(measured: Measured) -> dict[str, Any]:
    """Fit the scale on the requests that finished first, and predict the others."""
    grid, at = grid_of(measured), measured.trace.arrival_s
    true_s = measured.last_s - at
    order = np.argsort(measured.last_s, kind="stable")
    fitted, others = order[:FITTED], order[FITTED:]

    def predicted(scale: float) -> Any:
        scaled = replace(grid, constants=Constants(scale=scale, source="fitted"))
        return run(measured.trace, fleet_of(measured, scaled))

    def error(scale: float) -> float:
        return mape((predicted(scale).last_s - at)[fitted], true_s[fitted])

    scale = min(np.arange(0.5, 2.5, 0.05), key=error)
    scale = float(min(np.arange(scale - 0.05, scale + 0.05, 0.002), key=error))
    found = predicted(scale)
    plain = run(measured.trace, fleet_of(measured, replace(grid, constants=shipped().constants(grid.served))))
    ttft, true_ttft = (float(np.percentile((times - at)[others], 95)) for times in (found.first_s, measured.first_s))
    return {
        "name": measured.name, "e2e_mape": round(mape((found.last_s - at)[others], true_s[others]), 3),
        "mean_e2e_mape": round(mape(np.full(len(others), true_s[fitted].mean()), true_s[others]), 1),
        "scale": round(scale, 3), "fitted": FITTED, "scored": len(others), "p95_ttft_s": round(ttft, 3),
        "p95_ttft_measured_s": round(true_ttft, 3), "p95_ttft_error": round(100 * (ttft / true_ttft - 1), 2),
        **{f"scaled_{name}": value for name, value in ratios(measured, found, grid).items()},
        **{f"default_{name}": value for name, value in ratios(measured, plain, grid).items()},
    }  # fmt: skip


def main() -> int:
    """Replay each run of the folder, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the measured runs")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    names = sorted(file.name.removesuffix("__meta.json") for file in options.data.glob("*__meta.json"))
    if not names:
        print(f"{options.data}: no *__meta.json here", file=sys.stderr)
        return 1
    runs = [score(read(options.data, name)) for name in names]
    if options.json:
        print(json.dumps({"runs": runs}))
    for row in [] if options.json else runs:
        print(f"{row['name']}: scale {row['scale']} from the first {FITTED} that finished")
        print(f"  end-to-end error of the other {row['scored']}  {row['e2e_mape']:6.2f} %   target <= {TARGET} %")
        print(f"  the same, predicting the mean of the first    {row['mean_e2e_mape']:6.1f} %")
        print(
            f"  p95 TTFT {row['p95_ttft_s']} s, measured {row['p95_ttft_measured_s']} s: {row['p95_ttft_error']:+.1f} %"
        )
    return int(any(row["e2e_mape"] > TARGET for row in runs))


if __name__ == "__main__":
    sys.exit(main())
