"""Closed loops: what can be worked out by hand, and laws that any engine keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machine.test_steps import small_grid

from unitcost.machine.closed_loop import closed_loop
from unitcost.machine.steps import Constants, mixed_step_s

#: Times that do not depend on the work but for one constant each.
FLAT = small_grid(
    shared_s=np.array([0.010, 0.010, 0.010]), chunk_attention_s=np.zeros((3, 2)),
    decode_attention_s=np.zeros((3, 3)), decode_step_s=np.full((3, 3), 0.010),
)  # fmt: skip


def test_one_request_at_a_time_takes_one_step_for_its_prompt_and_one_for_each_token():
    found = closed_loop(FLAT, 1, 100, 50)
    assert found.ttft_s == pytest.approx(0.010)
    assert found.tpot_s == pytest.approx(0.010)


def test_time_outside_the_engine_is_added_to_the_first_token_only():
    constants = Constants(per_request_s=0.5, per_input_token_s=0.001)
    plain, later = closed_loop(FLAT, 1, 100, 50), closed_loop(replace(FLAT, constants=constants), 1, 100, 50)
    assert later.tpot_s == plain.tpot_s
    assert 0.58 <= later.ttft_s - plain.ttft_s <= 0.60  # prompts of 80 to 100 tokens


def test_a_prompt_longer_than_a_step_takes_several():
    found = closed_loop(FLAT, 1, 100, 2, step_tokens=30)
    assert 0.030 <= found.ttft_s <= 0.040


def test_prefill_first_gives_first_tokens_earlier_and_later_ones_later():
    early = closed_loop(small_grid(), 32, 2000, 100, policy="prefill first")
    late = closed_loop(small_grid(), 32, 2000, 100, policy="decode first", step_tokens=256)
    assert early.ttft_s < late.ttft_s


def test_a_full_cache_makes_requests_wait_but_all_are_answered():
    tight = replace(small_grid(), kv_tokens_per_replica=3_000)
    assert closed_loop(tight, 16, 1000, 100).ttft_s > 3 * closed_loop(small_grid(), 16, 1000, 100).ttft_s


@settings(deadline=None, max_examples=25)
@given(
    st.integers(1, 40), st.integers(2, 3000), st.integers(1, 200), st.sampled_from(["decode first", "prefill first"])
)
def test_a_loop_lasts_as_long_as_its_steps_and_keeps_littles_law(concurrency, inputs, outputs, policy):
    found = closed_loop(small_grid(), concurrency, inputs, outputs, policy=policy)
    again = closed_loop(small_grid(), concurrency, inputs, outputs, policy=policy)
    assert found == again
    shortest_s = mixed_step_s(small_grid(), (), 1, 100.0)
    assert found.seconds >= found.steps * shortest_s * 0.999
    # Little: requests in flight never exceed the concurrency.
    life_s = found.ttft_s + found.tpot_s * (0.9 * outputs - 1)
    assert life_s * 10 * concurrency <= found.seconds * concurrency * 1.15 + 1e-9
