"""What policies pay for jobs with a deadline on recorded spot capacity, beside the exact omniscient bound.

    python benchmarks/spot_policies.py --data DIR [--json] [--starts N] [--left-out]

DIR holds one JSON a zone, at any depth. Single-node accelerator zones are replayed alone: jobs of 12, 24 and 48 h x time to
the deadline of 1.1, 1.25, 1.5 and 2 times that x change-over of 0.05, 0.2 and 0.5 h, at evenly spaced starts. Zones with
prices that share a clock are replayed together: every three from three regions, and all of them. Costs are shares of what
the job's hours cost on demand: the mean over starts, then cells, then zones. The planner knows chances by age that are
shipped with it and what it has seen up to now; nothing is fitted here. `--left-out` also plans each zone with chances
counted in all zones of other names: the shipped ones were counted in public zones that DIR may hold.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.facts.spot import SpotTrace
from unitcost.readers.spot_traces import read
from unitcost.training.bound import least_usd
from unitcost.training.market import FloatArray, IntArray, Market, market_of
from unitcost.training.outlook import observed
from unitcost.training.planning import planner
from unitcost.training.policies import greedy, late_line, uniform_progress
from unitcost.training.replay import Jobs, Policy, replay
from unitcost.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

CELLS = tuple(product((12, 24, 48), (1.1, 1.25, 1.5, 2.0), (0.05, 0.2, 0.5)))
#: One start for each hour of the job.
TOGETHER = (24, 1.25, 0.2)
ACCELERATOR = re.compile(
    r"\b(k80|p4|p40|p100|v100|t4|l4|l40s?|a10g?|a30|a40|a100|h100|h200|gh200|b100|b200|gb200|mi\d+x?|tpu|trn\d|inf\d)",
    re.I,
)
PROCESSOR = re.compile(r"\b(cpu|intel|amd|arm|xeon|epyc|graviton|[cdehmnrtxz]\d)", re.I)
POLICIES: Mapping[str, Callable[[Market, Jobs], Policy]] = {
    "greedy": lambda market, jobs: greedy,
    "uniform_progress": lambda market, jobs: uniform_progress,
    "late_line": lambda market, jobs: late_line(len(jobs)),
    "planner": planner,
}


@dataclass
class Tally:
    """Runs made, runs late, and the processor time of policies."""

    runs: int = 0
    late: int = 0
    cpu_s: float = 0.0
    skipped: list[str] = field(default_factory=list)

    def share(self, market: Market, jobs: Jobs, make: Callable[[Market, Jobs], Policy]) -> FloatArray:
        """Cost of each job as a share of on-demand."""
        begun = time.process_time()
        outcome = replay(market, jobs, make(market, jobs))
        self.cpu_s += time.process_time() - begun
        self.runs += len(jobs)
        self.late += outcome.late
        return outcome.cost_usd / on_demand_usd(market, jobs)


def on_demand_usd(market: Market, jobs: Jobs) -> FloatArray:
    """Hours of each job at the price on demand. [USD]."""
    return market.on_demand_usd_per_hour * jobs.work_s / SECONDS_PER_HOUR


def jobs_of(market: Market, cells: Iterable[tuple[float, float, float]], starts: int) -> tuple[Jobs, IntArray]:
    """Jobs of all cells for which the recording is long enough, and the cell of each."""
    rows = []
    for cell, (hours, ratio, changeover_hours) in enumerate(cells):
        ticks = int(hours * ratio * SECONDS_PER_HOUR / market.gap_s + 1e-9)
        if ticks > market.ticks:
            continue
        begins = np.unique(np.linspace(0, market.ticks - ticks, starts).astype(int))
        rows += [(s, ticks, hours * SECONDS_PER_HOUR, changeover_hours * SECONDS_PER_HOUR, cell) for s in begins]
    start, ticks_, work_s, changeover_s, cell_ = (np.array(column) for column in zip(*rows, strict=True))
    return Jobs(start=start, ticks=ticks_, work_s=work_s, changeover_s=changeover_s), cell_


def by_cell(shares: FloatArray, cells: IntArray) -> float:
    """Mean over starts, then cells."""
    return float(np.mean([shares[cells == cell].mean() for cell in np.unique(cells)]))


def single_zone(traces: Sequence[SpotTrace], starts: int, tally: Tally) -> dict[str, dict[str, float]]:
    """Zone -> policy or bound -> mean share of on-demand."""
    found = {}
    for trace in traces:
        market = market_of([trace])
        if market.ticks * market.gap_s < CELLS[0][0] * CELLS[0][1] * SECONDS_PER_HOUR:
            tally.skipped.append(f"{trace.source}: shorter than the shortest deadline")
            continue
        jobs, cells = jobs_of(market, CELLS, starts)
        shares = {name: tally.share(market, jobs, make) for name, make in POLICIES.items()}
        shares["bound"] = least_usd(market, jobs) / on_demand_usd(market, jobs)
        found[trace.source] = {name: by_cell(share, cells) for name, share in shares.items()}
    return found


def left_out(traces: Sequence[SpotTrace], starts: int, tally: Tally) -> float:
    """Mean share of on-demand when each zone is planned with chances counted in the zones of other names."""
    found = []
    for trace in traces:
        others = [market_of([other]) for other in traces if other.zone != trace.zone]
        market, outlook = market_of([trace]), observed(others)
        jobs, cells = jobs_of(market, CELLS, starts)
        shares = tally.share(market, jobs, lambda market, jobs, outlook=outlook: planner(market, jobs, outlook))
        found.append(by_cell(shares, cells))
    return float(np.mean(found))


def together(traces: Sequence[SpotTrace], starts: int, tally: Tally) -> dict[str, dict[str, float]]:
    """Set of zones -> planner or bound -> mean share of on-demand."""
    found = {}
    for zones in sets_of(traces):
        market = market_of(zones)
        if market.ticks * market.gap_s < TOGETHER[0] * TOGETHER[1] * SECONDS_PER_HOUR:
            continue
        jobs, _ = jobs_of(market, [TOGETHER], starts)
        shares = {
            "planner": tally.share(market, jobs, planner),
            "bound": least_usd(market, jobs) / on_demand_usd(market, jobs),
        }
        excess = shares["planner"] - shares["bound"]
        found[" + ".join(market.zones)] = {
            **{name: float(share.mean()) for name, share in shares.items()},
            "standard_error": float(excess.std(ddof=1) / np.sqrt(len(excess))),
        }
    return found


def sets_of(traces: Sequence[SpotTrace]) -> list[tuple[SpotTrace, ...]]:
    """Every three priced zones of three regions that share a clock, and all priced zones that do."""
    clocks: dict[tuple[float, str, str, int], list[SpotTrace]] = {}
    for trace in traces:
        if trace.spot_usd_per_hour is not None:
            clocks.setdefault((trace.gap_s, trace.start, trace.device, len(trace.counts)), []).append(trace)
    sets: list[tuple[SpotTrace, ...]] = []
    for shared in clocks.values():
        threes = [three for three in combinations(shared, 3) if len({t.region for t in three}) == len(three)]
        sets += threes
        if len(shared) > 3 and threes:
            sets.append(tuple(shared))
    return sets


def accelerator_zones(folder: Path, tally: Tally) -> list[SpotTrace]:
    """Single-node traces of accelerators in a folder."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        try:
            trace = read(path)
        except UnitcostError as error:
            tally.skipped.append(str(error))
            continue
        if trace.nodes == 1 and (ACCELERATOR.search(trace.device) or not PROCESSOR.search(trace.device)):
            found.append(trace)
    return found


def mean_of(rows: Mapping[str, Mapping[str, float]], names: Iterable[str]) -> dict[str, float]:
    """Mean over zones or sets of zones."""
    return {name: round(float(np.mean([row[name] for row in rows.values()])), 5) for name in names if rows}


def main() -> int:
    """Replay, print; 1 when there is nothing to replay or a run was late."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of traces, one JSON a zone")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--starts", type=int, default=24, help="starts for each zone and cell")
    parser.add_argument("--left-out", action="store_true", help="also plan each zone with the chances of the others")
    options = parser.parse_args()
    tally = Tally()
    traces = accelerator_zones(options.data, tally)
    alone = single_zone(traces, options.starts, tally)
    joint = together(traces, options.starts, tally)
    answer = {
        "single_zone": mean_of(alone, [*POLICIES, "bound"]),
        "multi_region": mean_of(joint, ["planner", "bound"]),
        "late_runs": tally.late,
        "runs_per_minute": round(tally.runs / tally.cpu_s * SECONDS_PER_MINUTE) if tally.cpu_s else 0,
        "runs": tally.runs,
        "starts": options.starts,
        "zones": alone,
        "sets": joint,
        "skipped": tally.skipped,
    }
    if options.left_out:
        answer["planner_left_out"] = round(left_out(traces, options.starts, tally), 5)
    print(json.dumps(answer) if options.json else as_text(answer))
    return int(not alone or tally.late > 0)


def as_text(answer: Mapping[str, object]) -> str:
    """Tables for people."""
    lines = ["share of on-demand"]
    for part, rows in (("single_zone", "zones"), ("multi_region", "sets")):
        table: dict[str, dict[str, float]] = {**answer[rows], "MEAN": answer[part]}  # type: ignore[dict-item]
        names = [name for name in next(iter(table.values()), {}) if name in answer[part]]  # type: ignore[operator]
        lines += ["", f"{part:56}" + "".join(f"{name:>18}" for name in names)]
        lines += [
            f"{zone[-55:]:56}" + "".join(f"{row[name]:18.4f}" for name in names) for zone, row in table.items() if row
        ]
    lines += ["", f"late runs {answer['late_runs']}; {answer['runs_per_minute']:,} policy runs a minute of one core"]
    if "planner_left_out" in answer:
        lines.append(f"planner with chances of the other zones {answer['planner_left_out']:.4f}")
    lines += [f"skipped: {reason}" for reason in answer["skipped"]]  # type: ignore[attr-defined]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
