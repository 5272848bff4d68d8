"""A replica through time: finishing iterations, and what arrives meanwhile."""

from __future__ import annotations

import math
from typing import Any

from unitcost.serving.kernel.batching import begin
from unitcost.serving.kernel.blocks import growth, release, take_blocks
from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import DECODE, DONE, IDLE, NONE, PREFILL, SAME_S, STATIC, TIMER
from unitcost.serving.kernel.queues import push_back, ring_add, unlink_running
from unitcost.serving.kernel.records import gap, phase, replica, request, ring
from unitcost.serving.kernel.times import count_gaps, elapsed, gap_bin, steps_until


@kernel
def advance(sim: Any, r: int, until: float) -> None:
    """Finish all that ends until a moment; what begins at that moment waits for those who arrive then."""
    p = replica(sim.at_replicas, r)
    while p.end < until - SAME_S:
        if p.activity == TIMER:
            p.now = p.end
        else:
            finish(sim, r, p, p.steps)
        begin(sim, r)
    if p.end <= until + SAME_S and p.steps > 0:
        finish(sim, r, p, p.steps)
        p.activity, p.steps = TIMER, 0


@kernel
def finish(sim: Any, r: int, p: Any, steps: int) -> None:
    """Finish the first `steps` iterations of what the replica is doing."""
    span = elapsed(p, steps)
    p.now = p.end if steps == p.steps else p.now + span
    p.busy_s += span
    p.batch_s += span * p.running
    p.iterations += steps
    if p.activity != PREFILL:
        if steps > 1:
            take_blocks(sim, r, p, growth(sim, r, p, p.clock + 1, steps - 1))
        count_gaps(sim, p, steps)
        p.clock += steps
        p.context += steps * p.decoding
        p.output_tokens += steps * p.decoding
        finish_decoded(sim, r, p)
    elif p.decoding > 0:
        p.stalled = p.decoding if p.stalled == 0 else p.stalled
        p.stall_s += span
    if p.activity != DECODE:
        finish_chunks(sim, r, p)


@kernel
def finish_decoded(sim: Any, r: int, p: Any) -> None:
    """Let go of the requests whose last token came with this iteration."""
    slot = p.clock & (sim.ring - 1)
    i = ring(sim.at_ring, r * sim.ring + slot).head
    ring(sim.at_ring, r * sim.ring + slot).head = NONE
    while i >= 0:
        q = request(sim.at_requests, i)
        held = q.base + p.clock
        p.decoding -= 1
        p.context -= held
        phase(sim.at_phases, r * sim.block + (-q.base % sim.block)).count -= 1
        complete(sim, r, p, i, held)
        i = q.ring_after


@kernel
def complete(sim: Any, r: int, p: Any, i: int, held: int) -> None:
    """Note that a request is answered, and free what it held."""
    q = request(sim.at_requests, i)
    unlink_running(sim, p, i)
    release(sim, r, p, q, held)
    q.last = p.now
    q.generated = q.output
    q.status = DONE
    p.last_done = p.now


@kernel
def finish_chunks(sim: Any, r: int, p: Any) -> None:
    """Count the prefill of this step; a prompt that is complete has its first token."""
    i = p.step_head
    while i >= 0:
        q = request(sim.at_requests, i)
        after = q.next
        q.done += q.chunk
        p.prefilled += q.chunk
        if q.done == q.prefill:
            start_decoding(sim, r, p, i)
        i = after


@kernel
def start_decoding(sim: Any, r: int, p: Any, i: int) -> None:
    """The prompt is computed: a token is there, and the request decodes until it has all."""
    q = request(sim.at_requests, i)
    if math.isnan(q.first):
        q.first = p.now
    else:
        gap(sim.at_gaps, gap_bin(p.now - q.last)).count += 1
    q.generated += 1
    p.output_tokens += 1
    left = q.output - q.generated
    if sim.scheduler == STATIC:
        left = p.longest - 1
    if left == 0:
        complete(sim, r, p, i, q.prefill)
        return
    ring_add(sim, p, r, i, p.clock + left)
    q.base = q.prefill - p.clock
    p.decoding += 1
    p.context += q.prefill
    phase(sim.at_phases, r * sim.block + (-q.base % sim.block)).count += 1


@kernel
def settle(sim: Any, r: int, at: float) -> None:
    """Finish the iterations of a stretch that end before `at`, and go on with the rest."""
    p = replica(sim.at_replicas, r)
    if p.activity != DECODE or p.steps < 2:
        return
    steps = steps_until(p, at - SAME_S - p.now) - 1
    if steps < 1:
        return
    end = p.end
    finish(sim, r, p, steps)
    take_blocks(sim, r, p, growth(sim, r, p, p.clock, 1))
    p.first_s += steps * p.slope_s
    p.steps -= steps
    p.end = end


@kernel
def arrive(sim: Any, r: int, i: int, at: float) -> None:
    """A request joins the queue of a replica; the stretch it decodes ends early, so that the next step sees it."""
    p = replica(sim.at_replicas, r)
    q = request(sim.at_requests, i)
    alone = p.waiting == 0
    q.replica, q.queued = r, at
    push_back(sim, p, i)
    if p.activity == IDLE:
        wait = sim.max_delay if sim.scheduler == STATIC and p.waiting < sim.max_batch else 0.0
        p.activity, p.end = TIMER, at + wait
        p.now = max(p.now, at)
    elif p.activity == TIMER and sim.scheduler == STATIC and p.waiting >= sim.max_batch:
        p.end = min(p.end, at)
    elif p.activity == DECODE and alone and sim.scheduler != STATIC and p.steps > 1:
        steps = steps_until(p, at - SAME_S - p.now)
        if steps < p.steps:
            p.steps = steps
            p.end = p.now + elapsed(p, steps)
