"""Step times from tables, and sums of them over a stretch of pure decode."""

from __future__ import annotations

import math
from typing import Any

from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import GAP_BIN_WIDTH, GAP_BINS, GAP_FIRST_S
from unitcost.serving.kernel.records import gap, piece, seconds


@kernel
def segment(sim: Any, mean: float) -> int:
    """Index of the piece of the context axis that `mean` is in."""
    s = 0
    while mean > seconds(sim.at_upper, s).s:
        s += 1
    return s


@kernel
def place(axis: int, count: int, at: float) -> tuple[int, float]:
    """Index of the point below, and how far on towards the next; more than 1 beyond the last point."""
    first = seconds(axis, 0).s
    if count == 1 or at <= first:
        return 0, 0.0
    low = 0
    while low < count - 2 and at >= seconds(axis, low + 1).s:
        low += 1
    first = seconds(axis, low).s
    return low, (at - first) / (seconds(axis, low + 1).s - first)


@kernel
def chunk_row(sim: Any, i: int, past: int) -> float:
    """Attention of a chunk of one of the sizes in the table. [s]."""
    j, share = place(sim.at_past_axis, sim.pasts, past)
    first = seconds(sim.at_chunk_s, i * sim.pasts + j).s
    return first + share * (seconds(sim.at_chunk_s, i * sim.pasts + min(j + 1, sim.pasts - 1)).s - first)


@kernel
def chunk_time(sim: Any, size: int, past: int) -> float:
    """Attention of one prefill chunk. [s]."""
    i, share = place(sim.at_chunk_axis, sim.chunks, size)
    first = chunk_row(sim, i, past)
    return first + share * (chunk_row(sim, min(i + 1, sim.chunks - 1), past) - first)


@kernel
def shared_time(sim: Any, tokens: int) -> float:
    """All of a step that is not attention. [s]."""
    last = sim.dense - 1
    if tokens <= last:
        return seconds(sim.at_shared, tokens).s
    return seconds(sim.at_shared, last).s + (tokens - last) * sim.shared_slope


@kernel
def mixed_time(sim: Any, p: Any, decoding: int) -> float:
    """A step with the chunks that stand in `p` and `decoding` sequences. [s]."""
    time = shared_time(sim, p.step_tokens + decoding) + p.attention_s + sim.per_step + sim.per_prefill_step
    if decoding > 0:
        mean = p.context / decoding
        s = segment(sim, mean)
        at = piece(sim.at_pieces, decoding * sim.pieces + s)
        time += at.attention + at.attention_slope * mean
    return time + sim.per_sequence * (decoding + p.chunks)


@kernel
def elapsed(p: Any, steps: int) -> float:
    """Time of the first `steps` iterations of a stretch. [s].

    The mean context grows by one token an iteration and the table is linear in it between two points, so that times are
    an arithmetic series.
    """
    return steps * p.first_s + p.slope_s * (0.5 * steps * (steps - 1))


@kernel
def steps_until(p: Any, span: float) -> int:
    """Smallest number of iterations, at least one, that together last `span` or longer."""
    if p.steps <= 1 or span <= p.first_s:
        return 1
    half = p.first_s - 0.5 * p.slope_s
    root = math.sqrt(max(half * half + 2.0 * p.slope_s * span, 0.0))
    steps = min(p.steps, max(1, int(2.0 * span / (half + root))))
    while steps > 1 and elapsed(p, steps - 1) >= span:
        steps -= 1
    while steps < p.steps and elapsed(p, steps) < span:
        steps += 1
    return steps


@kernel
def gap_bin(wait: float) -> int:
    """Bin of a gap between tokens."""
    if wait <= GAP_FIRST_S:
        return 0
    return min(int(math.log(wait / GAP_FIRST_S) / GAP_BIN_WIDTH), GAP_BINS - 1)


@kernel
def count_gaps(sim: Any, p: Any, steps: int) -> None:
    """Count the gaps between tokens of the decoding sequences over the first `steps` iterations of a stretch.

    Where steps of prefill alone came before, those who decoded already have waited for them too.
    """
    done = 0
    if p.stalled > 0:
        waited = min(p.stalled, p.decoding)
        gap(sim.at_gaps, gap_bin(p.stall_s + p.first_s)).count += waited
        gap(sim.at_gaps, gap_bin(p.first_s)).count += p.decoding - waited
        p.stalled, p.stall_s, done = 0, 0.0, 1
    while done < steps:
        wait = p.first_s + done * p.slope_s
        if not gap(sim.at_gaps, p.gap_bin).edge <= wait < gap(sim.at_gaps, p.gap_bin + 1).edge:
            p.gap_bin = gap_bin(wait)
        run = steps - done
        if p.slope_s != 0.0 and run > 1:
            edge = gap(sim.at_gaps, p.gap_bin + 1 if p.slope_s > 0 else p.gap_bin).edge
            within = (edge - wait) / p.slope_s
            if within < run:
                run = max(1, math.ceil(within))
        gap(sim.at_gaps, p.gap_bin).count += run * p.decoding
        done += run
