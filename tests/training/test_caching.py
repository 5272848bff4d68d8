"""Whether a cache of preprocessed data pays."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.training.caching import CacheAsk, hit_share, plan_cache

ASK = CacheAsk(on_the_fly_hours=1.0, cached_hours=0.1, one_off_hours=2.0)


def test_two_passes_no_three_passes_yes() -> None:
    assert not plan_cache(replace(ASK, epochs=2)).worth_it
    three = plan_cache(replace(ASK, epochs=3))
    assert three.worth_it
    assert three.break_even_passes == 3
    assert three.saves_usd == pytest.approx(0.7)
    assert plan_cache(replace(ASK, runs=3)).worth_it


def test_a_cache_that_is_no_faster_never_pays() -> None:
    answer = plan_cache(replace(ASK, cached_hours=1.0, epochs=1000))
    assert (answer.worth_it, answer.break_even_passes) == (False, None)


def test_random_augmentation_before_the_cut_rules_it_out() -> None:
    answer = plan_cache(replace(ASK, epochs=100, random_before=True))
    assert not answer.worth_it
    assert "random" in answer.warnings[0]


@given(
    fly=st.floats(0, 10),
    cached=st.floats(0, 10),
    once=st.floats(0, 10),
    keeping=st.floats(0, 10),
    passes=st.integers(1, 500),
)
def test_it_pays_from_its_break_even_on(fly, cached, once, keeping, passes) -> None:
    ask = CacheAsk(
        on_the_fly_hours=fly,
        cached_hours=cached,
        one_off_hours=once,
        keeping_usd=keeping,
        epochs=passes,
        usd_per_hour=2.0,
    )
    answer = plan_cache(ask)
    if answer.worth_it:
        assert answer.break_even_passes is not None
        assert passes >= answer.break_even_passes
    assert answer.saves_usd == pytest.approx(passes * (fly - cached) * 2 - once * 2 - keeping, abs=1e-9)


def lru_hits(size: int, items: int, passes: list[np.ndarray]) -> float:
    """Hits of the last pass, item by item."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for number, order in enumerate(passes):
        for item in order.tolist():
            if item in cache:
                cache.move_to_end(item)
                hits += number == len(passes) - 1
            else:
                cache[item] = None
                if len(cache) > size:
                    cache.popitem(last=False)
    return hits / items


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_hits_are_those_of_a_real_lru(share: float) -> None:
    items, draw = 4000, np.random.default_rng(3)
    shuffled = [draw.permutation(items) for _ in range(2)]
    # one pass of 4,000 items: three standard errors are about 0.02
    assert hit_share(share, 1.0, "shuffled") == pytest.approx(lru_hits(int(share * items), items, shuffled), abs=0.025)
    assert hit_share(share, 1.0, "fixed") == lru_hits(int(share * items), items, [np.arange(items)] * 2) == 0.0
    assert hit_share(share, 1.0, "pinned") == share
    assert hit_share(1.0, share, "fixed") == 1.0


@pytest.mark.parametrize("wrong", [{"on_the_fly_hours": -1.0}, {"epochs": 0}, {"usd_per_hour": float("nan")}])
def test_what_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(BadSetting):
        replace(ASK, **wrong)
    with pytest.raises(BadSetting):
        hit_share(1.0, 0.0, "fixed")
