"""One pass for all sizes: the same as a cache that is really kept, and the figures of real logs."""

from __future__ import annotations

import csv
import json
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost.economics.caching.lru import UNLIMITED, Lookup, hit_table, prefix_hits, replay
from unitcost.errors import UnitcostError

KEYS = st.lists(st.integers(0, 9), max_size=60)


def kept_cache_hits(keys: list[int], size: float, age_s: float) -> int:
    """Hits of a cache that is kept as such: entry -> when it was filled, in the order of use."""
    cache: OrderedDict[int, int] = OrderedDict()
    hits = 0
    for now, key in enumerate(keys):
        if key in cache and now - cache[key] <= age_s:
            hits += 1
        else:
            cache[key] = now
        cache.move_to_end(key)
        if len(cache) > size:
            cache.popitem(last=False)
    return hits


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(KEYS, st.integers(1, 8), st.sampled_from([1.0, 3.0, 10.0, UNLIMITED]))
def test_one_pass_finds_what_a_real_cache_finds(keys: list[int], size: int, age_s: float):
    found = hit_table(
        [Lookup(at_s=now, key=key) for now, key in enumerate(keys)], [size, UNLIMITED], [age_s, UNLIMITED]
    )
    assert found.hits[0, 0] == kept_cache_hits(keys, size, age_s)
    assert replay([Lookup(at_s=now, key=key) for now, key in enumerate(keys)], size, age_s).sum() == found.hits[0, 0]
    assert found.hits[1, 1] == kept_cache_hits(keys, UNLIMITED, UNLIMITED)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(KEYS)
def test_a_larger_and_an_older_cache_hits_more(keys: list[int]):
    hits = hit_table([Lookup(at_s=now, key=key) for now, key in enumerate(keys)], [1, 3, 5, UNLIMITED]).hits[:, 0]
    assert list(hits) == sorted(hits)


def test_the_age_of_what_is_served_is_told():
    found = hit_table([Lookup(at_s=at, key="a") for at in (0.0, 4.0, 10.0)], [1], [5.0, UNLIMITED])
    assert found.hits.tolist() == [[1, 2]]
    assert found.stale_s.tolist() == [[4.0, 7.0]]


def test_prefixes_are_found_until_the_first_block_that_is_missing():
    found = prefix_hits([("a", "ab", "abc"), ("a", "ab", "abd"), ("b",)], [1, UNLIMITED])
    assert (found.blocks, found.hits, found.whole) == (7, (1, 2), (0, 0))


def test_a_log_that_runs_backwards_is_refused():
    with pytest.raises(UnitcostError, match="order of time"):
        hit_table([Lookup(at_s=2, key="a"), Lookup(at_s=1, key="a")], [1])
    with pytest.raises(UnitcostError, match="order of time"):
        replay([Lookup(at_s=2, key="a"), Lookup(at_s=1, key="a")], 1)
    with pytest.raises(UnitcostError, match="room"):
        hit_table([], [0])


@pytest.mark.shared
def test_ratios_of_a_stream_of_block_reads(shared_data: Path):
    with (shared_data / "traces/cloudPhysicsIO.csv").open() as file:
        lookups = [Lookup(at_s=float(at), key=row["lbn"]) for at, row in enumerate(csv.DictReader(file))]
    found = hit_table(lookups, [100, 1_000, 10_000, UNLIMITED])
    assert [round(found.ratio(size), 4) for size in found.sizes] == [0.1199, 0.1673, 0.3024, 0.5699]


@pytest.mark.shared
def test_ratios_of_the_blocks_of_conversations(shared_data: Path):
    text = (shared_data / "traces/mooncake_conversation_trace.jsonl").read_text()
    found = prefix_hits(
        [json.loads(line)["hash_ids"] for line in text.splitlines()],
        [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, UNLIMITED],
    )
    percents = [round(100 * hits / found.blocks, 1) for hits in found.hits]
    assert percents == [4.2, 4.5, 5.4, 11.2, 21.2, 28.8, 35.5, 36.6]
