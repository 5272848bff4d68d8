"""How fast a language model trains, from measured rows: an interval, and the rows it stands on.

A Gaussian process over what decides how busy an accelerator is (model size, sequence, accelerators, micro-batch, precision,
recomputation) predicts the logarithm of the share of peak, counted the same way for all sources. Rows of one source share an
offset: another code base is faster or slower by some tenth, and only a row of it tells how much. So measured rows of the
user's own code win near what was measured. Without any, the code with most rows stands for it, and the interval is wide.

Its scales were fitted on llm-foundry rows by leaving one model size out at a time; `benchmarks/throughput_model.py`
measures that.

References
----------
.. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, chapter 2 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from unitcost.errors import UnitcostError
from unitcost.facts.estimates import Estimate
from unitcost.facts.training_runs import MeasuredRun
from unitcost.machine.accelerators import Chip, Precision, chip, chip_like
from unitcost.machine.flops import flop_per_token
from unitcost.machine.shapes import SHAPES, ModelShape, inferred_shape
from unitcost.training.market import FloatArray
from unitcost.training.measured_rows import ROWS

#: Chips that rows were measured on; others get a constant share of peak.
FAMILIES = ("A100", "H100", "H200", "GH200")
_HOPPER = ("H100", "H200", "GH200")
#: Unit of each feature (see `_features`) in which the process is as smooth, and where the linear part is centred.
_SCALES = np.array([0.187, 0.080, 0.048, 0.589, 0.160, 0.160, 0.244, 0.171, 0.250])
_CENTRE = np.array([21.6, 8.13, 2.79, 0.3, 0.4, 0.36, 0.0, 1.96, 0.0])
#: Variances of the logarithm of the share of peak: smooth part, linear part, code base, single row.
_SMOOTH, _LINEAR, _SOURCE, _ROW = 0.057, 0.0025, 0.04, 0.0013
_MEAN = math.log(0.47)
#: Half width of an interval, in standard deviations.
_WIDTH = 1.9
_NEIGHBOURS = 5
#: A source of fewer rows says nothing about how much its rows vary.
_LEAST_ROWS = 5
#: How often variances of rows are counted again, each time with those found before.
_PASSES = 4
#: Median of the square of a standard normal variable.
_CHI2_MEDIAN = 0.455
#: Where no row was measured on a family: share of peak, low and high; the spread of all measured rows and code bases.
CONSTANT_SHARE = (0.38, 0.22, 0.55)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSetup:
    """What is to be trained, on what.

    Parameters
    ----------
    source
        Whose code; empty = not known, which widens the interval.
    """

    shape: ModelShape
    chip: Chip
    accelerators: int
    seq_len: int
    micro_batch: float
    precision: Precision = "bf16"
    recompute: bool = False
    compiled: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Tokens a second and accelerator with what it stands on.

    Parameters
    ----------
    tokens_per_s
        Per accelerator. [1 / s]
    flop_share
        MFU: with all of attention counted, over the dense peak of half precision (of 8 bits for `fp8`).
    neighbours
        Nearest measured rows, nearest first.
    """

    tokens_per_s: Estimate
    flop_share: Estimate
    neighbours: tuple[MeasuredRun, ...] = ()


class SpeedModel:
    """Speed predicted from measured rows; rows on chips without known rows are left out."""

    def __init__(self, runs: Sequence[MeasuredRun]) -> None:
        usable = [(run, setup) for run in runs if (setup := setup_of(run)) is not None]
        if not usable:
            raise UnitcostError(
                "no measured row can be used",
                mend=f"give rows on {', '.join(FAMILIES)} with params, accelerators, seq_len and tokens per second",
            )
        self.runs = tuple(run for run, _ in usable)
        self.setups = tuple(setup for _, setup in usable)
        self.features = np.stack([_features(setup) for setup in self.setups])
        self.sources = np.array([setup.source for setup in self.setups])
        #: Whose rows stand for code that nobody measured: those of the source with most of them.
        self.usual = max(sorted(set(self.sources)), key=lambda name: int((self.sources == name).sum()))
        shares = np.array([_log_share(run.tokens_per_s, s) for run, s in usable])
        covariance = self._covariance(self.features, self.sources)
        self.rows = _row_variances(covariance, shares - _MEAN, self.sources)
        noise = np.array([self.rows[source] for source in self.sources])
        self.inverse: FloatArray = np.asarray(np.linalg.inv(covariance + np.diag(noise)), np.float64)
        self.weights: FloatArray = self.inverse @ (shares - _MEAN)

    def predict(self, setup: TrainingSetup) -> Speed:
        """Speed of a setup."""
        if setup.chip.family not in FAMILIES:
            return constant_speed(setup)
        known = setup.source in self.sources
        features = _features(setup)[None, :]
        across = self._covariance(features, np.array([setup.source if known else self.usual]))[0]
        log_share = _MEAN + float(across @ self.weights)
        row = self.rows[setup.source if known else self.usual]
        spread = math.sqrt(self._variance(across, features, row) + (0.0 if known else _SOURCE))
        limits = [math.exp(log_share + step * _WIDTH * spread) for step in (0, -1, 1)]
        order = np.argsort(-across, kind="stable")[:_NEIGHBOURS]
        return _speed(setup, limits, basis="measured", neighbours=tuple(self.runs[int(n)] for n in order))

    def _variance(self, across: FloatArray, features: FloatArray, row: float) -> float:
        own = _kernel(features, features)[0, 0] + _SOURCE + row
        return max(float(own - across @ self.inverse @ across), row)

    def _covariance(self, features: FloatArray, sources: np.ndarray) -> FloatArray:
        same = sources[:, None] == self.sources[None, :]
        covariance: FloatArray = _kernel(features, self.features) + _SOURCE * same
        return covariance


def _row_variances(covariance: FloatArray, centred: FloatArray, sources: np.ndarray) -> dict[str, float]:
    """Variance of single rows by source: more where a source varies by what no feature tells, such as recipes of 8 bits.

    Notes
    -----
    From the median of squared leave-one-out residuals, [1]_ of the module, equation 5.12; never below that of the source
    that the scales were fitted on. A source of few rows is taken at its word.
    """
    found = dict.fromkeys(sorted(set(sources.tolist())), _ROW)
    for _ in range(_PASSES):
        noise = np.array([found[source] for source in sources])
        inverse = np.linalg.inv(covariance + np.diag(noise))
        squares = ((inverse @ centred) / np.diag(inverse)) ** 2
        for source in found:
            mine = squares[sources == source]
            if len(mine) >= _LEAST_ROWS:
                found[source] = max(_ROW, float(np.median(mine)) / _CHI2_MEDIAN)
    return found


def constant_speed(setup: TrainingSetup) -> Speed:
    """Speed by a constant share of peak, for chips that no row was measured on."""
    value, low, high = CONSTANT_SHARE
    return _speed(setup, [value, low, high], basis="modelled", neighbours=())


def _speed(setup: TrainingSetup, limits: list[float], *, basis: str, neighbours: tuple[MeasuredRun, ...]) -> Speed:
    value, low, high = limits
    measured = basis == "measured"
    because = (
        f"{len(neighbours)} nearest of the measured rows: {', '.join(f'{n.model} x{n.accelerators}' for n in neighbours)}"
        if measured
        else f"constant share of peak: no row was measured on {setup.chip.name}"
    )
    share = Estimate(value=value, low=low, high=high, basis="measured" if measured else "modelled", because=because)
    per_share = _peak(setup) / flop_per_token(setup.shape, setup.seq_len, causal=False)
    return Speed(tokens_per_s=share.times(per_share), flop_share=share, neighbours=neighbours)


def _peak(setup: TrainingSetup) -> float:
    """Peak that shares are of: half precision, or 8 bits where they are used. [FLOP / s]."""
    peaks = setup.chip.dense_tflop_per_s
    order: tuple[Precision, ...] = (setup.precision, "bf16", "fp16", "fp32")
    return setup.chip.peak_flop_per_s(next(p for p in order if p in peaks))


def _log_share(tokens_per_s: float, setup: TrainingSetup) -> float:
    return math.log(tokens_per_s * flop_per_token(setup.shape, setup.seq_len, causal=False) / _peak(setup))


def _features(setup: TrainingSetup) -> FloatArray:
    """What decides how busy an accelerator is, scaled and centred."""
    hopper = setup.chip.family in _HOPPER
    short_of_memory = not hopper and setup.chip.memory_gib < chip("A100-80GB").memory_gib
    raw = (
        math.log(setup.shape.params), math.log(setup.seq_len), math.log(setup.accelerators), float(hopper),
        float(short_of_memory), float(setup.recompute), float(setup.precision == "fp8"), math.log(setup.micro_batch),
        float(setup.compiled),
    )  # fmt: skip
    scaled: FloatArray = (np.array(raw) - _CENTRE) * _SCALES
    return scaled


def _kernel(left: FloatArray, right: FloatArray) -> FloatArray:
    """Covariance of two sets of features: Matern 3/2 and linear, [1]_ of the module, equation 4.17."""
    distance = np.sqrt(((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2))
    root = math.sqrt(3) * distance
    covariance: FloatArray = _SMOOTH * (1 + root) * np.exp(-root) + _LINEAR * (left @ right.T + 1)
    return covariance


def setup_of(run: MeasuredRun) -> TrainingSetup | None:
    """Setup of a measured row; None when its chip is not one of those that rows can be compared on."""
    known = chip_like(run.accelerator)
    if known is None or known.family not in FAMILIES:
        return None
    return TrainingSetup(
        shape=shape_of(run), chip=known, accelerators=run.accelerators, seq_len=run.seq_len, micro_batch=run.micro_batch,
        precision="fp8" if "8" in run.precision.replace("bf16", "") else "bf16", recompute=run.recompute,
        compiled=run.compiled, source=run.source,
    )  # fmt: skip


def shape_of(run: MeasuredRun) -> ModelShape:
    """Shape of the model of a row: a known one of its size, else a usual decoder."""
    near = [s for s in SHAPES if abs(s.params - run.params) < 0.02 * s.params]
    named = [s for s in SHAPES if run.model.casefold().endswith("-" + s.name)]
    known = next(iter([*named, *near]), None)
    if known is None:
        return inferred_shape(run.params, name=run.model)
    return ModelShape(
        name=run.model, params=run.params, layers=known.layers, hidden=known.hidden, heads=known.heads,
        vocabulary=known.vocabulary,
    )  # fmt: skip


@cache
def shipped_runs() -> tuple[MeasuredRun, ...]:
    """The measured rows that come with the project."""
    runs = []
    for line in ROWS.splitlines():
        source, model, params_b, device, count, seq_len, batch, precision, recompute, compiled, speed, row = line.split(
            ","
        )
        runs.append(
            MeasuredRun(
                source=source, row=row, model=model, params=float(params_b) * 1e9, accelerator=device, precision=precision,
                accelerators=int(count), seq_len=int(seq_len), micro_batch=float(batch), recompute=recompute != "none",
                compiled=compiled == "1", tokens_per_s=float(speed),
            )
        )  # fmt: skip
    return tuple(runs)
