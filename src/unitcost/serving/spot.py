"""When spot replicas are lost: drawn from a rate, or read off a recorded market."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unitcost.serving.fleet import CapacityEvent, Fleet, LossRate
from unitcost.units import SECONDS_PER_HOUR


def draw_losses(fleet: Fleet, *, until_s: float, seed: int) -> Fleet:
    """The fleet with losses of its spot places drawn from its rate; as it is when it has none.

    Notes
    -----
    A Poisson process per place with its own random stream, so that two fleets of unlike size lose the same places at the same
    time (common random numbers).
    """
    rate = fleet.losses
    if rate is None or rate.per_hour == 0:
        return fleet
    drawn = [
        event
        for place, category in enumerate(fleet.categories)
        if category == "spot"
        for event in _of_place(rate, place, until_s, np.random.default_rng((seed, place)))
    ]
    return replace(fleet, losses=None, events=(*fleet.events, *drawn))


def _of_place(rate: LossRate, place: int, until_s: float, random: np.random.Generator) -> list[CapacityEvent]:
    events: list[CapacityEvent] = []
    at = 0.0
    while True:
        at += float(random.exponential(SECONDS_PER_HOUR / rate.per_hour))
        if at >= until_s:
            return events
        back = at + float(random.exponential(rate.return_s))
        events += _loss(place, at, back, rate.notice_s)
        at = back


def _loss(place: int, at: float, back: float | None, notice_s: float) -> list[CapacityEvent]:
    events = [CapacityEvent(at_s=at, replica=place, change="kill")]
    if notice_s > 0:
        events.insert(0, CapacityEvent(at_s=max(0.0, at - notice_s), replica=place, change="notice"))
    if back is not None:
        events.append(CapacityEvent(at_s=back, replica=place, change="back"))
    return events


def recorded_losses(
    counts: Sequence[int], *, gap_s: float, places: Sequence[int], notice_s: float = 0.0
) -> tuple[CapacityEvent, ...]:
    """Losses and returns that a recorded number of available nodes makes of spot places.

    Parameters
    ----------
    counts
        Nodes that could be had, by tick.
    gap_s
        Length of a tick. [s]
    places
        Numbers of the spot places of the fleet, the preferred ones first: the last ones are lost first.
    notice_s
        Warning before a loss. [s]
    """
    events: list[CapacityEvent] = []
    have = len(places)
    for tick, count in enumerate(counts):
        now = min(count, len(places))
        for place in places[now:have]:
            events += _loss(place, tick * gap_s, None, notice_s)
        events += [CapacityEvent(at_s=tick * gap_s, replica=place, change="back") for place in places[have:now]]
        have = now
    return tuple(events)
