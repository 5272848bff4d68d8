"""An option behind a cache of predictions: what it costs and keeps, out of what the cache did on a log."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from unitcost import money
from unitcost.economics.quality.totals import exact
from unitcost.facts.options import Option
from unitcost.facts.qualities import CacheHits
from unitcost.money import ZERO


def behind_cache(option: Option, hits: CacheHits, *, lookup_usd_per_unit: Decimal = ZERO) -> Option:
    """The option with a cache in front.

    A replica, or an API, answers the misses only: the price of a prediction falls, the rate of a replica rises. Latencies
    are kept: those of misses, which no hit exceeds unless the lookup is slower than the model.

    Parameters
    ----------
    lookup_usd_per_unit
        What looking up one request costs. [USD]
    """
    asked = 1 - hits.hits / hits.requests
    price = option.usd_per_unit
    way = ", equal" if hits.threshold is None else f" {hits.threshold:g}"
    return replace(
        option, name=f"{option.name} + cache{way}", fronts=option.name, cache=hits, added_usd_per_unit=lookup_usd_per_unit,
        usd_per_unit=None if price is None else money.multiply(price, exact(asked)),
        per_s=option.per_s / asked if option.per_s and asked else option.per_s,
        quality=quality_behind(option.quality, hits),
    )  # fmt: skip


def quality_behind(quality: float | None, hits: CacheHits) -> float | None:
    """Share of right answers behind a cache, if each answer that it changes was right and is wrong now."""
    return None if quality is None else float(round(max(0.0, quality - hits.changed / hits.requests), 12))
