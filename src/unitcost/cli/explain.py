"""`unitcost explain`: any number, unfolded."""

from __future__ import annotations

from typing import Any

import click

from unitcost.cli.options import ROW_COUNT, json_option, text_option, workspace_options


@click.command("explain")
@click.argument("figure")
@text_option("--by", metavar="DIM,DIM", help="Grouping of the report, when the figure is from its extra table.")
@click.option("--rows", "limit", type=ROW_COUNT, default=10, show_default=True, help="Rows shown per sum.")
@json_option
@workspace_options
def command(figure: str, by: str, limit: int, as_json: bool, **said: Any) -> None:
    """Unfold one figure down to its rows and its formula.

    FIGURE is an id as `unitcost report --json` gives it and as the HTML report copies it; it carries the
    months and the cost of its report.
    """
    from unitcost.jobs.explain import explain
    from unitcost.jobs.selecting import dimensions
    from unitcost.jobs.workspace import open_workspace
    from unitcost.report import explain as shape

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    found = explain(workspace, figure, by=dimensions(by), limit=limit)
    if as_json:
        from unitcost.cli.output import print_json

        print_json({"schema_version": 1, **shape.as_data(found.figure, found.rows_of)})
        return
    from unitcost.cli.output import say, terminal_width

    for line in shape.as_lines(found.figure, found.rows_of, width=terminal_width()):
        say(line)
