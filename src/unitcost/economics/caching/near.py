"""Caches that answer with what was computed for a similar request: how often they hit, and how often the hit is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from unitcost.economics.quality.totals import wilson
from unitcost.errors import UnitcostError

#: Hashes of a signature: the share that agrees is the similarity, with a standard error of at most 0.044.
HASHES = 128
#: Characters of a shingle.
_SHINGLE = 4
#: Bits of a product that are dropped: the low ones hold little of the key.
_DROPPED_BITS = np.uint64(32)
_SPACE = re.compile(r"\s+")
#: (signature or vector of each stored request, that of the one that asks) -> similarity to each.
Similarity = Callable[[NDArray[np.generic], NDArray[np.generic]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearHits:
    """What a cache with one threshold does.

    Parameters
    ----------
    requests, hits
        Requests in all, and those that were answered from the cache.
    changed
        Hits whose answer is another than the model would have given.
    changed_low, changed_high
        95 % interval of the share of the hits that is changed.
    judged, wrong
        Hits whose right answer is known, and those among them that were answered wrongly.
    wrong_low, wrong_high
        95 % interval of that share.
    served
        For each request the request whose answer it got: itself, or an earlier one.
    """

    threshold: float
    requests: int
    hits: int
    changed: int
    changed_low: float
    changed_high: float
    judged: int
    wrong: int
    wrong_low: float
    wrong_high: float
    served: NDArray[np.int64]


def signatures(texts: Sequence[str], *, seed: int = 0) -> NDArray[np.uint32]:
    """MinHash signatures of texts: the share of hashes that two have in common estimates their Jaccard similarity.

    Parameters
    ----------
    texts
        Requests, already normalised. Each is the set of its runs of four characters.

    Notes
    -----
    ``h_i(x) = (a_i*x + b_i mod 2^64) >> 32`` with odd a_i [2]_, the least over the set, for 128 pairs (a, b) [1]_.

    References
    ----------
    .. [1] A. Broder, "On the resemblance and containment of documents", Compression and Complexity of Sequences 1997.
    .. [2] M. Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic without
       primes", STACS 1996.
    """
    rng = np.random.default_rng(seed)
    slope = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64)[:, None] * np.uint64(2) + np.uint64(1)
    shift = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64)[:, None]
    return np.stack([((slope * _shingles(text) + shift) >> _DROPPED_BITS).min(axis=1) for text in texts]).astype(
        np.uint32
    )


def agreeing(stored: NDArray[np.generic], asked: NDArray[np.generic]) -> NDArray[np.float64]:
    """Similarity of signatures: the share of hashes that agree."""
    return np.asarray((stored == asked).mean(axis=1), dtype=np.float64)


def cosine(stored: NDArray[np.generic], asked: NDArray[np.generic]) -> NDArray[np.float64]:
    """Similarity of vectors that `unit_vectors` has made."""
    return np.asarray(np.dot(stored, asked), dtype=np.float64)


def unit_vectors(embeddings: NDArray[np.floating]) -> NDArray[np.floating]:
    """Embeddings of length one.

    Raises
    ------
    UnitcostError
        When one is zero or not a number.
    """
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise UnitcostError(
            "an embedding is zero or not a number", where=f"item {int(np.argmin(np.nan_to_num(lengths)))}",
            mend="embed every request of the log, and give the vectors in its order",
        )  # fmt: skip
    return np.asarray(embeddings / lengths)


def near_hits(
    points: NDArray[np.generic], similarity: Similarity, threshold: float, answers: NDArray[np.generic],
    truth: NDArray[np.generic] | None = None, tenants: Sequence[str] | None = None,
) -> NearHits:  # fmt: skip
    """Replay a log on a cache that answers with the most similar stored request at or above a threshold.

    Only what was computed is stored: a hit adds nothing, so answers do not drift along chains of similar requests.

    Parameters
    ----------
    points
        Signature or vector of each request, in the order of the log.
    answers
        What the model answers to each request when it is asked.
    truth
        What is right, or None when that is not known; an empty text where it is not known of one request.
    tenants
        Who asks; nobody gets an answer that was computed for somebody else.
    """
    served = np.arange(len(points))
    stored: dict[str, _Store] = {}
    for place, point in enumerate(points):
        mine = stored.setdefault(tenants[place] if tenants else "", _Store(points[:1]))
        found = mine.nearest(point, similarity)
        if found is not None and found[1] >= threshold:
            served[place] = found[0]
        else:
            mine.add(place, point)
    return _counted(threshold, served, answers, truth)


class _Store:
    """Requests that were computed; room is doubled when it is full."""

    def __init__(self, form: NDArray[np.generic]) -> None:
        self._points = np.empty((16, form.shape[1]), dtype=form.dtype)
        self._places: list[int] = []

    def nearest(self, point: NDArray[np.generic], similarity: Similarity) -> tuple[int, float] | None:
        if not self._places:
            return None
        alike = similarity(self._points[: len(self._places)], point)
        best = int(alike.argmax())
        return self._places[best], float(alike[best])

    def add(self, place: int, point: NDArray[np.generic]) -> None:
        if len(self._places) == len(self._points):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
        self._points[len(self._places)] = point
        self._places.append(place)


def _counted(
    threshold: float, served: NDArray[np.int64], answers: NDArray[np.generic], truth: NDArray[np.generic] | None
) -> NearHits:
    hit = served != np.arange(len(served))
    hits, changed = int(hit.sum()), int((answers[served] != answers)[hit].sum())
    known = hit & (truth != "") if truth is not None else np.zeros(len(served), np.bool_)
    wrong = 0 if truth is None else int((answers[served] != truth)[known].sum())
    judged = int(known.sum())
    changed_low, changed_high = wilson(changed, hits)
    wrong_low, wrong_high = wilson(wrong, judged)
    return NearHits(
        threshold=threshold, requests=len(served), hits=hits, changed=changed, changed_low=changed_low,
        changed_high=changed_high, judged=judged, wrong=wrong, wrong_low=wrong_low, wrong_high=wrong_high, served=served,
    )  # fmt: skip


def _shingles(text: str) -> NDArray[np.uint64]:
    folded = _SPACE.sub(" ", text)
    runs = {folded[i : i + _SHINGLE] for i in range(max(1, len(folded) - _SHINGLE + 1))}
    return np.fromiter((crc32(run.encode()) for run in runs), dtype=np.uint64, count=len(runs))
