"""`unitcost compress`: smaller forms of a model, each measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import demand_options, form_options
from unitcost.cli.bench_session import session_options
from unitcost.cli.options import FilePath, text_option, workspace_options


@click.command("compress")
@click.argument("model", type=FilePath(exists=True, dir_okay=False))
@text_option(
    "--forms",
    metavar="NAMES",
    help="Such as dynamic-s8,static-qdq,fp16.  [default: all]",
)
@click.option("--calibration", type=FilePath(exists=True, dir_okay=False), help="Inputs that a form may look at.")
@click.option("--distil", "is_distilled", is_flag=True, help="Train small students on what the model answers.")
@click.option("--unlabelled", type=FilePath(exists=True, dir_okay=False), help="Inputs that students learn from.")
@click.option(
    "--student", "students", multiple=True, metavar="NAME=MODEL", help="A smaller model of yours; may be repeated."
)
@click.option("--into", "into", type=FilePath(file_okay=False), default="compressed", show_default=True,
              help="Folder that forms are written into.")  # fmt: skip
@session_options
@demand_options
@form_options
@workspace_options
def command(model: Path, as_json: bool, html: Path | None, **said: Any) -> None:
    """Bring a model into smaller forms and measure each beside the original.

    Each form is opened again, run and compared; one that cannot be made is a row with its reason. Int8 may be slower.
    """
    from unitcost.cli.bench_output import deliver, demand_of, limits_of, say
    from unitcost.cli.bench_session import judging_of, price_here, session_of
    from unitcost.jobs.compare import Terms
    from unitcost.jobs.compress import Recipe, compress, forms_of
    from unitcost.jobs.measure_model import models_of
    from unitcost.jobs.measure_model_page import model_data, model_page
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    demand, limits = demand_of(said), limits_of(said, reference=said["reference"])
    recipe = Recipe(
        model=model.resolve(), folder=Path(said["into"]), forms=forms_of(said["forms"]), calibration=said["calibration"],
        unlabelled=said["unlabelled"], is_distilled=said["is_distilled"],
        students=tuple(models_of(said["students"]).items()),
    )  # fmt: skip
    terms = Terms(demand=demand, limits=limits, judging=judging_of(said), price=price_here(workspace, said))
    measured = compress(workspace, recipe, session_of({}, said), terms, out=said["out"], said=say)
    page, data = model_page(measured, demand), model_data(measured, demand)
    deliver("compress", data, page, as_json=as_json, html=html)
