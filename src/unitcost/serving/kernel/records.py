"""Records in the arrays of a run, by address.

A run is one record that holds the addresses of its arrays. A function of the kernel is given that record alone: handing on
some twenty arrays with their counts of references took ten times as long as the simulation itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types
from numba.extending import intrinsic

from unitcost.serving.kernel import layout


def _by_address(dtype: np.dtype[Any]) -> Any:
    """Function of an address and an index: the record that stands there, to read and to write."""
    record = from_dtype(dtype)

    def at(context: Any, address: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            size = context.get_constant(types.int64, dtype.itemsize)
            place = builder.add(arguments[0], builder.mul(arguments[1], size))
            return builder.inttoptr(place, context.get_value_type(record))

        return record(types.int64, types.int64), emit

    return intrinsic(at)


request = _by_address(layout.REQUEST)
replica = _by_address(layout.REPLICA)
ring = _by_address(layout.RING)
phase = _by_address(layout.PHASE)
slot = _by_address(layout.SLOT)
entry = _by_address(layout.ENTRY)
prefix_hash = _by_address(layout.HASH)
gap = _by_address(layout.GAP)
interval = _by_address(layout.INTERVAL)
spot_event = _by_address(layout.EVENT)
want = _by_address(layout.WANT)
seconds = _by_address(layout.SECONDS)
piece = _by_address(layout.PIECE)
