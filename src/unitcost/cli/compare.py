"""`unitcost compare`: the cheapest option at fixed quality."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import demand_options, form_options
from unitcost.cli.options import FilePath, text_option


@click.command("compare")
@click.argument("tables", nargs=-1, required=True, type=FilePath(exists=True, dir_okay=False))
@text_option("--usd-per-hour", metavar="USD", help="Price of a machine, for rows that give none.")
@click.option("--at", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; may be repeated.")
@click.option("--items", multiple=True, metavar="[NAME=]FILE", help="Answers per item; may be repeated.")
@text_option("--metric", metavar="NAME", help="accuracy, f1, auc, rmse, mae, exact-match, score, or FILE.py:FUNCTION.")
@text_option("--reference", metavar="NAME", help="Option whose quality must be kept within the margin.")
@click.option("--margin", type=float, help="Loss against the reference that is allowed, such as 0.01.")
@click.option("--several", type=click.Choice(["holm", "confirm"]), default="holm", show_default=True,
              help="Judge all options strictly, or choose on half of the items and confirm on the rest.")  # fmt: skip
@demand_options
@form_options
def command(tables: tuple[Path, ...], as_json: bool, html: Path | None, **said: Any) -> None:
    """Find the cheapest option that is not worse than the bar allows, inside the latency and memory limits.

    TABLES are csv or JSON with one row per option, or files that `unitcost measure model` wrote.
    """
    from unitcost.cli.bench_output import deliver, demand_of, limits_of
    from unitcost.jobs.bench_words import amount, pairs
    from unitcost.jobs.compare import Judging, compare
    from unitcost.jobs.compare_page import compare_data, compare_page
    from unitcost.jobs.option_sources import gather

    hourly = amount(said["usd_per_hour"], "--usd-per-hour") if said["usd_per_hour"] else None
    demand, limits = demand_of(said), limits_of(said, reference=said["reference"])
    options, items = gather(tables, said["items"], at=pairs(said["at"], "--at"), usd_per_hour=hourly, limits=limits)
    judging = Judging(metric=said["metric"], margin=said["margin"], several=said["several"])
    choice = compare(options, items, demand, limits, judging)
    page, data = compare_page(choice, demand, limits), compare_data(choice, demand, limits)
    deliver("compare", data, page, as_json=as_json, html=html)
