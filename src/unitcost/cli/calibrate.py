"""`unitcost calibrate`: fit models of engines to what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unitcost.cli.options import json_option

if TYPE_CHECKING:
    from unitcost.jobs.calibrate_serve import Calibrated


@click.group("calibrate")
def command() -> None:
    """Fit the models behind plans to what you measured."""


@command.command("serve")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", required=True, metavar="NAME", help="Model, or the folder of its config.json.")
@click.option("--gpu", required=True, metavar="NAME", help="GPU, such as H100-80GB.")
@click.option("--precision", default="bf16", show_default=True, metavar="NAME", help="bf16, fp8, nvfp4, mxfp4 or int4.")
@click.option(
    "--backend", type=click.Choice(["vllm", "sglang", "trtllm"]), default="vllm", show_default=True, help="Engine."
)
@click.option(
    "--tensor-parallel", type=click.IntRange(min=1), default=1, show_default=True, help="GPUs that share a layer."
)
@click.option(
    "--expert-parallel", type=click.IntRange(min=1), default=1, show_default=True, help="GPUs that share out experts."
)
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Keep the constants in this file.")
@json_option
def serve(file: Path, save: Path | None, as_json: bool, **said: Any) -> None:
    """Fit the constants of a serving engine to a benchmark FILE.

    FILE is the JSON of vLLM bench (--save-result), GuideLLM, AIPerf or GenAI-Perf, or JSON lines with one request each:
    input_tokens, output_tokens, ttft_s, tpot_s, and arrived_s or concurrency.
    """
    from unitcost.jobs.calibrate_serve import calibrate_serve
    from unitcost.machine.steps import Served

    found = calibrate_serve(file, Served(**said), save=save)
    if as_json:
        _print_json(found)
    else:
        _print(found)


def _print_json(found: Calibrated) -> None:
    from dataclasses import asdict

    from unitcost.cli.output import print_json

    print_json(
        {
            "schema_version": 1, "form": found.form, "runs": [asdict(run) for run in found.runs],
            "step_times": {"origin": found.grid.origin, "source": found.grid.source, "version": found.grid.version},
            "constants": asdict(found.constants), "error_before": asdict(found.before), "error_after": asdict(found.after),
        }
    )  # fmt: skip


def _print(found: Calibrated) -> None:
    from unitcost.cli.output import print_table
    from unitcost.units import MICROSECONDS_PER_SECOND, MILLISECONDS_PER_SECOND

    constants = found.constants
    rows = [
        ["scale", f"{constants.scale:.3f}", "on the time of kernels"],
        ["per step", f"{constants.per_step_s * MILLISECONDS_PER_SECOND:.2f} ms", "added to each step"],
        ["per request", f"{constants.per_request_s * MILLISECONDS_PER_SECOND:.1f} ms", "before the first step"],
        ["per input token", f"{constants.per_input_token_s * MICROSECONDS_PER_SECOND:.2f} us", "before the first step"],
    ]
    print_table(["constant", "value", "meaning"], rows, title=f"{constants.source}; step times: {found.grid.source}")
    for name, error in (("before", found.before), ("after", found.after)):
        click.echo(f"Error {name}: first token {error.ttft_share:.1%}, per output token {error.tpot_share:.1%}.")
    click.echo("The error after is on the same runs: it describes them, and does not foretell others.", err=True)
