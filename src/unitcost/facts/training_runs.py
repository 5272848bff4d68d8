"""Measured training speed, as its source gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unitcost.errors import BadFile


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """The speed of one training job.

    Parameters
    ----------
    source, row
        Whose code was measured, and which row of it.
    params
        Parameters of the model.
    accelerator
        As the source writes it.
    accelerators
        All of them.
    seq_len, micro_batch
        Tokens of a sequence; sequences an accelerator works on at once.
    precision
        `bf16`, `fp8` ...
    recompute, compiled
        Whether activations are recomputed; whether kernels are compiled or fused.
    tokens_per_s
        Tokens a second and accelerator. [1 / s]
    """

    source: str
    row: str
    model: str
    params: float
    accelerator: str
    accelerators: int
    seq_len: int
    micro_batch: float
    precision: str
    recompute: bool
    compiled: bool
    tokens_per_s: float

    def __post_init__(self) -> None:
        values = (self.params, self.tokens_per_s, self.micro_batch, float(self.accelerators), float(self.seq_len))
        if not all(math.isfinite(value) and value > 0 for value in values):
            raise BadFile("a size or a speed is not above zero", where=self.row, mend="correct or leave out the row")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRate:
    """Speed of work that is not counted in tokens, on one kind of accelerator.

    Parameters
    ----------
    chip
        Accelerator, as the price book names it.
    units_per_s
        Of one of them, while `accelerators` worked together. [1 / s]
    """

    row: str
    chip: str
    accelerators: int
    units_per_s: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.units_per_s) and self.units_per_s > 0 and self.accelerators >= 1):
            raise BadFile("a speed is not above zero", where=self.row, mend="correct or leave out the row")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """A run to the same target as others of other batches.

    Parameters
    ----------
    batch
        Samples of a step.
    accelerators
        How many it ran on.
    samples
        Samples until the target; None when only the time is known.
    hours
        Time until the target, [h]; None when only the samples are known.
    """

    batch: float
    accelerators: int = 1
    samples: float | None = None
    hours: float | None = None
    row: str = ""

    def __post_init__(self) -> None:
        told = [value for value in (self.samples, self.hours) if value is not None]
        if not told or not all(math.isfinite(value) and value > 0 for value in (self.batch, *told)):
            raise BadFile(
                "a run has no batch, or neither samples nor hours",
                where=self.row,
                mend="give batch, and samples or hours",
            )
