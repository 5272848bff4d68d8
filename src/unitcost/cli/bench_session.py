"""Options of a session of the bench, which `measure model` and `compress` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from unitcost.cli.options import FilePath, share_option, text_option

if TYPE_CHECKING:
    from unitcost.jobs.compare import Judging, PriceOf
    from unitcost.jobs.workspace import Workspace
    from unitcost.measure.bench_run import Session

Command = TypeVar("Command", bound=Callable[..., Any])


def session_options(command: Command) -> Command:
    """What is measured, on which data, how it is judged, what the machine costs."""
    for option in (
        click.option("--out", type=FilePath(dir_okay=False), help="Write all that was measured as one JSON file."),
        text_option("--usd-per-hour", metavar="USD", help="Price of this machine; wins over the price book."),
        text_option("--instance", metavar="NAME", help="How this machine is rented, such as m7i.large:us-east-1."),
        click.option("--samples", type=click.IntRange(min=1), default=662, show_default=True, help="Calls that are enough."),
        text_option("--time", "time_text", default="60s", show_default=True, help="Time for the rounds of all runtimes."),
        click.option("--spin", is_flag=True, help="Threads wait busily."),
        text_option("--threads", default="1", show_default=True, metavar="N,N", help="Threads of a call."),
        text_option("--batch", default="1", show_default=True, metavar="N,N", help="Items of a call."),
        text_option("--runtime", "--runtimes", "runtimes", metavar="NAMES",
                    help="ort,openvino,tract,torch.  [default: what is installed and opens the models]"),
        share_option("--margin", help="Loss against the reference that is allowed, such as 0.01 or 1pt."),
        text_option("--reference", metavar="NAME", help="Option or model that others are held against.  [default: the first]"),
        text_option("--metric", metavar="NAME", help="accuracy, f1, auc, rmse, mae, exact-match, or FILE.py:FUNCTION."),
        text_option("--output", metavar="NAME", help="Output with the answer.  [default: label, else the first]"),
        text_option("--label", metavar="COLUMN", help="Column with the labels.  [default: found by its name]"),
        click.option("--data", required=True, type=FilePath(exists=True, dir_okay=False),
                     help="Labelled data: npz, csv or jsonl."),
    ):  # fmt: skip
        command = option(command)
    return command


def session_of(models: Mapping[str, Path], said: Mapping[str, Any]) -> Session:
    """Session of the options of `session_options`."""
    from unitcost.jobs.bench_words import counts, seconds
    from unitcost.jobs.measure_model import runtimes_of
    from unitcost.measure.bench_run import Session

    return Session(
        models=models, data=said["data"], runtimes=runtimes_of(said["runtimes"], models.values()), label=said["label"],
        batches=counts(said["batch"], "--batch"), threads=counts(said["threads"], "--threads"), spin=said["spin"],
        output=said["output"], time_s=seconds(said["time_text"], "--time"), samples=said["samples"], instance=said["instance"],
    )  # fmt: skip


def judging_of(said: Mapping[str, Any]) -> Judging:
    """How quality is judged."""
    from unitcost.jobs.compare import Judging

    return Judging(metric=said["metric"], margin=said["margin"])


def price_here(workspace: Workspace, said: Mapping[str, Any]) -> PriceOf:
    """Price of this machine: as said, else that of the price book."""
    from unitcost.jobs.bench_words import amount
    from unitcost.jobs.machine_prices import price_of

    own = {"": amount(said["usd_per_hour"], "--usd-per-hour")} if said["usd_per_hour"] else {}
    return price_of(workspace, own)
