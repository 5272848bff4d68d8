"""Printing what the bench has found: a page for people, JSON for machines, one HTML file with charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from unitcost.cli.options import FilePath, json_option, share_option, text_option

if TYPE_CHECKING:
    from unitcost.facts.options import Demand, Limits
    from unitcost.report.plan_page import PlanPage

Command = TypeVar("Command", bound=Callable[..., Any])
_SCHEMA = 1
TOKENS = "tokens"
#: A peak written to few digits may lie so much below the mean. [share]
_SAME_RATE = 0.01


def form_options(command: Command) -> Command:
    """--json and --html."""
    html = click.option("--html", type=FilePath(dir_okay=False), help="Write the answer as one HTML file with charts.")
    return html(json_option(command))


def demand_options(command: Command) -> Command:
    """Traffic, limits and what an error costs."""
    for option in (
        text_option("--error-cost", metavar="USD", help="What a wrong answer costs the business."),
        text_option("--memory", metavar="SIZE", help="Most memory of a replica, such as 4GiB."),
        click.option("--slo", "--slo-p99", "slos", multiple=True, metavar="[pNN=]TIME",
                     help="Latency limit, such as p95=10ms; p99 where none is named."),
        share_option("--bar", help="Least quality that is allowed, such as 0.9 or 90%."),
        click.option("--unit", type=click.Choice(["predictions", TOKENS]), default="predictions", show_default=True,
                     help="What is counted: cost is per 1k predictions, or per million tokens."),
        click.option("--utilisation", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True,
                     help="Share of its throughput that a replica is used for, where traffic is not told."),
        text_option("--peak", metavar="RATE", help="Highest rate to be served, such as 900/s.  [default: the mean]"),
        text_option("--traffic", metavar="RATE", help="Mean traffic, such as 40e6/day."),
    ):  # fmt: skip
        command = option(command)
    return command


def demand_of(said: Mapping[str, Any]) -> Demand:
    """Traffic of the options of `demand_options`."""
    from unitcost.errors import BadSetting
    from unitcost.facts.options import Demand
    from unitcost.jobs.bench_words import per_second
    from unitcost.units import PER_MILLION, PER_THOUSAND, SECONDS_PER_DAY

    is_tokens = said["unit"] == TOKENS
    mean_per_s = per_second(said["traffic"], "--traffic") if said["traffic"] else None
    peak_per_s = per_second(said["peak"], "--peak") if said["peak"] else None
    if mean_per_s and peak_per_s and peak_per_s < mean_per_s * (1 - _SAME_RATE):
        raise BadSetting(
            f"--peak {said['peak']} is below the mean of {mean_per_s:.4g}/s",
            mend="give the highest rate, or leave it out",
        )
    return Demand(
        per_day=None if mean_per_s is None else mean_per_s * SECONDS_PER_DAY, peak_per_s=peak_per_s, utilisation=said["utilisation"],
        per=PER_MILLION if is_tokens else PER_THOUSAND, unit="million tokens" if is_tokens else "1k predictions",
    )  # fmt: skip


def limits_of(said: Mapping[str, Any], *, reference: str = "") -> Limits:
    """Limits of the options of `demand_options`."""
    from unitcost.facts.options import Limits
    from unitcost.jobs.bench_words import amount, latency_limit, memory_bytes

    return Limits(
        latencies_s=tuple(latency_limit(text, "--slo") for text in said["slos"]),
        memory_bytes=memory_bytes(said["memory"], "--memory") if said["memory"] else None, bar=said["bar"],
        reference=reference, error_cost_usd=amount(said["error_cost"], "--error-cost") if said["error_cost"] else None,
    )  # fmt: skip


def say(text: str) -> None:
    """Words on standard error; a name in them cannot drive the terminal."""
    from unitcost.report.printed import visible

    click.echo(visible(text), err=True)


def deliver(kind: str, data: Mapping[str, Any], page: PlanPage, *, as_json: bool, html: Path | None) -> None:
    """Print an answer, or write it.

    Parameters
    ----------
    kind
        Which answer, for machines.
    """
    from unitcost.cli import output

    if html:
        from unitcost.report.bench_page import as_html

        html.write_text(as_html(page), encoding="utf-8")
        say(f"wrote {html}")
    if as_json:
        output.print_json({"schema_version": _SCHEMA, "kind": kind, **data})
        return
    if not html:
        output.print_paragraph(f"{page.title} · {page.subtitle}" if page.subtitle else page.title)
    for message in page.messages:
        say(f"! {message}")
    if html:
        return
    for tile in page.tiles:
        output.print_paragraph(f"{tile.name}: {tile.value}" + (f" ({tile.beside})" if tile.beside else ""))
    for section in page.sections:
        output.print_section(section)
