"""Requests over time, as the simulator takes them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadFile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Requests in order of arrival.

    Parameters
    ----------
    arrival_s
        Since the beginning of the trace, never falling. [s]
    input_tokens, output_tokens
        At least one each.
    hashes, hash_from
        Hashes of all prompts one after the other, and where those of each request begin (one more entry than requests); a
        hash stands for its block and all before it. Empty when the trace has none.
    hash_tokens
        Tokens of such a block; 0 without hashes.
    keys
        What each request asks, as a number that equal requests share; -1 where it is not known. Empty: of none.
    duration_s
        How long the trace lasts. [s]
    """

    arrival_s: Floats
    input_tokens: Ints
    output_tokens: Ints
    duration_s: float
    hashes: Ints = field(default_factory=_none)
    hash_from: Ints = field(default_factory=_none)
    hash_tokens: int = 0
    keys: Ints = field(default_factory=_none)
    name: str = ""

    def __post_init__(self) -> None:
        count = len(self.arrival_s)
        if not count or len(self.input_tokens) != count or len(self.output_tokens) != count:
            raise BadFile("a trace without a request, or with columns of unlike length", where=self.name)
        if not np.isfinite(self.arrival_s).all() or (np.diff(self.arrival_s) < 0).any() or self.arrival_s[0] < 0:
            raise BadFile("arrivals are not in order of time", where=self.name, mend="sort the trace")
        if min(self.input_tokens.min(), self.output_tokens.min()) < 1 or self.duration_s < self.arrival_s[-1]:
            raise BadFile("a request without a token, or after the end of the trace", where=self.name)
        if self.hash_tokens and len(self.hash_from) != count + 1:
            raise BadFile("hashes do not match the requests", where=self.name)
        if len(self.keys) not in (0, count):
            raise BadFile("keys do not match the requests", where=self.name)

    def __len__(self) -> int:
        return len(self.arrival_s)

    def head(self, requests: int) -> Trace:
        """The first `requests` of the trace, which then ends with the next arrival."""
        if requests >= len(self):
            return self
        hash_from = self.hash_from[: requests + 1] if self.hash_tokens else self.hash_from
        return Trace(
            arrival_s=self.arrival_s[:requests], input_tokens=self.input_tokens[:requests],
            output_tokens=self.output_tokens[:requests], duration_s=float(self.arrival_s[requests]),
            hashes=self.hashes[: hash_from[-1]] if self.hash_tokens else self.hashes, hash_from=hash_from,
            hash_tokens=self.hash_tokens, keys=self.keys[:requests], name=self.name,
        )  # fmt: skip

    def only(self, kept: NDArray[np.bool_]) -> Trace:
        """The requests that are marked, at the times they came; it lasts as long."""
        hashes, hash_from = self.hashes, self.hash_from
        if self.hash_tokens:
            counts = np.diff(hash_from)
            hashes = hashes[hash_from[0] : hash_from[-1]][np.repeat(kept, counts)]
            hash_from = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int64)
        return Trace(
            arrival_s=self.arrival_s[kept], input_tokens=self.input_tokens[kept], output_tokens=self.output_tokens[kept],
            duration_s=self.duration_s, hashes=hashes, hash_from=hash_from, hash_tokens=self.hash_tokens,
            keys=self.keys[kept] if len(self.keys) else self.keys, name=self.name,
        )  # fmt: skip
