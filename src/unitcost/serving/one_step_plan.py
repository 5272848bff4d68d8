"""Models that answer in one step: batch sizes, and fleets that sleep, played on one trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.machine.steps import StepGrid
from unitcost.serving.costs import Rates
from unitcost.serving.fleet import ColdStart, Fleet, ScaleToZero, State
from unitcost.serving.idle_gaps import ColdStartPrice
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
        `always ready`, `scale to zero`, `warm pool of n`, `prediction cache`.
    other_usd
        What it costs besides its replicas: slow answers, a cache. [USD]
    remark
        What to know about it.
    """

    name: str
    tried: Tried
    other_usd: Decimal = money.ZERO
    remark: str = ""

    @property
    def usd(self) -> Decimal:
        """All of it, over the trace. [USD]."""
        return money.add([self.tried.cost.usd, self.other_usd])


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
    run: Search, base: Tried, cold: ColdStart, *, idle_s: Sequence[float], standby_usd_per_hour: Decimal,
    price: ColdStartPrice,
) -> list[Way]:  # fmt: skip
    """The fleet of `base`, stopped when nobody asks: to nothing, and to a warm pool.

    Parameters
    ----------
    idle_s
        Times without a request after which it stops, all tried. [s]
    standby_usd_per_hour
        Of a replica in the warm pool. [USD / hour]
    price
        Whether a start is paid, and what the answer costs besides that waits for it.
    """
    starting: tuple[State, ...] = ("loading",) if price.start_billed else ()
    paid: frozenset[State] = frozenset(("standby", "ready", "draining", *starting))
    rates = Rates(
        usd_per_hour={"on-demand": base.option.usd_per_replica_hour}, standby_usd_per_hour=standby_usd_per_hour, paid=paid
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
            starts = sum(interval.state == "loading" for interval in tried.outcome.intervals)
            slow_usd = money.multiply(Decimal(starts), price.usd_per_slow_answer)
            found.append(Way(name=f"warm pool of {pool}" if pool else "scale to zero", tried=tried, other_usd=slow_usd))
    return found


def cheapest_way(ways: Sequence[Way]) -> Way | None:
    """Cheapest way that keeps the targets, the simpler one first among equals; None when none does."""
    kept = [way for way in ways if not way.tried.misses]
    return min(kept, key=lambda way: way.usd, default=None)
