"""`unitcost plan cache`: whether preprocessed data is worth keeping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.options import text_option, workspace_options
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option


@click.command("cache")
@scenario_option
@text_option("--on-the-fly", required=True, metavar="TIME", help="A pass with preprocessing, such as 1h.")
@text_option("--cached", required=True, metavar="TIME", help="A pass from the cache.")
@text_option("--one-off", required=True, metavar="TIME", help="Filling the cache.")
@click.option("--epochs", type=click.IntRange(min=1), default=1, show_default=True, help="Passes of a run.")
@click.option("--runs", type=click.IntRange(min=1), default=1, show_default=True, help="Runs that share the cache.")
@text_option("--usd-per-hour", default="1", show_default=True, metavar="USD", help="What an hour of the job costs.")
@click.option("--data-gb", type=float, default=0.0, help="Size of what is kept; priced as object storage.")
@click.option("--months", type=float, default=1.0, show_default=True, help="How long it is kept.")
@click.option("--moved-gb", type=float, default=0.0, help="How much is moved to another region.")
@text_option("--provider", default="aws", show_default=True, help="Whose prices of storage and movement.")
@text_option("--region", default="us-east-1", show_default=True, help="Where it is kept, and moved from.")
@click.option("--local-gb", type=float, default=0.0, help="Size of a local cache that drops the least recently used.")
@click.option(
    "--order", type=click.Choice(["fixed", "shuffled", "pinned"]), default="shuffled", show_default=True,
    help="Order of passes over a local cache.",
)  # fmt: skip
@click.option("--random-before", is_flag=True, help="Random augmentation comes before the cut.")
@plan_options
@workspace_options
def command(as_json: bool, html: Path | None, folder: str, config_file: Path | None, as_of: str, **said: Any) -> None:
    """Plan whether preprocessed data is kept: it pays when passes x (on the fly - cached) > filling and keeping."""
    from unitcost.cli.plan_output import deliver
    from unitcost.jobs.plan_cache import CachePlanAsk, plan_caching
    from unitcost.jobs.plan_cache_page import cache_page
    from unitcost.jobs.plan_words import amount, hours
    from unitcost.jobs.workspace import open_workspace
    from unitcost.training.caching import CacheAsk

    workspace = open_workspace(folder, config_file=config_file, as_of=as_of)
    ask = CacheAsk(
        on_the_fly_hours=hours(said["on_the_fly"], "--on-the-fly"), cached_hours=hours(said["cached"], "--cached"),
        one_off_hours=hours(said["one_off"], "--one-off"), epochs=said["epochs"], runs=said["runs"],
        usd_per_hour=float(amount(said["usd_per_hour"], "--usd-per-hour")), random_before=said["random_before"],
    )  # fmt: skip
    plan = plan_caching(
        CachePlanAsk(
            ask=ask, data_gb=said["data_gb"], months=said["months"], moved_gb=said["moved_gb"], provider=said["provider"],
            region=said["region"], local_gb=said["local_gb"], order=said["order"],
        ),
        workspace,
    )  # fmt: skip
    deliver("plan-cache", plan, cache_page(plan), as_json=as_json, html=html)
