"""`unitcost demo`: the sample workspace and its report."""

from __future__ import annotations

from pathlib import Path

import click

from unitcost.cli.options import FilePath, json_option, text_option


@click.command("demo")
@text_option(
    "--folder", "-C", default="unitcost-demo", metavar="DIR", help="Where to write the sample.", show_default=True
)
@click.option("--html", type=FilePath(dir_okay=False), help="Also write the report as one HTML file.")
@click.option("--force", is_flag=True, help="Write into a folder that holds something else.")
@json_option
def command(folder: str, html: Path | None, force: bool, as_json: bool) -> None:
    """Write a sample workspace and show its report.

    The sample is an invented company's bills of three months: three clouds, rented GPUs and tokens.
    """
    from unitcost.cli.output import progress_bar
    from unitcost.cli.report import deliver, print_report
    from unitcost.jobs.demo import demo

    with progress_bar() as tell:
        workspace, _, report = demo(Path(folder), force=force, progress=tell)
    deliver(report, as_json=as_json, html=html)
    if html and not as_json:
        print_report(report)
    click.echo(f"\nThe sample is in {workspace.folder}; go there and try `unitcost check`.", err=True)
