"""Timing several subjects in turns, so that what the machine does meanwhile happens to all of them.

On a shared machine absolute speed drifts by 1.4 within minutes; ratios of subjects that take turns by about 1.15.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from unitcost.measure.reasons import reason

#: How long a subject runs in one turn. [s]
TURN_S = 0.05
#: Calls before anything is counted.
WARM_UP_CALLS = 3
LEAST_ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Clocks of time and of processor time of this process. [s]."""

    time_s: Callable[[], float] = time.perf_counter
    cpu_s: Callable[[], float] = time.process_time


@dataclass(slots=True)
class Timed:
    """What was timed of one subject.

    Parameters
    ----------
    rounds
        Latencies of each turn. [s]
    cpu_s
        Processor time of all counted calls. [s]
    failure
        Why it stopped; empty when it did not.
    """

    rounds: list[list[float]] = field(default_factory=list)
    cpu_s: float = 0.0
    failure: str = ""

    @property
    def latencies_s(self) -> list[float]:
        """All latencies. [s]."""
        return [latency for turn in self.rounds for latency in turn]


def take_turns(
    subjects: Mapping[str, Callable[[], object]], *, time_s: float, samples: int, clocks: Clocks | None = None,
    done: Callable[[Mapping[str, Timed]], None] = lambda _: None,
) -> dict[str, Timed]:  # fmt: skip
    """Time subjects in rounds; each round begins with another subject.

    Parameters
    ----------
    time_s
        Time for all of it. [s]
    samples
        Calls after which a subject has enough; it goes on as long as another has not.
    done
        Is given what was timed so far, after each round.

    Notes
    -----
    A subject that raises stops with its reason; the others go on. At least five rounds are made, so that a range can be told.
    """
    clocks = clocks or Clocks()
    timed = {name: Timed() for name in subjects}
    for name, call in subjects.items():
        _guarded(timed[name], partial(_warm_up, call))
    names, end_s, turn = list(subjects), clocks.time_s() + time_s, 0
    gc.collect()
    while turn < LEAST_ROUNDS or (clocks.time_s() < end_s and _is_short(timed, samples)):
        first = turn % max(1, len(names))
        for name in [*names[first:], *names[:first]]:
            if not timed[name].failure:
                _guarded(timed[name], partial(_turn, timed[name], subjects[name], clocks))
        turn += 1
        done(timed)
    return timed


def _is_short(timed: Mapping[str, Timed], samples: int) -> bool:
    return any(sum(map(len, found.rounds)) < samples for found in timed.values() if not found.failure)


def _warm_up(call: Callable[[], object]) -> None:
    for _ in range(WARM_UP_CALLS):
        call()


def _turn(found: Timed, call: Callable[[], object], clocks: Clocks) -> None:
    turn: list[float] = []
    cpu_s, begun_s = clocks.cpu_s(), clocks.time_s()
    last_s = begun_s
    while not turn or last_s - begun_s < TURN_S:
        call()
        now_s = clocks.time_s()
        turn.append(now_s - last_s)
        last_s = now_s
    found.cpu_s += clocks.cpu_s() - cpu_s
    found.rounds.append(turn)


def _guarded(found: Timed, work: Callable[[], object]) -> None:
    """Do work; what a runtime raises is the outcome of this subject, not of the bench."""
    try:
        work()
    except Exception as error:  # a runtime may raise anything
        found.failure = reason(error)


def medians(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Median of each round. [s]."""
    return [sorted(turn)[len(turn) // 2] for turn in rounds]
