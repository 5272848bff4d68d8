"""What a replica does next: the schedulers."""

from __future__ import annotations

import math
from typing import Any

from unitcost.serving.kernel.blocks import admit, blocks_of, can_take, growth, release, take_blocks
from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import (
    DECODE,
    DECODE_FIRST,
    IDLE,
    MIXED,
    NONE,
    PREFILL,
    SAME_S,
    STATIC,
    TIMER,
    WHOLE_PROMPT,
)
from unitcost.serving.kernel.queues import link_running, next_done, pop_front, push_front, ring_remove, unlink_running
from unitcost.serving.kernel.records import phase, piece, replica, request, seconds
from unitcost.serving.kernel.times import chunk_time, mixed_time, segment


@kernel
def begin(sim: Any, r: int) -> None:
    """Choose the next step of a replica at its moment `now`."""
    p = replica(sim.at_replicas, r)
    scheduler = sim.scheduler
    p.chunks, p.step_tokens, p.step_head, p.attention_s = 0, 0, NONE, 0.0
    if scheduler == DECODE_FIRST:
        put_back = make_room(sim, r, p)
        if not put_back:
            fill(sim, r, p, sim.max_step_tokens - p.decoding)
        begin_step(sim, r, p, p.decoding, put_back)
    elif scheduler == STATIC:
        begin_static(sim, r, p)
    else:
        fill(sim, r, p, sim.max_step_tokens)
        put_back = p.chunks == 0 and make_room(sim, r, p)
        begin_step(sim, r, p, 0, put_back)


@kernel
def begin_step(sim: Any, r: int, p: Any, beside: int, put_back: bool) -> None:
    """Begin a step of the chunks chosen and `beside` decoding sequences, or a stretch of pure decode, or rest.

    After a request was put back the next step must look at the queue again: what it frees may be more than it needed.
    """
    if p.chunks > 0:
        p.first_s, p.slope_s, p.steps = mixed_time(sim, p, beside), 0.0, 1
        p.activity = MIXED if beside > 0 else PREFILL
        p.end = p.now + p.first_s
    elif p.decoding > 0:
        begin_stretch(sim, r, p, put_back)
    else:
        p.activity, p.steps, p.end = IDLE, 0, math.inf


@kernel
def begin_stretch(sim: Any, r: int, p: Any, single: bool) -> None:
    """Begin as many decode iterations as pass without a change: until a request finishes, the table bends or blocks run out."""
    mean = p.context / p.decoding
    s = segment(sim, mean)
    slope = piece(sim.at_pieces, p.decoding * sim.pieces + s).step_slope
    p.first_s, p.slope_s, p.activity = (
        piece(sim.at_pieces, p.decoding * sim.pieces + s).step + slope * mean,
        slope,
        DECODE,
    )
    steps = 1
    if sim.fast == 1 and not single:
        steps = next_done(sim, p, r) - p.clock
        room = seconds(sim.at_upper, s).s - mean
        if room < steps:
            steps = max(1, int(room) + 1)
        while steps > 1 and not can_take(sim, p, growth(sim, r, p, p.clock + 1, steps - 1)):
            steps //= 2
    p.steps = steps
    p.end = p.now + (steps * p.first_s + slope * (0.5 * steps * (steps - 1)))


@kernel
def make_room(sim: Any, r: int, p: Any) -> bool:
    """Blocks for one more token of each decoding sequence; True when requests had to be put back for it."""
    put_back = False
    while p.decoding > 0:
        need = growth(sim, r, p, p.clock, 1)
        if can_take(sim, p, need):
            take_blocks(sim, r, p, need)
            break
        preempt(sim, r, p)
        put_back = True
    return put_back


@kernel
def preempt(sim: Any, r: int, p: Any) -> None:
    """Put the request that was admitted last back to the head of the queue; it is computed anew later."""
    i = p.run_tail
    q = request(sim.at_requests, i)
    unlink_running(sim, p, i)
    if i == p.partial:
        p.partial = NONE
        release(sim, r, p, q, q.prefill)
    else:
        stop_decoding(sim, r, p, i)
    q.preemptions += 1
    p.preemptions += 1
    push_front(sim, p, i)


@kernel
def stop_decoding(sim: Any, r: int, p: Any, i: int) -> None:
    """Take a request out of those that decode, with its tokens so far as the prompt to compute later."""
    q = request(sim.at_requests, i)
    ring_remove(sim, r, i)
    release(sim, r, p, q, q.base + p.clock)
    p.decoding -= 1
    p.context -= q.base + p.clock
    phase(sim.at_phases, r * sim.block + (-q.base % sim.block)).count -= 1
    q.generated = q.output - (q.ring_at - p.clock)
    q.prefill = q.input + q.generated
    q.last = p.now


@kernel
def fill(sim: Any, r: int, p: Any, budget: int) -> None:
    """Prefill chunks of the next step, first come first served, within a budget of tokens."""
    whole = sim.scheduler == WHOLE_PROMPT
    if p.partial >= 0 and budget > 0:
        chunk(sim, p, p.partial, budget)
    while p.wait_head >= 0 and p.partial < 0 and p.running < sim.max_batch and p.step_tokens < budget:
        i = p.wait_head
        q = request(sim.at_requests, i)
        if whole and p.chunks > 0 and p.step_tokens + q.prefill > budget:
            break
        if not admit(sim, r, p, q):
            break
        take_in(sim, p)
        chunk(sim, p, i, q.prefill if whole else budget - p.step_tokens)


@kernel
def take_in(sim: Any, p: Any) -> None:
    """Move the request at the head of the queue to those that run."""
    i = pop_front(sim, p)
    link_running(sim, p, i)
    q = request(sim.at_requests, i)
    if math.isnan(q.scheduled):
        q.scheduled = p.now


@kernel
def chunk(sim: Any, p: Any, i: int, most: int) -> None:
    """Add the next tokens of a prompt to the step."""
    q = request(sim.at_requests, i)
    left = q.prefill - q.done
    size = min(left, most)
    q.chunk = size
    q.next = p.step_head
    p.step_head = i
    p.chunks += 1
    p.step_tokens += size
    p.attention_s += chunk_time(sim, size, q.done)
    p.partial = NONE if size == left else i


@kernel
def begin_static(sim: Any, r: int, p: Any) -> None:
    """Static batching: a batch is taken in together and leaves together; others wait."""
    if p.running == 0 and p.waiting > 0:
        ready = request(sim.at_requests, p.wait_head).queued + sim.max_delay
        if p.waiting < sim.max_batch and p.now < ready - SAME_S:
            p.activity, p.steps, p.end = TIMER, 0, ready
            return
        fill_static(sim, r, p)
    elif p.running > 0:
        take_blocks(sim, r, p, growth(sim, r, p, p.clock, 1))
    begin_step(sim, r, p, 0, False)


@kernel
def fill_static(sim: Any, r: int, p: Any) -> None:
    """Take in as many as fit even when each makes as many tokens as the longest."""
    p.longest = 0
    prompts = 0
    while p.wait_head >= 0 and p.running < sim.max_batch:
        i = p.wait_head
        q = request(sim.at_requests, i)
        longest = max(p.longest, q.output)
        held = prompts + blocks_of(sim, q.prefill)
        if p.running > 0 and held + (p.running + 1) * (blocks_of(sim, longest) + 1) > sim.blocks:
            break
        if not admit(sim, r, p, q):
            break
        prompts, p.longest = held, longest
        take_in(sim, p)
        chunk(sim, p, i, q.prefill)
