"""Checkpoints: what an up-time keeps, and that a planned schedule beats a fixed one where tails are heavy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.errors import BadSetting, UnitcostError
from unitcost.training.checkpoints import (
    Saving,
    best_fixed_s,
    daly_s,
    expected_lost_share,
    growing_s,
    kept_work_s,
    lost_share,
)
from unitcost.training.uptimes import SHIPPED, UpTimeShape, mean_s, shape_of, up_times_s


def slow_kept(up_s: float, intervals, saving: Saving) -> float:
    """Work that survives, followed save by save."""
    time, done, kept, place = saving.restart_s, 0.0, 0.0, 0
    notice = up_s - saving.notice_s if saving.warned else None
    at_notice = 0.0
    while time < up_s:
        length = intervals[min(place, len(intervals) - 1)] if len(intervals) else float("inf")
        if notice is not None and time <= notice:
            at_notice = done + min(max(notice - time, 0.0), length)
        if time + length + saving.write_s <= up_s:
            kept = done + length
        done += length
        time += length + saving.stop_s
        place += 1
    return max(kept, at_notice)


@given(
    up_s=st.floats(1, 5000),
    intervals=st.lists(st.integers(20, 900).map(float), max_size=6),
    write_s=st.integers(0, 100).map(float),
    part=st.sampled_from([0.0, 0.5, 1.0]),
    restart_s=st.sampled_from([0.0, 60.0]),
    notice_s=st.sampled_from([0.0, 120.0]),
)
@settings(max_examples=150, deadline=None)
def test_kept_work_is_that_of_following_each_save(up_s, intervals, write_s, part, restart_s, notice_s) -> None:
    saving = Saving(write_s=write_s, blocking_s=write_s * part, restart_s=restart_s, notice_s=notice_s)
    found = kept_work_s(np.array([up_s]), np.array(intervals), saving)[0]
    assert found == pytest.approx(slow_kept(up_s, intervals, saving), abs=1e-6)
    assert 0 <= found <= up_s


def test_an_asynchronous_write_costs_its_blocking_part_and_bounds_the_loss_by_the_whole() -> None:
    up = np.full(50, 20_500.0)
    blocking = Saving(write_s=100.0)
    beside = Saving(write_s=100.0, blocking_s=5.0)
    assert lost_share(up, [1000.0], beside) < lost_share(up, [1000.0], blocking)
    just_too_early = np.array([1000.0 + 99.0])
    assert kept_work_s(just_too_early, np.array([1000.0]), beside)[0] == 0.0


def test_a_notice_that_is_long_enough_loses_only_itself() -> None:
    saving = Saving(write_s=60.0, notice_s=120.0)
    assert kept_work_s(np.array([1000.0]), np.array([]), saving)[0] == 880.0
    too_short = Saving(write_s=121.0, notice_s=120.0)
    assert kept_work_s(np.array([1000.0]), np.array([]), too_short)[0] == 0.0


def test_a_growing_schedule_loses_less_than_daly_where_tails_are_heavy() -> None:
    up = 600 * (1 + np.random.default_rng(7).pareto(1.2, 4000))
    saving = Saving(write_s=120.0)
    planned = lost_share(up, growing_s(saving, mean_s(up)), saving)
    fixed = lost_share(up, [daly_s(120.0, mean_s(up))], saving)
    assert planned < fixed
    assert planned < best_fixed_s(up, saving)[1] + 0.012


def test_with_a_constant_rate_the_schedule_is_youngs_interval_and_daly_is_near_the_best() -> None:
    constant = UpTimeShape(ends=(1.0,) * len(SHIPPED.ends))
    saving = Saving(write_s=60.0)
    assert growing_s(saving, 3600.0, constant) == pytest.approx(np.sqrt(2 * 60 * 3600.0), rel=1e-6)
    up = np.random.default_rng(1).exponential(3600.0, 40_000)
    # four standard errors of a share of 40,000 up-times
    assert lost_share(up, [daly_s(60.0, 3600.0)], saving) == pytest.approx(best_fixed_s(up, saving)[1], abs=0.004)
    assert expected_lost_share(daly_s(60.0, 3600.0), saving, 3600.0, constant) == pytest.approx(
        lost_share(up, [daly_s(60.0, 3600.0)], saving), abs=0.01
    )


def test_intervals_grow_with_age() -> None:
    intervals = growing_s(Saving(write_s=120.0), 3600.0)
    assert intervals[-1] > 2 * intervals[0]


def test_a_shape_counts_each_recording_alike() -> None:
    draw = np.random.default_rng(2)
    exponential = [draw.exponential(scale, 20_000) for scale in (60.0, 6000.0)]
    # a memoryless up-time ends once a mean, at any age; 5 % is four standard errors of the rarest class
    assert shape_of(exponential).ends[:7] == pytest.approx([1.0] * 7, rel=0.08)


def test_up_times_are_the_completed_runs() -> None:
    there = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], bool)
    assert up_times_s(there, 100.0).tolist() == [125.0, 75.0]
    with pytest.raises(UnitcostError, match="no completed up-time"):
        mean_s(up_times_s(np.ones(5, bool), 100.0))


@pytest.mark.parametrize("wrong", [{"write_s": -1.0}, {"write_s": 5.0, "blocking_s": 6.0}, {"write_s": float("nan")}])
def test_what_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(BadSetting):
        Saving(**wrong)
    with pytest.raises(BadSetting):
        daly_s(5.0, -1.0)
