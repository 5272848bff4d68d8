"""What early stopping would have saved on recorded sweeps, and what it would have lost.

    python benchmarks/sweep_replay.py --data DIR [--json] [--workers 8] [--orders 2]

DIR holds tables of AlgoPerf, LCDB and nanogpt runs (those that are there are replayed). Optuna's pruners are driven offline under
a simulated clock; the recommendation pauses runs that fall behind and spends part of what it saved on the most promising of
them. `lost_all`: sweeps that had accepted results and kept none, as a share of those that had any.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from unitcost.errors import BadFile
from unitcost.facts.sweeps import Sweep
from unitcost.jobs.optuna_pruners import optuna_pruners
from unitcost.readers.sweep_curves import read_algoperf, read_lcdb, read_nanogpt
from unitcost.training.pruners import never, pause_and_resume
from unitcost.training.sweeps import Laddered, Replay, Score, ladder, orders, replay_sweep, score

RECOMMENDED = "recommended"
SETS: Mapping[str, Callable[[Path], list[Sweep]]] = {
    "AlgoPerf": read_algoperf, "LCDB": read_lcdb, "nanogpt": read_nanogpt
}  # fmt: skip


def replays(laddered: Laddered, order: list[int], workers: int) -> Iterable[tuple[str, Replay]]:
    """Each way to stop early, and what it came to."""
    yield "none", replay_sweep(laddered, order, never, workers=workers)
    for name, make in optuna_pruners(laddered.sweep.name).items():
        yield name, replay_sweep(laddered, order, make(), workers=workers)
    yield RECOMMENDED, pause_and_resume(laddered, order, workers=workers)


def smaller(laddered: Laddered, order: Sequence[int], share: float) -> float:
    """Regret of a sweep of fewer trials: its best against the best of all."""
    first = order[: max(1, int(len(order) * share))]
    best = float(laddered.final.max())
    return (best - float(laddered.final[first].max())) / max(abs(best), 1e-9)


def summary(scores: Sequence[Score]) -> dict[str, float]:
    """Figures over sweeps and orders."""
    having = [s for s in scores if not math.isnan(s.kept)]
    return {
        "saved": round(float(np.mean([s.saved for s in scores])), 4),
        "lost_all": round(float(np.mean([s.lost_all for s in having])), 4) if having else math.nan,
        "kept": round(float(np.mean([s.kept for s in having])), 4) if having else math.nan,
        "top3_kept": round(float(np.mean([s.top3_kept for s in scores])), 4),
        "regret_median": round(float(np.median([s.regret for s in scores])), 6),
        "regret_mean": round(float(np.mean([s.regret for s in scores])), 6),
    }


def main() -> int:
    """Replay and print; 1 when there is no sweep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--workers", type=int, default=8, help="runs at once")
    parser.add_argument("--orders", type=int, default=2, help="orders in which runs start")
    options = parser.parse_args()
    by_set: dict[str, dict[str, list[Score]]] = {}
    fewer: dict[str, list[float]] = {"half": [], "quarter": []}
    for name, reader in SETS.items():
        try:
            sweeps = reader(options.data)
        except BadFile as error:
            print(f"skipped: {error}", file=sys.stderr)
            continue
        found = by_set.setdefault(name, {})
        for sweep in sweeps:
            laddered = ladder(sweep)
            for order in orders(len(laddered), options.orders):
                for way, replay in replays(laddered, order, options.workers):
                    found.setdefault(way, []).append(score(laddered, replay))
                fewer["half"].append(smaller(laddered, order, 1 / 2))
                fewer["quarter"].append(smaller(laddered, order, 1 / 4))
    if not any(by_set.values()):
        print("no sweep was found", file=sys.stderr)
        return 1
    ways = list(next(iter(by_set.values())))
    answer = {way: summary([s for found in by_set.values() for s in found[way]]) for way in ways}
    answer["smaller_sweeps"] = {  # type: ignore[assignment]
        name: {"regret_median": round(float(np.median(v)), 6), "regret_mean": round(float(np.mean(v)), 6)}
        for name, v in fewer.items()
    }
    answer["sets"] = {name: {way: summary(s) for way, s in found.items()} for name, found in by_set.items()}  # type: ignore[assignment]
    print(json.dumps(answer) if options.json else as_text(answer, ways))
    return 0


def as_text(answer: Mapping[str, Mapping[str, object]], ways: Sequence[str]) -> str:
    """Tables for people."""
    names = list(answer[ways[0]])
    lines = []
    sets: Mapping[str, Mapping[str, Mapping[str, float]]] = {"all sweeps": answer, **answer["sets"]}  # type: ignore[dict-item]
    for title, rows in sets.items():
        lines += ["", f"{title:24}" + "".join(f"{name:>15}" for name in names)]
        lines += [f"{way:24}" + "".join(f"{rows[way][name]:15.4f}" for name in names) for way in ways]
    lines += ["", "a smaller sweep instead: how far its best is below the best of all"]
    lines += [f"{name:24}{row}" for name, row in answer["smaller_sweeps"].items()]
    return "\n".join(lines[1:])


if __name__ == "__main__":
    sys.exit(main())
