"""Small grids and traces that tests of the simulator share."""

from __future__ import annotations

import numpy as np

from unitcost.machine.steps import Constants, Served, StepGrid
from unitcost.serving.traces import Trace

SERVED = Served(model="m", gpu="g", precision="bf16", backend="vllm")


def grid(*, kv_tokens: int = 100_000, max_batch: int = 32, constants: Constants | None = None) -> StepGrid:
    """Step times of a made-up engine: curved in tokens, batch and context."""
    tokens = np.array([1.0, 8, 64, 512, 2048, 8192])
    chunk, past = np.array([1.0, 64, 512, 2048, 8192]), np.array([0.0, 512, 4096, 32768])
    batch, context = np.array([1.0, 8, 32, 128]), np.array([1.0, 100, 300, 700, 1500, 4000, 32768])
    attention = 2e-8 * batch[:, None] ** 0.9 * context[None, :] ** 1.05
    return StepGrid(
        tokens_axis=tokens, shared_s=0.006 + 1.2e-5 * tokens**1.01, chunk_axis=chunk, past_axis=past,
        chunk_attention_s=6e-10 * chunk[:, None] * (past[None, :] + chunk[:, None] / 2), batch_axis=batch,
        context_axis=context, decode_attention_s=attention, decode_step_s=0.005 + 2e-5 * batch[:, None] + attention,
        constants=constants or Constants(), kv_tokens_per_replica=kv_tokens, max_batch=max_batch, served=SERVED,
        origin="roofline", source="made up", version="1",
    )  # fmt: skip


def flat(step_s: float, *, max_batch: int = 1, kv_tokens: int = 10**9) -> StepGrid:
    """An engine whose every step takes the same time, whatever is in it."""
    one, two = np.array([1.0]), np.array([0.0])
    return StepGrid(
        tokens_axis=one, shared_s=np.array([step_s]), chunk_axis=one, past_axis=two, chunk_attention_s=np.zeros((1, 1)),
        batch_axis=one, context_axis=one, decode_attention_s=np.zeros((1, 1)), decode_step_s=np.full((1, 1), step_s),
        kv_tokens_per_replica=kv_tokens, max_batch=max_batch, served=SERVED, origin="roofline", source="made up",
        version="1",
    )  # fmt: skip


def trace(
    requests: int,
    *,
    rate: float,
    seed: int = 0,
    inputs: int = 400,
    outputs: int = 80,
    families: int = 0,
    block: int = 16,
) -> Trace:
    """Poisson arrivals with uniform lengths; with `families`, prompts of one family share a prefix of random length."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.exponential(1 / rate, requests))
    input_tokens, output_tokens = rng.integers(1, inputs, requests), rng.integers(1, outputs, requests)
    if not families:
        return Trace(
            arrival_s=at, input_tokens=input_tokens, output_tokens=output_tokens, duration_s=float(at[-1]), name="made"
        )
    rows, fresh = [], 10**6
    for tokens, family in zip(input_tokens, rng.integers(0, families, requests), strict=True):
        blocks = -(-int(tokens) // block)
        shared = min(int(rng.integers(0, blocks + 1)), 1000)
        rows.append([family * 1000 + i for i in range(shared)] + list(range(fresh, fresh + blocks - shared)))
        fresh += blocks
    return Trace(
        arrival_s=at, input_tokens=input_tokens, output_tokens=output_tokens, duration_s=float(at[-1]), name="made",
        hashes=np.array([h for row in rows for h in row]), hash_from=np.cumsum([0, *map(len, rows)]), hash_tokens=block,
    )  # fmt: skip
