"""`unitcost plan train`: time and cost of a training run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import FilePath, text_option, workspace_options
from unitcost.cli.plan_output import plan_options
from unitcost.cli.plan_scenario import scenario_option
from unitcost.cli.plan_spot_options import spot_ask, spot_options

if TYPE_CHECKING:
    from unitcost.jobs.plan_train import TrainScenario


@click.command("train")
@scenario_option
@text_option("--model", required=True, metavar="NAME", help="A size such as 7b, or llama-3-8b.")
@text_option("--tokens", required=True, metavar="N", help="Tokens to train on, such as 140e9; units with --rates.")
@text_option("--accelerator", default="any", show_default=True, metavar="NAME", help="Accelerator, family, or any.")
@click.option("--count", type=click.IntRange(min=1), help="How many; several are tried without it.")
@text_option("--deadline", metavar="TIME", help="When it must be done, such as 10d.")
@click.option("--usd-per-hour-of-time", type=float, default=0.0, help="What an hour earlier is worth.")
@click.option("--seq-len", type=click.IntRange(min=1), default=2048, show_default=True, help="Tokens of a sequence.")
@click.option("--precision", default="bf16", show_default=True, help="bf16, fp16, fp8 ...")
@click.option("--compiled", is_flag=True, help="Kernels are compiled or fused.")
@click.option("--global-batch", type=click.IntRange(min=1), help="Sequences of a step.  [default: as many as fit]")
@click.option("--critical-batch", type=float, help="Batch, in sequences, at which twice the tokens are needed.")
@click.option(
    "--batch-runs", type=FilePath(exists=True, dir_okay=False), help="Runs of several batches: fit the critical one."
)
@click.option("--measured", type=FilePath(exists=True, dir_okay=False), help="Own measured rows; they win near by.")
@click.option("--rates", type=FilePath(exists=True, dir_okay=False), help="Own speeds by accelerator, in any unit.")
@click.option("--padding-share", type=float, default=0.0, help="Part of the tokens that is padding.")
@click.option("--prices", "own_prices", type=FilePath(exists=True, dir_okay=False), help="Own prices; they win.")
@click.option("--region", "regions", multiple=True, metavar="GLOB", help="Only these regions; may be repeated.")
@click.option("--spot-nodes", type=click.IntRange(min=1), default=1, help="Nodes on spot.  [default: machines of 8]")
@spot_options
@plan_options
@workspace_options
def command(as_json: bool, html: Path | None, folder: str, config_file: Path | None, as_of: str, **said: Any) -> None:
    """Plan a training run: time and cost as intervals, memory, cheaper ways, spot, what is ruled out and why."""
    from unitcost.cli.plan_output import deliver
    from unitcost.jobs.plan_prices import Prices
    from unitcost.jobs.plan_train import plan_train
    from unitcost.jobs.plan_train_page import train_page
    from unitcost.jobs.workspace import open_workspace
    from unitcost.readers import rentals_csv

    workspace = open_workspace(folder, config_file=config_file, as_of=as_of)
    own = rentals_csv.read(said["own_prices"], today=workspace.now.date()) if said["own_prices"] else []
    plan = plan_train(_scenario(said), Prices(workspace, own=own, regions=said["regions"]))
    deliver("plan-train", plan, train_page(plan), as_json=as_json, html=html)


def _scenario(said: dict[str, Any]) -> TrainScenario:
    from unitcost.errors import UnknownName
    from unitcost.jobs.plan_train import TrainScenario
    from unitcost.jobs.plan_words import hours, quantity
    from unitcost.machine.accelerators import PRECISIONS
    from unitcost.machine.shapes import model_shape
    from unitcost.training.rightsizing import TrainingAsk

    precision = next((known for known in PRECISIONS if known == said["precision"].casefold()), None)
    if precision is None:
        raise UnknownName("precision", said["precision"], PRECISIONS)
    ask = TrainingAsk(
        shape=model_shape(said["model"]), tokens=quantity(said["tokens"], "--tokens"), seq_len=said["seq_len"],
        precision=precision, compiled=said["compiled"], global_batch=said["global_batch"],
        critical_batch=said["critical_batch"],
    )  # fmt: skip
    # hours and deadline of the spot plan follow from the run
    spot = spot_ask(1.0, 1e6, said["spot_nodes"], **said)
    return TrainScenario(
        ask=ask, accelerator=said["accelerator"], count=said["count"], measured=said["measured"], rates=said["rates"],
        deadline_hours=hours(said["deadline"], "--deadline") if said["deadline"] else None,
        usd_per_hour_of_time=said["usd_per_hour_of_time"], spot=spot, padding_share=said["padding_share"],
        batches=said["batch_runs"],
    )  # fmt: skip
