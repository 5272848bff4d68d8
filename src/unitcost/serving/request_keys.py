"""What each request asks, as a number: the key of a cache of answers."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from unitcost.facts.arrivals import RawArrivals
from unitcost.serving.traces import Ints


def request_keys(raw: RawArrivals, order: Ints) -> Ints:
    """A number for each request, in the order given; equal exactly for equal questions of one tenant to one model.

    A question is its key or text. Where a trace has none, it is its whole prompt, told by the hash of its last block, which
    stands for all before it; a prompt with fewer hashes than blocks is not known, nor is one without a key: -1. Empty when no
    request is known.
    """
    numbers: dict[Hashable, int] = {}
    keys = np.full(len(order), -1, np.int64)
    for place, i in enumerate(order.tolist()):
        asked = _asked(raw, i)
        if asked is not None:
            owner = (raw.tenants[i] if raw.tenants else "", raw.models[i] if raw.models else "")
            keys[place] = numbers.setdefault((*owner, asked), len(numbers))
    return keys if numbers else np.zeros(0, np.int64)


def _asked(raw: RawArrivals, place: int) -> Hashable | None:
    if raw.keys:
        return raw.keys[place] or None
    hashes = raw.hashes[place] if raw.hashes else None
    if not hashes or len(hashes) != -(-raw.input_tokens[place] // raw.hash_tokens):
        return None
    return hashes[-1], raw.input_tokens[place]
