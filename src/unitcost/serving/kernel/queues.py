"""Linked lists of requests: waiting, running in order of admission, and finishing at a decode iteration. All O(1)."""

from __future__ import annotations

from typing import Any

from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import NONE
from unitcost.serving.kernel.records import request, ring


@kernel
def push_back(sim: Any, p: Any, i: int) -> None:
    """Put a request behind all that wait."""
    request(sim.at_requests, i).next = NONE
    if p.wait_tail < 0:
        p.wait_head = i
    else:
        request(sim.at_requests, p.wait_tail).next = i
    p.wait_tail = i
    p.waiting += 1


@kernel
def push_front(sim: Any, p: Any, i: int) -> None:
    """Put a request before all that wait."""
    request(sim.at_requests, i).next = p.wait_head
    p.wait_head = i
    if p.wait_tail < 0:
        p.wait_tail = i
    p.waiting += 1


@kernel
def pop_front(sim: Any, p: Any) -> int:
    """Take the request that has waited longest."""
    i = p.wait_head
    p.wait_head = request(sim.at_requests, i).next
    if p.wait_head < 0:
        p.wait_tail = NONE
    p.waiting -= 1
    return i


@kernel
def link_running(sim: Any, p: Any, i: int) -> None:
    """Put a request behind all that run."""
    q = request(sim.at_requests, i)
    q.run_before = p.run_tail
    q.run_after = NONE
    if p.run_tail < 0:
        p.run_head = i
    else:
        request(sim.at_requests, p.run_tail).run_after = i
    p.run_tail = i
    p.running += 1


@kernel
def unlink_running(sim: Any, p: Any, i: int) -> None:
    """Take a request out of those that run."""
    q = request(sim.at_requests, i)
    if q.run_before < 0:
        p.run_head = q.run_after
    else:
        request(sim.at_requests, q.run_before).run_after = q.run_after
    if q.run_after < 0:
        p.run_tail = q.run_before
    else:
        request(sim.at_requests, q.run_after).run_before = q.run_before
    p.running -= 1


@kernel
def ring_add(sim: Any, p: Any, r: int, i: int, at: int) -> None:
    """Note that a request finishes with decode iteration `at`."""
    q = request(sim.at_requests, i)
    slot = at & (sim.ring - 1)
    head = ring(sim.at_ring, r * sim.ring + slot).head
    q.ring_at = at
    q.ring_before = NONE
    q.ring_after = head
    if head >= 0:
        request(sim.at_requests, head).ring_before = i
    ring(sim.at_ring, r * sim.ring + slot).head = i
    if p.decoding == 0 or at < p.next_done:
        p.next_done = at


@kernel
def ring_remove(sim: Any, r: int, i: int) -> None:
    """Forget when a request would have finished."""
    q = request(sim.at_requests, i)
    if q.ring_before < 0:
        ring(sim.at_ring, r * sim.ring + (q.ring_at & (sim.ring - 1))).head = q.ring_after
    else:
        request(sim.at_requests, q.ring_before).ring_after = q.ring_after
    if q.ring_after >= 0:
        request(sim.at_requests, q.ring_after).ring_before = q.ring_before


@kernel
def next_done(sim: Any, p: Any, r: int) -> int:
    """Decode iteration with which the next request finishes. A slot is passed once, so this costs O(1) an iteration."""
    at = max(p.next_done, p.clock + 1)
    mask = sim.ring - 1
    while ring(sim.at_ring, r * sim.ring + (at & mask)).head < 0:
        at += 1
    p.next_done = at
    return at
