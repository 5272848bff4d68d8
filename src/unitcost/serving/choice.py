"""Which measured option serves a load at the lowest cost, at fixed quality and inside the latency target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.units import PER_MILLION, SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOption:
    """An option at one load.

    Parameters
    ----------
    name
        Model, precision and machine.
    usd_per_hour
        Of all that it runs on. [USD / hour]
    tokens_per_s
        What it delivers at this load.
    p95_s
        95th percentile of the latency that the target is about. [s]
    quality
        Measured quality; None when nobody measured it.
    """

    name: str
    usd_per_hour: Decimal
    tokens_per_s: Decimal
    p95_s: float
    quality: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """An option that does not take part, by which rule (`p95`, `quality`, `quality unknown`), in words."""

    name: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The cheapest option that keeps the targets; None when none does."""

    option: ServingOption | None
    usd_per_mtok: dict[str, Decimal]
    ruled_out: tuple[RuledOut, ...]


def usd_per_mtok(option: ServingOption) -> Decimal:
    """Cost per million tokens: ``usd_per_hour / (tokens_per_s * 3600) * 10^6``. [USD]."""
    hourly = money.multiply(option.tokens_per_s, Decimal(SECONDS_PER_HOUR))
    return money.divide(money.multiply(option.usd_per_hour, PER_MILLION), hourly)


def choose(
    options: Sequence[ServingOption], *, p95_at_most_s: float | None, quality_at_least: Decimal | None
) -> Choice:
    """Cheapest of options at the same load.

    Parameters
    ----------
    quality_at_least
        The bar. With a bar an option of unknown quality needs a check first and does not take part.
    """
    ruled_out = [found for option in options if (found := _ruled_out(option, p95_at_most_s, quality_at_least))]
    costs = {option.name: usd_per_mtok(option) for option in options if option.tokens_per_s > 0}
    names = {found.name for found in ruled_out}
    fit = [option for option in options if option.name not in names and option.name in costs]
    best = min(fit, key=lambda option: (costs[option.name], option.name), default=None)
    return Choice(option=best, usd_per_mtok=costs, ruled_out=tuple(ruled_out))


def _ruled_out(option: ServingOption, p95_s: float | None, bar: Decimal | None) -> RuledOut | None:
    if p95_s is not None and option.p95_s > p95_s:
        return RuledOut(name=option.name, rule="p95", reason=f"p95 {option.p95_s:g} s is above {p95_s:g} s")
    if bar is None:
        return None
    if option.quality is None:
        return RuledOut(name=option.name, rule="quality unknown", reason="needs a quality check")
    if option.quality < bar:
        reason = f"quality {money.text(option.quality)} is below the bar {money.text(bar)}"
        return RuledOut(name=option.name, rule="quality", reason=reason)
    return None
