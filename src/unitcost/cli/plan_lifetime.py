"""`unitcost plan lifetime`: training against serving over a model's life."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import text_option, workspace_options
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option

if TYPE_CHECKING:
    from unitcost.facts.estimates import EstimateBasis


@click.command("lifetime")
@scenario_option
@text_option("--training-usd", metavar="USD", help="What one training cost.")
@text_option("--model-version", metavar="NAME", help="Take that from the ledger: all runs of its experiment.")
@click.option("--part", "parts", multiple=True, metavar="NAME=USD", help="More of it: labelling=3000; may be repeated.")
@text_option("--predictions-per-day", required=True, metavar="N", help="Traffic on the first day, such as 10e6.")
@text_option("--usd-per-1k", required=True, metavar="USD", help="Unit cost of serving.")
@text_option("--retrain-every", metavar="TIME", help="How often it is trained anew, such as 30d.")
@text_option("--life", default="1y", show_default=True, metavar="TIME", help="How long it serves.")
@text_option("--growth", default="0", metavar="SHARE", help="Growth of traffic a month: 0.1 is a tenth more.")
@text_option("--first-served", metavar="DATE", help="Date of the first day.")
@text_option("--successor-usd", metavar="USD", help="What making a distilled or quantised model costs.")
@text_option("--successor-usd-per-1k", metavar="USD", help="Its unit cost of serving.")
@click.option(
    "--successor-quality", type=click.Choice(["good", "below", "unknown"]), default="unknown", show_default=True,
    help="Whether it is at the quality bar.",
)  # fmt: skip
@click.option("--successor-day", type=click.IntRange(min=1), default=1, show_default=True, help="Day it takes over.")
@plan_options
@workspace_options
def command(as_json: bool, html: Path | None, folder: str, config_file: Path | None, as_of: str, **said: Any) -> None:
    """Say on which day serving has cost more than training, and which side is worth making cheaper first."""
    from unitcost.cli.plan_output import deliver
    from unitcost.economics.lifetime import Spending
    from unitcost.errors import BadSetting
    from unitcost.jobs import lifetime_words as words
    from unitcost.jobs.plan_lifetime import plan_lifetime, spending_of
    from unitcost.jobs.plan_lifetime_page import lifetime_page
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(folder, config_file=config_file, as_of=as_of)
    stated = words.spending(said["training_usd"], said["parts"])
    messages: list[str] = []
    if said["model_version"]:
        found, messages = spending_of(workspace, said["model_version"])
        stated = Spending(parts_usd=(*found.parts_usd, *stated.parts_usd))
    elif not said["training_usd"]:
        raise BadSetting(
            "nothing says what training cost", mend="give --training-usd, or --model-version of the ledger"
        )
    successor = words.successor(
        said["successor_usd"], said["successor_usd_per_1k"], said["successor_quality"], said["successor_day"]
    )
    basis: EstimateBasis = "measured" if said["model_version"] else "quoted"
    plan = plan_lifetime(words.life(stated, said), successor, messages=messages, basis=basis)
    deliver("plan-lifetime", plan, lifetime_page(plan), as_json=as_json, html=html)
