"""Fleets put together at random: nothing is lost, and taking stretches of decode at once changes nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.serving.grids import grid, trace
from unitcost.serving.fleet import Autoscaler, ColdStart, Engine, Fleet, LossRate, ScaleToZero
from unitcost.serving.kernel.layout import DONE, UNSERVED
from unitcost.serving.simulate import run
from unitcost.serving.spot import draw_losses


def any_fleet(rng: np.random.Generator) -> Fleet:
    places = {
        "spot": int(rng.integers(0, 4)),
        "on-demand": int(rng.integers(1, 4)),
        "reserved": int(rng.integers(0, 2)),
    }
    count = sum(places.values())
    warm = int(rng.integers(0, 2)) if count > 1 else 0
    zero = rng.uniform() < 0.4
    engine = Engine(
        scheduler=str(rng.choice(["decode first", "prefill first", "whole prompt", "static"])),
        max_batch=int(rng.choice([4, 16])), max_step_tokens=int(rng.choice([128, 1024])), max_delay_s=float(rng.choice([0, 0.1])),
    )  # fmt: skip
    scaler = Autoscaler(
        target_in_flight=float(rng.choice([1, 5])), interval_s=1.5, stabilisation_s=float(rng.choice([0, 6])), surge=2,
        cooldown_s=float(rng.choice([0, 3])),
    )  # fmt: skip
    return Fleet(
        grid=grid(kv_tokens=int(rng.choice([2_000, 6_000, 100_000]))), places=places, engine=engine,
        routing=str(rng.choice(["round robin", "least loaded", "prefix affinity"])), warm_pool=warm,
        minimum=0 if zero else int(rng.integers(1, count - warm + 1)), spare=int(rng.integers(0, 2)),
        cold_start=ColdStart(provision_s=float(rng.choice([0, 3])), warm_up_s=float(rng.choice([0, 2])), wake_s=1),
        autoscaler=scaler if rng.uniform() < 0.6 else None,
        scale_to_zero=ScaleToZero(idle_timeout_s=float(rng.choice([0, 2, 10])), max_wait_s=float(rng.choice([5, np.inf])))
        if zero else None,
        losses=LossRate(per_hour=300, notice_s=float(rng.choice([0, 0.2, 3])), return_s=8) if places["spot"] else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_any_fleet(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fleet = any_fleet(rng)
    requests = trace(400, rate=float(rng.choice([1, 5, 20])), seed=seed, families=int(rng.integers(0, 3)))
    fleet = draw_losses(fleet, until_s=requests.duration_s, seed=seed)
    fast, slow = run(requests, fleet), run(requests, fleet, fast_forward=False)
    for column in ("status", "replica", "kills", "preemptions", "cached_tokens"):
        assert (getattr(fast, column) == getattr(slow, column)).all()
    np.testing.assert_allclose(fast.last_s, slow.last_s, rtol=0, atol=1e-6)
    for column in ("start", "end"):
        np.testing.assert_allclose(fast.intervals[column], slow.intervals[column], rtol=0, atol=1e-6)
    done = fast.status == DONE
    assert (fast.generated_tokens[done] == requests.output_tokens[done]).all()
    assert not (fast.status == UNSERVED).any()
    assert not fast.replicas["running"].any()
    assert not fast.replicas["waiting"].any()
    rows = sorted(fast.intervals.tolist(), key=lambda row: (row[2], row[0]))
    assert all(a[2] != b[2] or a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(rows))
