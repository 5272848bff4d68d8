"""`unitcost check`: what agrees, and what cannot be answered yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import ROW_COUNT, json_option, selection_options, warn_option, workspace_options

if TYPE_CHECKING:
    from unitcost.facts.source import Reject
    from unitcost.jobs.check import CheckOutcome


@click.command("check")
@click.option("--min-owned", type=click.FloatRange(0, 1), default=0.0, help="Share of the spend that must have a team.")
@click.option(
    "--min-coverage",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Share of the tokens of APIs whose cost must be known.",
)
@click.option("--rejects", type=ROW_COUNT, default=5, show_default=True, help="Rows set aside that are listed.")
@selection_options
@warn_option
@json_option
@workspace_options
def command(min_owned: float, min_coverage: float, rejects: int, warn_only: bool, as_json: bool, **said: Any) -> None:
    """Say what agrees with the invoices, and what cannot be answered yet.

    Exit codes: 0 in order, 3 when an invoice differs or a floor was missed.
    """
    from unitcost.jobs.check import check
    from unitcost.jobs.selecting import select
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said.pop("folder"), config_file=said.pop("config_file"), as_of=said.pop("as_of"))
    currency = said.pop("currency")
    selection = select(workspace.settings, **said)
    floors = {"min_owned": min_owned, "min_coverage": min_coverage}
    outcome = check(workspace, selection, currency=currency, rejects=rejects, **floors)
    if as_json:
        _print_json(outcome)
    else:
        _print(outcome)
    click.get_current_context().exit(3 if outcome.fails and not warn_only else 0)


def _print_json(outcome: CheckOutcome) -> None:
    from unitcost.cli.output import print_json

    print_json(
        {
            "schema_version": 1,
            "closes": outcome.report.closes,
            "checks": [
                {"question": c.question, "verdict": c.verdict, "answer": c.answer, "mend": c.mend or None}
                for c in outcome.checks
            ],
            "closing": outcome.report.answers["closing"],
            "rejects": [
                {"file": file, "row": r.row, "column": r.column, "value": r.value, "reason": r.reason, "raw": r.raw}
                for file, r in outcome.rejects
            ],
        }
    )


def _print(outcome: CheckOutcome) -> None:
    from unitcost.cli.output import say

    marks = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
    for check in outcome.checks:
        say(f"{marks[check.verdict]}  {check.question}  {check.answer}")
        if check.mend:
            say(f"      mend: {check.mend}")
    for file, reject in outcome.rejects:
        say(f"set aside  {file}, row {reject.row}: {_of_cell(reject)}{reject.reason}")


def _of_cell(reject: Reject) -> str:
    """The cell that is at fault, before the reason; nothing when the whole row is."""
    if not reject.column:
        return ""
    return f"{reject.column} {reject.value!r} " if reject.value else f"{reject.column} (empty) "
