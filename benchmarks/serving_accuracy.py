"""How far the serving planner is from measured runs, beside a static estimate with and without calibration factors.

    python benchmarks/serving_accuracy.py --fit CSV [--score CSV] [--sample N] [--processes N] [--json]

The planner is fitted on the rows of --fit and scored on those of --score; without --score by cross-validation, in which
all runs of a configuration (all but the number of requests in flight) are kept back together. The peer is the static
estimate that the rows carry; the control gives it one speed and one first-token factor per backend, GPU, model and
precision, shrunk where rows are few. Errors are mean absolute percentages; throughput is
concurrency * output / (ttft + tpot * (output - 1)). Rows that cannot be read or worked out are counted with their reason
under `unused`; `n` counts the others.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from unitcost.errors import BadSetting, NotMeasured, UnitcostError
from unitcost.measure.aiconfigurator import installed
from unitcost.measure.serving_fit import Bench, cautious, fit, predict
from unitcost.measure.serving_grids import Grids, grids_of
from unitcost.measure.serving_rows import ServingRow, Unused, read_usable

Array = NDArray[np.float64]
FOLDS = 5
#: Rows that the belief in no factor is worth, for the control.
PRIOR_ROWS = 2.0
TARGETS = {"ttft_mape": 33.0, "tpot_mape": 11.9, "throughput_mape": 11.5}
#: The benchmark's own prices. [USD / GPU-hour]
PRICES = {"H100-80GB": 2.50, "H200": 3.20, "B200": 5.00, "B300": 6.00}
TTFT_TARGET_S, TPOT_TARGET_S = 2.0, 0.050
REGRET_TARGET, MISSED_TARGET = 0.05, 0.10


def measured(rows: list[ServingRow]) -> Array:
    """Measured times of rows: to the first token, per output token. [s]."""
    return np.array([[row.ttft_s, row.tpot_s] for row in rows])


def static(rows: list[ServingRow]) -> Array:
    """The peer's estimate of the same."""
    return np.array([[row.static_ttft_s, row.static_tpot_s] for row in rows], dtype=np.float64)


def throughput(rows: list[ServingRow], times: Array) -> Array:
    """Output tokens a second of a replica."""
    concurrency = np.array([row.concurrency for row in rows], dtype=np.float64)
    output = np.array([row.output_tokens for row in rows], dtype=np.float64)
    return concurrency * output / (times[:, 0] + times[:, 1] * (output - 1))


def errors(rows: list[ServingRow], times: Array) -> dict[str, float | None]:
    """Mean absolute percentage errors, over the rows that are answered; None where none is."""
    real = measured(rows)
    pairs = {
        "ttft_mape": (times[:, 0], real[:, 0]), "tpot_mape": (times[:, 1], real[:, 1]),
        "throughput_mape": (throughput(rows, times), throughput(rows, real)),
    }  # fmt: skip
    return {name: _mape(told, seen) for name, (told, seen) in pairs.items()}


def _mape(told: Array, seen: Array) -> float | None:
    answered = np.isfinite(told)
    if not answered.any():
        return None
    return round(100 * float(np.mean(np.abs(told[answered] / seen[answered] - 1))), 2)


def with_factors(fitted_on: list[ServingRow], scored: list[ServingRow]) -> Array:
    """The static estimate times one factor per group for each time: medians, shrunk where rows are few."""
    gaps = np.log(measured(fitted_on) / static(fitted_on))
    by_group: dict[str, list[Array]] = defaultdict(list)
    for row, gap in zip(fitted_on, gaps, strict=True):
        if np.isfinite(gap).all():
            by_group[row.group].append(gap)
    factors = {
        group: np.exp(np.median(found, axis=0) * len(found) / (len(found) + PRIOR_ROWS))
        for group, found in by_group.items()
    }
    return static(scored) * np.array([factors.get(row.group, np.ones(2)) for row in scored])


def folds(rows: list[ServingRow], by: str) -> list[list[int]]:
    """Indices of the rows kept back together in each round."""
    names = [row.configuration if by == "configuration" else str(index) for index, row in enumerate(rows)]
    known = sorted(set(names))
    order = np.random.default_rng(0).permutation(len(known))
    fold = {known[place]: index % FOLDS for index, place in enumerate(order)}
    return [[index for index, name in enumerate(names) if fold[name] == part] for part in range(FOLDS)]


@dataclass
class Scores:
    """Rows that were scored, with the answers; `cautious` is what the planner compares with a target."""

    rows: list[ServingRow]
    planner: Array
    cautious: Array
    control: Array


def _fold(rows: list[ServingRow], grids: Grids, kept: list[int]) -> tuple[list[int], Array, Array, Array]:
    """Rows kept back, answered by a fit on the others."""
    bench, chosen = Bench(rows, grids), sorted(set(range(len(rows))) - set(kept))
    fitted = fit(bench, chosen)
    planner = predict(fitted, bench, kept)
    scored = [rows[i] for i in kept]
    return kept, planner, cautious(fitted, scored, planner), with_factors([rows[i] for i in chosen], scored)


def cross_validated(rows: list[ServingRow], grids: Grids, by: str, processes: int) -> Scores:
    """Each row answered by a fit that has not seen its configuration."""
    planner, careful, control = (np.zeros((len(rows), 2)) for _ in range(3))
    parts = [kept for kept in folds(rows, by) if 0 < len(kept) < len(rows)]
    if not parts:
        raise BadSetting("there is one configuration only: none can be kept back", mend="give --score, or more rows")
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool, shown(f"by {by}") as done:
        answers = [pool.submit(_fold, rows, grids, kept) for kept in parts]
        for number, answer in enumerate(as_completed(answers), start=1):
            kept, *times = answer.result()
            planner[kept], careful[kept], control[kept] = times
            done(number, len(parts))
    return Scores(rows=rows, planner=planner, cautious=careful, control=control)


def kept_back(fitted_on: list[ServingRow], scored: list[ServingRow], grids: Grids) -> Scores:
    """Rows of one file answered by a fit on another."""
    rows = [*fitted_on, *scored]
    _, planner, careful, control = _fold(rows, grids, list(range(len(fitted_on), len(rows))))
    return Scores(rows=scored, planner=planner, cautious=careful, control=control)


@contextmanager
def shown(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr."""
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda made, of: bar.update(task, completed=made, total=of)


def regret(scores: Scores, times: Array, compared: Array) -> dict[str, float | int | None]:
    """What the choice by these times costs above the cheapest that met the targets when measured.

    `compared` are the times that are held against the targets.

    Groups are rows of the same model and lengths with several hardware options; an option is a row.
    """
    real = measured(scores.rows)
    groups: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for index, row in enumerate(scores.rows):
        groups[row.served.model, row.input_tokens, row.output_tokens].append(index)
    losses, missed = [], []
    for members in groups.values():
        if len({(scores.rows[i].served.gpu, scores.rows[i].served.gpus) for i in members}) < 2:
            continue
        told = _usd_per_mtok(scores.rows, times, compared, members)
        seen = _usd_per_mtok(scores.rows, real, real, members)
        if not np.isfinite(seen).any() or not np.isfinite(told).any():
            continue
        choice = int(np.argmin(told))
        missed.append(not np.isfinite(seen[choice]))
        if np.isfinite(seen[choice]):
            losses.append(seen[choice] / seen.min() - 1)
    return {
        "groups": len(missed),
        "median_regret": round(float(np.median(losses)), 4) if losses else None,
        "mean_regret": round(float(np.mean(losses)), 4) if losses else None,
        "missed_share": round(float(np.mean(missed)), 4) if missed else None,
    }


def _usd_per_mtok(rows: list[ServingRow], times: Array, compared: Array, members: list[int]) -> Array:
    """Cost of a million output tokens of each option; infinite where a target is missed."""
    chosen = [rows[i] for i in members]
    hourly = np.array([PRICES.get(row.served.gpu, np.inf) * row.served.gpus for row in chosen])
    usd = hourly / 3600 / throughput(chosen, times[members]) * 1e6
    ok = (compared[members, 0] <= TTFT_TARGET_S) & (compared[members, 1] <= TPOT_TARGET_S)
    return np.where(ok, usd, np.inf)


def report(scores: Scores) -> dict[str, Any]:
    """All figures of scored rows."""
    return {
        "n": len(scores.rows),
        "planner": errors(scores.rows, scores.planner),
        "static": errors(scores.rows, static(scores.rows)),
        "static_with_factors": errors(scores.rows, scores.control),
        "regret": {
            "planner": regret(scores, scores.planner, scores.cautious),
            "static": regret(scores, static(scores.rows), static(scores.rows)),
            "static_with_factors": regret(scores, scores.control, scores.control),
        },
    }  # fmt: skip


def show(found: dict[str, Any], title: str) -> None:
    """Print the figures for a reader."""
    print(f"{title}: {found['n']} rows")
    print(f"  {'':22}{'TTFT':>8}{'TPOT':>8}{'throughput':>12}{'regret':>9}{'missed':>8}{'groups':>8}")
    for name in ("planner", "static", "static_with_factors"):
        cells, lost = found[name], found["regret"][name]
        print(
            f"  {name:22}{_tenth(cells['ttft_mape']):>8}{_tenth(cells['tpot_mape']):>8}"
            f"{_tenth(cells['throughput_mape']):>12}"
            f"{_percent(lost['median_regret']):>9}{_percent(lost['missed_share']):>8}{lost['groups']:>8}"
        )


def _tenth(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def main() -> int:
    """Fit, score, print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", type=Path, required=True, help="rows to fit on")
    parser.add_argument("--score", type=Path, help="rows to score on; without it cross-validation")
    parser.add_argument("--sample", type=int, help="use every n-th row only; targets are not judged")
    parser.add_argument("--processes", type=int, default=2, help="how many work at once; 2 by default")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if not installed() or not options.fit.exists():
        print("skipped: needs `pip install 'unitcost[llm]'` and the measured rows", file=sys.stderr)
        return 0
    try:
        found, titles = _scored(options)
    except UnitcostError as refusal:
        print(refusal, file=sys.stderr)
        return refusal.exit_code
    if options.json:
        print(json.dumps(found))
    else:
        for title, figures in titles.items():
            show(figures, title)
        print("  targets: " + ", ".join(f"{name} < {value}" for name, value in TARGETS.items()))
        print(
            f"           median regret <= {REGRET_TARGET:.0%}, chosen options that miss a target <= {MISSED_TARGET:.0%}"
        )
    return 0 if options.sample else int(_missed(found))


def _scored(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Figures to print as JSON, and the same under titles."""
    every = options.sample or 1
    files = {"fit": options.fit} | ({"score": options.score} if options.score else {})
    read = {name: read_usable(path) for name, path in files.items()}
    asked = {name: rows[::every] for name, (rows, _) in read.items()}
    with shown("step times") as done:
        grids = grids_of([row for rows in asked.values() for row in rows], processes=options.processes, done=done)
    usable = {name: grids.usable(rows) for name, rows in asked.items()}
    unused = {name: [*read[name][1], *usable[name][1]] for name in files}
    for name, (rows, _) in usable.items():
        if not rows:
            raise NotMeasured(
                f"no row of --{name} can be worked out", where=str(files[name]), mend=_reasons(unused[name])
            )
    found, titles = _figures(options, {name: rows for name, (rows, _) in usable.items()}, grids)
    found["unused"] = {name: dict(Counter(one.reason for one in rows)) for name, rows in unused.items()}
    for name, rows in unused.items():
        if rows:
            print(f"{len(rows)} rows of --{name} are left out: {_reasons(rows)}", file=sys.stderr)
    return found, titles


def _figures(
    options: argparse.Namespace, rows: dict[str, list[ServingRow]], grids: Grids
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    if "score" in rows:
        found = report(kept_back(rows["fit"], rows["score"], grids))
        return found, {"scored on rows kept back": found}
    found = report(cross_validated(rows["fit"], grids, "configuration", options.processes))
    titles = {"cross-validated by configuration": found}
    if not options.sample:
        titles["cross-validated by row"] = report(cross_validated(rows["fit"], grids, "row", options.processes))
        found = found | {"by_row": titles["cross-validated by row"]}
    return found, titles


def _reasons(unused: list[Unused]) -> str:
    counted = Counter(one.reason for one in unused)
    return "; ".join(f"{times} x {reason}" for reason, times in counted.most_common(5))


def _missed(found: dict[str, Any]) -> bool:
    planner, lost = found["planner"], found["regret"]["planner"]
    late = any(planner[name] >= limit for name, limit in TARGETS.items())
    if not lost["groups"]:
        return late
    return late or (lost["median_regret"] or 0.0) > REGRET_TARGET or lost["missed_share"] > MISSED_TARGET


if __name__ == "__main__":
    sys.exit(main())
