"""Step times that ship, and where step times come from: calibration, kernels, bundled grids, roofline."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from unitcost.machine.steps import Served, StepGrid
from unitcost.measure.labels import known_model

FILE = "step_grids.npz"
_TABLES = (
    "tokens_axis", "shared_s", "chunk_axis", "past_axis", "chunk_attention_s", "batch_axis", "context_axis",
    "decode_attention_s", "decode_step_s",
)  # fmt: skip
_AXES = tuple(name for name in _TABLES if name.endswith("_axis"))
_PLAIN = ("kv_tokens_per_replica", "max_batch", "source", "version", "flags")
#: Times are kept as whole tenths of a microsecond.
_TICK_S = 1e-7


def packed(grids: Sequence[StepGrid]) -> bytes:
    """Grids with common axes as one file: axes once, each table stacked over the grids."""
    arrays: dict[str, Any] = {name: getattr(grids[0], name) for name in _AXES}
    for name in _TABLES:
        if name not in _AXES:
            stacked = np.stack([getattr(grid, name) for grid in grids])
            arrays[name] = np.rint(stacked / _TICK_S).astype(np.uint32)
    index = [{"served": asdict(grid.served)} | {name: getattr(grid, name) for name in _PLAIN} for grid in grids]
    arrays["index"] = np.frombuffer(json.dumps(index).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


@cache
def bundled() -> tuple[StepGrid, ...]:
    """All grids that ship."""
    content = (files("unitcost.measure") / "step_data" / FILE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    index = json.loads(arrays.pop("index").tobytes())
    return tuple(_grid(entry, arrays, number) for number, entry in enumerate(index))


def _grid(entry: dict[str, Any], arrays: dict[str, Any], number: int) -> StepGrid:
    tables = {name: arrays[name] if name in _AXES else arrays[name][number] * _TICK_S for name in _TABLES}
    plain = {name: entry[name] for name in _PLAIN} | {"flags": tuple(entry["flags"])}
    return StepGrid(**tables, **plain, served=Served(**entry["served"]), origin="bundled grid")


def bundled_grid(served: Served) -> StepGrid | None:
    """Grid that ships for a deployment; None when none does."""
    wanted = replace(served, model=known_model(served.model))
    return next((grid for grid in bundled() if grid.served == wanted), None)
