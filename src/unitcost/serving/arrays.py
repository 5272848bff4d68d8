"""From a trace and a fleet to the arrays of the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadSetting
from unitcost.machine.steps import StepGrid
from unitcost.serving.fleet import Category, Fleet, State
from unitcost.serving.kernel import layout
from unitcost.serving.traces import Floats, Ints, Trace

Array = NDArray[Any]
SCHEDULERS = {
    "decode first": layout.DECODE_FIRST,
    "prefill first": layout.PREFILL_FIRST,
    "whole prompt": layout.WHOLE_PROMPT,
    "static": layout.STATIC,
}
ROUTINGS = {
    "round robin": layout.ROUND_ROBIN,
    "least loaded": layout.LEAST_LOADED,
    "prefix affinity": layout.PREFIX_AFFINITY,
}
CATEGORIES: tuple[Category, ...] = ("reserved", "spot", "on-demand")
STATES: tuple[State, ...] = ("off", "provisioning", "loading", "standby", "ready", "draining")
CHANGES = {"notice": layout.NOTICE, "kill": layout.KILL, "back": layout.BACK}
#: Tokens up to which the shared time of a step is a plain table.
_DENSE_TOKENS = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """All that one run reads and writes; `state` holds the addresses of the rest, which must live as long."""

    state: Array
    requests: Array
    replicas: Array
    gaps: Array
    intervals: Array
    others: tuple[Array, ...]
    order: Ints


def build(trace: Trace, fleet: Fleet, *, fast_forward: bool, interval_rows: int) -> Arrays:
    """Arrays of a run that has not begun. `order` tells which row of the trace each request is."""
    rules = _rules(trace, fleet, fast_forward=fast_forward)
    requests, order = _requests(trace, fleet)
    places, blocks = len(fleet.categories), int(rules["blocks"])
    kept = blocks // int(rules["hash_blocks"]) + 1 if rules["hash_tokens"] else 1
    ring = 1 << int(max(int(trace.output_tokens.max()) + 1, 2) - 1).bit_length()
    entries = 1 << (2 * kept).bit_length()
    arrays = {
        "requests": requests, "replicas": _replicas(fleet, blocks), "ring": np.full(places * ring, layout.NONE, np.int32),
        "phases": np.zeros(places * fleet.engine.block_tokens, np.int64), "slots": _slots(places, kept),
        "entries": np.full(places * entries, layout.NONE, np.int32), "hashes": np.ascontiguousarray(trace.hashes, np.int64),
        "gaps": _gaps(), "intervals": np.zeros(interval_rows, layout.INTERVAL), "events": _events(fleet),
        "history": _history(fleet), **_tables(fleet),
    }  # fmt: skip
    sizes = {
        "requests": len(trace), "replicas": places, "ring": ring, "kept": kept, "entries": entries, "rows": interval_rows,
        "events": len(fleet.events), "looks": len(arrays["history"]), "dense": len(arrays["shared"]),
        "pieces": len(fleet.grid.context_axis), "chunks": len(fleet.grid.chunk_axis), "pasts": len(fleet.grid.past_axis),
    }  # fmt: skip
    addresses = {f"at_{name}": array.ctypes.data for name, array in arrays.items()}
    state = np.zeros(1, layout.SIM)
    for name, value in {**rules, **sizes, **addresses}.items():
        state[name] = value
    return Arrays(
        state=state, requests=requests, replicas=arrays["replicas"], gaps=arrays["gaps"],
        intervals=arrays["intervals"], others=tuple(arrays.values()), order=order,
    )  # fmt: skip


def _gaps() -> Array:
    rows = np.zeros(layout.GAP_BINS + 2, layout.GAP)
    rows["edge"] = gap_edges()
    return rows


def gap_edges() -> Floats:
    """Lower ends of the bins in which gaps between tokens are counted; the first reaches down to zero. [s]."""
    edges: Floats = layout.GAP_FIRST_S * np.exp(np.arange(layout.GAP_BINS + 2) * layout.GAP_BIN_WIDTH)
    edges[0] = 0.0
    return edges


def _requests(trace: Trace, fleet: Fleet) -> tuple[Array, Ints]:
    """Requests in the order in which they reach the engine, after their time at the front."""
    constants = fleet.grid.constants
    front_s = constants.per_request_s + constants.per_input_token_s * trace.input_tokens
    at = trace.arrival_s + front_s
    order = np.argsort(at, kind="stable")
    empty = np.zeros(1, layout.REQUEST)
    for unknown in ("queued", "scheduled", "first", "last"):
        empty[unknown] = math.nan
    empty["replica"] = empty["next"] = layout.NONE
    rows = np.repeat(empty, len(trace))  # one pass over memory; a pass for each column takes three times as long
    rows["arrival"], rows["input"], rows["output"] = at[order], trace.input_tokens[order], trace.output_tokens[order]
    rows["prefill"] = rows["input"]
    if trace.hash_tokens:
        rows["hash_from"] = trace.hash_from[:-1][order]
        rows["hash_count"] = np.diff(trace.hash_from)[order]
    return rows, order


def _replicas(fleet: Fleet, blocks: int) -> Array:
    rows = np.zeros(len(fleet.categories), layout.REPLICA)
    for nothing in ("wait_head", "wait_tail", "run_head", "run_tail", "partial", "step_head", "oldest", "newest"):
        rows[nothing] = layout.NONE
    rows["end"] = rows["until"] = math.inf
    rows["free"] = rows["least_free"] = blocks
    rows["category"] = [CATEGORIES.index(category) for category in fleet.categories]
    rows["goal"] = layout.READY
    return rows


def _slots(places: int, kept: int) -> Array:
    rows = np.zeros((places, kept), layout.SLOT)
    rows["newer"] = np.arange(1, kept + 1, dtype=np.int32)
    return rows


def _events(fleet: Fleet) -> Array:
    ordered = sorted(fleet.events, key=lambda event: event.at_s)
    rows = [(event.at_s, event.replica, CHANGES[event.change]) for event in ordered]
    return np.array(rows, layout.EVENT)


def _history(fleet: Fleet) -> Ints:
    """Room for what was wanted at each look within the stabilisation window."""
    scaler = fleet.autoscaler
    return np.zeros(1 if scaler is None else 1 + math.ceil(scaler.stabilisation_s / scaler.interval_s), np.int64)


def _rules(trace: Trace, fleet: Fleet, *, fast_forward: bool) -> dict[str, float]:
    engine, grid, constants = fleet.engine, fleet.grid, fleet.grid.constants
    hash_tokens = trace.hash_tokens if engine.prefix_caching else 0
    if hash_tokens % engine.block_tokens:
        raise BadSetting(
            f"hashes of the trace stand for {hash_tokens} tokens, which {engine.block_tokens} do not divide",
            mend="choose block_tokens that divides it, or switch prefix caching off",
        )
    return {
        "scheduler": SCHEDULERS[engine.scheduler], "routing": ROUTINGS[fleet.routing], "max_batch": max_batch(fleet),
        "max_step_tokens": engine.max_step_tokens, "max_delay": engine.max_delay_s, "block": engine.block_tokens,
        "blocks": grid.kv_tokens_per_replica // engine.block_tokens, "hash_tokens": hash_tokens,
        "hash_blocks": max(1, hash_tokens // engine.block_tokens), "fast": int(fast_forward),
        "slack": fleet.affinity_slack, "per_step": constants.per_step_s,
        "per_prefill_step": constants.per_prefill_step_s, "per_sequence": constants.per_sequence_s,
        "shared_slope": _last_slope(grid), "horizon": trace.duration_s, "held_head": layout.NONE,
        "held_tail": layout.NONE, "last_down": -math.inf, **_scaling(fleet),
    }  # fmt: skip


def _last_slope(grid: StepGrid) -> float:
    """Time of one more token beyond the table. [s]."""
    if len(grid.tokens_axis) == 1:
        return 0.0
    rise = (grid.shared_s[-1] - grid.shared_s[-2]) / (grid.tokens_axis[-1] - grid.tokens_axis[-2])
    return float(grid.constants.scale * rise)


def _scaling(fleet: Fleet) -> dict[str, float]:
    scaler, zero, cold = fleet.autoscaler, fleet.scale_to_zero, fleet.cold_start
    return {
        "minimum": fleet.least, "maximum": len(fleet.categories) - fleet.warm_pool, "initial": fleet.first,
        "warm": fleet.warm_pool, "spare": fleet.spare, "spot_spare": int(fleet.spare_on_spot),
        "target": scaler.target_in_flight if scaler else math.inf,
        "interval": scaler.interval_s if scaler else math.inf, "tick": scaler.interval_s if scaler else math.inf,
        "surge": scaler.surge if scaler else len(fleet.categories),
        "cooldown": scaler.cooldown_s if scaler else 0.0,
        "idle_timeout": zero.idle_timeout_s if zero else math.inf, "max_wait": zero.max_wait_s if zero else math.inf,
        "provision": cold.provision_s, "loading": cold.loading_s, "waking": cold.wake_s,
    }  # fmt: skip


def max_batch(fleet: Fleet) -> int:
    """Sequences that a replica runs at once."""
    return min(fleet.engine.max_batch or fleet.grid.max_batch, fleet.grid.max_batch)


def _tables(fleet: Fleet) -> dict[str, Array]:
    """Step times made dense in tokens and batch, so that the kernel looks them up."""
    grid, batch, scale = fleet.grid, max_batch(fleet), fleet.grid.constants.scale
    constants = grid.constants
    dense = min(max(fleet.engine.max_step_tokens + batch, int(grid.tokens_axis[-1])), _DENSE_TOKENS) + 1
    shared = _at(grid.tokens_axis, grid.shared_s, np.arange(dense))
    step, step_slope = _pieces(grid, scale * grid.decode_step_s, batch)
    attention, attention_slope = _pieces(grid, scale * grid.decode_attention_s, batch)
    step += constants.per_step_s + constants.per_sequence_s * np.arange(batch + 1)[:, None]
    pieces = np.zeros(step.shape, layout.PIECE)
    pieces["step"], pieces["step_slope"] = step, step_slope
    pieces["attention"], pieces["attention_slope"] = attention, attention_slope
    return {
        "shared": scale * shared, "upper": _upper(grid), "pieces": pieces,
        "chunk_axis": np.array(grid.chunk_axis, np.float64), "past_axis": np.array(grid.past_axis, np.float64),
        "chunk_s": np.array(scale * grid.chunk_attention_s, np.float64),
    }  # fmt: skip


def _upper(grid: StepGrid) -> Floats:
    """Upper ends of the pieces of the context axis: up to the first point, between points, and on without end."""
    axis = grid.context_axis
    return np.array([*axis[:-1], math.inf], np.float64)


def _pieces(grid: StepGrid, table: Floats, batch: int) -> tuple[Floats, Floats]:
    """Value at context 0 and slope of each piece of the context axis, by batch."""
    axis = np.asarray(grid.context_axis, np.float64)
    points = _at(grid.batch_axis, table, np.arange(batch + 1))
    slope = np.zeros_like(points)
    if len(axis) > 1:
        slope[:, 1:] = np.diff(points, axis=1) / np.diff(axis)
    value = points - slope * axis
    return value, slope


def _at(axis: Floats, table: Floats, places: Ints) -> Floats:
    """Rows of a table at places of its axis: constant before the first point, beyond the last along the last slope."""
    if len(axis) == 1:
        return np.repeat(table[:1], len(places), axis=0)
    low = np.clip(np.searchsorted(axis, places, side="right") - 1, 0, len(axis) - 2)
    share = np.maximum((places - axis[low]) / (axis[low + 1] - axis[low]), 0.0)
    first, second = table[low], table[low + 1]
    found: Floats = first + share.reshape(-1, *[1] * (table.ndim - 1)) * (second - first)
    return found
