"""Memory that training takes on each accelerator, and the nearest change that makes a job fit.

References
----------
.. [1] V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", MLSys 2023: activations.
.. [2] S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC 2020: states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from unitcost.errors import BadSetting
from unitcost.machine.shapes import ModelShape
from unitcost.units import GIB

#: What is kept of the activations: all of them, all but those inside attention, or the input of each layer.
Recompute = Literal["none", "selective", "full"]
#: Share of a device that a job can use: the rest is taken by the runtime and lost between blocks.
USABLE_SHARE = 0.92
#: Bytes of mixed-precision Adam, [2]_ section 3.1: half-precision weight and gradient; weight, momentum, variance in full.
_WEIGHT, _GRADIENT, _OPTIMISER = 2, 2, 12
#: Bytes of the logits of a token and word: kept in full precision [1]_ section 4.3, and their gradient in half.
_LOGIT = 6
#: Layers whose gathered weights and gradients are held at once when weights are sharded.
_LAYERS_GATHERED = 2
_MOST_SHARDED_STAGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLayout:
    """How a model is laid out for training.

    Parameters
    ----------
    accelerators
        All of them.
    micro_batch
        Sequences that one accelerator (one tensor-parallel group) works on at once.
    zero_stage
        What data-parallel ranks share: 0 nothing, 1 optimiser states, 2 gradients too, 3 weights too (FSDP).
    tensor_parallel
        Accelerators that share each layer.
    recompute
        What is kept of the activations.
    """

    accelerators: int
    seq_len: int
    micro_batch: int = 1
    zero_stage: int = 3
    tensor_parallel: int = 1
    recompute: Recompute = "selective"

    def __post_init__(self) -> None:
        sizes = (self.accelerators, self.seq_len, self.micro_batch, self.tensor_parallel)
        if min(sizes) < 1 or self.zero_stage not in range(_MOST_SHARDED_STAGE + 1):
            raise BadSetting(
                "a layout has a size below one or an unknown ZeRO stage", mend="use sizes above 0, stage 0-3"
            )
        if self.accelerators % self.tensor_parallel:
            raise BadSetting(
                f"{self.accelerators} accelerators cannot be shared by groups of {self.tensor_parallel}",
                mend="use a tensor-parallel size that divides them",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Bytes on one accelerator, by what they hold."""

    weights_bytes: float
    gradients_bytes: float
    optimiser_bytes: float
    activations_bytes: float
    logits_bytes: float

    @property
    def total_gib(self) -> float:
        """All of them. [GiB]."""
        parts = (
            self.weights_bytes,
            self.gradients_bytes,
            self.optimiser_bytes,
            self.activations_bytes,
            self.logits_bytes,
        )
        return sum(parts) / GIB


def activation_bytes_per_layer(shape: ModelShape, layout: TrainingLayout) -> float:
    """Activations of one layer that are kept for the backward pass. [bytes].

    Notes
    -----
    With sequence s, micro-batch b, width h, heads a and t tensor-parallel ranks, [1]_ of the module, table 2:
    ``s b h (10 + 24/t + 5 a s / (h t))``; without what is inside attention (flash kernels, selective recomputation)
    ``s b h (10 + 24/t)``; with full recomputation ``2 s b h``.
    """
    tokens = layout.seq_len * layout.micro_batch * shape.hidden
    if layout.recompute == "full":
        return 2.0 * tokens
    shared = 24 / layout.tensor_parallel
    inside = 5 * shape.heads * layout.seq_len / shape.hidden / layout.tensor_parallel
    return tokens * (10 + shared + (inside if layout.recompute == "none" else 0))


def training_memory(shape: ModelShape, layout: TrainingLayout) -> MemoryUse:
    """Memory on one accelerator under mixed-precision Adam.

    Notes
    -----
    Left out: buffers of communication, and what frameworks allocate beside (see `USABLE_SHARE`).
    """
    tensor = layout.tensor_parallel
    ranks = layout.accelerators // tensor
    params = shape.params / tensor
    gathered = _LAYERS_GATHERED * (_WEIGHT + _GRADIENT) * params / shape.layers if layout.zero_stage == 3 else 0.0
    working = replace(layout, recompute="selective")
    kept = activation_bytes_per_layer(shape, layout) * shape.layers
    if layout.recompute == "full":
        kept += activation_bytes_per_layer(shape, working)
    return MemoryUse(
        weights_bytes=_WEIGHT * params / (ranks if layout.zero_stage >= 3 else 1) + gathered,
        gradients_bytes=_GRADIENT * params / (ranks if layout.zero_stage >= 2 else 1),
        optimiser_bytes=_OPTIMISER * params / (ranks if layout.zero_stage >= 1 else 1),
        activations_bytes=kept,
        logits_bytes=_LOGIT * layout.seq_len * layout.micro_batch * shape.vocabulary / tensor,
    )


def fits(shape: ModelShape, layout: TrainingLayout, memory_gib: float) -> bool:
    """Whether a layout fits into accelerators of that memory."""
    return training_memory(shape, layout).total_gib <= USABLE_SHARE * memory_gib


def largest_micro_batch(shape: ModelShape, layout: TrainingLayout, memory_gib: float, *, most: int = 64) -> int:
    """Largest micro-batch, up to `most` and a power of two, that fits; 0 when not even one sequence does."""
    best, size = 0, 1
    while size <= most and fits(shape, replace(layout, micro_batch=size), memory_gib):
        best, size = size, size * 2
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Mend:
    """A change that makes a job fit, in words and as a layout."""

    words: str
    layout: TrainingLayout


def mends(shape: ModelShape, layout: TrainingLayout, memory_gib: float) -> list[Mend]:
    """Changes that make a layout fit, each of one thing, nearest first; then of two at once."""
    alone = [mend for mend in _changes(layout) if fits(shape, mend.layout, memory_gib)]
    if alone:
        return alone
    pairs = (
        Mend(words=f"{first.words} and {second.words}", layout=second.layout)
        for first in _changes(layout)
        for second in _changes(first.layout)
    )
    return [mend for mend in pairs if fits(shape, mend.layout, memory_gib)][:3]


def _changes(layout: TrainingLayout) -> Iterator[Mend]:
    """Layouts that differ in one thing and need less memory, the least change first."""
    size = layout.micro_batch
    while size > 1:
        size //= 2
        yield Mend(words=f"a micro-batch of {size}", layout=replace(layout, micro_batch=size))
    order: tuple[Recompute, ...] = ("none", "selective", "full")
    for kind in order[order.index(layout.recompute) + 1 :]:
        yield Mend(words=f"{kind} recomputation of activations", layout=replace(layout, recompute=kind))
    for stage in range(layout.zero_stage + 1, _MOST_SHARDED_STAGE + 1):
        yield Mend(words=f"ZeRO stage {stage}", layout=replace(layout, zero_stage=stage))
    for times in (2, 4, 8):
        more = layout.accelerators * times
        yield Mend(words=f"{more} accelerators", layout=replace(layout, accelerators=more))
    for size in (2, 4, 8):
        if size > layout.tensor_parallel and layout.accelerators % size == 0:
            yield Mend(words=f"tensor parallelism over {size}", layout=replace(layout, tensor_parallel=size))
