"""Levers: the same traffic with one thing different."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from tests.serving.grids import grid, trace
from unitcost.errors import BadSetting
from unitcost.serving.fleet import ColdStart
from unitcost.serving.levers import busiest_moment_s, prompt_cache, scale_to_zero, scaled, shorter, spot_with_redundancy
from unitcost.serving.search import Limits, Option, Search
from unitcost.serving.traces import Trace

OPTION = Option(name="a", grid=grid(), usd_per_replica_hour=Decimal(2))


def test_shorter_prompts_keep_answers_and_the_hashes_of_what_is_left() -> None:
    whole = trace(50, rate=5.0, families=3)
    cut = shorter(whole, 0.5)
    assert (cut.output_tokens == whole.output_tokens).all()
    assert (cut.input_tokens == np.maximum(np.rint(whole.input_tokens * 0.5), 1)).all()
    for i in range(50):
        mine = cut.hashes[cut.hash_from[i] : cut.hash_from[i + 1]]
        assert len(mine) == -(-int(cut.input_tokens[i]) // whole.hash_tokens)
        assert (mine == whole.hashes[whole.hash_from[i] :][: len(mine)]).all()
    assert shorter(whole, 1.0).input_tokens.sum() == whole.input_tokens.sum()


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5])
def test_prompts_are_cut_to_a_part_of_themselves(share: float) -> None:
    with pytest.raises(BadSetting):
        shorter(trace(5, rate=1.0), share)


def test_a_prompt_cache_helps_where_prompts_share_a_prefix() -> None:
    shared = trace(2000, rate=400.0, families=4)
    run = Search(shared, Limits(ttft_p95_s=0.5, tpot_p95_s=0.1))
    base = run.fewest(OPTION)
    assert base is not None
    on, off = prompt_cache(run, base, on=True), prompt_cache(run, base, on=False)
    assert on.outcome.cached_tokens > 0
    assert off.outcome.cached_tokens == 0
    assert on.cost.usd <= off.cost.usd


def test_spot_survives_the_loss_of_any_replica_at_the_peak() -> None:
    busy = trace(3000, rate=150.0)
    run = Search(busy, Limits(ttft_p95_s=0.5, tpot_p95_s=0.06))
    base = run.fewest(OPTION)
    assert base is not None
    found = spot_with_redundancy(run, base, Decimal(1), ColdStart(provision_s=30.0))
    assert found is not None
    assert not found.misses
    assert found.replicas >= max(base.replicas, 2)
    assert found.outcome.answered == len(busy)


def test_it_scales_to_zero_where_hours_pass_without_a_request() -> None:
    at = np.concatenate([np.arange(20) * 0.5, 7200 + np.arange(20) * 0.5])
    rare = Trace(arrival_s=at, input_tokens=np.full(40, 100), output_tokens=np.full(40, 10), duration_s=7210.0)
    run = Search(rare, Limits(e2e_p95_s=60.0))
    base = run.fewest(OPTION)
    assert base is not None
    zero = scale_to_zero(run, base, ColdStart(provision_s=20.0, image_s=10.0))
    assert not zero.misses
    assert zero.cost.usd < base.cost.usd / 10
    strict = Search(rare, Limits(e2e_p95_s=5.0))
    fixed = strict.fewest(OPTION)
    assert fixed is not None
    assert scale_to_zero(strict, fixed, ColdStart(provision_s=20.0, image_s=10.0)).misses


def test_the_busiest_moment_is_in_the_rush() -> None:
    at = np.concatenate([np.arange(100) * 10.0, 1000.0 + np.arange(50) * 0.1, 1200.0 + np.arange(20) * 10.0])
    busy = Trace(arrival_s=at, input_tokens=np.full(170, 10), output_tokens=np.full(170, 5), duration_s=1500.0)
    assert 1000.0 <= busiest_moment_s(busy) <= 1006.0


def test_scaled_targets_leave_out_what_is_not_asked() -> None:
    assert scaled(Limits(ttft_p95_s=2.0), 0.5) == Limits(ttft_p95_s=1.0)


def test_the_loss_of_a_replica_is_not_counted_as_a_saving() -> None:
    busy = trace(2000, rate=150.0)
    run = Search(busy, Limits(ttft_p95_s=2.0, tpot_p95_s=0.2))
    base = run.fewest(OPTION)
    assert base is not None
    found = spot_with_redundancy(run, base, Decimal(1), ColdStart())
    assert found is not None
    whole = run.play(OPTION, found.replicas)
    # half the price of on demand, for as long as the trace lasts
    assert float(found.cost.usd) == pytest.approx(float(whole.cost.usd) / 2, rel=1e-9)
