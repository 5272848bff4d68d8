"""Replicas come and go: cold starts, the autoscaler, the warm pool, lost spot capacity."""

from __future__ import annotations

import math
from typing import Any

from unitcost.serving.kernel.batching import stop_decoding
from unitcost.serving.kernel.blocks import flush
from unitcost.serving.kernel.compiled import kernel
from unitcost.serving.kernel.layout import (
    BACK,
    DRAINING,
    IDLE,
    KILL,
    LOADING,
    NONE,
    NOTICE,
    OFF,
    ON_DEMAND,
    PROVISIONING,
    READY,
    STANDBY,
    TAKE_OVER,
)
from unitcost.serving.kernel.queues import pop_front, unlink_running
from unitcost.serving.kernel.records import interval, replica, request, spot_event, want
from unitcost.serving.kernel.routing import advance_all, load_of, send, send_held
from unitcost.serving.kernel.stepping import settle


@kernel
def enter(sim: Any, r: int, state: int, at: float) -> None:
    """Put a replica into a state, and write down the time it spent in the one before."""
    p = replica(sim.at_replicas, r)
    if p.state != OFF and at > p.since:
        if sim.written < sim.rows:
            row = interval(sim.at_intervals, sim.written)
            row.start, row.end, row.replica, row.state, row.category = p.since, at, r, p.state, p.category
        sim.written += 1
    p.state, p.since = state, at
    if state in (OFF, STANDBY, READY, DRAINING):
        p.until = math.inf


@kernel
def become_ready(sim: Any, r: int, at: float) -> None:
    """Begin to serve with an empty cache."""
    enter(sim, r, READY, at)
    p = replica(sim.at_replicas, r)
    p.now = at
    p.last_done = at


@kernel
def start(sim: Any, r: int, goal: int, at: float) -> None:
    """Set a replica on its way to `goal`: from nothing, or from the warm pool."""
    p = replica(sim.at_replicas, r)
    p.goal = goal
    if p.state == OFF:
        flush(sim, r, p)
        enter(sim, r, PROVISIONING, at)
        p.until = at + sim.provision
    else:
        enter(sim, r, LOADING, at)
        p.until = at + sim.waking


@kernel
def stop(sim: Any, r: int, at: float) -> None:
    """Take a replica out of service; it ends what it has begun."""
    p = replica(sim.at_replicas, r)
    if p.state == READY:
        enter(sim, r, DRAINING, at)
        p.goal = OFF
        end_drained(sim, r, at)
    else:
        enter(sim, r, OFF, at)


@kernel
def end_drained(sim: Any, r: int, at: float) -> None:
    """Let a drained replica go when it has answered its last request, or into the warm pool where one is missing."""
    p = replica(sim.at_replicas, r)
    if p.state == DRAINING and load_of(p) == 0:
        since = min(at, max(p.last_done, p.since))
        if p.lost == 0 and count(sim, STANDBY) < sim.warm:
            enter(sim, r, STANDBY, since)
        else:
            enter(sim, r, OFF, since)


@kernel
def count(sim: Any, goal: int) -> int:
    """Replicas that are in state `goal` or on their way to it."""
    found = 0
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if p.state == goal or ((p.state == PROVISIONING or p.state == LOADING) and p.goal == goal):
            found += 1
    return found


@kernel
def in_flight(sim: Any) -> int:
    """Requests that are not answered yet."""
    found = sim.held
    for r in range(sim.replicas):
        found += load_of(replica(sim.at_replicas, r))
    return found


@kernel
def idle_since(sim: Any) -> float:
    """Moment since which nothing has been asked. Only meaningful when nothing is in flight."""
    at = sim.last_arrival
    for r in range(sim.replicas):
        if replica(sim.at_replicas, r).state == READY:
            at = max(at, replica(sim.at_replicas, r).last_done)
    return at


@kernel
def rest(sim: Any, at: float) -> None:
    """Scale to zero at the moment at which the idle timeout passed, be that seen now or later."""
    if sim.minimum > 0 or sim.idle_timeout == math.inf or in_flight(sim) > 0:
        return
    since = idle_since(sim) + sim.idle_timeout
    if since > at:
        return
    for r in range(sim.replicas):
        if replica(sim.at_replicas, r).state == READY:
            stop(sim, r, max(since, replica(sim.at_replicas, r).since))
    fill_warm(sim, at)


@kernel
def wanted(sim: Any) -> int:
    """Replicas that the load asks for now. While nothing is asked none is started, and one stays until the idle timeout."""
    busy = in_flight(sim)
    want = math.ceil(busy / sim.target) if sim.target < math.inf else sim.minimum
    if busy > 0:
        want = max(want, 1)
    elif sim.minimum == 0:
        return min(count(sim, READY), 1)
    return min(max(want, sim.minimum) + sim.spare, sim.maximum)


@kernel
def stabilised(sim: Any, load: int) -> int:
    """Most that was wanted within the stabilisation window."""
    want(sim.at_history, sim.ticks % sim.looks).count = load
    sim.ticks += 1
    most = load
    for look in range(sim.looks):
        most = max(most, want(sim.at_history, look).count)
    return most


@kernel
def scale(sim: Any, at: float) -> None:
    """Start or stop replicas so that there are as many as wanted."""
    want = wanted(sim)
    most = stabilised(sim, want)
    have = count(sim, READY)
    if want > have:
        start_some(sim, min(want - have, sim.surge), want, at)
    elif most < have and at - sim.last_down >= sim.cooldown:
        stop_some(sim, have - most, at)
        sim.last_down = at
    end_fallback(sim, most, at)
    fill_warm(sim, at)


@kernel
def start_some(sim: Any, some: int, want: int, at: float) -> None:
    """Start replicas of `want`: first those that drain, then the warm pool, then empty places in order of preference."""
    for state in (DRAINING, STANDBY, OFF):
        for r in range(sim.replicas):
            p = replica(sim.at_replicas, r)
            if some > 0 and p.state == state and p.lost == 0 and not beyond_fallback(sim, p, want):
                if state == DRAINING:
                    enter(sim, r, READY, at)
                else:
                    start(sim, r, READY, at)
                some -= 1


@kernel
def beyond_fallback(sim: Any, p: Any, want: int) -> bool:
    """Whether a place is on demand where only spot holds the spares, and as many serve or start as the load asks for."""
    return sim.spot_spare > 0 and p.category == ON_DEMAND and count(sim, READY) >= want - sim.spare


@kernel
def end_fallback(sim: Any, want: int, at: float) -> None:
    """Where only spot holds the spares, stop on-demand replicas that are not needed beside those that are ready."""
    if sim.spot_spare == 0:
        return
    ready = 0
    for r in range(sim.replicas):
        if replica(sim.at_replicas, r).state == READY:
            ready += 1
    for back in range(sim.replicas):
        r = sim.replicas - 1 - back
        p = replica(sim.at_replicas, r)
        if p.category != ON_DEMAND:
            return
        begun = (p.state == PROVISIONING or p.state == LOADING) and p.goal == READY
        if p.state == READY and ready - 1 >= want - sim.spare:
            stop(sim, r, at)
            ready -= 1
        elif begun and ready >= want - sim.spare:
            stop(sim, r, at)


@kernel
def stop_some(sim: Any, some: int, at: float) -> None:
    """Stop the least preferred replicas: first those that are not ready yet."""
    for starting in (True, False):
        for back in range(sim.replicas):
            r = sim.replicas - 1 - back
            p = replica(sim.at_replicas, r)
            begun = (p.state == PROVISIONING or p.state == LOADING) and p.goal == READY
            if some > 0 and (begun if starting else p.state == READY):
                stop(sim, r, at)
                some -= 1


@kernel
def fill_warm(sim: Any, at: float) -> None:
    """Keep the warm pool at its size."""
    missing = sim.warm - count(sim, STANDBY)
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if missing > 0 and p.state == OFF and p.lost == 0:
            start(sim, r, STANDBY, at)
            missing -= 1
        elif missing < 0 and p.state == STANDBY:
            enter(sim, r, OFF, at)
            missing += 1


@kernel
def progress(sim: Any, at: float) -> bool:
    """Move cold starts on; True when a replica became ready."""
    ready = False
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if p.until > at:
            continue
        if p.state == PROVISIONING:
            enter(sim, r, LOADING, at)
            p.until = at + sim.loading
        elif p.goal == READY or p.goal == TAKE_OVER:
            become_ready(sim, r, at)
            ready = True
        else:
            enter(sim, r, STANDBY, at)
    return ready


@kernel
def lose(sim: Any, r: int, at: float) -> None:
    """Spot capacity is taken away: what runs goes back to the gateway, its tokens so far to be computed anew."""
    p = replica(sim.at_replicas, r)
    settle(sim, r, at)
    p.now = at
    p.activity, p.steps, p.end = IDLE, 0, math.inf
    enter(sim, r, OFF, at)
    while p.run_head >= 0:
        i = p.run_head
        unlink_running(sim, p, i)
        put_back(sim, r, p, i)
        send(sim, i, at)
    while p.waiting > 0:
        i = pop_front(sim, p)
        request(sim.at_requests, i).kills += 1
        send(sim, i, at)
    p.partial, p.stalled, p.stall_s = NONE, 0, 0.0
    flush(sim, r, p)


@kernel
def put_back(sim: Any, r: int, p: Any, i: int) -> None:
    """Make a running request one that has still to be computed."""
    q = request(sim.at_requests, i)
    if q.done == q.prefill:
        stop_decoding(sim, r, p, i)
    q.done, q.shared = 0, 0
    q.kills += 1


@kernel
def spot_events(sim: Any, at: float) -> bool:
    """Notices, losses and returns of spot capacity up to now; True when there was one."""
    seen = False
    while sim.event < sim.events and spot_event(sim.at_events, sim.event).time <= at:
        event = spot_event(sim.at_events, sim.event)
        sim.event += 1
        seen = True
        p = replica(sim.at_replicas, event.replica)
        if event.what == BACK:
            p.lost = 0
            take_over(sim, event.replica, at)
            continue
        p.lost = 1
        if event.what == NOTICE and p.state == READY:
            enter(sim, event.replica, DRAINING, at)
        elif event.what == KILL and p.state != OFF:
            lose(sim, event.replica, at)
    return seen


@kernel
def take_over(sim: Any, r: int, at: float) -> None:
    """Start a place whose capacity is back where a less preferred one serves in its stead."""
    if replica(sim.at_replicas, r).state != OFF:
        return
    for other in range(r + 1, sim.replicas):
        state = replica(sim.at_replicas, other).state
        if state in (READY, PROVISIONING, LOADING):
            start(sim, r, TAKE_OVER, at)
            return


@kernel
def plan_next(sim: Any) -> None:
    """Moment of the next event that is no arrival."""
    at = sim.tick
    for r in range(sim.replicas):
        at = min(at, replica(sim.at_replicas, r).until)
    if sim.event < sim.events:
        at = min(at, spot_event(sim.at_events, sim.event).time)
    sim.next_control = at


@kernel
def control(sim: Any, at: float) -> None:
    """Whatever is due at this moment: cold starts, spot capacity, the autoscaler."""
    advance_all(sim, at)
    for r in range(sim.replicas):
        end_drained(sim, r, at)
    ready = progress(sim, at)
    changed = spot_events(sim, at)
    rest(sim, at)
    if ready:
        send_held(sim, at)
    if sim.tick <= at:
        sim.tick += sim.interval
        changed = True
    if changed or ready:
        scale(sim, at)
    plan_next(sim)
