"""`unitcost prices`: the price book."""

from __future__ import annotations

from typing import Any

import click

from unitcost.cli.options import at_option, json_option, price_options, workspace_options
from unitcost.cli.prices_capacity import find
from unitcost.cli.prices_refresh import refresh


@click.group("prices")
def command() -> None:
    """Look up prices of machines, models and services, with date and source.

    The book that ships with the project needs no network. Your own prices win over it.
    """


command.add_command(find)
command.add_command(refresh)


@command.command("list")
@click.option("--name", default="", metavar="GLOB", help="Only names like p5*.")
@price_options
@at_option
@json_option
@workspace_options
def list_(name: str, at: str, as_json: bool, **said: Any) -> None:
    """List prices in force; without any choice, the sources of the book."""
    from unitcost.cli import prices_output
    from unitcost.jobs import prices
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    wanted = prices.wanted(name, **said)
    if wanted == prices.wanted():
        prices_output.print_sources(prices.sources(workspace), as_json=as_json)
    else:
        prices_output.print_list(prices.listed(workspace, wanted, at=at), as_json=as_json)


@command.command("show")
@click.argument("name")
@click.option("--quantity", default="", metavar="N", help="Price this quantity, such as 10240 GB, tier by tier.")
@click.option("--variant", default="", metavar="NAME", help="How a model is called: batch, priority ...")
@click.option("--tokens", default="", metavar="CLASS=N,...", help="Price a call of a model: input=20000,output=1000.")
@click.option("--zones", is_flag=True, help="Show prices of single zones too.")
@price_options
@at_option
@json_option
@workspace_options
def show(name: str, quantity: str, variant: str, tokens: str, zones: bool, at: str, as_json: bool, **said: Any) -> None:
    """Show what NAME costs: a machine, a model, or a service such as internet_egress."""
    from unitcost.cli import prices_output
    from unitcost.jobs import model_prices, prices
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    asked = prices_output.number(quantity) if quantity else None
    call = model_prices.counts(tokens) if tokens else None
    wanted = prices.wanted(name, **said)
    found = prices.show(workspace, wanted, at=at, zones=zones, quantity=asked, variant=variant, tokens=call)
    prices_output.print_prices(found, as_json=as_json)


@command.command("diff")
@click.option("--from", "before", required=True, metavar="DATE", help="The earlier day.")
@click.option("--to", "after", default="", metavar="DATE", help="The later day.  [default: now]")
@click.option("--name", default="", metavar="GLOB", help="Only names like p5*.")
@click.option("--all", "everything", is_flag=True, help="List what is new and what is gone too.")
@price_options
@json_option
@workspace_options
def diff(before: str, after: str, name: str, everything: bool, as_json: bool, **said: Any) -> None:
    """Say what costs something else on two days."""
    from unitcost.cli import prices_output
    from unitcost.jobs import prices
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    found = prices.diff(workspace, prices.wanted(name, **said), before=before, after=after)
    prices_output.print_changes(found, everything=everything, as_json=as_json)
