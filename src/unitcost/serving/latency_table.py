"""Models that answer in one step: classifiers, embedders, rankers. Latency by batch size, in the same simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unitcost.errors import BadSetting
from unitcost.machine.steps import Served, StepGrid
from unitcost.serving.fleet import Engine
from unitcost.serving.traces import Floats, Trace


def grid_of_latencies(latency_s: Mapping[int, float], *, served: Served, source: str, version: str = "") -> StepGrid:
    """Step times of a model that answers a batch in one step.

    Parameters
    ----------
    latency_s
        Time of one batch by its size, as measured; between sizes linear, below the smallest constant. [s]

    Notes
    -----
    A request is one token in and one token out, so the table over tokens is the table over batch sizes. Nothing is kept
    between requests, so memory does not limit the batch.
    """
    sizes = sorted(latency_s)
    if not sizes or sizes[0] < 1 or not all(0 < latency_s[size] < float("inf") for size in sizes):
        raise BadSetting("latencies by batch size need sizes from 1 and times above zero", mend="measure again")
    one, nothing = np.ones(1), np.zeros((1, 1))
    return StepGrid(
        tokens_axis=np.array(sizes, np.float64), shared_s=np.array([latency_s[size] for size in sizes]), chunk_axis=one,
        past_axis=np.zeros(1), chunk_attention_s=nothing, batch_axis=one, context_axis=one, decode_attention_s=nothing,
        decode_step_s=nothing, kv_tokens_per_replica=4 * sizes[-1], max_batch=sizes[-1], served=served,
        origin="calibration", source=source, version=version,
    )  # fmt: skip


def dynamic_batching(max_batch: int, *, max_delay_s: float = 0.0) -> Engine:
    """Engine that takes up to `max_batch` waiting requests together, and waits up to `max_delay_s` for more. [s]."""
    return Engine(
        scheduler="static", max_batch=max_batch, max_delay_s=max_delay_s, block_tokens=1, prefix_caching=False
    )


def predictions(arrival_s: Floats | Sequence[float], *, duration_s: float, name: str = "predictions") -> Trace:
    """Trace of requests that each are one prediction."""
    at = np.asarray(arrival_s, np.float64)
    ones = np.ones(len(at), np.int64)
    return Trace(arrival_s=at, input_tokens=ones, output_tokens=ones, duration_s=duration_s, name=name)
