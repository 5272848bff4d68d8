"""How many replicas were in which state, over time and in sum."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import numpy as np

from unitcost.serving.fleet import Category, State
from unitcost.serving.outcome import Interval, Outcome
from unitcost.serving.traces import Floats, Trace
from unitcost.units import SECONDS_PER_HOUR

OPEN: tuple[State, ...] = ("ready", "draining")
COLD: tuple[State, ...] = ("provisioning", "loading")
STANDBY: tuple[State, ...] = ("standby",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaHours:
    """Replica-hours of a run. [hours].

    Parameters
    ----------
    busy, idle
        Ready or draining: in a step, and not.
    cold, warm
        On the way to ready; in the warm pool.
    spot, on_demand
        The same hours by who is paid; reserved ones are in neither.
    """

    busy: float
    idle: float
    cold: float
    warm: float
    spot: float
    on_demand: float


def replica_hours(outcome: Outcome) -> ReplicaHours:
    """Replica-hours by state and by category."""

    def spent(states: Collection[State] = (), category: Category | None = None) -> float:
        return (
            sum(
                one.end_s - one.start_s
                for one in outcome.intervals
                if (not states or one.state in states) and category in (None, one.category)
            )
            / SECONDS_PER_HOUR
        )

    busy = sum(outcome.busy_s) / SECONDS_PER_HOUR
    return ReplicaHours(
        busy=busy, idle=max(0.0, spent(OPEN) - busy), cold=spent(COLD), warm=spent(STANDBY),
        spot=spent(category="spot"), on_demand=spent(category="on-demand"),
    )  # fmt: skip


def mean_hours(several: Sequence[ReplicaHours]) -> ReplicaHours:
    """Mean of the replica-hours of several runs, of which there is at least one. [hours]."""
    return ReplicaHours(
        **{one.name: sum(getattr(hours, one.name) for hours in several) / len(several) for one in fields(ReplicaHours)}
    )


def mean_replicas(
    intervals: Sequence[Interval], edges_s: Floats, *, states: Collection[State], category: Category | None = None
) -> Floats:
    """Mean number of replicas in some states between each two edges.

    Parameters
    ----------
    edges_s
        Moments, in order. [s]
    category
        Only those of this category; None: all.
    """
    lasted = np.zeros(len(edges_s))
    for one in intervals:
        if one.state in states and category in (None, one.category):
            lasted += np.clip(edges_s - one.start_s, 0.0, one.end_s - one.start_s)
    found: Floats = np.diff(lasted) / np.diff(edges_s)
    return found


def arrivals_per_s(trace: Trace, edges_s: Floats) -> Floats:
    """Requests that come between each two edges. [1 / s]."""
    found: Floats = np.histogram(trace.arrival_s, edges_s)[0] / np.diff(edges_s)
    return found
