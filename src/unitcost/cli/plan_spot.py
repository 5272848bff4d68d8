"""`unitcost plan spot`: a job with a deadline on spot capacity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import text_option
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option
from unitcost.cli.plan_spot_options import spot_ask, spot_options


@click.command("spot")
@scenario_option
@text_option("--hours", required=True, metavar="TIME", help="Work without interruption, such as 24h.")
@text_option("--deadline", required=True, metavar="TIME", help="Time from start to deadline, such as 30h or 2d.")
@click.option(
    "--nodes", type=click.IntRange(min=1), default=1, show_default=True, help="Nodes of the job, all at once."
)
@click.option("--elastic", is_flag=True, help="Also look at a job that runs on as many nodes as there are.")
@spot_options
@plan_options
def command(
    hours: str, deadline: str, nodes: int, elastic: bool, as_json: bool, html: Path | None, **said: Any
) -> None:
    """Plan a job with a deadline on spot capacity, and how often it saves.

    Policies are replayed on the recording from many starts; beside them stands what knowing the future would have cost.
    """
    from unitcost.cli.plan_output import deliver
    from unitcost.jobs.plan_spot import plan_spot
    from unitcost.jobs.plan_spot_page import spot_page
    from unitcost.jobs.plan_words import hours as hours_of

    ask = spot_ask(hours_of(hours, "--hours"), hours_of(deadline, "--deadline"), nodes, elastic=elastic, **said)
    plan = plan_spot(ask)
    deliver("plan-spot", plan, spot_page(plan), as_json=as_json, html=html)
