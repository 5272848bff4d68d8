"""How well training speed is predicted from measured rows.

    python benchmarks/throughput_model.py --fit CSV [--score CSV] [--json]

Fitted on the language-model rows of one csv. With `--score` those of another are predicted; without, each model size of the
llm-foundry rows is predicted from the others. Errors are of tokens a second and accelerator, as shares of what was measured;
coverage is the share of rows inside the stated interval. Rows whose chip has no measured rows are counted as unanswered.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unitcost.facts.training_runs import MeasuredRun
from unitcost.readers.training_runs import read
from unitcost.training.throughput import Speed, SpeedModel, setup_of


def left_out(runs: Sequence[MeasuredRun]) -> list[tuple[MeasuredRun, Speed | None]]:
    """Each row predicted from the rows of other model sizes."""
    found = []
    for model in sorted({run.model for run in runs}):
        rest = SpeedModel([run for run in runs if run.model != model])
        found += [(run, answer(rest, run)) for run in runs if run.model == model]
    return found


def answer(model: SpeedModel, run: MeasuredRun) -> Speed | None:
    """Prediction of a row; None where its chip has no measured rows."""
    setup = setup_of(run)
    return None if setup is None else model.predict(setup)


def main() -> int:
    """Predict and print; 1 when no row could be predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", type=Path, required=True, help="csv of measured rows")
    parser.add_argument("--score", type=Path, help="csv of rows to predict")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    runs = read(options.fit)
    if options.score:
        model = SpeedModel(runs)
        found = [(run, answer(model, run)) for run in read(options.score)]
    else:
        found = left_out([run for run in runs if "llm-foundry" in run.source])
    known = [(run, speed) for run, speed in found if speed is not None]
    if not known:
        print("no row could be predicted", file=sys.stderr)
        return 1
    errors = np.array([abs(speed.tokens_per_s.value / run.tokens_per_s - 1) for run, speed in known])
    inside = [speed.tokens_per_s.low <= run.tokens_per_s <= speed.tokens_per_s.high for run, speed in known]
    figures = {
        "median_error": round(float(np.median(errors)), 4),
        "p90_error": round(float(np.percentile(errors, 90)), 4),
        "coverage": round(float(np.mean(inside)), 4),
        "rows": len(known),
        "unanswered": len(found) - len(known),
        "median_width": round(float(np.median([s.tokens_per_s.high / s.tokens_per_s.low - 1 for _, s in known])), 4),
    }
    if options.json:
        print(json.dumps(figures))
        return 0
    print(f"{'rows predicted':24}{figures['rows']:10} ({figures['unanswered']} unanswered)")
    for name in ("median_error", "p90_error", "coverage", "median_width"):
        print(f"{name:24}{figures[name]:10.2%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
