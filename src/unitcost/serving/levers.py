"""What each lever changes: the same traffic played again with one thing different. Every answer is a run of the simulator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from unitcost.errors import BadSetting
from unitcost.serving.costs import Rates
from unitcost.serving.fleet import Autoscaler, CapacityEvent, ColdStart, Engine, Fleet, ScaleToZero
from unitcost.serving.search import Limits, Option, Search, Tried
from unitcost.serving.traces import Trace

#: Batches that a static scheduler is tried with.
_STATIC_BATCHES = (2, 4, 8, 16, 32, 64, 128)
#: Unanswered requests a replica should have, and parts of the fixed fleet kept at least, that are tried.
_IN_FLIGHT = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_LEAST_SHARES = (0.25, 0.5, 0.75)
#: How often an autoscaler looks, and for how long it remembers. [s]
_LOOK_S, _REMEMBER_S = 5.0, 300.0
_IDLE_S = (30.0, 120.0, 600.0)
#: How long lost capacity stays away. [s]
AWAY_S = 600.0


def with_engine(run: Search, base: Tried, engine: Engine, name: str) -> Tried:
    """The fewest replicas with another engine; where none keep the targets, as many as the base has."""
    option = replace(base.option, engine=engine, name=f"{base.option.family}, {name}", variant_of=base.option.family)
    return run.fewest(option, start=base.replicas) or run.play(option, base.replicas)


def static_batching(run: Search, base: Tried) -> Tried:
    """Batches that enter and leave together: the best of several sizes."""
    sizes = [size for size in _STATIC_BATCHES if size <= base.option.grid.max_batch] or [1]
    found = [
        with_engine(
            run,
            base,
            Engine(scheduler="static", max_batch=size, prefix_caching=base.option.engine.prefix_caching),
            f"static batches of {size}",
        )
        for size in sizes
    ]
    return best_of(found)


def whole_prompts(run: Search, base: Tried) -> Tried:
    """Prompts in one step each, not in chunks."""
    engine = replace(base.option.engine, scheduler="whole prompt", max_step_tokens=Engine().max_step_tokens)
    return with_engine(run, base, engine, "whole prompts")


def prompt_cache(run: Search, base: Tried, *, on: bool) -> Tried:
    """With and without the prefix cache."""
    name = f"{_limits_of(base.option)}prompt cache {'on' if on else 'off'}"
    return with_engine(run, base, replace(base.option.engine, prefix_caching=on), name)


def _limits_of(option: Option) -> str:
    """What tells a variant from the option that it is one of, to be followed by more."""
    return option.name.removeprefix(f"{option.family}, ") + ", " if option.variant_of else ""


def best_of(found: Sequence[Tried]) -> Tried:
    """The cheapest that keeps the targets; where none does, the one with the most requests inside them."""
    kept = [tried for tried in found if not tried.misses]
    if kept:
        return min(kept, key=lambda tried: tried.cost.usd)
    return max(found, key=lambda tried: tried.outcome.good_share)


def shorter(trace: Trace, share: float) -> Trace:
    """The trace with prompts cut at their end to a share of their tokens; answers stay.

    Parameters
    ----------
    share
        What is kept, above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise BadSetting(f"prompts cannot be cut to {share:g} of themselves", mend="give a share above 0, at most 1")
    inputs = np.maximum(np.rint(trace.input_tokens * share), 1).astype(np.int64)
    if not trace.hash_tokens:
        return replace(trace, input_tokens=inputs)
    counts = np.diff(trace.hash_from)
    kept = np.minimum(counts, -(-inputs // trace.hash_tokens))
    starts = trace.hash_from[:-1]
    picked = [trace.hashes[start : start + size] for start, size in zip(starts, kept, strict=True)]
    hashes = np.concatenate(picked) if picked else trace.hashes
    return replace(
        trace, input_tokens=inputs, hashes=hashes, hash_from=np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    )  # fmt: skip


def again(run: Search, *, trace: Trace | None = None, limits: Limits | None = None) -> Search:
    """A search with other requests or other targets, and the rest as it was."""
    return Search(
        run.trace if trace is None else trace, limits or run.limits, most_replicas=run.most_replicas, seed=run.seed,
        on_run=run.on_run, on_compile=run.on_compile,
    )  # fmt: skip


def scaled(limits: Limits, times: float) -> Limits:
    """Targets so many times as loose."""
    ttft, tpot, e2e = (
        None if limit is None else limit * times for limit in (limits.ttft_p95_s, limits.tpot_p95_s, limits.e2e_p95_s)
    )  # fmt: skip
    return Limits(ttft_p95_s=ttft, tpot_p95_s=tpot, e2e_p95_s=e2e)


def cheapest(run: Search, options: Sequence[Option], *, start: int = 1) -> Tried | None:
    """Cheapest of options with the fewest replicas that keep the targets; None when none does."""
    found = [tried for option in options if (tried := run.fewest(option, start=start)) is not None]
    return min(found, key=lambda tried: (tried.cost.usd, tried.option.name), default=None)


def autoscaled(run: Search, base: Tried, cold: ColdStart, *, warm_pool: int = 0) -> Tried:
    """Replicas by load: the best of several targets and least numbers.

    Parameters
    ----------
    warm_pool
        Replicas kept in standby, paid like ready ones.
    """
    most = base.replicas + max(1, base.replicas // 2) + warm_pool
    found = []
    for share in _LEAST_SHARES:
        least = max(1, math.ceil(base.replicas * share))
        for in_flight in _IN_FLIGHT:
            scaler = Autoscaler(target_in_flight=in_flight, interval_s=_LOOK_S, stabilisation_s=_REMEMBER_S)
            fleet = Fleet(
                grid=base.option.grid, engine=base.option.engine, places={"on-demand": most}, minimum=least,
                warm_pool=warm_pool, cold_start=cold, autoscaler=scaler,
            )  # fmt: skip
            found.append(run.play_fleet(base.option, fleet, base.replicas, run.trace))
    return best_of(found)


def scale_to_zero(run: Search, base: Tried, cold: ColdStart) -> Tried:
    """No replica while nobody asks: the best of several timeouts."""
    found = [
        run.play_fleet(
            base.option,
            Fleet(
                grid=base.option.grid, engine=base.option.engine, places={"on-demand": base.replicas},
                initial=base.replicas, cold_start=cold, scale_to_zero=ScaleToZero(idle_timeout_s=idle_s),
            ),
            base.replicas, run.trace,
        )
        for idle_s in _IDLE_S
    ]  # fmt: skip
    return best_of(found)


def spot_with_redundancy(run: Search, base: Tried, usd_per_replica_hour: Decimal, cold: ColdStart) -> Tried | None:
    """The fewest spot replicas at which losing any one at the busiest moment misses no target; None when twice as many do not.

    Notes
    -----
    Each place is lost in a run of its own, without notice, and comes back `AWAY_S` later after a cold start. Latencies are
    those of the worst such run; the cost is that of all replicas staying, for what is lost is not paid.
    """
    option = replace(base.option, usd_per_replica_hour=usd_per_replica_hour)
    rates = Rates(usd_per_hour={"spot": usd_per_replica_hour})
    for replicas in range(max(base.replicas, 2), 2 * base.replicas + 2):
        calm = Fleet(
            grid=option.grid, engine=option.engine, places={"spot": replicas}, cold_start=cold, initial=replicas
        )  # fmt: skip
        worst = _worst_loss(run, option, calm, rates)
        if not worst.misses:
            whole = run.play_priced(option, calm, rates, replicas=replicas)
            return replace(worst, cost=whole.cost, units=whole.units)
    return None


def _worst_loss(run: Search, option: Option, fleet: Fleet, rates: Rates) -> Tried:
    """The run with the fewest requests inside the targets, of those in which one place each is lost; the first that misses one."""
    at_s, replicas = busiest_moment_s(run.trace), len(fleet.categories)
    worst: Tried | None = None
    for place in range(replicas):
        lost = (
            CapacityEvent(at_s=at_s, replica=place, change="kill"),
            CapacityEvent(at_s=at_s + AWAY_S, replica=place, change="back"),
        )
        one = run.play_priced(option, replace(fleet, events=lost), rates, replicas=replicas)
        if one.misses:
            return one
        if worst is None or one.outcome.good_share < worst.outcome.good_share:
            worst = one
    assert worst is not None  # a fleet has a place
    return worst


def busiest_moment_s(trace: Trace, *, span_s: float = 10.0) -> float:
    """End of the span in which most tokens came. [s]."""
    tokens = np.cumsum(trace.input_tokens + trace.output_tokens)
    before = np.searchsorted(trace.arrival_s, trace.arrival_s - span_s, side="left")
    came = tokens - np.where(before > 0, tokens[np.maximum(before - 1, 0)], 0)
    return float(trace.arrival_s[int(np.argmax(came))])
