"""Whether preprocessed data is worth keeping.

A pass over the data costs F when it is preprocessed on the fly, H when it is read from a cache, and filling the cache costs O
once. Caching pays when ``passes * (F - H) > O``, passes = epochs x runs that share the cache.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from unitcost.errors import BadSetting

#: How a pass goes through the data: always in one order, in a new random order each time, or in any order with a part of it
#: pinned in the cache.
Order = Literal["fixed", "shuffled", "pinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAsk:
    """What caching costs and saves, in hours of the whole job.

    Parameters
    ----------
    on_the_fly_hours, cached_hours
        One pass with preprocessing, and one from the cache. [h]
    one_off_hours
        Filling the cache. [h]
    epochs, runs
        Passes of a run, and runs that share the cache.
    usd_per_hour
        What an hour of the job costs. [USD / hour]
    keeping_usd
        Storing the cache for as long as it is used, and moving it. [USD]
    random_before
        Whether random augmentation comes before the point at which data is kept.
    """

    on_the_fly_hours: float
    cached_hours: float
    one_off_hours: float
    epochs: int = 1
    runs: int = 1
    usd_per_hour: float = 1.0
    keeping_usd: float = 0.0
    random_before: bool = False

    def __post_init__(self) -> None:
        values = (self.on_the_fly_hours, self.cached_hours, self.one_off_hours, self.usd_per_hour, self.keeping_usd)
        if not all(math.isfinite(value) and value >= 0 for value in values) or min(self.epochs, self.runs) < 1:
            raise BadSetting("hours or prices are negative, or there is no pass", mend="give values of zero or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAnswer:
    """Whether caching pays.

    Parameters
    ----------
    saves_usd
        Over all passes, keeping included; negative when it costs more. [USD]
    break_even_passes
        Fewest passes with which it pays; None = never.
    reason
        In words.
    """

    worth_it: bool
    passes: int
    saves_usd: float
    break_even_passes: int | None
    reason: str
    warnings: tuple[str, ...] = ()


def plan_cache(ask: CacheAsk) -> CacheAnswer:
    """Whether caching pays, and from how many passes on."""
    passes = ask.epochs * ask.runs
    each_usd = (ask.on_the_fly_hours - ask.cached_hours) * ask.usd_per_hour
    once_usd = ask.one_off_hours * ask.usd_per_hour + ask.keeping_usd
    saves_usd = passes * each_usd - once_usd
    fewest = None if each_usd <= 0 else math.floor(once_usd / each_usd + 1e-9) + 1
    worth_it = saves_usd > 1e-9 and not ask.random_before
    warnings: tuple[str, ...] = ()
    if ask.random_before:
        warnings = (
            "random augmentation comes before the cut: a cache would repeat the same random choices in each pass; cut"
            " before it",
        )
    return CacheAnswer(
        worth_it=worth_it, passes=passes, saves_usd=saves_usd, break_even_passes=fewest,
        reason=_reason(ask, passes, fewest), warnings=warnings,
    )  # fmt: skip


def _reason(ask: CacheAsk, passes: int, fewest: int | None) -> str:
    if ask.random_before:
        return "the cache would not hold what training needs"
    if fewest is None:
        return "reading the cache takes no less than preprocessing on the fly"
    verdict = "enough" if passes >= fewest else "too few"
    return f"{passes} passes are {verdict}: it pays from {fewest} on"


def hit_share(cache_gb: float, data_gb: float, order: Order) -> float:
    """Share of a later pass that a cache of a given size serves, from 0 to 1.

    Notes
    -----
    A cache that drops what was least recently used and holds a share c < 1 of the data: in a fixed order each item is dropped
    just before it is wanted again, so nothing is hit, all or nothing. In a new random order each pass an item at the shares u and
    v of two passes meets ``1 - u (1 - v)`` of the data in between, so ``c + (1 - c) ln(1 - c)`` is hit. A part that is pinned is
    hit as a whole: c.
    """
    if cache_gb < 0 or data_gb <= 0 or not math.isfinite(cache_gb + data_gb):
        raise BadSetting(f"a cache of {cache_gb:g} GB for {data_gb:g} GB cannot be", mend="give sizes above zero")
    share = min(cache_gb / data_gb, 1.0)
    if share >= 1:
        return 1.0
    if order == "pinned":
        return share
    return 0.0 if order == "fixed" else share + (1 - share) * math.log1p(-share)
