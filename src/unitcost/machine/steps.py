"""How long one iteration of a serving engine takes: a few small tables and a few constants.

An engine works in steps. A step carries some prefill chunks and some sequences that decode one token each. Its time is
``scale * (shared + chunk attention + decode attention)`` plus constants; a step that only decodes has a table of its own,
because engines run it from a captured graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadSetting

Array = NDArray[np.float64]
#: What step times stand on, best first.
Origin = Literal["calibration", "aiconfigurator", "bundled grid", "roofline"]
ORIGINS: tuple[Origin, ...] = ("calibration", "aiconfigurator", "bundled grid", "roofline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What an engine adds to the time of its kernels, and how far measured kernels are from the table.

    Parameters
    ----------
    scale
        Factor on the whole table.
    per_step_s, per_prefill_step_s, per_sequence_s
        Added to each step; to each step that carries prefill; to a step for each sequence in it. [s]
    per_request_s, per_input_token_s
        Added to the time to the first token outside the engine: transport, templates, tokenisation. The engine works
        on other requests meanwhile. [s], [s / token]
    source
        Where the values come from, in words.
    """

    scale: float = 1.0
    per_step_s: float = 0.0
    per_prefill_step_s: float = 0.0
    per_sequence_s: float = 0.0
    per_request_s: float = 0.0
    per_input_token_s: float = 0.0
    source: str = "none"

    def __post_init__(self) -> None:
        offsets = (self.per_step_s, self.per_prefill_step_s, self.per_sequence_s)
        outside = (self.per_request_s, self.per_input_token_s)
        if not (
            np.isfinite((self.scale, *offsets, *outside)).all() and self.scale > 0 and min(*offsets, *outside) >= 0
        ):
            raise BadSetting("a scale is not above zero, or a constant is below zero", mend="calibrate again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the tables are of.

    Parameters
    ----------
    gpu
        As the price book names it: `H100-80GB`.
    precision
        Of the weights: `bf16`, `fp8`, `nvfp4`, `mxfp4`, `int4`.
    tensor_parallel, attention_data_parallel
        GPUs that share each layer; groups of them that hold whole attention layers of their own.
    expert_parallel
        GPUs among which experts are dealt out whole; the rest shares each expert.
    """

    model: str
    gpu: str
    precision: str
    backend: str
    tensor_parallel: int = 1
    attention_data_parallel: int = 1
    expert_parallel: int = 1

    def __post_init__(self) -> None:
        if min(self.tensor_parallel, self.attention_data_parallel, self.expert_parallel) < 1:
            raise BadSetting("a parallel size is below one", mend="use sizes from 1")
        if self.gpus % self.expert_parallel:
            raise BadSetting(
                f"experts cannot be dealt out to {self.expert_parallel} of {self.gpus} GPUs",
                mend="use an expert-parallel size that divides the GPUs of a replica",
            )

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.attention_data_parallel


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGrid:
    """Step times of one replica, as tables over the work in a step.

    Parameters
    ----------
    tokens_axis, shared_s
        Time of all that is not attention, by tokens in the step: prefill tokens plus decoding sequences. [s]
    chunk_axis, past_axis, chunk_attention_s
        Attention of one prefill chunk, by its tokens and by those of the same prompt that came before it. [s]
    batch_axis, context_axis, decode_attention_s
        Attention of the decoding sequences beside a prefill, by their number and mean context. [s]
    decode_step_s
        A whole step that only decodes, over the same two axes. [s]
    kv_tokens_per_replica
        Tokens that the KV cache of the replica holds.
    max_batch
        Sequences that may run at once.
    origin, source, version
        What the tables stand on, in words with a version.
    flags
        What looks implausible, in words; empty when nothing does.
    """

    tokens_axis: Array
    shared_s: Array
    chunk_axis: Array
    past_axis: Array
    chunk_attention_s: Array
    batch_axis: Array
    context_axis: Array
    decode_attention_s: Array
    decode_step_s: Array
    constants: Constants = field(default_factory=Constants)
    kv_tokens_per_replica: int
    max_batch: int
    served: Served
    origin: Origin
    source: str
    version: str
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        axes = (self.tokens_axis, self.chunk_axis, self.past_axis, self.batch_axis, self.context_axis)
        tables = (self.shared_s, self.chunk_attention_s, self.decode_attention_s, self.decode_step_s)
        decode = (len(self.batch_axis), len(self.context_axis))
        shapes = [(len(self.tokens_axis),), (len(self.chunk_axis), len(self.past_axis)), decode, decode]
        if [table.shape for table in tables] != shapes:
            raise BadSetting("a table of step times does not match its axes", mend="make the grid again")
        if not all(len(axis) and (np.diff(axis) > 0).all() and axis[0] >= 0 for axis in axes):
            raise BadSetting("an axis of step times does not rise", mend="make the grid again")
        if not all(np.isfinite(table).all() and (table >= 0).all() for table in tables):
            raise BadSetting("a step time is negative or not a number", mend="make the grid again")
        if self.kv_tokens_per_replica < 1 or self.max_batch < 1:
            raise BadSetting("a replica holds no token or no sequence", mend="see what fits with fewer weights per GPU")


def mixed_step_s(grid: StepGrid, chunks: tuple[tuple[int, int], ...], batch: int, mean_context: float) -> float:
    """Time of one step. [s].

    Parameters
    ----------
    chunks
        (tokens, tokens before them) of each prefill chunk; none in a step that only decodes.
    batch, mean_context
        Sequences that decode, and the mean of their contexts. [tokens]

    Notes
    -----
    Between the points of a table linear, below its first point constant, beyond its last point along the last slope. Decode
    attention is taken at the mean context: it is linear in the sum of contexts but for the ends of its kernels.
    """
    constants = grid.constants
    if not chunks:
        if batch < 1:
            return 0.0
        kernels_s = between2(grid.batch_axis, grid.context_axis, grid.decode_step_s, batch, mean_context)
        return constants.scale * kernels_s + constants.per_step_s + constants.per_sequence_s * batch
    tokens = sum(size for size, _ in chunks) + batch
    kernels_s = between(grid.tokens_axis, grid.shared_s, tokens)
    kernels_s += sum(
        between2(grid.chunk_axis, grid.past_axis, grid.chunk_attention_s, size, past) for size, past in chunks
    )
    if batch:
        kernels_s += between2(grid.batch_axis, grid.context_axis, grid.decode_attention_s, batch, mean_context)
    fixed_s = constants.per_step_s + constants.per_prefill_step_s
    return constants.scale * kernels_s + fixed_s + constants.per_sequence_s * (batch + len(chunks))


def front_s(constants: Constants, input_tokens: int) -> float:
    """Time that a request spends outside the engine before its first step. [s]."""
    return constants.per_request_s + constants.per_input_token_s * input_tokens


def between(axis: Array, values: Array, at: float) -> float:
    """Value of a table at a point."""
    low, share = _place(axis, at)
    high = min(low + 1, len(axis) - 1)
    return float(values[low] + share * (values[high] - values[low]))


def between2(rows: Array, columns: Array, values: Array, row: float, column: float) -> float:
    """Value of a table of two axes at a point."""
    low, share = _place(rows, row)
    high = min(low + 1, len(rows) - 1)
    first, second = between(columns, values[low], column), between(columns, values[high], column)
    return first + share * (second - first)


def _place(axis: Array, at: float) -> tuple[int, float]:
    """Index of the point below, and how far on towards the next; more than 1 beyond the last point."""
    if len(axis) == 1 or at <= axis[0]:
        return 0, 0.0
    low = min(int(np.searchsorted(axis, at, side="right")) - 1, len(axis) - 2)
    return low, float((at - axis[low]) / (axis[low + 1] - axis[low]))
