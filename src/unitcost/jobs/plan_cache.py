"""Plan whether preprocessed data is kept: hours, storage and movement at the prices of the book."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.economics.tiers import tier_parts
from unitcost.errors import BadSetting, NoPrice
from unitcost.facts.estimates import Estimate, exactly
from unitcost.facts.prices import PriceRecord
from unitcost.jobs.prices import moment, open_book
from unitcost.jobs.workspace import Workspace
from unitcost.prices import Wanted
from unitcost.training.caching import CacheAnswer, CacheAsk, Order, hit_share, plan_cache

#: Where nothing else is said.
_PROVIDER, _REGION = "aws", "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlanAsk:
    """What is asked.

    Parameters
    ----------
    ask
        Hours and passes; what keeping costs is added here.
    data_gb, months, moved_gb
        Size of what is kept and for how long; how much is moved to another region.
    provider, region
        Whose prices.
    local_gb, order
        Size of a cache that drops the least recently used, and the order of passes; 0 = all fits.
    """

    ask: CacheAsk
    data_gb: float = 0.0
    months: float = 1.0
    moved_gb: float = 0.0
    provider: str = _PROVIDER
    region: str = _REGION
    local_gb: float = 0.0
    order: Order = "shuffled"

    def __post_init__(self) -> None:
        sizes = (self.data_gb, self.months, self.moved_gb, self.local_gb)
        if not all(math.isfinite(size) and size >= 0 for size in sizes):
            raise BadSetting("a size or a number of months is negative", mend="give values of zero or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """Answer.

    Parameters
    ----------
    saved_usd
        What caching saves over all passes, with the formula; the times are taken as given. [USD]
    hit_share
        Share of a later pass that a local cache serves; None = not asked.
    storage_usd, egress_usd
        Keeping and moving. [USD]
    sources
        Where their prices come from.
    break_even
        Passes and what is saved with so many. [USD]
    """

    asked: CachePlanAsk
    answer: CacheAnswer
    saved_usd: Estimate
    hit_share: float | None
    storage_usd: Decimal
    egress_usd: Decimal
    sources: tuple[str, ...]
    break_even: tuple[tuple[int, float], ...]


def plan_caching(asked: CachePlanAsk, workspace: Workspace) -> CachePlan:
    """Whether a cache pays, prices of storage and movement included.

    Raises
    ------
    NoPrice
        When the book has no price for the storage or movement that is asked for.
    """
    storage_usd, storage_source = _priced(asked, workspace, "storage", asked.data_gb, times=asked.months)
    egress_usd, egress_source = _priced(asked, workspace, "transfer", asked.moved_gb)
    hits = hit_share(asked.local_gb, asked.data_gb, asked.order) if asked.local_gb and asked.data_gb else None
    ask = replace(asked.ask, keeping_usd=asked.ask.keeping_usd + float(storage_usd) + float(egress_usd))
    if hits is not None:  # what the local cache misses is preprocessed again
        mixed = hits * ask.cached_hours + (1 - hits) * ask.on_the_fly_hours
        ask = replace(ask, cached_hours=mixed)
    answer = plan_cache(ask)
    passes = sorted(
        {1, 2, 3, 5, 10, 20, 50, answer.passes, *([answer.break_even_passes] if answer.break_even_passes else [])}
    )
    curve = tuple((n, plan_cache(replace(ask, epochs=n, runs=1)).saves_usd) for n in passes)
    sources = tuple(source for source in (storage_source, egress_source) if source)
    saved_usd = exactly(
        answer.saves_usd, "quoted" if sources else "assumed",
        "passes x (on the fly - cached) - filling - keeping and moving, of the times that were given",
    )  # fmt: skip
    return CachePlan(
        asked=asked, answer=answer, saved_usd=saved_usd, hit_share=hits, storage_usd=storage_usd, egress_usd=egress_usd, sources=sources,
        break_even=curve,
    )  # fmt: skip


def _priced(
    asked: CachePlanAsk, workspace: Workspace, kind: str, quantity_gb: float, *, times: float = 1.0
) -> tuple[Decimal, str]:
    """Cost of a quantity by the tiers of the book, each tier pricing what lies inside it, and the source."""
    if not quantity_gb:
        return money.ZERO, ""
    meters = {"storage": "object_storage", "transfer": "inter_region"}
    wanted = Wanted(kind=kind, provider=asked.provider, region=asked.region)
    found = open_book(workspace).in_force(wanted, moment("", workspace))
    records = [item.record for item in found if item.record.meter == meters[kind] and item.record.currency == "USD"]
    record = min(records, key=_preference, default=None)
    if record is None:
        raise NoPrice(
            f"the book has no {kind} price of {asked.provider} in {asked.region}", where=meters[kind],
            mend="name another --provider and --region, or give your own price under [prices]",
        )  # fmt: skip
    quantity = Decimal(repr(float(quantity_gb)))
    usd = money.add(part.amount for part in tier_parts(quantity, record.tiers, mode=record.mode, per=record.per))
    name = f"{record.sku} {record.region}{' to ' + record.destination if record.destination else ''}: {record.source}"
    return money.multiply(usd, Decimal(repr(float(times)))), name


#: Words in names of storage that is cheap to keep and dear to read.
_COLD = ("ia", "infrequent", "glacier", "archive", "deep", "cool", "cold", "coldline", "nearline")


def _preference(record: PriceRecord) -> tuple[bool, bool, Decimal]:
    """Storage for daily reading before cold classes, any other region before a named one, then the cheapest."""
    words = record.sku.casefold().replace("-", " ").split()
    named = record.destination not in {"", "other regions", "same continent"}
    return (any(word in _COLD for word in words), named, record.tiers[0].price)
