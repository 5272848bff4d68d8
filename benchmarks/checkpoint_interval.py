"""How much a planned checkpoint schedule loses beside the best fixed interval, and what saving is worth.

    python benchmarks/checkpoint_interval.py --data DIR [--json] [--write-s 120] [--left-out]

DIR holds one JSON a zone, at any depth. Up-times are the completed runs of available ticks of single-node zones. For each zone
the loss (saves, and work since the last save, as a share of up-time) of an interval or schedule is compared with that of
the fixed interval that would have been best on the same up-times. Ours and Daly's know the mean up-time of the zone and the
write time. Then one job is run on recorded capacity without saves, with hourly saves and with planned ones.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.facts.spot import SpotTrace
from unitcost.readers.spot_traces import read
from unitcost.training.checkpoints import Saving, best_fixed_s, daly_s, growing_s, lost_share, young_s
from unitcost.training.market import FloatArray, market_of
from unitcost.training.spot_run import Capacity, run_on_spot
from unitcost.training.uptimes import SHIPPED, mean_s, shape_of, up_times_s
from unitcost.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

#: Fewer up-times say nothing about a best interval.
LEAST_UP_TIMES = 5
POINTS = 100
JOB_HOURS = 24


def up_times_of(trace: SpotTrace, nodes: int = 1) -> FloatArray:
    """Completed up-times of a gang in a trace. [s]."""
    return up_times_s(np.asarray(trace.counts) >= nodes, trace.gap_s)


def losses(up_times: FloatArray, saving: Saving, shape: object = SHIPPED) -> dict[str, float]:
    """Points of up-time that each rule loses beyond the best fixed interval."""
    mean = mean_s(up_times)
    _, least = best_fixed_s(up_times, saving)
    median = float(np.median(up_times))
    tried: dict[str, Sequence[float] | FloatArray] = {
        "planner": growing_s(saving, mean, shape),  # type: ignore[arg-type]
        "daly": [daly_s(saving.stop_s, mean)],
        "young": [young_s(saving.stop_s, mean)],
        "daly_of_median": [daly_s(saving.stop_s, median)],
    }
    return {name: POINTS * (lost_share(up_times, intervals, saving) - least) for name, intervals in tried.items()}


def one_trace(trace: SpotTrace, nodes: int, saving: Saving, *, elastic: bool) -> dict[str, object]:
    """What a day of work costs on a trace without saves, with hourly and with planned saves."""
    market = market_of([trace], nodes=1)
    capacity = Capacity(
        gap_s=trace.gap_s, counts=np.asarray(trace.counts), usd_per_hour=market.spot_usd_per_hour[0],
        on_demand_usd_per_hour=market.on_demand_usd_per_hour,
    )  # fmt: skip
    mean = mean_s(up_times_of(trace, nodes))
    schedules: dict[str, Sequence[float] | FloatArray] = {
        "no checkpoints": [], "hourly": [float(SECONDS_PER_HOUR)], "planned": growing_s(saving, mean),
    }  # fmt: skip
    found: dict[str, object] = {
        "trace": trace.source,
        "nodes": nodes,
        "mean_up_hours": round(mean / SECONDS_PER_HOUR, 2),
    }
    for name, intervals in schedules.items():
        run = run_on_spot(
            capacity,
            nodes=nodes,
            work_s=JOB_HOURS * SECONDS_PER_HOUR,
            intervals=intervals,
            saving=saving,
            elastic=elastic,
        )
        found[name] = {
            "finished": run.finished,
            "usd": round(run.cost_usd, 2),
            "hours_lost": round(run.lost_s / SECONDS_PER_HOUR, 2),
            "hours_saving": round(run.saving_s / SECONDS_PER_HOUR, 2),
            "wall_hours": round(run.wall_s / SECONDS_PER_HOUR, 1),
            "on_demand_share": round(run.on_demand_share, 3),
        }
    return found


def traces_in(folder: Path) -> list[SpotTrace]:
    """Traces that can be read."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        try:
            found.append(read(path))
        except UnitcostError as error:
            print(f"skipped: {error}", file=sys.stderr)
    return found


def scenarios(traces: Sequence[SpotTrace], saving: Saving) -> dict[str, dict[str, object]]:
    """The same day of work on one node, as a gang of sixteen and as an elastic job."""
    found = {}
    for name, nodes, elastic in (("one node", 1, False), ("gang of 16", 16, False), ("elastic of 16", 16, True)):
        usable = [t for t in traces if t.nodes == nodes and len(up_times_of(t, nodes)) >= LEAST_UP_TIMES]
        if usable:
            middle = sorted(usable, key=lambda t: float(np.mean(np.asarray(t.counts) >= nodes)))[len(usable) // 2]
            found[name] = one_trace(middle, nodes, saving, elastic=elastic)
    return found


def main() -> int:
    """Measure and print; 1 when no zone has enough up-times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of traces, one JSON a zone")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write-s", type=float, default=120.0, help="time of a write [s]")
    parser.add_argument("--left-out", action="store_true", help="also plan each zone by the shape of the others")
    options = parser.parse_args()
    saving = Saving(write_s=options.write_s)
    traces = traces_in(options.data)
    known = [(t, up_times_of(t)) for t in traces if t.nodes == 1]
    zones = {t.source: up for t, up in known if len(up) >= LEAST_UP_TIMES}
    names = {t.source: t.zone for t, _ in known}
    rows = {source: losses(up, saving) for source, up in zones.items()}
    if not rows:
        print("no single-node zone has enough completed up-times", file=sys.stderr)
        return 1
    answer: dict[str, object] = {
        "mean_loss_points": _mean(rows, "planner"),
        "daly_mean_loss_points": _mean(rows, "daly"),
        "young_mean_loss_points": _mean(rows, "young"),
        "daly_of_median_loss_points": _mean(rows, "daly_of_median"),
        "write_s": options.write_s,
        "zones": rows,
        "skipped": [t.source for t, up in known if len(up) < LEAST_UP_TIMES],
        "runs": scenarios(traces, Saving(write_s=options.write_s, restart_s=5.0 * SECONDS_PER_MINUTE)),
    }
    if options.left_out:
        shapes = {s: shape_of([up for o, up in zones.items() if names[o] != names[s]]) for s in zones}
        answer["planner_left_out"] = _mean({s: losses(up, saving, shapes[s]) for s, up in zones.items()}, "planner")
    print(json.dumps(answer) if options.json else as_text(answer))
    return 0


def _mean(rows: dict[str, dict[str, float]], name: str) -> float:
    return round(float(np.mean([row[name] for row in rows.values()])), 4)


def as_text(answer: dict[str, object]) -> str:
    """Tables for people."""
    rows: dict[str, dict[str, float]] = answer["zones"]  # type: ignore[assignment]
    names = list(next(iter(rows.values())))
    lines = [f"points of up-time lost beyond the best fixed interval, writes of {answer['write_s']} s", ""]
    lines.append(" " * 56 + "".join(f"{name:>16}" for name in names))
    lines += [f"{source[-55:]:56}" + "".join(f"{row[n]:16.2f}" for n in names) for source, row in rows.items()]
    lines.append(f"{'MEAN':56}" + "".join(f"{_mean(rows, n):16.2f}" for n in names))
    if "planner_left_out" in answer:
        lines.append(f"planner by the shape of the other zones: {answer['planner_left_out']}")
    for name, run in answer["runs"].items():  # type: ignore[attr-defined]
        lines += ["", f"{JOB_HOURS} h of work, {name}: {run['trace'][-60:]}, mean up-time {run['mean_up_hours']} h"]
        for kind in ("no checkpoints", "hourly", "planned"):
            row = run[kind]
            done = "" if row["finished"] else "  NOT FINISHED within the recording"
            lines.append(
                f"  {kind:16}{row['usd']:10.2f} USD {row['on_demand_share']:7.3f} of on-demand {row['hours_lost']:8.2f} h lost"
                f" {row['hours_saving']:6.2f} h saving {row['wall_hours']:8.1f} h in all{done}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
