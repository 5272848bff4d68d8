"""The event loop."""

from __future__ import annotations

import math
from typing import Any

from unitcost.serving.kernel.compiled import entry, fingerprint, kernel
from unitcost.serving.kernel.layout import BACK, OFF, READY, STANDBY
from unitcost.serving.kernel.records import replica, request, spot_event
from unitcost.serving.kernel.routing import advance_all, send
from unitcost.serving.kernel.scaling import (
    control,
    count,
    end_drained,
    enter,
    in_flight,
    plan_next,
    rest,
    start_some,
)


def compiled_run() -> Any:
    """Function of a run's state that plays all arrivals and what follows from them; results stand in its arrays."""
    from unitcost.serving.kernel import batching, blocks, layout, loop, queues, routing, scaling, stepping, times

    version = fingerprint(layout, times, queues, blocks, batching, stepping, routing, scaling, loop)

    def run(state: Any) -> None:
        if version == "":
            return
        sim = state[0]
        open_fleet(sim)
        for i in range(sim.requests):
            at = request(sim.at_requests, i).arrival
            while sim.next_control <= at:
                control(sim, sim.next_control)
            receive(sim, i, at)
        while not drained(sim):
            control(sim, sim.next_control)
        advance_all(sim, math.inf)
        close_fleet(sim)

    return entry(run)


@kernel
def drained(sim: Any) -> bool:
    """Whether nothing is left to do before the next event that is no arrival."""
    advance_all(sim, sim.next_control)
    return finished(sim)


@kernel
def open_fleet(sim: Any) -> None:
    """Replicas that are there at the beginning."""
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if r < sim.initial:
            p.state = READY
        elif r < sim.initial + sim.warm:
            p.state = STANDBY
    plan_next(sim)


@kernel
def receive(sim: Any, i: int, at: float) -> None:
    """A request reaches the gateway; one that finds no replica wakes one."""
    if sim.minimum == 0 and sim.idle_timeout < math.inf:
        advance_all(sim, at)
        rest(sim, at)
    sim.last_arrival = at
    if send(sim, i, at) and count(sim, READY) == 0:
        start_some(sim, 1 + sim.spare, 1 + sim.spare, at)
        plan_next(sim)


@kernel
def finished(sim: Any) -> bool:
    """Whether nothing more can happen that matters."""
    if sim.next_control == math.inf:
        return True
    if sim.next_control <= sim.horizon:
        return False
    if in_flight(sim) == 0:
        return True
    return in_flight(sim) == sim.held and not can_serve(sim)


@kernel
def can_serve(sim: Any) -> bool:
    """Whether a replica is there or may still come."""
    for r in range(sim.replicas):
        p = replica(sim.at_replicas, r)
        if p.state != OFF or p.lost == 0:
            return True
    returns = 0
    for e in range(sim.event, sim.events):
        returns += spot_event(sim.at_events, e).what == BACK
    return returns > 0


@kernel
def close_fleet(sim: Any) -> None:
    """Write down the last intervals."""
    rest(sim, sim.horizon)
    end = sim.horizon
    for r in range(sim.replicas):
        end = max(end, replica(sim.at_replicas, r).last_done)
    for r in range(sim.replicas):
        end_drained(sim, r, end)
        enter(sim, r, OFF, max(end, replica(sim.at_replicas, r).since))
    sim.end = end
