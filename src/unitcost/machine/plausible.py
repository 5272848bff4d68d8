"""Whether step times can be: more work never takes less time, fewer bits are not much slower."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unitcost.machine.steps import Array, StepGrid, mixed_step_s

#: A fall along an axis beyond this is said; smaller ones are noise of the measurement.
_FALL_SHARE = 0.10
#: How much slower than bf16 a quantised step may be: small batches pay for unpacking.
_SLOWER = 1.25
#: How much slower than larger batches the smallest one may be.
_SLOWER_ALONE = 1.33
#: The decode step at which precisions are compared.
USUAL_BATCH, USUAL_CONTEXT = 64, 1024


def mended(grid: StepGrid) -> StepGrid:
    """Grid whose times never fall with more work; where they fell by more than a tenth a flag says so.

    Notes
    -----
    Each time becomes the largest of those with no more work. Measured kernels switch algorithms between sizes, so that
    small falls are real; a scheduler that believed them would wait for more work.
    """
    tables = {
        "shared cost by tokens": grid.shared_s, "chunk attention": grid.chunk_attention_s,
        "decode attention": grid.decode_attention_s, "decode step": grid.decode_step_s,
    }  # fmt: skip
    raised = {name: _rising(table) for name, table in tables.items()}
    flags = [
        f"{name} falls by up to {fall:.0%} with more work; raised"
        for name, table in tables.items()
        if (fall := _largest_fall(table, raised[name])) > _FALL_SHARE
    ]
    shared_s, chunk_s, beside_s, decode_s = raised.values()
    return replace(
        grid, shared_s=shared_s, chunk_attention_s=chunk_s, decode_attention_s=beside_s, decode_step_s=decode_s,
        flags=(*grid.flags, *flags),
    )  # fmt: skip


def slower_than_plain(grid: StepGrid, plain_s: float | None) -> str:
    """What is implausible about a quantised grid, in words; empty when nothing is.

    Parameters
    ----------
    plain_s
        Time of the usual decode step in bf16; None where it is not known. [s]
    """
    quantised_s = mixed_step_s(grid, (), min(USUAL_BATCH, grid.max_batch), USUAL_CONTEXT)
    if plain_s is None or quantised_s <= _SLOWER * plain_s:
        return ""
    return f"a decode step in {grid.served.precision} takes {quantised_s / plain_s:.1f} times that in bf16"


def slower_alone(grid: StepGrid) -> str:
    """What is implausible about a grid whose smallest batches are its slowest, in words; empty when nothing is.

    Notes
    -----
    A decode step of one sequence reads no more than one of several. Where it takes a third longer, a kernel was measured that
    no engine would pick, and larger batches, raised to it, would be wrong as well.
    """
    alone_s, least_s = grid.decode_step_s[0].mean(), grid.decode_step_s.mean(axis=1).min()
    if alone_s <= _SLOWER_ALONE * least_s:
        return ""
    return f"a decode step of {grid.batch_axis[0]:g} takes {alone_s / least_s:.1f} times that of a larger batch"


def _rising(table: Array) -> Array:
    for axis in range(table.ndim):
        table = np.maximum.accumulate(table, axis=axis)
    return table


def _largest_fall(table: Array, raised: Array) -> float:
    # Times below a hundredth of the largest cannot matter.
    large = raised > raised.max() / 100
    return float(((raised - table)[large] / raised[large]).max()) if large.any() else 0.0
