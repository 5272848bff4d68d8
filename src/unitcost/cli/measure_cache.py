"""`unitcost measure cache`: what a cache of predictions would do to a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import form_options
from unitcost.cli.options import FilePath, text_option


@click.command("cache")
@click.argument("log", type=FilePath(exists=True, dir_okay=False))
@text_option("--key", metavar="COLUMN", help="Column with the request.  [default: found by its name]")
@text_option("--answer", metavar="COLUMN", help="Column with what the model answers.")
@text_option("--truth", metavar="COLUMN", help="Column with what is right.")
@text_option("--normalise", default="space", show_default=True, help="none, space, case or words.")
@text_option("--sizes", default="100,1000,10000,all", show_default=True, metavar="N,N", help="Entries that are kept.")
@text_option("--ages", default="any", show_default=True, metavar="TIME,TIME", help="How long an answer may be used.")
@text_option(
    "--near", "thresholds", metavar="X,X", help="Similarities at which a stored answer is served, such as 0.7,0.9."
)
@click.option(
    "--embeddings", type=FilePath(exists=True, dir_okay=False), help="npz with a vector per request, in order."
)
@click.option(
    "--most", type=click.IntRange(min=2), default=20_000, show_default=True, help="Requests looked at for --near."
)
@text_option("--usd-per-1k", metavar="USD", help="What 1k predictions cost; gives the saving.")
@text_option("--lookup-usd-per-1k", default="0", metavar="USD", help="What 1k lookups cost.")
@text_option("--usd-per-gb-month", default="0", metavar="USD", help="What storage costs.")
@text_option("--entry", default="1kib", show_default=True, metavar="SIZE", help="Size of an entry with its key.")
@text_option("--error-cost", default="0", metavar="USD", help="What an answer that is another one costs the business.")
@form_options
def command(log: Path, as_json: bool, html: Path | None, **said: Any) -> None:
    """Replay a log of requests on caches of many sizes and ages, exact and near-duplicate.

    A column of the model, its version or parameters, and of the tenant, is part of the key.
    """
    from unitcost.cli.bench_output import deliver
    from unitcost.economics.caching.lru import UNLIMITED
    from unitcost.jobs.bench_words import numbers, seconds
    from unitcost.jobs.measure_cache import CacheAsk, measure_cache
    from unitcost.jobs.measure_cache_page import cache_data, cache_page

    ages = [part.strip() for part in said["ages"].split(",")]
    answer = measure_cache(
        CacheAsk(
            log=log, key=said["key"], answer=said["answer"], truth=said["truth"], normalise=said["normalise"],
            sizes=numbers(said["sizes"].replace("all", "inf"), "--sizes"),
            ages_s=tuple(UNLIMITED if part == "any" else seconds(part, "--ages") for part in ages),
            thresholds=numbers(said["thresholds"], "--near") if said["thresholds"] else (), embeddings=said["embeddings"],
            most=said["most"], costs=_costs(said),
        )
    )  # fmt: skip
    deliver("measure-cache", cache_data(answer), cache_page(answer), as_json=as_json, html=html)


def _costs(said: dict[str, Any]) -> Any:
    from unitcost.economics.caching.saving import CacheCosts
    from unitcost.jobs.bench_words import amount, memory_bytes

    if not said["usd_per_1k"]:
        return None
    return CacheCosts(
        usd_per_1k=amount(said["usd_per_1k"], "--usd-per-1k"),
        lookup_usd_per_1k=amount(said["lookup_usd_per_1k"], "--lookup-usd-per-1k"),
        usd_per_gb_month=amount(said["usd_per_gb_month"], "--usd-per-gb-month"),
        entry_bytes=memory_bytes(said["entry"], "--entry"), error_cost_usd=amount(said["error_cost"], "--error-cost"),
    )  # fmt: skip
