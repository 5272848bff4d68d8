"""`unitcost plan serve`: the cheapest way to serve a model inside a latency target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import FilePath, text_option, workspace_options
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option
from unitcost.cli.plan_serve_cooldown import asks_for_cooldown, cooldown_options, plan_of_cooldown
from unitcost.cli.plan_serve_fleets import fleet_options
from unitcost.cli.plan_serve_inputs import cache_options, trace_options
from unitcost.cli.plan_serve_profile import plan_of_profile, profile_options

if TYPE_CHECKING:
    from unitcost.jobs.workspace import Workspace


@click.command("serve")
@scenario_option
@text_option("--model", metavar="NAME", help="Model, or the folder of its config.json.")
@trace_options
@click.option("--hash-tokens", type=click.IntRange(min=0), default=0, help="Tokens of a hashed block of the trace.")
@click.option("--requests", type=click.IntRange(min=1), help="Only the first so many requests of the trace.")
@click.option("--rps", type=float, help="Instead of a trace: requests a second, as a Poisson process.")
@click.option("--input", "input_tokens", type=click.IntRange(min=1), help="Tokens of a prompt, with --rps.")
@click.option("--output", "output_tokens", type=click.IntRange(min=1), help="Tokens of an answer, with --rps.")
@click.option(
    "--curve", type=FilePath(exists=True, dir_okay=False), help="Instead: requests a second over time (t, rate)."
)
@click.option("--lengths", type=FilePath(exists=True, dir_okay=False), help="Quantiles of lengths, with --curve.")
@text_option("--lengths-group", metavar="NAME", help="Only this set of the quantiles.")
@text_option("--requests-per-day", metavar="N", help="Scale the curve to so many on a mean day, such as 1m.")
@text_option("--duration", metavar="TIME", help="How much of it.  [default: 1h with --rps, all of a curve]")
@text_option("--ttft-p95", metavar="TIME", help="Limit of the time to the first token, such as 2s.")
@text_option("--tpot-p95", metavar="TIME", help="Limit of the time per further token, such as 60ms.")
@text_option("--e2e-p95", metavar="TIME", help="Limit of the time to the last token.")
@click.option("--gpu", "gpus", multiple=True, metavar="NAME", help="Only this GPU; may be repeated.")
@click.option("--precision", "precisions", multiple=True, metavar="NAME", help="Only bf16, fp8 ...; may be repeated.")
@click.option(
    "--backend", type=click.Choice(["vllm", "sglang", "trtllm"]), default="vllm", show_default=True, help="Engine."
)
@click.option(
    "--max-replicas", type=click.IntRange(min=1), default=64, show_default=True, help="Give an option up there."
)
@click.option(
    "--quality",
    "qualities",
    multiple=True,
    metavar="WHAT=N",
    help="Measured quality of a precision, or of an option of --profile, such as fp8=0.71.",
)
@text_option("--quality-bar", metavar="N", help="Least quality that will do.")
@click.option("--calibration", type=FilePath(exists=True, dir_okay=False), help="File of `unitcost calibrate serve`.")
@click.option("--prices", "own_prices", type=FilePath(exists=True, dir_okay=False), help="Own prices; they win.")
@click.option("--region", "regions", multiple=True, metavar="GLOB", help="Only these regions; may be repeated.")
@click.option("--levers", "with_levers", is_flag=True, help="Also one row for each lever, each played again.")
@text_option("--smaller-model", metavar="NAME", help="With --levers: the smaller model.  [default: one that ships]")
@cache_options
@fleet_options
@profile_options
@cooldown_options
@plan_options
@workspace_options
def command(as_json: bool, html: Path | None, folder: str, config_file: Path | None, as_of: str, **said: Any) -> None:
    """Plan serving: cost, latency and fill of each option, the cheapest inside the targets, what is ruled out and why.

    Each option is played on the traffic by a simulator, with whole replicas and prices of the price book; an API stands beside.
    With --profile, a model that answers in one step is planned from its measured latency by batch size. With --cooldowns and
    --usd-per-hour alone, the answer is how long a replica should wait before it stops.
    """
    if said["profile"]:
        plan_of_profile(said, as_json=as_json, html=html)
    elif asks_for_cooldown(said):
        plan_of_cooldown(said, as_json=as_json, html=html)
    else:
        from unitcost.jobs.workspace import open_workspace

        workspace = open_workspace(folder, config_file=config_file, as_of=as_of)
        _plan_of_model(said, workspace, as_json=as_json, html=html)


def _plan_of_model(said: dict[str, Any], workspace: Workspace, *, as_json: bool, html: Path | None) -> None:
    from unitcost.cli.plan_output import deliver
    from unitcost.cli.plan_serve_fleets import fleet_ask
    from unitcost.cli.plan_serve_words import ask_of, watching
    from unitcost.jobs.plan_prices import Prices
    from unitcost.jobs.plan_serve import plan_serve
    from unitcost.jobs.plan_serve_fleets import plan_fleets
    from unitcost.jobs.plan_serve_levers import pull_levers
    from unitcost.jobs.plan_serve_page import serve_page
    from unitcost.readers import rentals_csv

    own = rentals_csv.read(said["own_prices"], today=workspace.now.date()) if said["own_prices"] else []
    prices = Prices(workspace, own=own, regions=said["regions"])
    fleets = fleet_ask(said)
    with watching() as watch:
        plan, searched = plan_serve(ask_of(said), prices, watch=watch)
        if said["with_levers"]:
            pulled = pull_levers(plan.ask, searched, prices, plan.api, smaller=said["smaller_model"])
            plan = replace(plan, levers=pulled)
        if said["with_fleets"]:
            found = plan_fleets(plan.ask, fleets, searched, prices, on_way=watch.way)
            plan = replace(plan, fleets=found)
    deliver("plan-serve", plan, serve_page(plan), as_json=as_json, html=html)
