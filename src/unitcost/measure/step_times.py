"""Where step times come from, best first: a calibration, measured kernels, bundled grids, a roofline."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile, DoesNotFit, NotMeasured, UnknownName
from unitcost.machine.decoder import DECODERS, DecoderShape, decoder_of_config
from unitcost.machine.roofline import UNCALIBRATED, board, roofline_grid
from unitcost.machine.steps import Constants, Served, StepGrid
from unitcost.measure.aiconfigurator import installed, measured_grid
from unitcost.measure.labels import known_model, system_of
from unitcost.measure.model_config import config_file, read_config
from unitcost.measure.serving_defaults import shipped
from unitcost.measure.step_grids import bundled_grid

_FORM = "unitcost serving calibration"


def step_times(served: Served, *, calibration: Path | None = None) -> StepGrid:
    """Step times of a replica from the best source there is, with the constants of its engine.

    Parameters
    ----------
    calibration
        What `unitcost calibrate serve` wrote; it counts where it is of this deployment.

    Raises
    ------
    NotMeasured, UnknownName
        When no source knows the model or the GPU; the mend names what would help.
    DoesNotFit
        With the smallest change that fits.
    """
    known = replace(served, model=known_model(served.model))
    grid = _table(known)
    held = read_calibration(calibration) if calibration is not None else {}
    own = held.get(_name(known))
    if own is not None:
        flags = tuple(flag for flag in grid.flags if flag != UNCALIBRATED)
        return replace(grid, constants=own, origin="calibration", source=f"{own.source}, on {grid.source}", flags=flags)
    return replace(grid, constants=shipped().constants(known) if grid.origin != "roofline" else Constants())


def _table(served: Served) -> StepGrid:
    kept = bundled_grid(served)
    if installed() and _has_kernels(served.gpu):
        try:
            return measured_grid(served)
        except DoesNotFit as refusal:
            raise _with_mend(served, refusal) from refusal
        except NotMeasured:
            if kept is None:
                raise
    if kept is not None:
        return kept
    if _has_kernels(served.gpu):
        raise NotMeasured(
            f"no bundled step times for {served.model} in {served.precision} on {served.gpus} x {served.gpu}",
            mend="pip install 'unitcost[llm]' (Python below 3.14), which knows many more",
        )
    return roofline_grid(decoder(served.model), served, board(served.gpu))


def _has_kernels(gpu: str) -> bool:
    try:
        system_of(gpu)
    except UnknownName:
        return False
    return True


def _with_mend(served: Served, refusal: DoesNotFit) -> DoesNotFit:
    """The refusal, with the first of: twice or more GPUs, fp8 weights, that does fit."""
    doubled = [replace(served, tensor_parallel=served.tensor_parallel * times) for times in (2, 4, 8)]
    fewer_bits = [replace(served, precision="fp8")] if served.precision == "bf16" else []
    for other in (*fewer_bits, *doubled):
        try:
            measured_grid(other)
        except (DoesNotFit, NotMeasured):
            continue
        changed = (
            f"{other.gpus} GPUs in one replica" if other.gpus != served.gpus else "fp8 weights, with a check of quality"
        )
        return DoesNotFit(refusal.what, where=refusal.where, mend=changed)
    return refusal


def decoder(model: str) -> DecoderShape:
    """Shape of a known model, or of the `config.json` in a folder.

    Raises
    ------
    UnknownName
        When the shape of a known model does not ship.
    BadFile
        When the file is no JSON object.
    """
    config = read_config(model)
    if config is not None:
        return decoder_of_config(config, name=model, where=str(config_file(model)))
    by_name = {one.name: one for one in DECODERS}
    if model not in by_name:
        raise UnknownName("model with a known shape", model, by_name, mend="give the folder of its config.json")
    return by_name[model]


def _name(served: Served) -> str:
    return json.dumps(asdict(served), sort_keys=True)


def read_calibration(path: Path) -> dict[str, Constants]:
    """Constants by deployment that a calibration file holds.

    Raises
    ------
    BadFile
        When the file is not one.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain["form"] != _FORM:
            raise ValueError(plain["form"])
        return {entry["deployment"]: Constants(**entry["constants"]) for entry in plain["engines"]}
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(
            "it is not a calibration", where=str(path), mend="write it with `unitcost calibrate serve --save`"
        ) from error


def write_calibration(path: Path, served: Served, constants: Constants) -> None:
    """Put the constants of a deployment into a file, beside those of others that it holds."""
    held = read_calibration(path) if path.exists() else {}
    held[_name(replace(served, model=known_model(served.model)))] = constants
    engines: list[dict[str, Any]] = [
        {"deployment": name, "constants": asdict(one)} for name, one in sorted(held.items())
    ]
    path.write_text(json.dumps({"form": _FORM, "engines": engines}, indent=1) + "\n", encoding="utf-8")
