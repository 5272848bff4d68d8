"""Constants are found again in times that were made with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.machine.calibration import Timed, fit_outside, fit_speed
from unitcost.machine.steps import Constants


def timed(scale=1.0, per_step_s=0.0, per_request_s=0.0, per_token_s=0.0, rows=12):
    random = np.random.default_rng(3)
    told_s, inputs = random.uniform(0.005, 0.05, rows), random.uniform(100, 8000, rows)
    first_s = random.uniform(0.05, 1.0, rows)
    return Timed(
        input_tokens=inputs, told_tpot_s=told_s, real_tpot_s=scale * told_s + per_step_s, told_ttft_s=first_s,
        real_ttft_s=first_s + per_request_s + per_token_s * inputs,
    )  # fmt: skip


@given(st.floats(0.3, 3.0), st.floats(0.0, 0.02))
def test_scale_and_time_per_step_are_found_again(scale, per_step_s):
    found = fit_speed(timed(scale=scale, per_step_s=per_step_s))
    assert found.scale == pytest.approx(scale, rel=0.02)
    assert found.per_step_s == pytest.approx(per_step_s, abs=2e-4)


def test_time_outside_is_found_again():
    found = fit_outside(timed(per_request_s=0.2, per_token_s=3e-5), Constants())
    assert found.per_request_s == pytest.approx(0.2, rel=0.02)
    assert found.per_input_token_s == pytest.approx(3e-5, rel=0.02)


def test_few_rows_stay_near_what_is_believed_and_many_do_not():
    prior = Constants(scale=1.0)
    few = fit_speed(timed(scale=2.0, rows=1), prior).scale
    many = fit_speed(timed(scale=2.0, rows=200), prior).scale
    assert few < many == pytest.approx(2.0, rel=0.05)


def test_one_wild_row_does_not_move_the_scale():
    rows = timed(scale=1.5, rows=30)
    rows.real_tpot_s[0] *= 100
    assert fit_speed(rows).scale == pytest.approx(1.5, rel=0.05)


def test_nothing_to_calibrate_with_is_said():
    with pytest.raises(BadSetting, match="nothing to calibrate"):
        timed(rows=0)
