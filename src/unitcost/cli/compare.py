"""`unitcost compare`: the cheapest option at fixed quality."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.bench_output import demand_options, form_options
from unitcost.cli.options import FilePath, share_option, text_option, workspace_options

if TYPE_CHECKING:
    from unitcost.jobs.option_sources import Sources


@click.command("compare")
@click.argument("tables", nargs=-1, required=True, type=FilePath(exists=True, dir_okay=False))
@text_option("--usd-per-hour", metavar="USD", help="Price of a machine, for rows that give none.")
@click.option("--at", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; may be repeated.")
@click.option("--items", multiple=True, metavar="[NAME=]FILE", help="Answers per item; may be repeated.")
@click.option("--qualities", multiple=True, metavar="ledger|FILE",
              help="Measured qualities, from the ledger, answers of MLflow or a table; may be repeated.")  # fmt: skip
@text_option("--data-set", metavar="NAME", help="Data set that the qualities were measured on.")
@text_option("--metric", metavar="NAME", help="accuracy, f1, auc, rmse, mae, exact-match, score, a metric of --qualities, "
             "a column of scores in --items, or FILE.py:FUNCTION.")  # fmt: skip
@click.option("--cache", "caches", multiple=True, metavar="OPTION=FILE",
              help="The option behind a cache, as `measure cache --json` found; may be repeated.")  # fmt: skip
@text_option("--lookup-usd-per-1k", default="0", metavar="USD", help="What 1k lookups in a cache cost.")
@text_option("--reference", metavar="NAME", help="Option whose quality must be kept within the margin.")
@share_option("--margin", help="Loss against the reference that is allowed, such as 0.01 or 1pt.")
@click.option("--several", type=click.Choice(["holm", "confirm"]), default="holm", show_default=True,
              help="Judge all options strictly, or choose on half of the items and confirm on the rest.")  # fmt: skip
@demand_options
@form_options
@workspace_options
def command(tables: tuple[Path, ...], as_json: bool, html: Path | None, **said: Any) -> None:
    """Find the cheapest option that is not worse than the bar allows, inside the latency and memory limits.

    TABLES are csv or JSON with one row per option, or files that `unitcost measure model` wrote.
    """
    from unitcost.cli.bench_output import deliver, demand_of, limits_of
    from unitcost.jobs.compare import Judging, compare
    from unitcost.jobs.compare_page import compare_data, compare_page
    from unitcost.jobs.option_sources import gather
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    demand = demand_of(said)
    found = gather(_sources(tables, said), limits_of(said, reference=said["reference"]), workspace)
    judging = Judging(metric=said["metric"], margin=said["margin"], several=said["several"])
    choice = compare(found.options, found.items, demand, found.limits, judging)
    page, data = compare_page(choice, demand, found.limits), compare_data(choice, demand, found.limits)
    deliver("compare", data, page, as_json=as_json, html=html)


def _sources(tables: tuple[Path, ...], said: dict[str, Any]) -> Sources:
    from unitcost.jobs.bench_words import amount, pairs
    from unitcost.jobs.option_sources import Sources

    return Sources(
        files=tables, items=said["items"], at=pairs(said["at"], "--at"), qualities=said["qualities"],
        usd_per_hour=amount(said["usd_per_hour"], "--usd-per-hour") if said["usd_per_hour"] else None,
        metric=said["metric"], data_set=said["data_set"], caches=said["caches"],
        lookup_usd_per_1k=amount(said["lookup_usd_per_1k"], "--lookup-usd-per-1k"),
    )  # fmt: skip
