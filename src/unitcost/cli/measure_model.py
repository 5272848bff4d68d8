"""`unitcost measure model`: profile the user's own model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unitcost.cli.bench_output import demand_options, form_options
from unitcost.cli.bench_session import session_options
from unitcost.cli.options import workspace_options


@click.command("model")
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@session_options
@demand_options
@form_options
@workspace_options
def command(models: tuple[str, ...], as_json: bool, html: Path | None, **said: Any) -> None:
    """Measure models on your data: speed in turns, memory, effective precision, quality at the serving batch.

    Several models (forms of one) may be given. What fails is a row with its reason.
    """
    from unitcost.cli.bench_output import deliver, demand_of, limits_of, say
    from unitcost.cli.bench_session import judging_of, price_here, session_of
    from unitcost.jobs.compare import Terms
    from unitcost.jobs.measure_model import measure_model, models_of
    from unitcost.jobs.measure_model_page import model_data, model_page
    from unitcost.jobs.workspace import open_workspace

    workspace = open_workspace(said["folder"], config_file=said["config_file"], as_of=said["as_of"])
    demand, limits = demand_of(said), limits_of(said, reference=said["reference"])
    terms = Terms(demand=demand, limits=limits, judging=judging_of(said), price=price_here(workspace, said))
    measured = measure_model(
        workspace,
        session_of(models_of(models), said),
        terms,
        out=said["out"],
        said=say,
    )
    page, data = model_page(measured, demand), model_data(measured, demand)
    deliver("measure-model", data, page, as_json=as_json, html=html)
