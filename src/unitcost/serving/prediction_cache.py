"""A cache of answers in front of a model: how often it would have one, and whether that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.serving.prefix_hits import dense
from unitcost.serving.traces import Floats, Ints

#: Distinct keys times sizes times ages that are followed at once.
_MOST_CELLS = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheHits:
    """Exact hits of one size and age.

    Parameters
    ----------
    entries
        Answers that the cache holds; the least recently used one goes first. None: without limit.
    ttl_s
        How long an answer may be used after it was written. None: for ever. [s]
    """

    entries: int | None
    ttl_s: float | None
    requests: int
    hits: int

    @property
    def hit_share(self) -> float:
        """Requests that were answered from the cache."""
        return self.hits / self.requests if self.requests else 0.0


def exact_hits(
    keys: Ints, at_s: Floats, *, entries: Sequence[int | None], ttls_s: Sequence[float | None] = (None,)
) -> list[CacheHits]:
    """Hits of a cache of answers by size and time to live, in one pass over the requests.

    Parameters
    ----------
    keys
        What a request asks, as a number; equal for equal requests.
    at_s
        When it came, never falling. [s]

    Notes
    -----
    Sizes come from stack distances (Mattson et al. 1970): a cache of C answers has one exactly when at most C distinct
    keys were asked since. An answer that is too old is a miss and is written anew; until then it keeps its place.
    """
    from unitcost.serving.kernel.distances import hits_by_size_and_age, stack_distances

    if len(keys) != len(at_s) or (len(at_s) and (np.diff(at_s) < 0).any()):
        raise BadSetting("keys and times do not match, or times fall", mend="sort the log by time")
    places, distinct = dense(np.asarray(keys))
    if distinct * len(entries) * len(ttls_s) > _MOST_CELLS:
        raise BadSetting(
            f"{distinct:,} keys by {len(entries)} sizes by {len(ttls_s)} ages are too many",
            mend="ask for fewer at once",
        )
    distances = stack_distances(places, np.arange(len(places) + 1), distinct)
    sizes = np.array([len(places) if size is None else size for size in entries], np.int64)
    ages = np.array([np.inf if ttl is None else ttl for ttl in ttls_s], np.float64)
    hits = hits_by_size_and_age(places, np.ascontiguousarray(at_s, np.float64), distances, sizes, ages, distinct)
    return [
        CacheHits(entries=size, ttl_s=ttl, requests=len(places), hits=int(hits[s, a]))
        for s, size in enumerate(entries)
        for a, ttl in enumerate(ttls_s)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSaving:
    """What a cache of answers saves. [USD].

    Parameters
    ----------
    saved_usd
        Predictions that were not computed.
    lookups_usd, store_usd, wrong_usd
        Lookups of all requests; keeping the cache; hits that give a wrong answer.
    """

    saved_usd: Decimal
    lookups_usd: Decimal
    store_usd: Decimal
    wrong_usd: Decimal

    @property
    def net_usd(self) -> Decimal:
        """Saved less all that it costs; below zero when the cache does not pay. [USD]."""
        return money.subtract(self.saved_usd, money.add([self.lookups_usd, self.store_usd, self.wrong_usd]))


def cache_saving(
    *,
    requests: int,
    hits: int,
    usd_per_prediction: Decimal,
    usd_per_lookup: Decimal = money.ZERO,
    store_usd: Decimal = money.ZERO,
    wrong_share: Decimal = money.ZERO,
    usd_per_wrong_answer: Decimal = money.ZERO,
) -> CacheSaving:
    """Saving of a cache after the cost of lookups and of wrong hits.

    Parameters
    ----------
    usd_per_prediction
        Cost that falls away with each prediction not computed. With replicas that stay on, that is nothing until fewer
        replicas are needed. [USD]
    wrong_share
        Share of hits whose answer is wrong, measured at the similarity that was used. Exact hits of a deterministic model
        have none.
    """
    if not 0 <= hits <= requests or not 0 <= wrong_share <= 1:
        raise BadSetting("more hits than requests, or a share of wrong hits outside 0 to 1")
    found = Decimal(hits)
    return CacheSaving(
        saved_usd=money.multiply(found, usd_per_prediction),
        lookups_usd=money.multiply(Decimal(requests), usd_per_lookup), store_usd=store_usd,
        wrong_usd=money.multiply(money.multiply(found, wrong_share), usd_per_wrong_answer),
    )  # fmt: skip
