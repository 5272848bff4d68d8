"""How many requests nearly repeat an earlier one: by shared pieces of text (MinHash) or by embeddings."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadSetting
from unitcost.serving.traces import Floats

#: Hash functions of a signature, and rows of it that must agree for a pair to be looked at.
_HASHES, _ROWS = 128, 4
_PRIME = np.uint64((1 << 61) - 1)
#: Rows of embeddings that are compared at once.
_BLOCK = 1024
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NearHits:
    """Requests with an earlier one at least so similar.

    Parameters
    ----------
    similarity
        Jaccard similarity of pieces of text, or cosine of embeddings.
    nearest
        For each request the earlier one that is most similar, -1 where none is similar enough; to look at what a cache would
        answer, and to measure how often that is wrong.
    """

    similarity: float
    requests: int
    hits: int
    nearest: tuple[int, ...]

    @property
    def hit_share(self) -> float:
        """Requests that a cache of everything earlier would have answered."""
        return self.hits / self.requests if self.requests else 0.0


def by_embedding(embeddings: Floats, *, similarity: float) -> NearHits:
    """Near duplicates by cosine similarity, every pair compared.

    Parameters
    ----------
    embeddings
        One row per request, in order of time.
    """
    _check(similarity)
    length = np.linalg.norm(embeddings, axis=1, keepdims=True)
    if not np.isfinite(embeddings).all() or (length == 0).any():
        raise BadSetting("an embedding is zero or not a number", mend="leave out requests without an embedding")
    unit = embeddings / length
    nearest = np.full(len(unit), -1, np.int64)
    for begin in range(0, len(unit), _BLOCK):
        rows = unit[begin : begin + _BLOCK]
        cosine = rows @ unit[: begin + len(rows)].T
        cosine[np.arange(len(rows))[:, None] + begin <= np.arange(cosine.shape[1])[None, :]] = -np.inf
        best = cosine.argmax(axis=1)
        close = cosine[np.arange(len(rows)), best] >= similarity - 1e-12
        nearest[begin : begin + len(rows)] = np.where(close, best, -1)
    return _found(similarity, nearest)


def by_text(texts: Sequence[str], *, similarity: float, words: int = 3, seed: int = 0) -> NearHits:
    """Near duplicates by the share of runs of `words` words that two texts have in common.

    Notes
    -----
    MinHash signatures in bands find candidates [1]_; their Jaccard similarity is then counted exactly, so a hit is never too
    dissimilar. With 32 bands of 4 rows a pair at similarity 0.8 is missed with a chance of 10^-7, at 0.5 with 13 %.

    References
    ----------
    .. [1] A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.
    """
    _check(similarity)
    pieces = [_pieces(text, words) for text in texts]
    rng = np.random.default_rng(seed)
    factors = rng.integers(1, int(_PRIME), _HASHES, dtype=np.uint64) | np.uint64(1)
    offsets = rng.integers(0, int(_PRIME), _HASHES, dtype=np.uint64)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    nearest = np.full(len(texts), -1, np.int64)
    for i, mine in enumerate(pieces):
        bands = _bands(mine, factors, offsets)
        candidates = {j for band in bands for j in buckets[band]}
        scored = [(_jaccard(mine, pieces[j]), -j) for j in candidates]
        best, place = max(scored, default=(0.0, 0))
        nearest[i] = -place if scored and best >= similarity else -1
        for band in bands:
            buckets[band].append(i)
    return _found(similarity, nearest)


def _pieces(text: str, words: int) -> frozenset[int]:
    found = _WORD.findall(text.casefold())
    runs = [" ".join(found[i : i + words]) for i in range(max(1, len(found) - words + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest(), "big") for run in runs)


def _bands(pieces: frozenset[int], factors: NDArray[np.uint64], offsets: NDArray[np.uint64]) -> list[tuple[int, bytes]]:
    values = np.array(sorted(pieces), np.uint64)
    # multiplication modulo 2^64 by odd factors, the upper half of the bits
    signature = ((values[:, None] * factors[None, :] + offsets[None, :]) >> np.uint64(32)).min(axis=0)
    return [(band, signature[band * _ROWS : (band + 1) * _ROWS].tobytes()) for band in range(_HASHES // _ROWS)]


def _jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)


def _found(similarity: float, nearest: NDArray[np.int64]) -> NearHits:
    return NearHits(
        similarity=similarity, requests=len(nearest), hits=int((nearest >= 0).sum()), nearest=tuple(map(int, nearest))
    )


def _check(similarity: float) -> None:
    if not 0 < similarity <= 1:
        raise BadSetting(f"a similarity of {similarity} is not between 0 and 1")
