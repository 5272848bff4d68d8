"""A job on recorded capacity with its saves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.training.checkpoints import Saving
from unitcost.training.spot_run import Capacity, run_on_spot
from unitcost.units import SECONDS_PER_HOUR

HOUR = float(SECONDS_PER_HOUR)
NONE = Saving(write_s=0.0)


def capacity(counts, usd=1.0, gap_s=HOUR) -> Capacity:
    return Capacity(
        gap_s=gap_s, counts=np.array(counts), usd_per_hour=np.full(len(counts), usd), on_demand_usd_per_hour=3.0
    )


def test_capacity_that_stays_costs_price_times_hours_and_loses_nothing() -> None:
    run = run_on_spot(capacity([1] * 10), nodes=1, work_s=8.5 * HOUR, intervals=[HOUR], saving=NONE)
    assert (run.finished, run.cost_usd, run.lost_s) == (True, pytest.approx(8.5), pytest.approx(0.0))
    assert run.on_demand_share == pytest.approx(1 / 3)


def test_without_saves_work_is_done_again() -> None:
    counts = [1, 1, 0, 1, 1, 1]
    run = run_on_spot(capacity(counts), nodes=1, work_s=3 * HOUR, intervals=[], saving=NONE)
    assert (run.finished, run.cost_usd, run.lost_s, run.interruptions) == (True, 5.0, 2 * HOUR, 1)
    never = run_on_spot(capacity(counts), nodes=1, work_s=4 * HOUR, intervals=[], saving=NONE)
    assert not never.finished


def test_saves_cost_their_time_and_keep_the_work() -> None:
    saving = Saving(write_s=600.0, restart_s=300.0)
    run = run_on_spot(capacity([1, 1, 0, 1, 1, 1]), nodes=1, work_s=3 * HOUR, intervals=[HOUR / 2], saving=saving)
    # 2 h of up-time: 5 min start, two whole cycles of 40 min, 35 min lost; then 2 h of work with 3 saves and a start
    assert run.lost_s == pytest.approx(35 * 60.0)
    assert run.saving_s == pytest.approx(5 * 600.0)
    assert run.cost_usd == pytest.approx(2 + (300 + 2 * HOUR + 3 * 600) / HOUR)


def test_a_gang_waits_for_all_and_an_elastic_job_goes_on_smaller() -> None:
    counts = [16, 16, 8, 8, 16, 16]
    gang = run_on_spot(capacity(counts), nodes=16, work_s=3 * HOUR, intervals=[HOUR], saving=NONE)
    elastic = run_on_spot(capacity(counts), nodes=16, work_s=3 * HOUR, intervals=[HOUR], saving=NONE, elastic=True)
    assert gang.wall_s == 5 * HOUR
    assert elastic.wall_s == 4 * HOUR
    assert gang.cost_usd == elastic.cost_usd == 48.0


def test_growing_loses_nothing_and_is_no_interruption() -> None:
    run = run_on_spot(
        capacity([8, 8, 16, 16]), nodes=16, work_s=2.5 * HOUR, intervals=[10 * HOUR], saving=NONE, elastic=True
    )
    assert (run.lost_s, run.interruptions, run.finished) == (0.0, 0, True)


@given(
    counts=st.lists(st.integers(0, 4), min_size=5, max_size=60),
    elastic=st.booleans(),
    write_s=st.sampled_from([0.0, 120.0]),
)
@settings(max_examples=80, deadline=None)
def test_paid_time_is_work_loss_saves_and_starts(counts, elastic, write_s) -> None:
    saving = Saving(write_s=write_s, restart_s=60.0)
    job = capacity(counts, gap_s=900.0)
    run = run_on_spot(job, nodes=4, work_s=1.0 * HOUR, intervals=[700.0], saving=saving, elastic=elastic)
    paid_s = run.cost_usd * HOUR / 4
    spent_s = run.lost_s + run.saving_s + run.starting_s
    assert run.lost_s >= -1e-6
    if run.finished:
        assert paid_s == pytest.approx(HOUR + spent_s, abs=1e-6)
    else:
        assert paid_s >= spent_s - 1e-6


def test_no_work_is_refused() -> None:
    with pytest.raises(BadSetting):
        run_on_spot(capacity([1]), nodes=1, work_s=0.0, intervals=[], saving=NONE)
