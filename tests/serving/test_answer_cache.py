"""A cache of answers in front of replicas, played."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serving.grids import flat
from unitcost.economics.caching.saving import CacheCosts
from unitcost.facts.arrivals import RawArrivals
from unitcost.serving.answer_cache import AnswerCache, hits_of, with_answer_cache
from unitcost.serving.arrivals import checked
from unitcost.serving.latency_table import dynamic_batching, predictions
from unitcost.serving.request_keys import request_keys
from unitcost.serving.search import Limits, Option, Search
from unitcost.serving.traces import Trace

FREE = CacheCosts(usd_per_1k=Decimal(0))


def asked(keys: list[int], every_s: float = 1.0) -> Trace:
    at = np.arange(len(keys)) * every_s
    return replace(predictions(at, duration_s=len(keys) * every_s), keys=np.array(keys, np.int64))


def test_what_has_no_key_is_computed_and_ages_and_sizes_count() -> None:
    trace = asked([1, 1, -1, -1, 1, 2, 1])
    assert hits_of(trace, AnswerCache(entries=9, ttl_s=99, costs=FREE)).tolist() == [0, 1, 0, 0, 1, 0, 1]
    assert hits_of(trace, AnswerCache(entries=9, ttl_s=2, costs=FREE)).tolist() == [0, 1, 0, 0, 0, 0, 1]
    assert hits_of(trace, AnswerCache(entries=1, ttl_s=99, costs=FREE)).tolist() == [0, 1, 0, 0, 1, 0, 0]


def test_hits_free_a_replica_and_the_cache_is_paid() -> None:
    """Four requests a second of half a second each keep two replicas busy; three of four are hits."""
    option = Option(
        name="a", grid=flat(0.5, max_batch=1), usd_per_replica_hour=Decimal(2), engine=dynamic_batching(1)
    )  # fmt: skip
    trace = asked([i // 4 for i in range(4_000)], every_s=0.25)
    run = Search(trace, Limits(e2e_p95_s=1.0))
    base = run.fewest(option)
    assert base is not None
    costs = CacheCosts(
        usd_per_1k=Decimal(0), lookup_usd_per_1k=Decimal("0.01"), usd_per_gb_month=Decimal(5), entry_bytes=1_000_000
    )
    found = with_answer_cache(run, base, AnswerCache(entries=10_000, ttl_s=60, costs=costs))
    assert found.hit_share == 0.75
    assert (base.replicas, found.tried.replicas) == (2, 1)
    assert found.tried.outcome.requests == 1_000
    # 4 a second are 10,512,000 a month: 105.12 USD of lookups; 1,000 answers of a megabyte are 5 USD
    assert float(found.cache_usd_per_month) == pytest.approx(105.12 + 5, rel=2e-3)
    assert float(found.net_usd_per_month) == pytest.approx(1 * 2 * 730 - 110.12, rel=2e-3)
    again = with_answer_cache(run, base, AnswerCache(entries=10_000, ttl_s=0.1, costs=FREE))
    assert again.hits == 0
    # a cache that is free and finds nothing changes nothing; the last of 34 digits is rounded
    assert abs(float(again.net_usd_per_month)) < 1e-20
    assert float(again.tried.units.per_mtok_total) == float(base.units.per_mtok_total)
    per_month = float(found.tried.units.per_1k_requests) * 10_512
    assert per_month == pytest.approx(1 * 2 * 730 + 110.12, rel=2e-3)


def test_a_key_belongs_to_a_tenant_and_a_model() -> None:
    raw = RawArrivals(
        name="t", keys=["q", "q", "q", "", "q"], tenants=["a", "b", "a", "a", "a"], models=["m", "m", "m", "m", "n"]
    )
    assert request_keys(raw, np.arange(5)).tolist() == [0, 1, 0, -1, 2]


def test_the_hash_of_a_whole_prompt_is_a_key() -> None:
    raw = RawArrivals(name="t", hash_tokens=16, hashes=[[1, 2], [1, 2], [1, 2], [1], None])
    for tokens in (20, 20, 21, 20, 20):
        raw.input_tokens.append(tokens)
    # the third is longer, the fourth lacks a hash, the fifth has none
    assert request_keys(raw, np.arange(5)).tolist() == [0, 0, 1, -1, -1]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30))
def test_a_part_of_a_trace_keeps_each_requests_own(rows: list[tuple[int, bool]]) -> None:
    raw = RawArrivals(
        name="t", hash_tokens=4, hashes=[list(range(n)) or None for n, _ in rows], keys=[str(n) for n, _ in rows]
    )
    for i, (n, _) in enumerate(rows):
        raw.at_s.append(float(i))
        raw.input_tokens.append(max(4 * n, 1))
        raw.output_tokens.append(1)
        raw.rows.append(i)
    trace, _ = checked(raw)
    kept = np.array([keep for _, keep in rows])
    if not kept.any():
        return
    part = trace.only(kept)
    assert part.duration_s == trace.duration_s
    assert part.arrival_s.tolist() == [float(i) for i, (_, keep) in enumerate(rows) if keep]
    if trace.hash_tokens:
        listed = [part.hashes[a:b].tolist() for a, b in zip(part.hash_from[:-1], part.hash_from[1:], strict=True)]
        assert listed == [list(range(n)) for n, keep in rows if keep]
