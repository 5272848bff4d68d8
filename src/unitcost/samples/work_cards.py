"""How busy the cards of the sample were: hourly answers about the DCGM exporter, and the truth that follows from them.

For some days the metrics server was down: of that time nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unitcost.samples.calendar import Ints
from unitcost.samples.lines import DAY_SHAPE, draw
from unitcost.samples.work import CARDS, TICKS_PER_HOUR, Job, Life, Machine, Work
from unitcost.samples.work_serving import series
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY

#: Hours in which the metrics server was down, and in which one job waited for its data.
_OUTAGE = (40 * HOURS_PER_DAY + 5, 42 * HOURS_PER_DAY + 11)
_STUCK_JOB, _STUCK = "ranker-l24-s2", (44 * HOURS_PER_DAY, 46 * HOURS_PER_DAY)
#: A gap of more hours than this is a time of which nothing is known after its first hour.
_GAP_HOURS = 3
#: What a job's name begins with -> its utilisation from and to [percent].
_USE = {
    "ranker": (82, 97), "bidder-v5": (61, 80), "bidder-v6": (22, 43), "fraud": (45, 88), "embed-build": (30, 74),
    "assistant-llm": (20, 80), "embedder": (35, 60),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Utilisation of the cards of a machine: hours of the samples, and per card the values [percent]."""

    machine: Machine
    hours: Ints
    values: list[Ints]
    pod: str = ""


def watch(world: World, work: Work) -> list[Watched]:
    """Measurements of every machine."""
    lives: dict[str, list[tuple[Job, Life]]] = {}
    for job in (*work.jobs, *work.pods):
        for life in job.lives:
            lives.setdefault(life.machine.node, []).append((job, life))
    pods = {life.machine.node: pod.key.partition(":")[2] for pod in work.pods for life in pod.lives}
    return [
        _watch(world, machine, lives.get(machine.node, []), pods.get(machine.node, "")) for machine in work.machines
    ]


def _watch(world: World, machine: Machine, lives: list[tuple[Job, Life]], pod: str) -> Watched:
    first = -(-machine.start // TICKS_PER_HOUR)
    hours = np.arange(first, (machine.end - 1) // TICKS_PER_HOUR + 1, dtype=np.int64)
    hours = hours[(hours < _OUTAGE[0]) | (hours >= _OUTAGE[1])]
    cards = []
    for card in range(machine.cards):
        values = np.zeros_like(hours)
        for job, life in lives:
            end = life.end if life.end is not None else machine.end
            at_work = (hours * TICKS_PER_HOUR >= life.start) & (hours * TICKS_PER_HOUR < end)
            values[at_work] = _use(world, job, life, card, hours[at_work])
        cards.append(values)
    return Watched(machine=machine, hours=hours, values=cards, pod=pod)


def _use(world: World, job: Job, life: Life, card: int, hours: Ints) -> Ints:
    low, high = next((use for name, use in _USE.items() if job.name.startswith(name)), (0, 0))
    drawn = draw(world.bits("use", life.machine.node, job.job_id, str(card)), len(hours), low, high)
    if job.key.startswith("kubernetes:"):
        shape = np.array(DAY_SHAPE, dtype=np.int64)[hours % HOURS_PER_DAY]
        drawn = low + (drawn - low) * shape // max(DAY_SHAPE)
    if job.name == _STUCK_JOB:
        drawn[(hours >= _STUCK[0]) & (hours < _STUCK[1])] = card % 2
    return drawn


def cards(world: World, watched: list[Watched]) -> Iterator[str]:
    """Series of all cards; those of the cluster name the pod that has the card."""
    for found in watched:
        model = CARDS[found.machine.instance_type][3]
        for card, values in enumerate(found.values):
            labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": str(card), "UUID": f"GPU-{found.machine.node}-{card}",
                      "modelName": model, "Hostname": found.machine.node}  # fmt: skip
            if found.pod:
                namespace, _, pod = found.pod.partition("/")
                labels |= {"exported_namespace": namespace, "exported_pod": pod, "exported_container": "server"}
            yield series(world, labels, found.hours, values)


def use_of(watched: Watched, lives: list[Life]) -> tuple[Fraction, Fraction] | None:
    """Busy share of the watched time of some lives on a machine, and the watched share; None when nobody watched."""
    if len(watched.hours) < 2:
        return None
    gaps = np.diff(watched.hours, append=watched.hours[-1] + 1)
    ends = watched.hours + np.where(gaps > _GAP_HOURS, 1, gaps)
    total = sum((values for values in watched.values[1:]), watched.values[0])
    known = busy = held = 0
    for life in lives:
        if life.end is None:
            continue
        overlap = np.minimum(ends * TICKS_PER_HOUR, life.end) - np.maximum(watched.hours * TICKS_PER_HOUR, life.start)
        overlap = np.maximum(overlap, 0)
        known += int(overlap.sum())
        busy += int((overlap * total).sum())
        held += life.end - life.start
    if not known:
        return None
    return Fraction(busy, known * 100 * len(watched.values)), Fraction(known, held)
