"""`unitcost measure merge`: sessions of many machines in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import demand_options, form_options
from unitcost.cli.options import FilePath, share_option, text_option, workspace_options


@click.command("merge")
@click.argument("files", nargs=-1, required=True, type=FilePath(exists=True, dir_okay=False))
@click.option("--machine", "names", multiple=True, metavar="FILE=NAME", help="Machine of a file, without its ending.")
@click.option(
    "--usd-per-hour", "own", multiple=True, metavar="NAME=USD", help="Own price of a machine; wins over the book."
)
@click.option(
    "--category", default="Standard", show_default=True, help="Prices of the book: Standard, Dynamic (spot) ..."
)
@click.option("--estimate", "estimates", multiple=True, metavar="NAME[=FILE]",
              help="A machine that nobody measured; FILE is a session on it with the anchors.")  # fmt: skip
@click.option("--with", "tables", multiple=True, type=FilePath(exists=True, dir_okay=False),
              help="Table of further options, as for `unitcost compare`.")  # fmt: skip
@click.option("--mixed-versions", "are_versions_mixed", is_flag=True,
              help="Let sessions have run in other versions of a runtime.")  # fmt: skip
@text_option("--metric", metavar="NAME", help="As for `unitcost measure model`.")
@text_option("--reference", metavar="NAME", help="Option or model that others are held against.  [default: the first]")
@share_option("--margin", help="Loss against the reference that is allowed, such as 0.01 or 1pt.")
@demand_options
@form_options
@workspace_options
def command(files: tuple[Path, ...], as_json: bool, html: Path | None, **said: Any) -> None:
    """Join result files of many machines and price them: cheapest at your traffic, inside the target, at fixed quality.

    Prices come from the price book by the name of the machine, such as m7i.large:us-east-1.
    """
    from unitcost.cli.bench_output import deliver, demand_of, limits_of
    from unitcost.jobs.bench_words import amount, pairs
    from unitcost.jobs.compare import Judging, Terms
    from unitcost.jobs.machine_prices import price_of
    from unitcost.jobs.merge import merge
    from unitcost.jobs.merge_page import merge_data, merge_page
    from unitcost.jobs.workspace import open_workspace
    from unitcost.measure.option_table import read_options

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    own = {name: amount(usd, "--usd-per-hour") for name, usd in pairs(said["own"], "--usd-per-hour").items()}
    demand, limits = demand_of(said), limits_of(said, reference=said["reference"])
    judging = Judging(metric=said["metric"], margin=said["margin"])
    price = price_of(workspace, own, category=said["category"])
    merged = merge(
        files, Terms(demand=demand, limits=limits, judging=judging, price=price), names=pairs(said["names"], "--machine"),
        estimates={name: file for name, _, file in (text.partition("=") for text in said["estimates"])},
        are_versions_mixed=said["are_versions_mixed"],
        more=[option for table in said["tables"] for option in read_options(table).options],
    )  # fmt: skip
    page, data = merge_page(merged, demand, merged.limits), merge_data(merged, demand, merged.limits)
    deliver("measure-merge", data, page, as_json=as_json, html=html)
