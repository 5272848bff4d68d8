"""`unitcost plan sweep`: what a sweep costs, and what stopping early saves and loses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import FilePath, text_option
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option


@click.command("sweep")
@scenario_option
@click.option(
    "--curves", type=FilePath(exists=True), help="Past curves: a csv (run, step, seconds, metric), or mlruns/."
)
@text_option("--metric", metavar="NAME", help="Column or MLflow metric.  [default: metric]")
@click.option("--minimize", is_flag=True, help="A low value is good.")
@click.option("--target", type=float, help="Value from which a result is accepted.  [default: within 1 % of the best]")
@click.option("--workers", type=click.IntRange(min=1), default=8, show_default=True, help="Trials at once.")
@click.option("--trials", type=click.IntRange(min=1), help="Trials of the sweep.  [default: as in the curves]")
@text_option("--hours-per-trial", metavar="TIME", help="Length of a full trial.  [default: as in the curves]")
@click.option("--gpus", type=click.IntRange(min=1), default=1, show_default=True, help="Accelerators of a trial.")
@text_option("--usd-per-gpu-hour", metavar="USD", help="Price of one of them.  [default: hours are counted]")
@click.option("--acceptance", type=float, help="Part of the trials that is accepted, from 0 to 1.")
@plan_options
def command(as_json: bool, html: Path | None, **said: Any) -> None:
    """Plan a sweep: its cost with and without stopping early, and per accepted result.

    Optuna's pruners are replayed on past curves under a simulated clock. What is saved is never shown without what is lost.
    """
    from unitcost.cli.plan_output import deliver
    from unitcost.jobs.plan_sweep import SweepAsk, plan_sweep
    from unitcost.jobs.plan_sweep_page import sweep_page
    from unitcost.jobs.plan_words import amount, hours

    price = said["usd_per_gpu_hour"]
    ask = SweepAsk(
        trials=said["trials"], accelerators=said["gpus"], acceptance_share=said["acceptance"], curves=said["curves"],
        hours_per_trial=hours(said["hours_per_trial"], "--hours-per-trial") if said["hours_per_trial"] else None,
        usd_per_accelerator_hour=amount(price, "--usd-per-gpu-hour") if price else None, metric=said["metric"],
        direction="minimize" if said["minimize"] else "maximize", target=said["target"], workers=said["workers"],
    )  # fmt: skip
    plan = plan_sweep(ask)
    deliver("plan-sweep", plan, sweep_page(plan), as_json=as_json, html=html)
