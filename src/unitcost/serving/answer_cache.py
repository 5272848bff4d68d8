"""A cache of answers in front of replicas: what it answers never reaches them, so the rest is played again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from unitcost import money
from unitcost.economics.caching.lru import Lookup, replay
from unitcost.economics.caching.saving import CacheCosts, running_usd_per_month
from unitcost.serving.costs import unit_costs
from unitcost.serving.levers import again
from unitcost.serving.search import Search, Tried
from unitcost.serving.traces import Trace
from unitcost.units import HOURS_PER_MONTH, MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

_US_PER_HOUR = Decimal(SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND)
_US_PER_MONTH = Decimal(HOURS_PER_MONTH * SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCache:
    """A cache of exact answers.

    Parameters
    ----------
    entries
        Answers that it holds; the least recently used one goes first.
    ttl_s
        How long an answer may be used after it was computed. [s]
    costs
        Of lookups and storage; `usd_per_1k` is not looked at.
    """

    entries: int
    ttl_s: float
    costs: CacheCosts


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPlan:
    """A plan with a cache of answers in front.

    Parameters
    ----------
    tried
        The fewest replicas for what the cache does not answer; its cost has the cache in it, its unit costs are over all
        requests, those of the cache too.
    requests, known, hits
        All requests, those whose key is known, and those that were answered from the cache.
    stored
        Answers that it held at the end.
    cache_usd_per_month, net_usd_per_month
        What the cache costs itself; what the plan without it costs more, below zero when it costs less. [USD / month]
    """

    tried: Tried
    requests: int
    known: int
    hits: int
    stored: int
    cache_usd_per_month: Decimal
    net_usd_per_month: Decimal

    @property
    def hit_share(self) -> float:
        """Answers from the cache over all requests."""
        return self.hits / self.requests


def with_answer_cache(run: Search, base: Tried, cache: AnswerCache) -> CachedPlan:
    """Play what a cache of answers leaves over, with the fewest replicas that keep the targets.

    A request without a key is always computed. A hit takes no time here; the targets are those of what is computed.
    """
    trace = run.trace
    hit = hits_of(trace, cache)
    rest = again(run, trace=trace.only(~hit))
    found = rest.fewest(base.option, start=base.replicas) or rest.play(base.option, base.replicas)
    known = trace.keys >= 0
    stored = min(cache.entries, len(np.unique(trace.keys[known])))
    months = money.divide(Decimal(round(base.outcome.end_s * MICROSECONDS_PER_SECOND)), _US_PER_MONTH)
    looked_up = int(known.sum())
    per_month = running_usd_per_month(
        cache.costs, entries=stored, requests_per_month=money.divide(Decimal(looked_up), months)
    )
    tried = _over_all(found, base, trace, per_month)
    planned, now = base.units.per_month or money.ZERO, tried.units.per_month or money.ZERO
    return CachedPlan(
        tried=tried, requests=len(trace), known=looked_up, hits=int(hit.sum()), stored=stored, cache_usd_per_month=per_month,
        net_usd_per_month=money.subtract(planned, now),
    )  # fmt: skip


def hits_of(trace: Trace, cache: AnswerCache) -> NDArray[np.bool_]:
    """Requests that a cache answers, in the order of the trace."""
    hit = np.zeros(len(trace), np.bool_)
    places = np.flatnonzero(trace.keys >= 0)
    lookups = [Lookup(at_s=float(trace.arrival_s[i]), key=int(trace.keys[i])) for i in places]
    hit[places] = replay(lookups, cache.entries, cache.ttl_s)
    return hit


def _over_all(found: Tried, base: Tried, trace: Trace, cache_usd_per_month: Decimal) -> Tried:
    """Cost with the cache, for as long as the plan without it ran, over the tokens and requests of the whole trace.

    The work that is answered is the same; a run without the hits ends a little sooner, which is no saving.
    """
    us = Decimal(round(base.outcome.end_s * MICROSECONDS_PER_SECOND))
    replicas = money.divide(money.multiply(found.usd_per_hour, us), _US_PER_HOUR)
    usd = money.add([replicas, money.divide(money.multiply(cache_usd_per_month, us), _US_PER_MONTH)])
    missed = found.outcome.requests - found.outcome.answered
    outcome = replace(
        found.outcome, input_tokens=int(trace.input_tokens.sum()), output_tokens=int(trace.output_tokens.sum()),
        answered=len(trace) - missed, end_s=base.outcome.end_s,
    )  # fmt: skip
    return replace(found, cost=replace(found.cost, usd=usd), units=unit_costs(usd, outcome))
