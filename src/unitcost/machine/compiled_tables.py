"""Tables of step times read in machine code: the same reading as in `machine.steps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from unitcost.machine.steps import Array

_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Machine code of a function, kept for later processes where there is a folder for it."""
    try:
        return cast(_F, numba.njit(cache=True)(function))
    except RuntimeError:  # no folder in which compiled code could be kept
        return cast(_F, numba.njit(function))


@compiled
def place(axis: Array, at: float) -> tuple[int, float]:
    """Index of the point below, and how far on towards the next."""
    last = len(axis) - 1
    if at <= axis[0] or last == 0:
        return 0, 0.0
    low = min(int(np.searchsorted(axis, at, side="right")) - 1, last - 1)
    return low, (at - axis[low]) / (axis[low + 1] - axis[low])


@compiled
def read(axis: Array, values: Array, at: float) -> float:
    """Value of a table at a point."""
    low, share = place(axis, at)
    high = min(low + 1, len(axis) - 1)
    return float(values[low] + share * (values[high] - values[low]))


@compiled
def read2(rows: Array, columns: Array, values: Array, row: float, column: float) -> float:
    """Value of a table of two axes at a point."""
    low, share = place(rows, row)
    high = min(low + 1, len(rows) - 1)
    first = read(columns, values[low], column)
    return first + share * (read(columns, values[high], column) - first)
