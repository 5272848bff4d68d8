"""Models that answer a batch in one step."""

from __future__ import annotations

import numpy as np
import pytest

from tests.serving.grids import SERVED
from unitcost.errors import BadSetting
from unitcost.serving.fleet import Fleet, Targets
from unitcost.serving.latency_table import dynamic_batching, grid_of_latencies, predictions
from unitcost.serving.outcome import request_times, simulate
from unitcost.serving.simulate import run

LATENCY_S = {1: 0.004, 8: 0.008, 32: 0.020}
GRID = grid_of_latencies(LATENCY_S, served=SERVED, source="made up")


def fleet(max_batch: int, delay_s: float = 0.0) -> Fleet:
    return Fleet(grid=GRID, places={"on-demand": 1}, engine=dynamic_batching(max_batch, max_delay_s=delay_s))


def test_those_who_come_together_are_answered_together() -> None:
    found = run(predictions([0.0] * 8, duration_s=1.0), fleet(32))
    assert found.last_s == pytest.approx(np.full(8, 0.008))
    assert found.replicas["iterations"][0] == 1


def test_a_batch_waits_for_the_delay_and_no_longer_than_until_it_is_full() -> None:
    late = run(predictions([0.0, 0.001, 0.5], duration_s=1.0), fleet(32, delay_s=0.01))
    two = 0.004 + (0.008 - 0.004) / 7
    assert late.last_s == pytest.approx([0.01 + two, 0.01 + two, 0.51 + 0.004])
    full = run(predictions([0.0, 0.001, 0.5], duration_s=1.0), fleet(2, delay_s=0.01))
    assert full.last_s == pytest.approx([0.001 + two, 0.001 + two, 0.51 + 0.004])


def test_those_who_come_during_a_step_are_the_next_batch() -> None:
    found = run(predictions([0.0, 0.001, 0.002, 0.003], duration_s=1.0), fleet(32))
    three = 0.004 + 2 * (0.008 - 0.004) / 7
    assert found.last_s == pytest.approx([0.004] + [0.004 + three] * 3)


def test_larger_batches_carry_more_and_the_first_definition_of_tpot_has_no_value() -> None:
    rate = 1_000
    at = np.cumsum(np.random.default_rng(0).exponential(1 / rate, 20_000))
    requests = predictions(at, duration_s=float(at[-1]))
    single, batched = (simulate(requests, fleet(size), Targets(e2e_s=0.1)) for size in (1, 32))
    assert single.good_share < 0.05  # 250 a second are all that one by one can do
    assert batched.good_share == 1.0
    assert batched.busy_share < 1.0
    assert "tpot_s" not in batched.latencies
    waits = request_times(run(requests, fleet(32)))["e2e_s"]
    assert waits.min() >= 0.004 - 1e-12


def test_latencies_that_cannot_be_are_refused() -> None:
    for table in ({}, {0: 0.1}, {1: 0.0}, {1: float("nan")}):
        with pytest.raises(BadSetting, match="latencies by batch size"):
            grid_of_latencies(table, served=SERVED, source="made up")
