"""`unitcost prices find`: where accelerators are cheapest."""

from __future__ import annotations

from typing import Any

import click

from unitcost.cli.options import at_option, json_option, workspace_options


@click.command("find")
@click.option("--accelerator", required=True, metavar="NAME", help="Accelerator or family, such as H100.")
@click.option("--count", default="1", metavar="N", show_default=True, help="How many are needed.")
@click.option("--region", "regions", multiple=True, metavar="GLOB", help="Only these regions; may be repeated.")
@click.option(
    "--by",
    type=click.Choice(["on-demand", "spot", "committed"]),
    default="on-demand",
    show_default=True,
    help="Which price ranks the answer.",
)
@click.option("--split", is_flag=True, help="Several machines may hold them together.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Lines printed.")
@at_option
@json_option
@workspace_options
def find(accelerator: str, count: str, limit: int, as_json: bool, **said: Any) -> None:
    """Find the cheapest machines that hold a number of accelerators."""
    from unitcost.cli import prices_output
    from unitcost.jobs import prices
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    found = prices.find(workspace, accelerator, count=prices_output.number(count), **said)
    when = prices.moment(said["at"], workspace)
    prices_output.print_capacity(found, when, by=said["by"], limit=limit, as_json=as_json)
