"""Printing plans: a page for people, JSON for machines, one HTML file with charts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from unitcost.cli.options import FilePath, json_option

if TYPE_CHECKING:
    from unitcost.report.plan_page import PlanPage

Command = TypeVar("Command", bound=Callable[..., Any])
_SCHEMA = 1


def plan_options(command: Command) -> Command:
    """--json and --html, which each plan has."""
    html = click.option("--html", type=FilePath(dir_okay=False), help="Write the plan as one HTML file with charts.")
    return html(json_option(command))


def deliver(kind: str, plan: Any, page: PlanPage, *, as_json: bool, html: Path | None) -> None:
    """Print a plan, or write it.

    Parameters
    ----------
    kind
        Which plan, for machines.
    """
    if html:
        from unitcost.report.plan_page import as_html

        html.write_text(as_html(page), encoding="utf-8")
        click.echo(f"wrote {html}", err=True)
        if not as_json:
            _say_messages(page)
    if as_json:
        from unitcost.cli.output import print_json
        from unitcost.jobs.plan_words import as_data

        print_json({"schema_version": _SCHEMA, "kind": kind, **as_data(plan)})
    elif not html:
        print_page(page)


def print_page(page: PlanPage) -> None:
    """Print a page for people; what they must know first goes to standard error."""
    from unitcost.cli import output

    output.print_paragraph(f"{page.title} · {page.subtitle}")
    _say_messages(page)
    for tile in page.tiles:
        beside = f" ({tile.beside})" if tile.beside else ""
        output.print_paragraph(f"{tile.name}: {tile.value}{beside}")
    for section in page.sections:
        output.print_section(section)


def _say_messages(page: PlanPage) -> None:
    from unitcost.cli import output

    for message in page.messages:
        output.say(f"! {message}", err=True)
