"""Files that `unitcost measure cache --json` writes: what each cache did, read back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile
from unitcost.facts.qualities import CacheHits

KIND = "measure-cache"


def read_cache(path: Path) -> list[CacheHits]:
    """Near-duplicate caches of a file, one per threshold, then the largest cache of equal requests.

    Raises
    ------
    BadFile
        When it is no such file, or its counts cannot be.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise _bad(path, f"is not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise _bad(path, "is no answer of `unitcost measure cache`")
    try:
        caches = [_near(row) for row in found["near"]]
        shares = [float(row["hit_share"]) for row in found["exact"]]
        requests = int(found["requests"])
        if not all(math.isfinite(value) for value in (*shares, *(cache.threshold or 0.0 for cache in caches))):
            raise ValueError("a share or a threshold is not finite")
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise _bad(path, f"lacks what a cache did: {error!r}") from error
    if shares:
        caches.append(CacheHits(threshold=None, requests=requests, hits=round(max(shares) * requests), changed=0))
    for hits in caches:
        if not (
            hits.requests > hits.hits >= max(hits.changed, hits.judged)
            and hits.judged >= hits.wrong >= 0 <= hits.changed
        ):
            raise _bad(
                path, f"counts {hits.hits} hits of {hits.requests} requests, {hits.changed} changed: this cannot be"
            )
    return caches


def _near(row: Any) -> CacheHits:
    return CacheHits(
        threshold=float(row["threshold"]), requests=int(row["requests"]), hits=int(row["hits"]),
        changed=int(row["changed"]), judged=int(row["judged"]), wrong=int(row["wrong"] or 0),
    )  # fmt: skip


def _bad(path: Path, what: str) -> BadFile:
    return BadFile(what, where=str(path), mend="write it with `unitcost measure cache LOG --json`")
