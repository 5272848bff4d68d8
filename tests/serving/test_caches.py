"""Ideal prefix hits, caches of answers, and why a cache finds nothing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.grids import grid, trace
from unitcost.errors import BadSetting
from unitcost.readers.traces import read
from unitcost.serving.arrivals import checked
from unitcost.serving.fleet import Engine, Fleet, Targets, prefix_caching_works
from unitcost.serving.outcome import simulate
from unitcost.serving.prefix_hits import PrefixAccount, ideal_hits, no_hits_because, prefix_account
from unitcost.serving.simulate import run
from unitcost.serving.traces import Trace

CONVERSATION = "mooncake_conversation_trace.jsonl"
#: Size of the cache -> hits in blocks and tokens, in percent, as the index of the traces gives them.
IDEAL = {
    500: (4.2, 4.3), 1_000: (4.5, 4.5), 2_000: (5.4, 5.5), 5_000: (11.2, 11.4), 10_000: (21.2, 21.6),
    20_000: (28.8, 29.4), 50_000: (35.5, 36.2), None: (36.6, 37.4),
}  # fmt: skip


def test_ideal_hits_of_the_conversation_trace(shared_traces: Path) -> None:
    requests, findings = checked(read(shared_traces / CONVERSATION))
    assert not [finding for finding in findings if finding.what == "refused"]
    assert len(requests) == 12_031
    found = {hits.blocks: hits for hits in ideal_hits(requests, list(IDEAL))}
    rounded = {size: (round(100 * h.block_share, 1), round(100 * h.token_share, 1)) for size, h in found.items()}
    assert rounded == IDEAL
    # Blocks that prompts do not fill hold fewer tokens: counted row by row with a cache of that size, and without limit.
    prompts = int(requests.input_tokens.sum())
    assert 100 * found[20_000].tokens / prompts == pytest.approx(29.3475, abs=1e-3)
    assert found[None].tokens == 54_098_411


def test_affinity_finds_what_least_loaded_scatters(shared_traces: Path) -> None:
    requests, _ = checked(read(shared_traces / CONVERSATION), spread_s=3.0)
    table = grid(kv_tokens=10_000 * 512, max_batch=256)
    outcomes = {
        routing: simulate(
            requests,
            Fleet(grid=table, places={"on-demand": 8}, routing=routing, engine=Engine(block_tokens=512)),
            Targets(),
        )
        for routing in ("least loaded", "prefix affinity")
    }
    share = {routing: o.cached_tokens / o.input_tokens for routing, o in outcomes.items()}
    assert share["prefix affinity"] > 2 * share["least loaded"]
    assert share["prefix affinity"] < 0.374  # the ideal of one cache without limit
    assert outcomes["prefix affinity"].latencies["ttft_s"].mean < outcomes["least loaded"].latencies["ttft_s"].mean
    fleet = Fleet(grid=table, places={"on-demand": 8}, engine=Engine(block_tokens=512))
    account = prefix_account(run(requests, fleet), fleet)
    assert lost_tokens(account) + account.found_tokens == account.ceiling_tokens
    assert account.found_tokens == outcomes["least loaded"].cached_tokens
    assert account.ceiling_tokens / account.prompt_tokens == pytest.approx(0.374, abs=5e-4)
    assert account.lost_to_routing_tokens > account.lost_to_room_tokens > 0
    assert account.lost_to_timing_tokens == 0  # each replica finds what a cache of its size can


def lost_tokens(account: PrefixAccount) -> int:
    return (
        account.lost_to_off_tokens + account.lost_to_blocks_tokens + account.lost_to_room_tokens
        + account.lost_to_routing_tokens + account.lost_to_timing_tokens
    )  # fmt: skip


@given(seed=st.integers(0, 50), replicas=st.integers(1, 3), kv_tokens=st.sampled_from([1_600, 6_400, 100_000]))
@settings(max_examples=15, deadline=None)
def test_ceiling_is_what_was_found_and_what_was_lost(seed: int, replicas: int, kv_tokens: int) -> None:
    requests = trace(120, rate=20.0, seed=seed, families=3)
    fleet = Fleet(grid=grid(kv_tokens=kv_tokens), places={"on-demand": replicas})
    account = prefix_account(run(requests, fleet), fleet)
    assert account.found_tokens + lost_tokens(account) == account.ceiling_tokens <= account.prompt_tokens
    assert min(account.lost_to_blocks_tokens, account.lost_to_room_tokens) >= 0
    off = replace(fleet, engine=Engine(prefix_caching=False))
    without = prefix_account(run(requests, off), off, off_reason="it keeps a state per sequence")
    assert without.lost_to_off_tokens == without.ceiling_tokens
    assert (without.found_tokens, without.off_reason) == (0, "it keeps a state per sequence")


def test_one_replica_with_room_and_time_loses_nothing_but_what_blocks_cannot_share() -> None:
    """Three equal prompts of 40 tokens, far apart: two full blocks of 16 are found twice, of 40 tokens each."""
    requests = with_hashes([[1, 2, 3]] * 3, [40, 40, 40])
    requests = replace(requests, arrival_s=np.array([0.0, 50.0, 100.0]), duration_s=100.0)
    fleet = Fleet(grid=grid(), places={"on-demand": 1})
    account = prefix_account(run(requests, fleet), fleet)
    assert (account.prompt_tokens, account.ceiling_tokens, account.found_tokens) == (120, 80, 64)
    assert (account.lost_to_blocks_tokens, account.lost_to_room_tokens, account.lost_to_routing_tokens) == (16, 0, 0)
    assert account.lost_to_timing_tokens == 0
    spread = replace(fleet, places={"on-demand": 3}, routing="round robin")
    parted = prefix_account(run(requests, spread), spread)
    assert (parted.found_tokens, parted.lost_to_routing_tokens) == (0, 64)
    # of a prompt that is there as a whole the last token is computed
    filled = replace(requests, input_tokens=np.array([48, 48, 48]))
    whole = prefix_account(run(filled, fleet), fleet)
    assert (whole.ceiling_tokens, whole.found_tokens, whole.lost_to_timing_tokens) == (96, 94, 2)


def hits_by_hand(groups: list[list[int]], size: int) -> int:
    kept: OrderedDict[int, None] = OrderedDict()
    found = 0
    for group in groups:
        for key in group:
            if key not in kept:
                break
            found += 1
        for key in reversed(group):
            kept[key] = None
            kept.move_to_end(key)
            if len(kept) > size:
                kept.popitem(last=False)
    return found


@given(
    paths=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40),
    size=st.integers(6, 40),
)
@settings(max_examples=60, deadline=None)
def test_one_pass_gives_what_a_cache_of_that_size_gives(paths: list[list[int]], size: int) -> None:
    numbers: dict[tuple[int, ...], int] = {}
    groups = [[numbers.setdefault(tuple(p[: i + 1]), len(numbers)) for i in range(len(p))] for p in paths]
    ones = np.ones(len(groups), np.int64)
    requests = Trace(
        arrival_s=np.arange(len(groups), dtype=float), input_tokens=ones * 16, output_tokens=ones,
        duration_s=float(len(groups)), hashes=np.array([h for g in groups for h in g]),
        hash_from=np.cumsum([0, *map(len, groups)]), hash_tokens=16,
    )  # fmt: skip
    [found] = ideal_hits(requests, [size])
    assert round(found.block_share * len(requests.hashes)) == hits_by_hand(groups, size)


def with_hashes(rows: list[list[int]], tokens: list[int]) -> Trace:
    return Trace(
        arrival_s=np.arange(len(rows), dtype=float), input_tokens=np.array(tokens), output_tokens=np.ones(len(rows), np.int64),
        duration_s=float(len(rows)), hashes=np.array([h for row in rows for h in row]),
        hash_from=np.cumsum([0, *map(len, rows)]), hash_tokens=16,
    )  # fmt: skip


def test_why_a_cache_finds_nothing() -> None:
    sharing = with_hashes([[1, 2, 3], [1, 2, 4]], [48, 48])
    assert no_hits_because(sharing, caching=True, block_tokens=16) == ""
    assert "switched off" in no_hits_because(sharing, caching=False, block_tokens=16)
    works, reason = prefix_caching_works("hybrid mamba-2 and attention")
    assert not works
    assert "state per sequence" in no_hits_because(sharing, caching=works, block_tokens=16, off_reason=reason)
    assert prefix_caching_works("grouped-query attention") == (True, "")
    assert "blocks are too large: one holds" in no_hits_because(sharing, caching=True, block_tokens=64)
    assert "shorter than 48 tokens" in no_hits_because(sharing, caching=True, block_tokens=48)
    partial = with_hashes([[1], [1]], [10, 12])
    assert "no full block is shared" in no_hits_because(partial, caching=True, block_tokens=8)
    assert "no two prompts" in no_hits_because(with_hashes([[1], [2]], [16, 16]), caching=True, block_tokens=16)
    assert "no hashes" in no_hits_because(trace(3, rate=1.0), caching=True, block_tokens=16)


def test_without_the_cache_no_token_is_found() -> None:
    requests = trace(300, rate=10.0, families=2)
    fleet = Fleet(grid=grid(), places={"on-demand": 1})
    off = simulate(requests, replace(fleet, engine=Engine(prefix_caching=False)), Targets())
    assert off.cached_tokens == 0 < simulate(requests, fleet, Targets()).cached_tokens


def test_blocks_that_do_not_divide_the_hashes_are_refused() -> None:
    with pytest.raises(BadSetting, match="which 24 do not divide"):
        simulate(
            trace(3, rate=1.0, families=1),
            Fleet(grid=grid(), places={"on-demand": 1}, engine=Engine(block_tokens=24)),
            Targets(),
        )
