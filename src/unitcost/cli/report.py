"""`unitcost report`: drivers, owners, unit costs, waste."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import FilePath, json_option, selection_options, text_option, warn_option, workspace_options

if TYPE_CHECKING:
    from unitcost.report.model import Report


@click.command("report")
@text_option("--by", metavar="DIM,DIM", help="Extra table by these dimensions, such as team,project,month.")
@click.option("--section", "only", multiple=True, metavar="KEY", help="Only this section; may be repeated.")
@click.option("--html", type=FilePath(dir_okay=False), help="Write the report as one HTML file.")
@click.option("--csv", "csv_file", type=FilePath(dir_okay=False, allow_dash=True), help="Write it as csv; - prints it.")
@selection_options
@warn_option
@json_option
@workspace_options
def command(
    by: str,
    only: tuple[str, ...],
    html: Path | None,
    csv_file: Path | None,
    warn_only: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Print where the money goes; the total equals the bill, to the cent.

    Exit codes: 0 in order, 3 when an invoice differs from the ledger.
    """
    from unitcost.cli.output import say
    from unitcost.jobs.review import review
    from unitcost.jobs.selecting import dimensions, select
    from unitcost.jobs.workspace import open_workspace

    if as_json and str(csv_file) == "-":
        raise click.UsageError("--json and --csv - would both go to standard output; write one of them into a file.")
    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    currency = said.pop("currency")
    selection = select(workspace.settings, **said)
    report = review(workspace, selection, by=dimensions(by), currency=currency)
    for message in report.messages if (html or csv_file) and not as_json else ():
        say(f"! {message}", err=True)
    deliver(report, as_json=as_json, html=html, csv_file=csv_file, only=only)
    click.get_current_context().exit(0 if report.closes or warn_only else 3)


def deliver(
    report: Report,
    *,
    as_json: bool = False,
    html: Path | None = None,
    csv_file: Path | None = None,
    only: tuple[str, ...] = (),
) -> None:
    """Write or print a report in the forms that were asked for; `only` holds the keys of the sections in them."""
    report = report.only(only)
    if html:
        from unitcost.report.html import as_html

        html.write_text(as_html(report), encoding="utf-8")
        click.echo(f"wrote {html}", err=True)
    if csv_file:
        from unitcost.report.csv_form import as_csv

        if str(csv_file) == "-":
            click.echo(as_csv(report), nl=False)
        else:
            csv_file.write_text(as_csv(report), encoding="utf-8")
            click.echo(f"wrote {csv_file}", err=True)
    if as_json:
        from unitcost.cli.output import print_json
        from unitcost.report.json_form import as_data

        print_json(as_data(report))
    elif not html and not csv_file:
        print_report(report, all_of_it=bool(only))


#: Sections of the printed report; the others are printed when they are asked for with --section.
_PRINTED = (
    "by", "drivers", "owners-team", "owners-project", "unit-costs", "movers", "untagged", "commitments", "lines",
    "services", "months", "closing",
)  # fmt: skip


def print_report(report: Report, *, all_of_it: bool = False) -> None:
    """Print the sections that a reader wants first, or all that the report has."""
    from unitcost.cli import output

    output.print_report(report, keys=() if all_of_it else _PRINTED)
    if not all_of_it:
        others = ", ".join(s.key for s in report.sections if s.key not in _PRINTED)
        click.echo(f"\nMore: --section {others}; --html FILE; `unitcost explain ID` with an id from --json.", err=True)
