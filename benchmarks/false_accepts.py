"""How often each way of deciding accepts an option that is worse by exactly the margin. Needs no data.

    python benchmarks/false_accepts.py [--studies N] [--metric-studies N] [--json]

Of right and wrong answers: the paired score bound, the point value, and the paired bootstrap, which is given the same answers as
scores. Each study is drawn from known shares; studies with equal counts get one bootstrap. Then twenty bad options together,
and the bootstrap of metrics that are no shares, on populations whose loss is known exactly.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from unitcost.economics.quality.bootstrap import Pair, resampled_verdict
from unitcost.economics.quality.metrics import metric
from unitcost.economics.quality.paired import decide
from unitcost.economics.quality.several import holm

MARGIN = 0.01
SPREAD = 0.06
SIZES = (500, 1000, 3000)
NORMAL = NormalDist()
#: Shares of items that only the reference, only the option, and both or neither have right.
SHARES = ((SPREAD + MARGIN) / 2, (SPREAD - MARGIN) / 2, 1 - SPREAD)


def shares_of_right(studies: int) -> list[dict[str, Any]]:
    """False accepts [shares] of the three ways, and how far apart the bounds of two of them are [points]."""
    rng = np.random.default_rng(7)
    rows = []
    for items in SIZES:
        cells, times = np.unique(rng.multinomial(items, SHARES, size=studies), axis=0, return_counts=True)
        exact = [decide(int(b), int(c), items, MARGIN) for b, c, _ in cells]
        drawn = [bootstrap(int(b), int(c), items, seed) for seed, (b, c, _) in enumerate(cells)]
        paired, resampled = (
            np.array([v.outcome == "not worse" for v in found]) @ times / studies for found in (exact, drawn)
        )
        gaps = np.array([abs(one.high - other.high) for one, other in zip(drawn, exact, strict=True)])
        rows.append({
            "items": items, "false_accepts_paired": float(paired), "false_accepts_bootstrap": float(resampled),
            "false_accepts_point_value": float(((cells[:, 0] - cells[:, 1]) / items <= MARGIN) @ times / studies),
            "false_accepts_gap_points": 100 * abs(float(resampled - paired)),
            "bootstrap_bound_gap_points": 100 * float(gaps @ times / studies),
        })  # fmt: skip
    return rows


def bootstrap(only_reference: int, only_option: int, items: int, seed: int) -> Any:
    """Verdict of the paired bootstrap on right and wrong answers, given as scores."""
    reference, option = np.ones(items), np.ones(items)
    option[:only_reference] = 0
    reference[only_reference : only_reference + only_option] = 0
    return resampled_verdict(
        metric("score"), Pair(reference=reference, option=option, truth=np.ones(items)), MARGIN, seed=seed
    )


def twenty_bad(studies: int) -> float:
    """How often any of twenty options that are all worse by the margin is accepted by Holm. [share]."""
    rng = np.random.default_rng(8)
    found = 0
    for _ in range(studies):
        counts = rng.multinomial(1000, SHARES, size=20)
        together = holm({str(n): decide(int(b), int(c), 1000, MARGIN) for n, (b, c, _) in enumerate(counts)})
        found += any(each.outcome == "not worse" for each in together.values())
    return found / studies


def _scores(rng: np.random.Generator, items: int) -> Pair:
    """Scores with a long tail to the bad side."""
    lost = rng.exponential(0.05, items)
    reference = 1 - rng.exponential(0.05, items)
    return Pair(reference=reference, option=reference - lost + 0.05 - MARGIN, truth=np.zeros(items))


def _absolute(rng: np.random.Generator, items: int) -> Pair:
    """Errors of numbers, each changed by a factor, so that their mean size grows by the margin."""
    sizes = rng.exponential(0.2, items)
    factors = rng.uniform(0.5, 1.5, items) + MARGIN / 0.2
    return Pair(reference=sizes, option=sizes * factors, truth=np.zeros(items))


def _squared(rng: np.random.Generator, items: int) -> Pair:
    """Normal errors that are correlated at 0.95, of spreads that differ by the margin."""
    one, other = rng.normal(size=(2, items))
    return Pair(
        reference=0.2 * one, option=(0.2 + MARGIN) * (0.95 * one + (1 - 0.95**2) ** 0.5 * other), truth=np.zeros(items)
    )


def _ranked(rng: np.random.Generator, items: int) -> Pair:
    """Normal scores of two classes, correlated at 0.98; ``AUC = Phi(shift / sqrt(2))``."""
    truth = (rng.random(items) < 0.3).astype(float)
    one, other = rng.normal(size=(2, items))
    shifts = [NORMAL.inv_cdf(value) * 2**0.5 for value in (0.9, 0.9 - MARGIN)]
    return Pair(
        reference=one + shifts[0] * truth,
        option=0.98 * one + (1 - 0.98**2) ** 0.5 * other + shifts[1] * truth,
        truth=truth,
    )


def _classes(rng: np.random.Generator, items: int) -> Pair:
    """Two classes, a third is positive; both err evenly on each: ``F1 = 2tp / (2tp + fp + fn)``."""
    truth = (rng.random(items) < 1 / 3).astype(float)
    reference = np.where(rng.random(items) < 0.1, 1 - truth, truth)
    aim = 2 * 0.3 / (2 * 0.3 + 0.1) - MARGIN
    wrong = 2 * (1 - aim) / (2 + aim)  # F1 = (2 - 2*wrong)/3 / ((2 - 2*wrong)/3 + wrong)
    broken, healed = 0.02 + (wrong - 0.1), 0.02
    chance = rng.random(items)
    flips = np.where(reference == truth, chance < broken / 0.9, chance < healed / 0.1)
    return Pair(reference=reference, option=np.where(flips, 1 - reference, reference), truth=truth)


POPULATIONS: Mapping[str, Callable[[np.random.Generator, int], Pair]] = {
    "score": _scores, "mae": _absolute, "rmse": _squared, "auc": _ranked, "f1": _classes
}  # fmt: skip


def other_metrics(studies: int) -> list[dict[str, Any]]:
    """False accepts of the bootstrap for metrics that are no shares of right answers, on the fewest items. [shares]."""
    rows = []
    for name, population in POPULATIONS.items():
        rng = np.random.default_rng(9)
        pairs = (population(rng, SIZES[0]) for _ in range(studies))
        found = [resampled_verdict(metric(name), pair, MARGIN, resamples=1_000, seed=n) for n, pair in enumerate(pairs)]
        accepted = float(np.mean([v.outcome == "not worse" for v in found]))
        rows.append({"metric": name, "items": SIZES[0], "studies": studies, "false_accepts_bootstrap": accepted})
        print(f"bootstrap of {name}, {SIZES[0]} items: {accepted:.1%} of {studies} studies", flush=True)
    return rows


def show(studies: int, metric_studies: int) -> dict[str, Any]:
    """Measure, print, and give as data."""
    rows = shares_of_right(studies)
    print(
        f"{'items':>6}{'paired':>9}{'bootstrap':>11}{'gap':>9}{'point':>9}{'gap of bounds':>15}   accepted at a true loss of the margin"
    )
    for row in rows:
        print(
            f"{row['items']:6}{row['false_accepts_paired']:9.2%}{row['false_accepts_bootstrap']:11.2%}"
            f"{row['false_accepts_gap_points']:6.2f} pt{row['false_accepts_point_value']:9.2%}"
            f"{row['bootstrap_bound_gap_points']:12.3f} pt"
        )
    bad = twenty_bad(max(1, studies // 20))
    print(f"twenty bad options together, by Holm: {bad:.2%}")
    others = other_metrics(metric_studies) if metric_studies else []
    return {"coverage": rows, "twenty_bad": bad, "other_metrics": others}


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=20_000)
    parser.add_argument("--metric-studies", type=int, default=0, help="studies of each metric that is no share; slow")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = show(arguments.studies, arguments.metric_studies)
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
