"""Hits of an exact cache that forgets what was used longest ago, for many sizes and ages in one pass."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import UnitcostError

#: A size without a limit, and an age without one.
UNLIMITED = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One request to a cache: when, and for what."""

    at_s: float
    key: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class HitTable:
    """Hits by size and by age.

    Parameters
    ----------
    sizes, ages_s
        Sizes of the cache [entries] and ages after which an entry is not used any more [s].
    requests
        Lookups in all.
    hits
        hits[i, j]: hits of a cache of size i whose entries live as long as age j.
    stale_s
        Mean age of what was served, same places; NaN where nothing was. [s]
    """

    sizes: tuple[float, ...]
    ages_s: tuple[float, ...]
    requests: int
    hits: NDArray[np.int64]
    stale_s: NDArray[np.float64]

    def ratio(self, size: float, age_s: float = UNLIMITED) -> float:
        """Share of the lookups that hit."""
        if not self.requests:
            return 0.0
        return float(self.hits[self.sizes.index(size), self.ages_s.index(age_s)]) / self.requests


class Recency:
    """How many other keys were used since a key was used last, in logarithmic time.

    Notes
    -----
    The stack distance of Mattson et al. [1]_, counted in a Fenwick tree over the moments of last use: a cache of `size`
    entries that evicts the least recently used one holds a key exactly if its distance is below `size`.

    References
    ----------
    .. [1] R. L. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9 (1970).
    """

    def __init__(self, uses: int) -> None:
        self._tree = [0] * (uses + 1)
        self._last: dict[Hashable, int] = {}
        self._clock = 0

    def distance(self, key: Hashable) -> int | None:
        """Other keys that were used since `key` was; None when it never was."""
        last = self._last.get(key)
        return None if last is None else len(self._last) - self._sum(last)

    def touch(self, key: Hashable) -> None:
        """Use a key now."""
        last = self._last.get(key)
        if last is not None:
            self._add(last, -1)
        self._clock += 1
        self._last[key] = self._clock
        self._add(self._clock, 1)

    def _add(self, place: int, amount: int) -> None:
        while place < len(self._tree):
            self._tree[place] += amount
            place += place & -place

    def _sum(self, place: int) -> int:
        total = 0
        while place > 0:
            total += self._tree[place]
            place &= place - 1
        return total


def hit_table(lookups: Sequence[Lookup], sizes: Sequence[float], ages_s: Sequence[float] = (UNLIMITED,)) -> HitTable:
    """Hits of every size with every age, in one pass over the log.

    An entry's age counts from when it was filled; a hit does not renew it. An entry that is too old stays in its place
    until it is asked for, and is then filled anew, as a cache that looks at the age on reading does.

    Parameters
    ----------
    lookups
        In the order of time.

    Raises
    ------
    UnitcostError
        When times fall, or a size is not above zero.
    """
    _check(lookups, sizes)
    size, age = np.array(sizes)[:, None], np.array(ages_s)[None, :]
    hits = np.zeros((len(sizes), len(ages_s)), dtype=np.int64)
    served_s = np.zeros(hits.shape)
    recency = Recency(len(lookups))
    filled: dict[Hashable, NDArray[np.float64]] = {}
    for lookup in lookups:
        distance = recency.distance(lookup.key)
        recency.touch(lookup.key)
        if distance is None:
            filled[lookup.key] = np.full(hits.shape, lookup.at_s)
            continue
        since_s = lookup.at_s - filled[lookup.key]
        hit = (distance < size) & (since_s <= age)
        hits += hit
        served_s += np.where(hit, since_s, 0.0)
        filled[lookup.key] = np.where(hit, filled[lookup.key], lookup.at_s)
    stale_s = np.divide(served_s, hits, out=np.full(hits.shape, np.nan), where=hits > 0)
    return HitTable(sizes=tuple(sizes), ages_s=tuple(ages_s), requests=len(lookups), hits=hits, stale_s=stale_s)


def replay(lookups: Sequence[Lookup], size: float, age_s: float = UNLIMITED) -> NDArray[np.bool_]:
    """Which lookups one cache answers, as `hit_table` counts them; for what is to be done with the others.

    Raises
    ------
    UnitcostError
        When times fall, or the size is not above zero.
    """
    _check(lookups, [size])
    kept: OrderedDict[Hashable, float] = OrderedDict()
    found = np.zeros(len(lookups), np.bool_)
    for place, lookup in enumerate(lookups):
        filled_s = kept.get(lookup.key)
        found[place] = filled_s is not None and lookup.at_s - filled_s <= age_s
        if not found[place]:
            kept[lookup.key] = lookup.at_s
        kept.move_to_end(lookup.key)
        if len(kept) > size:
            kept.popitem(last=False)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixHits:
    """Blocks of prompts that a shared cache of prefixes holds, by size.

    Parameters
    ----------
    blocks
        Blocks that were asked for.
    hits
        Blocks found, one count per size.
    whole
        Requests whose blocks were all found, one count per size.
    """

    sizes: tuple[float, ...]
    requests: int
    blocks: int
    hits: tuple[int, ...]
    whole: tuple[int, ...]


def prefix_hits(requests: Iterable[Sequence[Hashable]], sizes: Sequence[float]) -> PrefixHits:
    """Hits of blocks where each block stands for the whole prefix up to it, for every size in one pass.

    A request's blocks are looked up until the first that is missing, then all are used, deepest first, so that a prefix
    outlives what follows it.
    """
    listed = [list(blocks) for blocks in requests]
    recency = Recency(sum(map(len, listed)))
    limits = np.array(sizes)
    hits, whole = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for blocks in listed:
        found = np.zeros(len(sizes), dtype=np.int64)
        holds = np.ones(len(sizes), dtype=bool)
        for block in blocks:
            distance = recency.distance(block)
            if distance is None:
                holds &= False
                break
            holds &= distance < limits
            if not holds.any():
                break
            found += holds
        hits += found
        whole += (found == len(blocks)) & (len(blocks) > 0)
        for block in reversed(blocks):
            recency.touch(block)
    return PrefixHits(
        sizes=tuple(sizes), requests=len(listed), blocks=sum(map(len, listed)), hits=tuple(hits.tolist()),
        whole=tuple(whole.tolist()),
    )  # fmt: skip


def _check(lookups: Sequence[Lookup], sizes: Sequence[float]) -> None:
    if any(size <= 0 for size in sizes):
        raise UnitcostError("a cache without room has no hits", mend="give sizes above zero")
    if any(later.at_s < sooner.at_s for sooner, later in pairwise(lookups)):
        raise UnitcostError("the log is not in the order of time", mend="sort it by its time")
