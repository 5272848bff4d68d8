"""Models that answer in one step: batch sizes, and fleets that sleep, played on one trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost.machine.steps import StepGrid
from unitcost.serving.costs import Rates
from unitcost.serving.fleet import ColdStart, Fleet, ScaleToZero
from unitcost.serving.latency_table import dynamic_batching
from unitcost.serving.search import Option, Search, Tried

#: How many replicas a warm pool may hold.
_POOLS = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to run a model, played.

    Parameters
    ----------
    name
        `always ready`, `scale to zero` or `warm pool of n`.
    """

    name: str
    tried: Tried


def batch_options(name: str, grid: StepGrid, usd_per_hour: Decimal, *, max_delay_s: float) -> list[Option]:
    """An option for each batch size up to the largest that was measured: powers of two, and that one."""
    sizes, size = [], 1
    while size < grid.max_batch:
        sizes.append(size)
        size *= 2
    return [
        Option(
            name=f"{name}, batches of {most}", grid=grid, usd_per_replica_hour=usd_per_hour,
            engine=dynamic_batching(most, max_delay_s=max_delay_s if most > 1 else 0.0),
        )
        for most in (*sizes, grid.max_batch)
    ]  # fmt: skip


def asleep(
    run: Search, base: Tried, cold: ColdStart, *, idle_s: Sequence[float], standby_usd_per_hour: Decimal
) -> list[Way]:
    """The fleet of `base`, stopped when nobody asks: to nothing, and to a warm pool.

    Parameters
    ----------
    idle_s
        Times without a request after which it stops, all tried. [s]
    standby_usd_per_hour
        Of a replica in the warm pool. [USD / hour]
    """
    rates = Rates(
        usd_per_hour={"on-demand": base.option.usd_per_replica_hour}, standby_usd_per_hour=standby_usd_per_hour
    )  # fmt: skip
    found = []
    for idle in idle_s:
        for pool in (0, *(size for size in _POOLS if size <= max(1, base.replicas))):
            fleet = Fleet(
                grid=base.option.grid, engine=base.option.engine, places={"on-demand": base.replicas + pool}, minimum=0,
                initial=0, warm_pool=pool, cold_start=cold, scale_to_zero=ScaleToZero(idle_timeout_s=idle),
            )  # fmt: skip
            option = replace(base.option, name=f"{base.option.name}, stops after {idle:g} s")
            tried = run.play_priced(option, fleet, rates, replicas=base.replicas)
            found.append(Way(name=f"warm pool of {pool}" if pool else "scale to zero", tried=tried))
    return found


def cheapest_way(ways: Sequence[Way]) -> Way | None:
    """Cheapest way that keeps the targets, the simpler one first among equals; None when none does."""
    kept = [way for way in ways if not way.tried.misses]
    return min(kept, key=lambda way: way.tried.cost.usd, default=None)
