"""A day of requests under each way of keeping replicas: fixed, autoscaled, warm pool, spot with and without fallback.

    python benchmarks/serving_day.py [--json] [--curve CSV --lengths CSV [--lengths-group NAME]] [--requests-per-day N]
                                     [--model NAME] [--gpu NAME] [--precision NAME]

Prints the table of `unitcost plan serve --fleets` for the cheapest option that keeps the targets, with all requests of the day
played under every way. Without a curve the day is made up: a rate that rises and falls once, and one client's lengths.
The published figures use ServeGen's curve and lengths of m-small (`t,rate` in steps of ten minutes, the first day of it).

Figures: `seconds` of processor time of the whole, `runs` of the simulator, and a row for each way: `usd_per_day`,
`usd_per_mtok_total`, p95 of TTFT and TPOT, share of the requests inside both targets, replica-hours.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
import time
from pathlib import Path

from unitcost.cli.output import print_section
from unitcost.jobs.fleet_answers import FleetAsk, FleetPlan
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.plan_serve import plan_serve
from unitcost.jobs.plan_serve_fleets import plan_fleets
from unitcost.jobs.plan_serve_fleets_page import fleets_section
from unitcost.jobs.plan_words import as_data, quantity, seconds
from unitcost.jobs.serve_answers import ServeAsk
from unitcost.jobs.workspace import open_workspace
from unitcost.serving.search import Limits
from unitcost.units import SECONDS_PER_DAY

_STEP_S = 600
#: Quantiles of the lengths of the made-up client. [tokens]
_SHARES = ("q05", "q10", "q25", "q50", "q75", "q90", "q95", "q99", "q100")
_LENGTHS = {
    "input_tokens": (40, 80, 200, 450, 1100, 2400, 3600, 6000, 9000),
    "output_tokens": (5, 10, 40, 120, 260, 480, 700, 1100, 2000),
}


def made_up(folder: Path) -> tuple[Path, Path]:
    """A day whose rate is lowest at four in the morning and highest twelve hours later, and lengths."""
    curve, lengths = folder / "rate.csv", folder / "quantiles.csv"
    with curve.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["t", "rate"])
        for at in range(0, SECONDS_PER_DAY, _STEP_S):
            rows.writerow([at, round(1 - 0.6 * math.cos(2 * math.pi * (at / SECONDS_PER_DAY - 1 / 6)), 4)])
    with lengths.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["client", "field", "mean", *_SHARES])
        for field, tokens in _LENGTHS.items():
            rows.writerow([0, field, sum(tokens) / len(tokens), *tokens])
    return curve, lengths


def planned(options: argparse.Namespace, folder: Path) -> FleetPlan:
    """The fleets of the cheapest option."""
    curve, lengths = (options.curve, options.lengths) if options.curve else made_up(folder)
    ask = ServeAsk(
        model=options.model, curve=curve, lengths=lengths, lengths_group=options.lengths_group,
        limits=Limits(
            ttft_p95_s=seconds(options.ttft_p95, "--ttft-p95"), tpot_p95_s=seconds(options.tpot_p95, "--tpot-p95")
        ),
        per_day=quantity(options.requests_per_day, "--requests-per-day"), duration_s=SECONDS_PER_DAY,
        gpus=(options.gpu,) if options.gpu else (), precisions=(options.precision,) if options.precision else (),
    )  # fmt: skip
    prices = Prices(open_workspace(folder, as_of=options.as_of))
    _, searched = plan_serve(ask, prices)
    return plan_fleets(ask, FleetAsk(), searched, prices)


def main() -> int:
    """Plan and print; 1 when no way keeps the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--curve", type=Path, help="rate over time: t,rate")
    parser.add_argument("--lengths", type=Path, help="quantiles of lengths, with --curve")
    parser.add_argument("--lengths-group", default="", help="only this set of the quantiles")
    parser.add_argument("--requests-per-day", default="1m")
    parser.add_argument("--model", default="llama-3.1-70b")
    parser.add_argument("--gpu", default="")
    parser.add_argument("--precision", default="")
    parser.add_argument("--ttft-p95", default="2s")
    parser.add_argument("--tpot-p95", default="60ms")
    parser.add_argument("--as-of", default="", help="day of the prices")
    options = parser.parse_args()
    if bool(options.curve) != bool(options.lengths):
        parser.error("--curve and --lengths go together")
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        plan = planned(options, Path(folder))
    spent_s = round(time.process_time() - started, 1)
    if options.json:
        print(json.dumps({"seconds": spent_s, **as_data(plan)}))
    else:
        for section in fleets_section(plan):
            print_section(section)
        print(f"{spent_s:,.1f} s of processor time, {plan.runs} runs of the simulator for the fleets")
    return 0 if plan.chosen else 1


if __name__ == "__main__":
    sys.exit(main())
