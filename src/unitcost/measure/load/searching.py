"""The highest rate at which an endpoint keeps its latency target."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from unitcost.economics.quality.loads import LoadSummary, is_inside
from unitcost.economics.quality.tails import samples_needed
from unitcost.measure.load.driving import is_stopped

#: Two rates closer than this are one. [share]
_CLOSE = 0.05
#: Share of the first rate below which no more rates are tried: ten halvings.
_LEAST_SHARE = 2.0**-10
#: A run has so many more samples than a percentile needs.
_SPARE = 1.15
#: Share of the budget that the run at the first rate may take, where no rate is asked for.
_FIRST_SHARE = 1 / 6
INTERRUPTED = "interrupted: answers on their way are not counted"
#: Puts load of a rate on for a time, and sums it up: (rate, duration) -> summary.
Load = Callable[[float, float], Awaitable[LoadSummary]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is searched for.

    Parameters
    ----------
    percentile, share, limit_s
        The target: `p99`, 0.99 and its latency. [s]
    first_per_s
        Rate to begin with. [1/s]
    step_s
        Shortest run at one rate. [s]
    budget_s
        Time for all runs together; what is known then is the answer. [s]
    """

    percentile: str
    share: float
    limit_s: float
    first_per_s: float
    step_s: float
    budget_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search has found.

    Parameters
    ----------
    highest_per_s
        Highest rate seen inside the target, or None. [1/s]
    lowest_outside_per_s
        Lowest rate seen outside, or None when none was reached. [1/s]
    runs
        Rate and summary of each run, in order.
    why_stopped
        Why it stopped.
    """

    highest_per_s: float | None
    lowest_outside_per_s: float | None
    runs: tuple[tuple[float, LoadSummary], ...]
    why_stopped: str


async def search(load: Load, asked: Asked) -> Found:
    """Double the rate until the target is missed, then halve the gap until it is small.

    A run lasts long enough for its percentile to be proven. A rate that is outside once is run again: one hiccup of the
    machine is not the endpoint's limit. A run that does not count because the generator was late says nothing about the
    endpoint; twice so, and the search ends.
    """
    runs: list[tuple[float, LoadSummary]] = []
    inside: float | None = None
    outside: float | None = None
    rate, left_s = asked.first_per_s, asked.budget_s
    why = ""
    while not why and not _is_close(inside, outside):
        tried = await _try(load, rate, asked, left_s)
        runs += [(rate, found) for found in tried]
        left_s -= len(tried) * duration_s(rate, asked)
        why = _why_stop(tried, rate, asked, inside)
        if not why:
            passed = is_inside(tried[-1], asked.percentile, asked.limit_s)
            inside, outside = (rate, outside) if passed else (inside, rate)
            rate = _next(inside, outside)
    return Found(
        highest_per_s=inside, lowest_outside_per_s=outside, runs=tuple(runs),
        why_stopped=why or "the highest rate is known to 5 %",
    )  # fmt: skip


async def _try(load: Load, rate_per_s: float, asked: Asked, left_s: float) -> list[LoadSummary]:
    """Runs at one rate: none where there is no time, two where the first is outside."""
    took_s = duration_s(rate_per_s, asked)
    tried: list[LoadSummary] = []
    while len(tried) < 2 and (len(tried) + 1) * took_s <= left_s:
        tried.append(await load(rate_per_s, took_s))
        if is_stopped() or is_inside(tried[-1], asked.percentile, asked.limit_s):
            break
    return tried


def _why_stop(tried: Sequence[LoadSummary], rate_per_s: float, asked: Asked, inside: float | None) -> str:
    if not tried:
        took_s = duration_s(rate_per_s, asked)
        return f"the next run, {took_s:.0f} s at {rate_per_s:.4g}/s, would pass the budget of {asked.budget_s:.0f} s"
    if is_stopped():
        return INTERRUPTED
    if all(found.why_invalid for found in tried):
        return f"at {rate_per_s:.4g}/s {tried[-1].why_invalid}"
    if inside is None and rate_per_s <= asked.first_per_s * _LEAST_SHARE:
        return "no rate was inside the target"
    return ""


def duration_s(rate_per_s: float, asked: Asked) -> float:
    """How long a rate is run, warm-up left out. [s]."""
    return max(asked.step_s, samples_needed(asked.share, 1) * _SPARE / rate_per_s)


def first_rate(share: float, step_s: float, budget_s: float) -> float:
    """Rate to begin with where none is asked for. [1/s].

    The lowest rate whose run proves the percentile in a sixth of the budget: from a lower one the first run alone would pass
    the budget, from a much higher one a slow endpoint would stand in its own queue for half of it.

    Parameters
    ----------
    share
        Percentile of the target, such as 0.99.
    step_s, budget_s
        Shortest run, and time for all runs. [s]
    """
    return samples_needed(share, 1) * _SPARE / max(step_s, budget_s * _FIRST_SHARE)


def _is_close(inside: float | None, outside: float | None) -> bool:
    return inside is not None and outside is not None and outside / inside < 1 + _CLOSE


def _next(inside: float | None, outside: float | None) -> float:
    if inside is None:
        return (outside or 1.0) / 2
    return inside * 2 if outside is None else (inside * outside) ** 0.5
