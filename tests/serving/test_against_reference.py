"""The kernel against a plain simulator that takes every iteration by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.serving.grids import grid, trace
from tests.serving.reference import play
from unitcost.machine.steps import Constants
from unitcost.serving.fleet import Engine, Fleet, Scheduler
from unitcost.serving.simulate import run

CONSTANTS = Constants(scale=1.1, per_step_s=3e-4, per_prefill_step_s=2e-4, per_sequence_s=1e-5)
#: Rounding of sums of some thousand steps.
CLOSE = {"rtol": 0, "atol": 1e-7}


@pytest.mark.parametrize("scheduler", ["decode first", "prefill first", "whole prompt"])
@pytest.mark.parametrize("kv_tokens", [1_000, 2_500, 100_000], ids=lambda n: f"kv={n}")
@pytest.mark.parametrize("families", [0, 3], ids=["plain", "prefixes"])
def test_each_request_has_the_times_of_the_reference(scheduler: Scheduler, kv_tokens: int, families: int) -> None:
    arrivals = trace(150, rate=12.0, seed=kv_tokens + families, families=families)
    engine = Engine(scheduler=scheduler, max_batch=12, max_step_tokens=300, block_tokens=16)
    table = grid(kv_tokens=kv_tokens, constants=CONSTANTS)
    slow, iterations, evictions = play(arrivals, table, engine)
    found = run(arrivals, Fleet(grid=table, places={"on-demand": 1}, engine=engine))
    np.testing.assert_allclose(found.first_s, [q.first for q in slow], **CLOSE)
    np.testing.assert_allclose(found.last_s, [q.last for q in slow], **CLOSE)
    np.testing.assert_allclose(found.scheduled_s, [q.scheduled for q in slow], **CLOSE)
    assert list(found.preemptions) == [q.preemptions for q in slow]
    assert list(found.cached_tokens) == [q.cached for q in slow]
    assert found.replicas["iterations"][0] == iterations
    assert found.replicas["evictions"][0] == evictions
    assert found.preemptions.any() or kv_tokens > 1_000 or families
    assert (found.cached_tokens.sum() > 0) == bool(families)


@pytest.mark.parametrize("scheduler", ["decode first", "prefill first", "whole prompt", "static"])
@pytest.mark.parametrize("routing", ["round robin", "least loaded", "prefix affinity"])
def test_taking_stretches_at_once_changes_nothing(scheduler: Scheduler, routing: str) -> None:
    arrivals = trace(600, rate=40.0, seed=5, families=4)
    engine = Engine(scheduler=scheduler, max_batch=16, max_step_tokens=512, max_delay_s=0.05)
    fleet = Fleet(
        grid=grid(kv_tokens=6_000, constants=CONSTANTS), places={"on-demand": 3}, engine=engine, routing=routing
    )
    fast, slow = run(arrivals, fleet), run(arrivals, fleet, fast_forward=False)
    for column in ("scheduled_s", "first_s", "last_s"):
        np.testing.assert_allclose(getattr(fast, column), getattr(slow, column), **CLOSE)
    for column in ("status", "cached_tokens", "preemptions", "replica"):
        assert (getattr(fast, column) == getattr(slow, column)).all()
    for counter in ("iterations", "evictions", "output_tokens", "prefilled"):
        assert (fast.replicas[counter] == slow.replicas[counter]).all()
    assert abs(fast.gaps - slow.gaps).sum() <= 4  # a gap on the edge of a bin may be rounded to either side
    np.testing.assert_allclose(fast.replicas["busy_s"], slow.replicas["busy_s"], rtol=1e-9)
