"""The simulator: requests, iterations and replicas through time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.serving.arrays import Arrays, build
from unitcost.serving.fleet import Fleet
from unitcost.serving.traces import Floats, Ints, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened, by request and by replica, in the order of the trace.

    Parameters
    ----------
    arrival_s, scheduled_s, first_s, last_s
        When a request came, was first taken up, had its first and its last token; NaN when that did not happen. [s]
    status
        `UNSERVED`, `DONE`, `REJECTED`, `TIMED_OUT` of the kernel's layout.
    cached_tokens
        Tokens of the prompt that were found in the prefix cache.
    gaps
        Gaps between tokens, counted in bins that begin at `gap_edges_s`.
    intervals
        Rows of (start, end, replica, state, category): all time that a replica was not off.
    replicas
        Counters by place.
    end_s
        When the last request was answered or the trace ended, whichever is later. [s]
    """

    trace: Trace
    scheduled_s: Floats
    first_s: Floats
    last_s: Floats
    status: NDArray[np.int32]
    cached_tokens: NDArray[np.int32]
    generated_tokens: NDArray[np.int32]
    preemptions: NDArray[np.int32]
    kills: NDArray[np.int32]
    replica: NDArray[np.int32]
    gaps: Ints
    gap_edges_s: Floats
    intervals: NDArray[np.void]
    replicas: NDArray[np.void]
    end_s: float


def run(trace: Trace, fleet: Fleet, *, fast_forward: bool = True, on_compile: Callable[[], None] = lambda: None) -> Run:
    """Play a trace against a fleet.

    Parameters
    ----------
    fast_forward
        Whether stretches of pure decode are taken at once; off only to check that it changes nothing.
    on_compile
        Called when machine code has to be made first, which takes about half a minute, before that begins. It is kept for
        later processes.

    Raises
    ------
    BadSetting
        When numba is not installed, or the trace and the fleet do not go together.
    """
    play, announcing = _machine_code()
    rows = 4096
    while True:
        arrays = build(trace, fleet, fast_forward=fast_forward, interval_rows=rows)
        with announcing(on_compile):
            play(arrays.state)
        written = int(arrays.state["written"][0])
        if written <= rows:
            return _collect(trace, arrays, written)
        rows = written


@cache
def _machine_code() -> tuple[Any, Any]:
    from unitcost.serving.kernel.compiled import announcing
    from unitcost.serving.kernel.loop import compiled_run

    return compiled_run(), announcing


def _collect(trace: Trace, arrays: Arrays, intervals: int) -> Run:
    back = np.empty_like(arrays.order)
    back[arrays.order] = np.arange(len(back))

    def column(name: str) -> NDArray[Any]:
        return np.ascontiguousarray(arrays.requests[name])[back]

    return Run(
        trace=trace, scheduled_s=column("scheduled"), first_s=column("first"), last_s=column("last"),
        status=column("status"), cached_tokens=column("cached"), generated_tokens=column("generated"),
        preemptions=column("preemptions"), kills=column("kills"), replica=column("replica"), gaps=arrays.gaps["count"][:-2].copy(),
        gap_edges_s=arrays.gaps["edge"][:-1].copy(), intervals=arrays.intervals[:intervals], replicas=arrays.replicas,
        end_s=float(arrays.state["end"][0]),
    )  # fmt: skip
