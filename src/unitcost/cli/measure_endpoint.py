"""`unitcost measure endpoint`: load on an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import form_options
from unitcost.cli.options import FilePath, text_option, warn_option


@click.command("endpoint")
@click.argument("url")
@click.option("--kind", default="http", show_default=True, help="http, openai (streaming) or kserve-v2.")
@text_option(
    "--rate",
    metavar="RATE",
    help="Open loop at this rate, such as 200/s; a search begins there.  [default of a search: as low as --budget allows]",
)
@click.option("--trace", type=FilePath(exists=True, dir_okay=False), help="Open loop at the moments of a log.")
@click.option("--speed", type=click.FloatRange(0, min_open=True), default=1.0, help="How much faster than the trace.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Closed loop of so many callers, to compare with.")
@click.option("--search", "is_search", is_flag=True, help="Search the highest rate inside --slo.")
@text_option(
    "--slo",
    "--slo-p99",
    "slo",
    metavar="[pNN=]TIME",
    help="Latency target, such as p95=100ms; p99 where none is named.",
)
@click.option("--steady", "is_steady", is_flag=True, help="Even distances instead of requests that come on their own.")
@text_option("--duration", default="20s", show_default=True, help="Length of a run, or the least length in a search.")
@text_option("--warm-up", default="2s", show_default=True, help="What is left out at the beginning.")
@text_option("--timeout", default="30s", show_default=True, help="Patience with one request.")
@text_option("--budget", default="10m", show_default=True, help="Length of a whole search.")
@click.option("--body", type=FilePath(exists=True, dir_okay=False), help="Body as JSON, or one per line.")
@text_option("--model", metavar="NAME", help="Model, for openai without --body.")
@click.option(
    "--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Batch, for kserve-v2 without --body."
)
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="Header; may be repeated.")
@text_option("--usd-per-hour", metavar="USD", help="Price of what serves; gives the cost of 1k requests.")
@click.option("--seed", type=int, default=0, help="Seed of the arrivals.")
@warn_option
@form_options
def command(as_json: bool, html: Path | None, warn_only: bool, **said: Any) -> None:
    """Load an endpoint and measure latency from when each request was due, not from when it could be sent.

    Exit code 1 when the run does not count, 3 when the target is missed.
    """
    from unitcost.cli.bench_output import deliver, say
    from unitcost.jobs.measure_endpoint import measure_endpoint
    from unitcost.jobs.measure_endpoint_page import endpoint_data, endpoint_page

    answer = measure_endpoint(_ask(said), say)
    deliver("measure-endpoint", endpoint_data(answer), endpoint_page(answer), as_json=as_json, html=html)
    if not answer.is_usable:
        click.get_current_context().exit(1)
    if not answer.is_inside and not warn_only:
        click.get_current_context().exit(3)


def _ask(said: dict[str, Any]) -> Any:
    from unitcost.jobs.bench_words import amount, latency_limit, pairs, per_second, seconds
    from unitcost.jobs.measure_endpoint import EndpointAsk

    times = {
        f"{name}_s": seconds(said.pop(name), f"--{name.replace('_', '-')}", may_be_zero=name == "warm_up")
        for name in _TIMES
    }
    rate, slo, usd = said.pop("rate"), said.pop("slo"), said.pop("usd_per_hour")
    return EndpointAsk(
        **{**said, **times, "headers": tuple(pairs(said["headers"], "--header").items())},
        rate_per_s=per_second(rate, "--rate") if rate else None, slo=latency_limit(slo, "--slo") if slo else None,
        usd_per_hour=amount(usd, "--usd-per-hour") if usd else None,
    )  # fmt: skip


_TIMES = ("duration", "warm_up", "timeout", "budget")
