"""Step times from the limits of a GPU alone, for those whose kernels nobody has measured. An estimate, and labelled so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unitcost.errors import DoesNotFit, UnknownName
from unitcost.machine.accelerators import Chip, Precision, chip
from unitcost.machine.decoder import DecoderShape
from unitcost.machine.steps import Served, StepGrid
from unitcost.units import GB, GIB

#: Shares of the limits that good kernels reach.
_REACHED_BANDWIDTH, _REACHED_FLOP = 0.80, 0.60
#: Start of the kernels of a layer, when replayed from a graph, and of one message between GPUs. [s]
_LAYER_S, _MESSAGE_S = 20e-6, 10e-6
#: Share of memory that an engine takes, and what it holds beside weights and cache. [bytes]
_TAKEN_SHARE, _BESIDE_BYTES = 0.90, 2.5 * GB
_ACTIVATION_BYTES = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A GPU's limits, as its vendor states them.

    Parameters
    ----------
    chip
        Dense operations and memory.
    gb_per_s
        Memory bandwidth. [GB / s]
    link_gb_per_s
        Link to its neighbours, in one direction: PCIe where there is no other. [GB / s]
    """

    chip: Chip
    gb_per_s: float
    link_gb_per_s: float = 32.0

    @property
    def name(self) -> str:
        """As the price book names it."""
        return self.chip.name

    @property
    def memory_gib(self) -> float:
        """Memory of the device. [GiB]."""
        return self.chip.memory_gib

    def peak_flop_per_s(self, *, eight_bit: bool) -> float:
        """Dense peak in half precision, or in eight bits where the chip has them. [FLOP / s]."""
        wanted: tuple[Precision, ...] = ("fp8", "bf16", "fp16") if eight_bit else ("bf16", "fp16")
        return self.chip.peak_flop_per_s(next(one for one in wanted if one in self.chip.dense_tflop_per_s))


#: Cards of other form than those that training is measured on.
_A100_PCIE = replace(chip("A100-80GB"), name="A100-80GB-PCIe")
_H100_PCIE = Chip(name="H100-80GB-PCIe", family="H100", memory_gib=80, dense_tflop_per_s={"bf16": 756, "fp8": 1513})
#: Data sheets.
BOARDS: tuple[Board, ...] = (
    Board(chip=chip("T4"), gb_per_s=320, link_gb_per_s=16),
    Board(chip=chip("L4"), gb_per_s=300),
    Board(chip=chip("A10"), gb_per_s=600),
    Board(chip=chip("A10G"), gb_per_s=600),
    Board(chip=chip("A30"), gb_per_s=933),
    Board(chip=chip("A40"), gb_per_s=696),
    Board(chip=chip("L40"), gb_per_s=864),
    Board(chip=chip("V100-16GB"), gb_per_s=900, link_gb_per_s=150),
    Board(chip=chip("V100-32GB"), gb_per_s=900, link_gb_per_s=150),
    Board(chip=chip("A100-40GB"), gb_per_s=1555, link_gb_per_s=300),
    Board(chip=_A100_PCIE, gb_per_s=1935),
    Board(chip=_H100_PCIE, gb_per_s=2000, link_gb_per_s=64),
    Board(chip=chip("RTX4090"), gb_per_s=1008),
)
#: Said of step times that nobody measured, until a calibration was fitted to them.
UNCALIBRATED = "an estimate from data sheets: calibrate before you decide"
_TOKENS = np.array([1, 8, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384], dtype=np.float64)
_PAST = np.array([0, 1024, 4096, 16384, 32768], dtype=np.float64)
_BATCH = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512], dtype=np.float64)
_CONTEXT = np.array([16, 512, 2048, 8192, 32768], dtype=np.float64)


def board(name: str) -> Board:
    """Limits of a GPU.

    Raises
    ------
    UnknownName
        When none are known; the message names the near ones.
    """
    by_name = {one.name.casefold(): one for one in BOARDS}
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    if folded not in by_name:
        raise UnknownName("GPU with known limits", name, [one.name for one in BOARDS])
    return by_name[folded]


def kv_tokens(shape: DecoderShape, served: Served, memory_gib: float) -> int:
    """Tokens for which a replica has room in its KV cache, after the weights; below one when there is none.

    Notes
    -----
    Nine tenths of the memory, less the weights and 2.5 GB for activations and runtime on each GPU.
    """
    taken_bytes = served.gpus * (_TAKEN_SHARE * memory_gib * GIB - _BESIDE_BYTES)
    return int((taken_bytes - shape.weights_bytes(served.precision)) / shape.kv_bytes_per_token())


def smallest_gpus(shape: DecoderShape, served: Served, memory_gib: float, *, least_tokens: int) -> int | None:
    """Least power of two of GPUs, up to 16, on which the model and so many tokens fit; None when none does."""
    for size in (1, 2, 4, 8, 16):
        taken_bytes = size * (_TAKEN_SHARE * memory_gib * GIB - _BESIDE_BYTES)
        if taken_bytes - shape.weights_bytes(served.precision) >= least_tokens * shape.kv_bytes_per_token():
            return size
    return None


def need_room(shape: DecoderShape, served: Served, memory_gib: float, *, least_tokens: int) -> int:
    """Tokens for which the KV cache has room, at least as many as one request needs.

    Raises
    ------
    DoesNotFit
        With the smallest change that fits: fewer bits on the same GPUs, else more GPUs.
    """
    room = kv_tokens(shape, served, memory_gib)
    if room >= least_tokens:
        return room
    mends = []
    for precision in ("fp8", "int4"):
        taken_bytes = served.gpus * (_TAKEN_SHARE * memory_gib * GIB - _BESIDE_BYTES)
        less_bytes = shape.weights_bytes(precision)
        fits = taken_bytes - less_bytes >= least_tokens * shape.kv_bytes_per_token()
        if fits and less_bytes < shape.weights_bytes(served.precision):
            mends.append(f"{precision} weights on the same GPUs (check the quality)")
            break
    more = smallest_gpus(shape, served, memory_gib, least_tokens=least_tokens)
    if more is not None and more > served.gpus:
        mends.append(f"{more} GPUs in one replica")
    weights_gib = shape.weights_bytes(served.precision) / GIB
    context = f"with a context of {least_tokens:,} tokens" if least_tokens > 1 else "with no context at all"
    raise DoesNotFit(
        f"{shape.name} in {served.precision} takes {weights_gib:.1f} GiB of weights and does not fit, {context}, "
        f"on {served.gpus} x {served.gpu} ({memory_gib:g} GiB each)",
        mend=" or ".join(mends) or "a GPU with more memory, or a smaller model",
    )


def roofline_grid(shape: DecoderShape, served: Served, limits: Board) -> StepGrid:
    """Step times from bytes moved and operations done.

    Notes
    -----
    Each part takes the longer of its bytes at 80 % of the bandwidth and its operations at 60 % of the peak; a layer takes
    20 us to start; two sums across GPUs a layer cost 10 us each and their bytes on the link. A part of the experts is read
    that grows with the tokens: ``1 - (1 - k / E)^n``. Left out: overlap, and what differs between engines.
    """
    room = need_room(shape, served, limits.memory_gib, least_tokens=int(_CONTEXT[1]))
    speed = _Speed(shape, served, limits)
    decode = np.array([[speed.decode_attention_s(b, x) for x in _CONTEXT] for b in _BATCH])
    return StepGrid(
        tokens_axis=_TOKENS, shared_s=np.array([speed.shared_s(n) for n in _TOKENS]), chunk_axis=_TOKENS, past_axis=_PAST,
        chunk_attention_s=np.array([[speed.chunk_s(c, p) for p in _PAST] for c in _TOKENS]),
        batch_axis=_BATCH, context_axis=_CONTEXT, decode_attention_s=decode,
        decode_step_s=decode + np.array([speed.shared_s(b) for b in _BATCH])[:, None],
        kv_tokens_per_replica=room, max_batch=int(_BATCH[-1]), served=served, origin="roofline", version="1",
        source="roofline: 80 % of bandwidth, 60 % of dense peak; nobody measured this GPU",
        flags=(UNCALIBRATED,),
    )  # fmt: skip


class _Speed:
    """Limits of a replica applied to the parts of a step."""

    def __init__(self, shape: DecoderShape, served: Served, limits: Board) -> None:
        self.shape, self.served, self.limits = shape, served, limits
        peak_flop_per_s = limits.peak_flop_per_s(eight_bit=served.precision in ("fp8", "int8"))
        self.flop_per_s = _REACHED_FLOP * peak_flop_per_s * served.gpus
        self.bytes_per_s = _REACHED_BANDWIDTH * limits.gb_per_s * GB * served.gpus

    def _longer_s(self, moved_bytes: float, flop: float) -> float:
        return max(moved_bytes / self.bytes_per_s, flop / self.flop_per_s)

    def shared_s(self, tokens: float) -> float:
        shape = self.shape
        read_share = 1 - (1 - shape.experts_per_token / shape.experts) ** tokens if shape.experts else 1.0
        weights_bytes = shape.weights_bytes(self.served.precision) * read_share
        kernels_s = self._longer_s(weights_bytes, 2 * shape.params_per_token * tokens)
        return kernels_s + shape.layers * _LAYER_S + self._between_gpus_s(tokens)

    def _between_gpus_s(self, tokens: float) -> float:
        size = self.served.tensor_parallel
        if size == 1:
            return 0.0
        sent_bytes = 2 * (size - 1) / size * tokens * self.shape.hidden * _ACTIVATION_BYTES
        return 2 * self.shape.layers * (_MESSAGE_S + sent_bytes / (self.limits.link_gb_per_s * GB))

    def chunk_s(self, chunk: float, past: float) -> float:
        shape = self.shape
        pairs = chunk * past + chunk * chunk / 2
        flop = 4 * shape.layers * shape.heads * shape.head_size * pairs
        return self._longer_s(shape.kv_bytes_per_token() * (chunk + past), flop)

    def decode_attention_s(self, batch: float, context: float) -> float:
        shape = self.shape
        flop = 4 * shape.layers * shape.heads * shape.head_size * batch * context
        return self._longer_s(shape.kv_bytes_per_token() * batch * context, flop)
