"""What usual changes to a training job have been measured to bring: ranges, never one magic factor.

A job that waits for its input gains nothing from faster arithmetic, and can get slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from unitcost.facts.estimates import Estimate

#: A range leaves out this share of the measured pairs at either end.
_LEFT_OUT = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedUp:
    """How much faster a job gets.

    Parameters
    ----------
    lever
        What is changed, on what.
    factor
        New speed over old.
    note
        When it does not hold.
    """

    lever: str
    factor: Estimate
    note: str = ""


def _measured(lever: str, low: float, value: float, high: float, rows: str, note: str = "") -> SpeedUp:
    because = f"measured: {rows}"
    return SpeedUp(
        lever=lever, factor=Estimate(value=value, low=low, high=high, basis="measured", because=because), note=note
    )


_SLOWER = "a job that waits for its input gains nothing; the slowest measured pair lost 15 %"
#: Ranges of pairs of runs that differ in one thing, each model with equal weight. Mixed precision: NVIDIA
#: DeepLearningExamples (729963d); compiled kernels: torchtitan (b5bcd76).
LEVERS: tuple[SpeedUp, ...] = (
    _measured("mixed precision instead of fp32 on V100", 1.15, 2.33, 4.48, "295 pairs of 41 models", _SLOWER),
    _measured("mixed precision instead of tf32 on A100", 0.94, 1.61, 3.21, "232 pairs of 42 models", _SLOWER),
    _measured(
        "compiled kernels", 1.05, 1.16, 1.3, "2 pairs of an 8B model on 8 and 128 H100", "the range beyond them is assumed"
    ),
    SpeedUp(
        lever="keep activations instead of recomputing them",
        factor=Estimate(
            value=1.15, low=1.0, high=4 / 3, basis="modelled",
            because="recomputation repeats the forward pass: four thirds of the operations at most; a larger micro-batch"
            " wins some of that back",
        ),
        note="needs the memory",
    ),
)  # fmt: skip


def packing(padding_share: float) -> SpeedUp:
    """Sequence packing for a data set of which a share is padding.

    Notes
    -----
    ``1 / (1 - padding share)``: padding is worked on like any token.
    """
    factor = 1 / (1 - padding_share)
    return SpeedUp(
        lever="pack short sequences together",
        factor=Estimate(
            value=factor,
            low=1.0,
            high=factor,
            basis="modelled",
            because=f"{padding_share:.0%} of the tokens are padding",
        ),
        note="attention must not cross from one sequence into another",
    )


def range_of(pairs: Mapping[str, Iterable[float]]) -> tuple[float, float, float]:
    """Low, middle and high speed-up of pairs by model, each model with equal weight."""
    values = [np.asarray(list(found), float) for found in pairs.values()]
    flat = np.concatenate(values)
    weights = np.concatenate([np.full(len(found), 1 / len(found)) for found in values])
    order = np.argsort(flat)
    reached = np.cumsum(weights[order]) / weights.sum()
    places = [min(int(np.searchsorted(reached, share)), len(flat) - 1) for share in (_LEFT_OUT, 0.5, 1 - _LEFT_OUT)]
    low, middle, high = (float(flat[order][place]) for place in places)
    return low, middle, high
