"""What may serve a model: bundled step times and prices of the book, as options of the search; what does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from unitcost import money
from unitcost.errors import DoesNotFit, NoPrice, NotMeasured, UnknownName
from unitcost.facts.rentals import Rental
from unitcost.jobs.plan_prices import Prices
from unitcost.machine.accelerators import chip
from unitcost.machine.decoder import DecoderShape
from unitcost.machine.roofline import BOARDS, board, need_room
from unitcost.machine.steps import Served, StepGrid
from unitcost.measure.labels import (
    GPU_OF_SYSTEM,
    MODELS,
    PRECISIONS,
    SYSTEMS,
    checkpoint_precision,
    known_model,
    system_of,
)
from unitcost.measure.serving_defaults import shipped
from unitcost.measure.step_grids import bundled
from unitcost.measure.step_times import decoder, step_times
from unitcost.serving.fleet import Engine
from unitcost.serving.search import Option, Refused

_PARALLEL = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which options are looked at.

    Parameters
    ----------
    model
        Any usual spelling, or the folder of its `config.json`.
    gpus, precisions
        Only these; empty: all that step times ship for.
    qualities
        Measured quality by precision.
    quality_bar
        Least quality that will do; None: none is set.
    """

    model: str
    gpus: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    backend: str = "vllm"
    qualities: Mapping[str, Decimal] = field(default_factory=dict)
    quality_bar: Decimal | None = None
    calibration: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Priceable:
    """An option with where its price comes from.

    Parameters
    ----------
    spot
        Cheapest spot price of the same GPUs; None: none is known.
    """

    option: Option
    rental: Rental
    spot: Rental | None


def options_of(wanted: Wanted, prices: Prices, engine: Engine) -> tuple[list[Priceable], list[Refused]]:
    """Options of a model with prices, and those that cannot take part and why.

    Raises
    ------
    UnknownName
        When no step times of the model are known, or a quality is of nothing; the message names the near ones.
    """
    _check_qualities(wanted.qualities)
    grids, refused = _grids(wanted)
    found = []
    for grid in grids:
        why = _below_bar(wanted, grid.served.precision)
        if why:
            refused.append(Refused(name=name_of(grid.served), stage="quality", reason=why))
            continue
        one = _priced(wanted, grid, prices, engine)
        if one is None:
            reason = f"no price of {grid.served.gpu} is known: give one with --prices"
            refused.append(Refused(name=name_of(grid.served), stage="price", reason=reason))
        else:
            found.append(one)
    if not found:
        raise NoPrice(
            f"nothing that could serve {wanted.model} has step times and a price",
            mend="; ".join(one.reason for one in refused[:3]) or "name another --gpu or --precision",
        )
    return found, refused


def _check_qualities(names: Iterable[str]) -> None:
    """Refuse a measured quality of what is neither a precision nor a model."""
    for name in names:
        if name not in PRECISIONS:
            try:
                known_model(name)
            except UnknownName:
                raise UnknownName("precision or model with a quality", name, [*PRECISIONS, *MODELS]) from None


def name_of(served: Served) -> str:
    """An option by what tells it from others."""
    return f"{served.gpus} x {served.gpu} {served.precision}"


def _grids(wanted: Wanted) -> tuple[list[StepGrid], list[Refused]]:
    model = known_model(wanted.model)
    gpus = tuple(_gpu(name) for name in wanted.gpus)
    kept = [
        grid for grid in bundled()
        if grid.served.model == model and grid.served.backend == wanted.backend
        and (not gpus or grid.served.gpu in gpus)
        and (not wanted.precisions or grid.served.precision in wanted.precisions)
    ]  # fmt: skip
    grids = [_with_constants(grid, wanted) for grid in kept]
    refused = _does_not_fit(wanted, model, [grid.served for grid in kept], gpus)
    if not grids or wanted.gpus:
        more, why = _others(wanted, model, gpus, [grid.served for grid in kept])
        grids, refused = [*grids, *more], [*refused, *why]
    if not grids and not refused:
        known = sorted(
            {f"{one.served.precision} with {one.served.backend}" for one in bundled() if one.served.model == model}
        )
        raise NotMeasured(
            f"no step times of {wanted.model} ship for what was asked",
            mend=f"there are some in {', '.join(known)}; or name a --gpu"
            if known
            else "name a --gpu and a --precision",
        )
    return grids, refused


def _gpu(name: str) -> str:
    """Name of a GPU as step times have it.

    Raises
    ------
    UnknownName
        When neither measured kernels nor limits of it are known.
    """
    try:
        return GPU_OF_SYSTEM[system_of(name)]
    except UnknownName:
        try:
            return board(name).name
        except UnknownName:
            raise UnknownName("GPU", name, [*SYSTEMS, *(one.name for one in BOARDS)]) from None


def _with_constants(grid: StepGrid, wanted: Wanted) -> StepGrid:
    if wanted.calibration is not None:
        return step_times(grid.served, calibration=wanted.calibration)
    return replace(grid, constants=shipped().constants(grid.served))


def _others(
    wanted: Wanted, model: str, gpus: Sequence[str], there: Sequence[Served]
) -> tuple[list[StepGrid], list[Refused]]:
    """Step times that do not ship: measured kernels where the package is installed, else the roofline."""
    grids, refused = [], []
    known = {(one.gpu, one.precision) for one in there}
    for gpu in gpus:
        for precision in wanted.precisions or (checkpoint_precision(model),):
            if (gpu, precision) in known:
                continue
            for size in _PARALLEL:
                served = Served(
                    model=model, gpu=gpu, precision=precision, backend=wanted.backend, tensor_parallel=size
                )  # fmt: skip
                try:
                    grids.append(step_times(served, calibration=wanted.calibration))
                except DoesNotFit as why:
                    refused.append(_unfit(served, why))
                except (NotMeasured, UnknownName) as why:
                    refused.append(Refused(name=name_of(served), stage="step times", reason=str(why)))
    return grids, refused


def _does_not_fit(wanted: Wanted, model: str, there: Sequence[Served], gpus: Sequence[str]) -> list[Refused]:
    """For each GPU and precision, the largest replica that does not hold the model, with the smallest change that fits."""
    try:
        shape = decoder(model)
    except UnknownName:
        return []
    precisions = wanted.precisions or tuple(dict.fromkeys(one.precision for one in there))
    refused = []
    for gpu in dict.fromkeys((*(one.gpu for one in there), *gpus)):
        for precision in precisions:
            unfit = [why for size in _PARALLEL if (why := _no_room(shape, wanted, gpu, precision, size))]
            refused += unfit[-1:]
    return refused


def _no_room(shape: DecoderShape, wanted: Wanted, gpu: str, precision: str, size: int) -> Refused | None:
    served = Served(model=shape.name, gpu=gpu, precision=precision, backend=wanted.backend, tensor_parallel=size)
    try:
        need_room(shape, served, _memory_gib(gpu), least_tokens=1)
    except DoesNotFit as why:
        return _unfit(served, why)
    except UnknownName:
        return None
    return None


def _memory_gib(gpu: str) -> float:
    try:
        return chip(gpu).memory_gib
    except UnknownName:
        return board(gpu).memory_gib


def _unfit(served: Served, why: DoesNotFit) -> Refused:
    return Refused(name=name_of(served), stage="does not fit", reason=f"{why.what}; fits with {why.mend}")


def _below_bar(wanted: Wanted, precision: str) -> str:
    quality = wanted.qualities.get(precision)
    if quality is None or wanted.quality_bar is None or quality >= wanted.quality_bar:
        return ""
    return f"quality {money.text(quality)} in {precision} is below the bar {money.text(wanted.quality_bar)}"


def _check(wanted: Wanted, precision: str) -> str:
    if precision in wanted.qualities or precision == checkpoint_precision(known_model(wanted.model)):
        return ""
    return f"needs quality check: {precision} weights"


def _priced(wanted: Wanted, grid: StepGrid, prices: Prices, engine: Engine) -> Priceable | None:
    served = grid.served
    try:
        known = prices.priced(chip(served.gpu), served.gpus)
    except UnknownName:
        return None
    if known.on_demand is None:
        return None
    usd = money.multiply(known.on_demand.usd_per_accelerator_hour, Decimal(served.gpus))
    option = Option(
        name=name_of(served), grid=grid, usd_per_replica_hour=usd, engine=engine,
        needs_check=_check(wanted, served.precision),
    )  # fmt: skip
    return Priceable(option=option, rental=known.on_demand, spot=known.spot)
