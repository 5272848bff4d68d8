"""Step times that cannot be are raised, and said."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machine.test_steps import small_grid

from unitcost.machine.plausible import mended, slower_alone, slower_than_plain
from unitcost.machine.steps import mixed_step_s


def test_a_large_fall_is_raised_and_said_a_small_one_raised_only():
    large = mended(small_grid(shared_s=np.array([0.010, 0.005, 0.100])))
    assert large.shared_s.tolist() == [0.010, 0.010, 0.100]
    assert large.flags == ("shared cost by tokens falls by up to 50% with more work; raised",)
    small = mended(small_grid(shared_s=np.array([0.0100, 0.0098, 0.100])))
    assert small.shared_s.tolist() == [0.010, 0.010, 0.100]
    assert small.flags == ()


def test_rising_times_are_left_alone():
    assert (mended(small_grid()).decode_step_s == small_grid().decode_step_s).all()


def test_a_quantised_step_much_slower_than_bf16_is_said():
    usual_s = mixed_step_s(small_grid(), (), 64, 1024)
    assert slower_than_plain(small_grid(), usual_s) == ""
    assert slower_than_plain(small_grid(), None) == ""
    assert "2.0 times that in bf16" in slower_than_plain(small_grid(), pytest.approx(usual_s / 2).expected)


def test_a_smallest_batch_that_is_the_slowest_is_said():
    assert slower_alone(small_grid()) == ""
    odd = small_grid().decode_step_s.copy()
    odd[0] = 2 * odd[1:].mean(axis=1).min()
    assert "2.0 times that of a larger batch" in slower_alone(small_grid(decode_step_s=odd))
