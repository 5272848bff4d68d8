"""What a cache of predictions saves, after what it costs itself."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.economics.quality.totals import exact
from unitcost.units import GB, PER_THOUSAND


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCosts:
    """Prices of a cache.

    Parameters
    ----------
    usd_per_1k
        What a thousand predictions cost without it. [USD]
    lookup_usd_per_1k
        What a thousand lookups cost; every request pays one. [USD]
    usd_per_gb_month
        Storage. [USD/GB-month]
    entry_bytes
        Size of an entry with its key. [bytes]
    error_cost_usd
        What a wrong answer costs the business; zero when it is not told. [USD]
    """

    usd_per_1k: Decimal
    lookup_usd_per_1k: Decimal = money.ZERO
    usd_per_gb_month: Decimal = money.ZERO
    entry_bytes: int = 0
    error_cost_usd: Decimal = money.ZERO


def storage_usd_per_month(costs: CacheCosts, entries: int) -> Decimal:
    """Storage of so many entries. [USD / month]."""
    return money.divide(money.multiply(costs.usd_per_gb_month, Decimal(costs.entry_bytes * entries)), Decimal(GB))


def running_usd_per_month(costs: CacheCosts, *, entries: int, requests_per_month: Decimal) -> Decimal:
    """What a cache costs itself: a lookup for each request, and storage. [USD / month]."""
    lookups = money.divide(money.multiply(costs.lookup_usd_per_1k, requests_per_month), PER_THOUSAND)
    return money.add([lookups, storage_usd_per_month(costs, entries)])


def net_saving_usd_per_1k(
    costs: CacheCosts, hit_share: float, *, entries: int, requests_per_month: float, changed_share: float = 0.0
) -> Decimal:
    """Saving of a thousand requests; negative where the cache costs more than it saves. [USD].

    Parameters
    ----------
    hit_share
        Share of the requests that hit.
    entries
        Entries that are kept.
    requests_per_month
        Traffic that shares the storage.
    changed_share
        Share of all requests that get another answer than the model would give.

    Notes
    -----
    ``hit_share * usd_per_1k - lookup - storage per month / requests per month * 1000 - 1000 * changed_share * error_cost``
    """
    saved = money.multiply(costs.usd_per_1k, exact(hit_share))
    stored_usd = storage_usd_per_month(costs, entries)
    per_1k = money.divide(money.multiply(stored_usd, PER_THOUSAND), exact(requests_per_month))
    wrong = money.multiply(money.multiply(PER_THOUSAND, exact(changed_share)), costs.error_cost_usd)
    return money.subtract(saved, money.add([costs.lookup_usd_per_1k, per_1k, wrong]))
