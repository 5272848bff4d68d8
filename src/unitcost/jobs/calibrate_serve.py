"""Constants of a serving engine from a benchmark that its owner ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unitcost.machine.calibration import Timed, fit_outside, fit_speed
from unitcost.machine.closed_loop import POLICY_OF_BACKEND, ClosedLoop, closed_loop
from unitcost.machine.steps import Constants, Served, StepGrid
from unitcost.measure.bench_files import BenchRun, read_runs
from unitcost.measure.step_times import step_times, write_calibration

#: Mean length over the nominal one, in the closed loop that is compared with.
_MEAN_SHARE = 0.9
#: Runs from which a time per step is told from a scale; fewer fit the scale alone.
_FEW_RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Mean absolute relative error of worked-out times, as shares."""

    ttft_share: float
    tpot_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Constants, and how far worked-out times were from the measured ones before and after.

    Parameters
    ----------
    form
        Who wrote the file.
    after
        On the same runs: how well the constants describe them, not how well they foretell others.
    """

    form: str
    runs: tuple[BenchRun, ...]
    grid: StepGrid
    constants: Constants
    before: Error
    after: Error


def calibrate_serve(file: Path, served: Served, *, save: Path | None = None) -> Calibrated:
    """Constants of an engine that explain a benchmark; kept in a file where one is named.

    Raises
    ------
    BadFile
        When no load generator is known to write such a file.
    NotMeasured, DoesNotFit, UnknownName
        When there are no step times to calibrate.
    """
    form, runs = read_runs(file)
    grid = step_times(served)
    plain = Constants()
    timed = _timed(grid, runs, plain)
    scale_alone = replace(plain, scale=float(np.median(timed.real_tpot_s / timed.told_tpot_s)))
    speed = fit_speed(timed) if len(runs) >= _FEW_RUNS else scale_alone
    constants = fit_outside(_timed(grid, runs, speed), speed)
    constants = replace(constants, source=f"{len(runs)} runs of {form} in {file.name}")
    if save is not None:
        write_calibration(save, served, constants)
    return Calibrated(
        form=form, runs=tuple(runs), grid=grid, constants=constants, before=_error(grid, runs, grid.constants),
        after=_error(grid, runs, constants),
    )  # fmt: skip


def _loop(grid: StepGrid, run: BenchRun, constants: Constants) -> ClosedLoop:
    return closed_loop(
        replace(grid, constants=constants), max(1, round(run.concurrency)), max(1, round(run.input_tokens / _MEAN_SHARE)),
        max(1, round(run.output_tokens / _MEAN_SHARE)), policy=POLICY_OF_BACKEND[grid.served.backend],
    )  # fmt: skip


def _timed(grid: StepGrid, runs: Sequence[BenchRun], constants: Constants) -> Timed:
    loops = [_loop(grid, run, constants) for run in runs]
    return Timed(
        input_tokens=np.array([run.input_tokens for run in runs]), real_ttft_s=np.array([run.ttft_s for run in runs]),
        real_tpot_s=np.array([run.tpot_s for run in runs]), told_ttft_s=np.array([loop.ttft_s for loop in loops]),
        told_tpot_s=np.array([loop.tpot_s for loop in loops]),
    )  # fmt: skip


def _error(grid: StepGrid, runs: Sequence[BenchRun], constants: Constants) -> Error:
    timed = _timed(grid, runs, constants)
    return Error(
        ttft_share=float(np.mean(np.abs(timed.told_ttft_s / timed.real_ttft_s - 1))),
        tpot_share=float(np.mean(np.abs(timed.told_tpot_s / timed.real_tpot_s - 1))),
    )
