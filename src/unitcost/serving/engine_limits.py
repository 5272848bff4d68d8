"""Limits of an engine as part of the search: tokens of a step, and sequences that run at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from unitcost.machine.steps import StepGrid
from unitcost.serving.fleet import Engine

#: Tokens of a step that are tried. Small steps keep the time per token short while prompts come in, large ones waste less.
STEP_TOKENS = (1024, 2048, 16384)
#: Most sequences at once that are tried, where a replica could hold more.
BATCHES = (32, 128)
#: What engines call these limits when they are started.
_FLAGS = {
    "vllm": ("--max-num-batched-tokens", "--max-num-seqs"),
    "sglang": ("--chunked-prefill-size", "--max-running-requests"),
    "trtllm": ("--max_num_tokens", "--max_batch_size"),
}


def variants(engine: Engine, grid: StepGrid) -> Iterator[tuple[str, Engine]]:
    """The engine with one limit changed.

    Yields
    ------
    str, Engine
        What is changed, in words. A limit that changes nothing is left out, and an engine with static batches has none.
    """
    if engine.scheduler == "static":
        return
    for tokens in STEP_TOKENS:
        if tokens != engine.max_step_tokens:
            yield f"steps of {tokens} tokens", replace(engine, max_step_tokens=tokens)
    most = min(engine.max_batch or grid.max_batch, grid.max_batch)
    for size in BATCHES:
        if size < most:
            yield f"at most {size} at once", replace(engine, max_batch=size)


def flags(backend: str, engine: Engine, *, default: Engine) -> str:
    """Command-line options of a backend for the limits that are not the default; empty where there are none.

    Notes
    -----
    Names as in the command lines of vLLM's `serve`, SGLang's `launch_server` and `trtllm-serve`.
    """
    names = _FLAGS.get(backend)
    if names is None:
        return ""
    values = (engine.max_step_tokens, engine.max_batch)
    usual = (default.max_step_tokens, default.max_batch)
    return " ".join(
        f"{name} {value}" for name, value, normal in zip(names, values, usual, strict=True) if value != normal
    )
