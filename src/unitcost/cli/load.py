"""`unitcost load`: files into the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import json_option, text_option, warn_option, workspace_options

if TYPE_CHECKING:
    from unitcost.facts.source import ReadOptions
    from unitcost.jobs.ingest import LoadOutcome
    from unitcost.readers.live import Window


@click.command("load")
@click.argument("paths", nargs=-1)
@text_option("--reader", help="Force a reader; by default the columns decide.")
@text_option("--currency", help="Currency of files that have no currency column.")
@text_option("--period", metavar="YYYY-MM", help="Billing month of files that carry no dates.")
@click.option("--date-order", type=click.Choice(["mdy", "dmy"]), default=None, help="How 3/4/2026 is meant.")
@click.option("--decimal-comma", is_flag=True, help="Amounts are written 12,50.")
@text_option("--source-timezone", help="Zone of local times in the files.")
@text_option("--encoding", help="Encoding of text files, when it is not UTF-8.")
@text_option("--delimiter", help="Separator of csv files, when it is not found by itself.")
@text_option("--provider", help="Provider of files that do not name one.")
@text_option("--rates", metavar="CSV", help="Rate card that prices a usage csv.")
@click.option("--replace", type=click.Choice(["period"]), default=None, help="The files restate whole billing periods.")
@text_option("--export-version", help="Version of the restatement; the newest wins.")
@click.option("--part", is_flag=True, help="The files are further parts, though many of their rows are known.")
@click.option("--start", default="", metavar="TIME", help="Start of the window that a live source is asked for; UTC.")
@click.option("--end", default="", metavar="TIME", help="End of that window, itself left out.")
@click.option("--step", default="60s", show_default=True, metavar="TIME", help="Between two samples: 30s, 5m, 1h.")
@click.option(
    "--max-rejects", type=click.IntRange(min=0), default=0, help="Rows that may be set aside.", show_default=True
)
@warn_option
@json_option
@workspace_options
def command(paths: tuple[str, ...], max_rejects: int, warn_only: bool, as_json: bool, **said: Any) -> None:
    """Read bills and outputs into the ledger.

    PATHS are files, folders or globs; without them the [[load]] entries of unitcost.toml are loaded.
    A live source is written prometheus+http://HOST:PORT and asked from --start to --end; its answers are
    kept below .unitcost/fetched and loaded from there.
    A row that cannot be read is set aside with its reason; the rest loads. The same file again changes
    nothing. Exit codes: 0 all rows accepted, 3 rows were set aside, 1 a file could not be read.
    """
    from unitcost.cli.output import progress_bar
    from unitcost.jobs.ingest import load
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    window = _window(said.pop("start"), said.pop("end"), said.pop("step"))
    with progress_bar() as tell:
        outcome = load(workspace, paths, options=_options(said), window=window, progress=tell)
    if as_json:
        from unitcost.cli.output import print_json
        from unitcost.jobs.ingest import as_data

        print_json(as_data(outcome))
    else:
        _print(outcome)
    code = outcome.exit_code(max_rejects)
    click.get_current_context().exit(0 if warn_only and code == 3 else code)


def _window(start: str, end: str, step: str) -> Window:
    from unitcost.readers.live import window_of

    return window_of(start, end, step)


def _options(said: dict[str, Any]) -> ReadOptions:
    from unitcost.facts.source import ReadOptions

    said["timezone"] = said.pop("source_timezone")
    said["version"] = said.pop("export_version")
    return ReadOptions(**{name: value for name, value in said.items() if value})


def _print(outcome: LoadOutcome) -> None:
    from unitcost.cli.output import print_table, say
    from unitcost.jobs.ingest import reject_words, table

    if outcome.records:
        print_table(*table(outcome))
    for record in outcome.records:
        for sentence in (*record.flags, *record.notes):
            say(f"{record.file}: {sentence}", err=True)
    for line in reject_words(outcome):
        say(line, err=True)
    for _, error in outcome.failures:
        say(str(error), err=True)
