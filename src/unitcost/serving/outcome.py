"""What a run comes to: latencies, goodput, how full the replicas were, and the intervals that are paid for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from unitcost.serving.arrays import CATEGORIES, STATES
from unitcost.serving.fleet import Category, Fleet, State, Targets
from unitcost.serving.kernel import layout
from unitcost.serving.simulate import Run, run
from unitcost.serving.spot import draw_losses
from unitcost.serving.traces import Floats, Trace

PERCENTILES = (50, 90, 95, 99)
#: Latencies of an outcome, and what they are.
LATENCIES = {
    "ttft_s": "time to first token: from arrival to the end of the step that completes the prompt",
    "tpot_s": "time per output token after the first: (end to end - TTFT) / (output tokens - 1), as vLLM and AIPerf define it",
    "tpot_with_first_s": "end to end / output tokens, the first with its wait included, as LLMPerf defines it",
    "itl_s": "gaps between tokens of one request, each gap counted once",
    "e2e_s": "from arrival to the last token",
    "queue_s": "from arrival to the first step that works on the request",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Distribution of one latency over the answered requests. [s]."""

    mean: float
    p50: float
    p90: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Time that one replica spent in one state.

    Parameters
    ----------
    start_s, end_s
        Since the beginning of the trace. [s]
    replica
        Place in the fleet, from 0.
    """

    start_s: float
    end_s: float
    replica: int
    state: State
    category: Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Summary of a run.

    Parameters
    ----------
    latencies
        By the names of `LATENCIES`; a latency that no request has is absent.
    requests, answered, rejected, timed_out, unserved
        Counts of requests: all; answered; too long for the KV cache; given up by the gateway; never taken up.
    good_share, good_per_s
        Requests that were answered within all targets: share of all requests, and per second.
    input_tokens, output_tokens, cached_tokens
        Of the answered requests; cached ones are part of the input.
    busy_s, batch_mean
        Time in steps by place, [s], and mean number of sequences in a step.
    kv_peak_share
        Most of the KV cache that was in use or kept at once on any replica.
    lost
        Times that a request was thrown back by lost capacity.
    """

    latencies: Mapping[str, Latency]
    requests: int
    answered: int
    rejected: int
    timed_out: int
    unserved: int
    good_share: float
    good_per_s: float
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    busy_s: tuple[float, ...]
    batch_mean: float
    kv_peak_share: float
    iterations: int
    preemptions: int
    evictions: int
    lost: int
    intervals: tuple[Interval, ...]
    end_s: float

    @property
    def busy_share(self) -> float:
        """Time in steps over the time that replicas were ready or draining."""
        open_s = sum(i.end_s - i.start_s for i in self.intervals if i.state in ("ready", "draining"))
        return sum(self.busy_s) / open_s if open_s else 0.0


def simulate(
    trace: Trace, fleet: Fleet, targets: Targets, *, seed: int = 0, on_compile: Callable[[], None] = lambda: None
) -> Outcome:
    """Play a trace against a fleet and sum up what happened.

    Parameters
    ----------
    seed
        Of the losses of spot capacity, where the fleet gives a rate of them; all else is determined by the input.
    on_compile
        See `run`.
    """
    drawn = draw_losses(fleet, until_s=trace.duration_s, seed=seed)
    return summarise(run(trace, drawn, on_compile=on_compile), drawn, targets)


def summarise(found: Run, fleet: Fleet, targets: Targets) -> Outcome:
    """Summary of a run."""
    done = found.status == layout.DONE
    times = request_times(found)
    good = done & _kept(times, targets)
    replicas, busy = found.replicas, found.replicas["busy_s"]
    blocks = fleet.grid.kv_tokens_per_replica // fleet.engine.block_tokens
    latencies = {name: _latency(values[done]) for name, values in times.items() if np.isfinite(values[done]).any()}
    if found.gaps.any():
        latencies["itl_s"] = _gap_latency(found)
    counts = np.bincount(found.status, minlength=4)
    return Outcome(
        latencies=latencies, requests=len(done), answered=int(counts[layout.DONE]),
        rejected=int(counts[layout.REJECTED]), timed_out=int(counts[layout.TIMED_OUT]),
        unserved=int(counts[layout.UNSERVED]), good_share=float(good.mean()),
        good_per_s=float(good.sum() / found.end_s) if found.end_s else 0.0,
        input_tokens=int(found.trace.input_tokens[done].sum()), output_tokens=int(found.trace.output_tokens[done].sum()),
        cached_tokens=int(found.cached_tokens[done].sum()), busy_s=tuple(float(s) for s in busy),
        batch_mean=float(replicas["batch_s"].sum() / busy.sum()) if busy.any() else 0.0,
        kv_peak_share=float(1 - replicas["least_free"].min() / blocks) if blocks else 0.0,
        iterations=int(replicas["iterations"].sum()), preemptions=int(replicas["preemptions"].sum()),
        evictions=int(replicas["evictions"].sum()), lost=int(found.kills.sum()), intervals=_intervals(found),
        end_s=found.end_s,
    )  # fmt: skip


def request_times(found: Run) -> dict[str, Floats]:
    """Latencies by request, in the order of the trace; NaN where a request has none. [s]."""
    at, tokens = found.trace.arrival_s, found.trace.output_tokens
    e2e = found.last_s - at
    after_first = np.full(len(at), np.nan)
    several = tokens > 1
    after_first[several] = (found.last_s - found.first_s)[several] / (tokens[several] - 1)
    return {
        "ttft_s": found.first_s - at, "tpot_s": after_first, "tpot_with_first_s": e2e / tokens, "e2e_s": e2e,
        "queue_s": found.scheduled_s - at,
    }  # fmt: skip


def _kept(times: Mapping[str, Floats], targets: Targets) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a request keeps all targets; what it has no time of, it keeps."""
    kept = np.ones(len(times["e2e_s"]), np.bool_)
    limits = {"ttft_s": targets.ttft_s, "tpot_s": targets.tpot_s, "e2e_s": targets.e2e_s}
    for name, limit in limits.items():
        if limit is not None:
            kept &= ~(times[name] > limit)
    return kept


def _latency(values: Floats) -> Latency:
    known = values[np.isfinite(values)]
    p50, p90, p95, p99 = (float(v) for v in np.percentile(known, PERCENTILES))
    return Latency(mean=float(known.mean()), p50=p50, p90=p90, p95=p95, p99=p99)


def _gap_latency(found: Run) -> Latency:
    """Distribution of the gaps from their bins, each taken at its middle; bins are 1 % wide."""
    middle = np.sqrt(np.maximum(found.gap_edges_s[:-1], layout.GAP_FIRST_S) * found.gap_edges_s[1:])
    reached = np.cumsum(found.gaps)
    p50, p90, p95, p99 = (float(middle[np.searchsorted(reached, reached[-1] * p / 100)]) for p in PERCENTILES)
    return Latency(mean=float((middle * found.gaps).sum() / reached[-1]), p50=p50, p90=p90, p95=p95, p99=p99)


def _intervals(found: Run) -> tuple[Interval, ...]:
    rows = sorted(found.intervals.tolist(), key=lambda row: (row[2], row[0]))
    return tuple(
        Interval(start_s=start, end_s=end, replica=replica, state=STATES[state], category=CATEGORIES[category])
        for start, end, replica, state, category in rows
    )
