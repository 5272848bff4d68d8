"""Step times from aiconfigurator-core: measured kernels of many GPUs, put together for a model. Works offline.

Only its stable facade is used: `EngineHandle.compile`, `mixed_step_breakdown`, `decode_step_latency`, `estimate_kv_cache`.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from unitcost.errors import DoesNotFit, NotMeasured
from unitcost.machine.plausible import USUAL_BATCH, USUAL_CONTEXT, mended, slower_alone, slower_than_plain
from unitcost.machine.steps import Array, Served, StepGrid
from unitcost.measure.labels import Modes, known_model, modes_of, system_of
from unitcost.units import MILLISECONDS_PER_SECOND

PACKAGE = "aiconfigurator-core"
_TOKENS = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
    96,
    128,
    192,
    256,
    384,
    512,
    768,
    1024,
    1536,
    2048,
    3072,
    4096,
    6144,
    8192,
    16384,
    32768,
)
_CHUNKS = (1, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_PASTS = (0, 512, 1024, 2048, 4096, 8192, 16384, 32768)
_BATCHES = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1024)
_CONTEXTS = (16, 128, 512, 1024, 2048, 4096, 8192, 12288, 16384, 32768)
_STEP_TOKENS, _MAX_BATCH = 8192, 1024
#: Share of memory that an engine takes by default, and of what.
_MEMORY: dict[str, tuple[str, float]] = {
    "vllm": ("of_total", 0.90), "sglang": ("of_total", 0.88), "trtllm": ("of_free", 0.90),
}  # fmt: skip
_NO_ROOM = "no KV budget"


def installed() -> bool:
    """Whether the optional package is there."""
    try:
        version(PACKAGE)
    except PackageNotFoundError:
        return False
    return True


def measured_grid(served: Served, first: tuple[Modes, ...] = (), *, kv_tokens: int | None = None) -> StepGrid:
    """Step times of one replica, put together from measured kernels.

    Parameters
    ----------
    first
        Modes to try before those that the precision suggests.
    kv_tokens
        Tokens that the KV cache holds, where that is known; else they are estimated.

    Raises
    ------
    NotMeasured
        When the package is not installed, or knows no such combination.
    DoesNotFit
        When weights leave no room for a KV cache.
    """
    if not installed():
        raise NotMeasured(f"{PACKAGE} is not installed", mend="pip install 'unitcost[llm]', on Python below 3.14")
    model = known_model(served.model)
    grids, refusals = [], []
    plain_s = _plain_s(model, served)
    for modes in dict.fromkeys((*first, *modes_of(model, served.precision, backend=served.backend, gpu=served.gpu))):
        try:
            told = _grid(model, served, modes, kv_tokens)
        except NotMeasured as refusal:
            refusals.append(refusal.what)
            continue
        grid = mended(told)
        doubt = slower_than_plain(grid, plain_s) or slower_alone(told)
        if not doubt:
            return grid
        grids.append(replace(grid, flags=(*grid.flags, doubt)))
    if not grids:
        where = f"{served.model} in {served.precision} on {served.gpus} x {served.gpu} with {served.backend}"
        raise NotMeasured(refusals[0], where=where, mend="choose another precision, GPU or backend, or calibrate")
    return min(grids, key=lambda grid: float(grid.decode_step_s.mean()))


@cache
def _plain_s(model: str, served: Served) -> float | None:
    """Time of a usual decode step of the same in bf16, whether that fits or not; None where it is not measured."""
    if served.precision == "bf16":
        return None
    with _counting():
        try:
            handle = _compile(model, served, _options(served, ("bfloat16", "bfloat16")))
            batch = math.ceil(USUAL_BATCH / served.attention_data_parallel)
            return float(handle.decode_step_latency(batch, USUAL_CONTEXT, 2)) / MILLISECONDS_PER_SECOND
        except (ValueError, KeyError, RuntimeError, NotImplementedError):
            return None


@cache
def _grid(model: str, served: Served, modes: Modes, kv_tokens: int | None) -> StepGrid:
    with _counting() as warnings:
        options = _options(served, modes)
        try:
            handle = _compile(model, served, options)
            tables = _tables(handle, served.attention_data_parallel)
        except (ValueError, KeyError, RuntimeError, NotImplementedError) as error:
            raise NotMeasured(_first_line(error)) from error
        held = kv_tokens or _kv_tokens(model, served, options)
    flags = (f"{len(warnings)} warnings of {PACKAGE} about data taken from elsewhere",) if warnings else ()
    return StepGrid(
        **tables, kv_tokens_per_replica=held, max_batch=_MAX_BATCH, served=served, origin="aiconfigurator",
        source=f"{PACKAGE}, {served.backend} current, gemm {modes[0] or 'own'}, experts {modes[1] or 'own'}",
        version=version(PACKAGE), flags=flags,
    )  # fmt: skip


def _options(served: Served, modes: Modes) -> dict[str, Any]:
    return {
        "tp_size": served.tensor_parallel,
        "attention_dp_size": served.attention_data_parallel,
        "moe_tp_size": served.gpus // served.expert_parallel,
        "moe_ep_size": served.expert_parallel,
        "gemm_quant_mode": modes[0],
        "moe_quant_mode": modes[1],
    }


def _compile(model: str, served: Served, options: dict[str, Any]) -> Any:
    from aiconfigurator_core.sdk import EngineHandle

    return EngineHandle.compile(
        model, system_of(served.gpu), served.backend, backend_version="current", **options
    )  # fmt: skip


def _kv_tokens(model: str, served: Served, options: dict[str, Any]) -> int:
    from aiconfigurator_core.sdk import estimate_kv_cache

    kind, share = _MEMORY[served.backend]
    try:
        found = estimate_kv_cache(
            model, system_of(served.gpu), served.backend, "current", max_num_tokens=_STEP_TOKENS, max_batch_size=256,
            memory_fraction_kind=kind, memory_fraction_value=share, **options,
        )  # fmt: skip
    except ValueError as error:
        if _NO_ROOM not in str(error):
            raise NotMeasured(_first_line(error)) from error
        raise DoesNotFit(
            f"{served.model} in {served.precision} leaves no room for a KV cache on {served.gpus} x {served.gpu}",
            mend="share it among more GPUs, or use fewer bits",
        ) from error
    return int(found["total_kv_size_tokens"]) * served.attention_data_parallel


def _tables(handle: Any, groups: int) -> dict[str, Any]:
    """All tables of a grid. Work is dealt out evenly to the groups of attention data parallelism."""

    def of_group(work: int) -> int:
        return max(1, math.ceil(work / groups))

    shared = [handle.mixed_step_breakdown(of_group(n), 0, of_group(n), 2, 0)[1] for n in _TOKENS]
    chunk = [[_chunk(handle, of_group(size), past) for past in _PASTS] for size in _CHUNKS]
    beside = [[handle.mixed_step_breakdown(1, of_group(n), at, 2, 0)[3] for at in _CONTEXTS] for n in _BATCHES]
    decode = [[handle.decode_step_latency(of_group(n), at, 2) for at in _CONTEXTS] for n in _BATCHES]
    tables = {
        "tokens_axis": _axis(_TOKENS), "shared_s": _seconds(shared), "chunk_axis": _axis(_CHUNKS),
        "past_axis": _axis(_PASTS), "chunk_attention_s": _seconds(chunk), "batch_axis": _axis(_BATCHES),
        "context_axis": _axis(_CONTEXTS), "decode_attention_s": _seconds(beside), "decode_step_s": _seconds(decode),
    }  # fmt: skip
    return tables if tables["chunk_attention_s"].any() else _apart(tables)


def _chunk(handle: Any, size: int, past: int) -> float:
    """Attention of a chunk; the package spreads that of a whole prompt over its chunks, which is undone. [ms]."""
    return float(handle.mixed_step_breakdown(size, 0, size + past, 2, past)[2] * math.ceil((size + past) / size))


def _apart(tables: dict[str, Any]) -> dict[str, Any]:
    """Attention taken out of the shared part, for models (MLA) whose attention the package counts there.

    Notes
    -----
    Attention of n tokens among themselves grows with n squared: ``k n^2 / 2``, with k from the curvature of the shared
    part between 8k and 32k tokens. A chunk of c tokens after p then takes ``k (c^2 / 2 + c p)``. Decode attention is what
    a decode step takes beyond that with the shortest context.
    """
    tokens, shared_s = tables["tokens_axis"], tables["shared_s"]
    (n1, n2, n3), (s1, s2, s3) = tokens[-3:], shared_s[-3:]
    bend = max(0.0, 2 * ((s3 - s2) / (n3 - n2) - (s2 - s1) / (n2 - n1)) / (n3 - n1))
    chunk, past = tables["chunk_axis"][:, None], tables["past_axis"][None, :]
    decode_s = tables["decode_step_s"]
    return tables | {
        "shared_s": np.maximum(shared_s - bend * tokens**2 / 2, 0.0),
        "chunk_attention_s": bend * (chunk**2 / 2 + chunk * past),
        "decode_attention_s": np.maximum(decode_s - decode_s[:, :1], 0.0),
    }


def _axis(points: tuple[int, ...]) -> Array:
    return np.array(points, dtype=np.float64)


def _seconds(milliseconds: Any) -> Array:
    return np.array(milliseconds, dtype=np.float64) / MILLISECONDS_PER_SECOND


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


@contextlib.contextmanager
def _counting() -> Iterator[list[str]]:
    """Keep the package's log from the screen, and count its warnings."""
    said: list[str] = []

    class _Count(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger = logging.getLogger("aiconfigurator_core")
    handler, passed_on = _Count(level=logging.WARNING), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield said
    finally:
        logger.removeHandler(handler)
        logger.propagate = passed_on
