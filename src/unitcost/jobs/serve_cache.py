"""A prediction cache on a serving plan: what it is asked with, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from unitcost.economics.caching.saving import CacheCosts
from unitcost.jobs.plan_words import usd
from unitcost.serving.answer_cache import AnswerCache, CachedPlan
from unitcost.serving.traces import Trace
from unitcost.units import KIB, SECONDS_PER_HOUR

NO_KEYS = "the trace does not say which requests are equal: give a column `key` or `text`, or hashes of whole prompts (hash_ids)"
#: What an exact hit can still be wrong about.
CAVEAT = "exact keys only: right as long as equal questions have equal answers; near-duplicates and wrong hits: measure cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTerms:
    """Size, age and prices of the cache. The prices are assumed unless the user says them.

    Parameters
    ----------
    entries, ttl_s
        Answers that it holds, and for how long one may be used. [s]
    lookup_usd_per_1k, usd_per_gb_month, entry_bytes
        Of 1,000 lookups, of storage in memory, and the size of an answer with its key. [USD, USD / GB-month, bytes]
    """

    entries: int = 100_000
    ttl_s: float = float(SECONDS_PER_HOUR)
    lookup_usd_per_1k: Decimal = Decimal("0.001")
    usd_per_gb_month: Decimal = Decimal(100)
    entry_bytes: int = 4 * KIB

    @property
    def cache(self) -> AnswerCache:
        """The cache that is played."""
        costs = CacheCosts(
            usd_per_1k=Decimal(0), lookup_usd_per_1k=self.lookup_usd_per_1k, usd_per_gb_month=self.usd_per_gb_month,
            entry_bytes=self.entry_bytes,
        )  # fmt: skip
        return AnswerCache(entries=self.entries, ttl_s=self.ttl_s, costs=costs)


def why_no_cache(trace: Trace) -> str:
    """Why nothing can be said of a cache; empty when it can be played."""
    return "" if len(trace.keys) and bool((trace.keys >= 0).any()) else NO_KEYS


def cache_remark(found: CachedPlan, terms: CacheTerms, fewer: int) -> str:
    """What is said of a cache that was played.

    Parameters
    ----------
    fewer
        Replicas that it saves.
    """
    net = found.net_usd_per_month
    verdict = f"saves {_usd(net)} USD a month net" if net > 0 else f"don't: costs {_usd(net)} USD a month more"
    if net <= 0 and not fewer and found.hits:
        verdict += ": replicas are whole, and as many are needed without the hits"
    unknown = found.requests - found.known
    said = [
        f"exact hits {found.hit_share:.1%} of {found.requests:,} requests", f"{terms.entries:,} entries for {terms.ttl_s:,.0f} s",
        f"lookups and storage {_usd(found.cache_usd_per_month)} USD a month", verdict, CAVEAT,
        f"{unknown:,} requests have no key and are computed" if unknown else "",
    ]  # fmt: skip
    return "; ".join(part for part in said if part)


def _usd(amount: Decimal) -> str:
    return usd(abs(float(amount)))
