"""`unitcost prices refresh`: read public price feeds again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import json_option, workspace_options

if TYPE_CHECKING:
    from unitcost.prices.refresh import FeedOutcome


@click.command("refresh")
@click.argument("sources", nargs=-1)
@click.option("--region", "regions", multiple=True, metavar="GLOB", help="Only these regions; may be repeated.")
@click.option("--everything", is_flag=True, help="Keep machines too that the book does not know.")
@click.option("--findings", is_flag=True, help="List each finding of the checks.")
@json_option
@workspace_options
def refresh(
    sources: tuple[str, ...], regions: tuple[str, ...], everything: bool, findings: bool, as_json: bool, **said: Any
) -> None:
    """Read public price feeds again and keep what they list now; this needs the network.

    SOURCES are names of feeds; without any, all are read. A feed that fails keeps its older prices. A kept price is
    never changed. Exit codes: 0 in order, 1 when a feed failed.
    """
    from unitcost.jobs.price_refresh import refresh_prices
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    outcomes = refresh_prices(
        workspace,
        sources,
        regions=regions,
        everything=everything,
        tell=lambda name: click.echo(f"{name} ...", err=True),
    )
    if as_json:
        from unitcost.cli.output import print_json

        print_json({"schema_version": 1, "feeds": [_data(outcome) for outcome in outcomes]})
    else:
        _print(outcomes, findings=findings)
    click.get_current_context().exit(1 if any(outcome.status == "failed" for outcome in outcomes) else 0)


def _print(outcomes: list[FeedOutcome], *, findings: bool) -> None:
    from unitcost.cli.output import print_table

    rows = [[o.feed, o.status, f"{o.prices:,}", f"{o.news:,}", f"{len(o.findings):,}"] for o in outcomes]
    print_table(["feed", "", "prices", "new or changed", "findings"], rows, numeric=[False, False, True, True, True])
    for outcome in outcomes:
        if outcome.status == "failed":
            click.echo(f"! {outcome.feed}: {outcome.reason}. Older prices are kept", err=True)
        for found in outcome.findings if findings else ():
            place = f"{found.provider} {found.region} {found.instance_type}"
            click.echo(f"{found.done}: {place}: {found.what} [{found.check}]")


def _data(outcome: FeedOutcome) -> dict[str, Any]:
    return {
        "feed": outcome.feed, "status": outcome.status, "reason": outcome.reason or None, "prices": outcome.prices,
        "news": outcome.news, "findings": dict(Counter(f"{f.check} {f.done}" for f in outcome.findings)),
    }  # fmt: skip
