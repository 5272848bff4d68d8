"""Which replica a request goes to, and where it waits when none is ready."""

from __future__ import annotations

from typing import Any

from unitcost.serving.kernel.blocks import blocks_of, matched
from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import (
    LEAST_LOADED,
    NONE,
    READY,
    REJECTED,
    ROUND_ROBIN,
    SAME_S,
    TIMED_OUT,
)
from unitcost.serving.kernel.records import replica, request
from unitcost.serving.kernel.stepping import advance, arrive, settle


@kernel
def advance_all(sim: Any, at: float) -> None:
    """Bring every replica to a moment."""
    for r in range(sim.replicas):
        if replica(sim.at_replicas, r).end <= at + SAME_S:
            advance(sim, r, at)


@kernel
def choose(sim: Any, i: int, at: float) -> int:
    """Ready replica for a request; `NONE` when there is none."""
    routing = sim.routing
    if routing == ROUND_ROBIN:
        return next_in_turn(sim, at)
    advance_all(sim, at)
    least = least_loaded(sim)
    if routing == LEAST_LOADED or least < 0 or request(sim.at_requests, i).hash_count == 0:
        return least
    return longest_match(sim, i, at, least)


@kernel
def next_in_turn(sim: Any, at: float) -> int:
    """Ready replica after the one that had the last turn."""
    count = sim.replicas
    for step in range(count):
        r = (sim.turn + step) % count
        if replica(sim.at_replicas, r).state == READY:
            sim.turn = r + 1
            advance(sim, r, at)
            return r
    return NONE


@kernel
def load_of(p: Any) -> int:
    """Requests that a replica has not answered yet."""
    return p.running + p.waiting


@kernel
def least_loaded(sim: Any) -> int:
    """Ready replica with the fewest unanswered requests; the first of equals."""
    best, fewest = NONE, 0
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if p.state == READY and (best < 0 or load_of(p) < fewest):
            best, fewest = r, load_of(p)
    return best


@kernel
def longest_match(sim: Any, i: int, at: float, least: int) -> int:
    """Ready replica that keeps most of the prompt, unless it is much busier than the least busy one."""
    best, most = least, 0
    limit = load_of(replica(sim.at_replicas, least)) + sim.slack
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if p.state != READY or load_of(p) > limit:
            continue
        settle(sim, r, at)
        found, _ = matched(sim, r, request(sim.at_requests, i))
        if found > most or (found == most and load_of(p) < load_of(replica(sim.at_replicas, best))):
            best, most = r, found
    return best


@kernel
def hold(sim: Any, i: int, at: float) -> None:
    """Keep a request at the gateway until a replica is ready."""
    q = request(sim.at_requests, i)
    q.next, q.held_since = NONE, at
    if sim.held_tail < 0:
        sim.held_head = i
    else:
        request(sim.at_requests, sim.held_tail).next = i
    sim.held_tail = i
    sim.held += 1


@kernel
def send(sim: Any, i: int, at: float) -> bool:
    """Send a request to a replica, hold it, or refuse what no KV cache can take; True when it is held."""
    q = request(sim.at_requests, i)
    if blocks_of(sim, q.input + q.output) > sim.blocks:
        q.status = REJECTED
        return False
    r = choose(sim, i, at)
    if r < 0:
        hold(sim, i, at)
        return True
    arrive(sim, r, i, at)
    return False


@kernel
def send_held(sim: Any, at: float) -> None:
    """Send all that the gateway holds; what has waited too long is given up."""
    i = sim.held_head
    sim.held_head, sim.held_tail, sim.held = NONE, NONE, 0
    while i >= 0:
        q = request(sim.at_requests, i)
        after = q.next
        if at - q.held_since > sim.max_wait:
            q.status = TIMED_OUT
        else:
            send(sim, i, at)
        i = after
