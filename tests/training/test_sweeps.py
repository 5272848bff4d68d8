"""Early stopping on recorded curves: laws of the replay, and what is recommended."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unitcost.errors import BadFile, BadSetting
from unitcost.facts.sweeps import CurveRun, Sweep
from unitcost.training.pruners import BUDGET_SHARE, never, pause_and_resume, percentile
from unitcost.training.sweeps import Laddered, ladder, orders, replay_sweep, score


def curve(
    name: str, end: float, *, points: int = 27, accepted: bool = False, late: bool = False, step_s: float = 10.0
) -> CurveRun:
    """Curve that rises to its end, evenly or only in its last third."""
    done = np.arange(1, points + 1) / points
    shape = np.where(done < 2 / 3, 0.1 * done, 0.1 * done + 0.9 * (3 * done - 2)) if late else done**0.5
    return CurveRun(
        run=name, steps=list(range(1, points + 1)), seconds=[step_s * n for n in range(1, points + 1)],
        values=[end * float(v) for v in shape], accepted=accepted,
    )  # fmt: skip


def sweep_of(ends, **more) -> Sweep:
    best = max(ends)
    return Sweep(name="s", runs=tuple(curve(f"r{n}", end, accepted=end == best, **more) for n, end in enumerate(ends)))


@st.composite
def sweeps(draw) -> Sweep:
    count = draw(st.integers(2, 20))
    runs = []
    for n in range(count):
        points = draw(st.integers(1, 12))
        values = draw(st.lists(st.one_of(st.none(), st.floats(-5, 5)), min_size=points, max_size=points))
        gaps = draw(st.lists(st.floats(0.1, 9), min_size=points, max_size=points))
        runs.append(
            CurveRun(
                run=f"r{n}", steps=np.cumsum([g + 0.01 for g in gaps]).tolist(), seconds=np.cumsum(gaps).tolist(),
                values=values, accepted=draw(st.booleans()),
            )
        )  # fmt: skip
    return Sweep(name="s", runs=tuple(runs))


@given(sweep=sweeps(), workers=st.integers(1, 9), keep=st.floats(0.1, 0.9))
@settings(max_examples=60, deadline=None)
def test_stopping_never_costs_more_and_not_stopping_costs_all(sweep: Sweep, workers: int, keep: float) -> None:
    laddered = ladder(sweep)
    order = orders(len(laddered), 2)[1]
    full = replay_sweep(laddered, order, never, workers=workers)
    assert full.complete.all()
    assert score(laddered, full).saved == pytest.approx(0.0, abs=1e-9)
    assert score(laddered, full).regret == pytest.approx(0.0)
    for replay in (
        replay_sweep(laddered, order, percentile(keep), workers=workers),
        pause_and_resume(laddered, order, workers=workers, keep_share=keep),
    ):
        assert np.all(replay.spent_s <= laddered.total_s + 1e-9)
        found = score(laddered, replay)
        assert 0 <= found.saved <= 1
        assert found.regret >= -1e-9
        assert math.isnan(found.kept) or 0 <= found.kept <= 1


def test_a_run_is_stopped_where_it_falls_behind_four_others() -> None:
    laddered = ladder(sweep_of([9, 8, 7, 6, 5, 1]))
    replay = replay_sweep(laddered, list(range(6)), percentile(0.5), workers=1)
    assert replay.complete.tolist() == [True, True, True, True, False, False]
    assert replay.rung[5] == 0
    assert replay.spent_s[5] == pytest.approx(10.0)


def test_a_late_bloomer_is_lost_by_stopping_and_kept_by_resuming() -> None:
    # six even runs, then twelve that start slowly, one of which ends best
    ends = [5.0, 4.8, 4.6, 4.4, 4.2, 4.0]
    slow = [curve(f"late{n}", 3.0 + 0.2 * n, late=True) for n in range(11)] + [
        curve("best", 9.0, late=True, accepted=True)
    ]
    sweep = Sweep(name="s", runs=(*sweep_of(ends).runs, *slow))
    plain = [
        CurveRun(run=r.run, steps=r.steps, seconds=r.seconds, values=r.values, accepted=r.run == "best")
        for r in sweep.runs
    ]
    laddered = ladder(Sweep(name="s", runs=tuple(plain)))
    order = list(range(len(plain)))
    assert score(laddered, replay_sweep(laddered, order, percentile(0.25), workers=4)).lost_all
    resumed = score(laddered, pause_and_resume(laddered, order, workers=4, budget_share=0.8))
    assert not resumed.lost_all
    assert resumed.saved > 0.1


def test_resuming_keeps_to_its_budget_when_runs_are_alike() -> None:
    laddered = ladder(sweep_of(np.random.default_rng(5).uniform(1, 9, 60).tolist()))
    replay = pause_and_resume(laddered, orders(60, 2)[1])
    spent = float(replay.spent_s.sum() / laddered.total_s.sum())
    assert spent <= BUDGET_SHARE + 0.01
    assert not score(laddered, replay).lost_all


def test_what_a_run_reached_before_it_was_stopped_counts() -> None:
    runs = [
        CurveRun(run=f"r{n}", steps=[1, 2, 3], seconds=[1, 2, 3], values=v, accepted=n == 4, target=5.0)
        for n, v in enumerate([[9, 9, 9], [8, 8, 8], [7, 7, 7], [6, 6, 6], [5, 1, 1]])
    ]
    laddered = ladder(Sweep(name="s", runs=tuple(runs)), rungs=3)
    replay = replay_sweep(laddered, [0, 1, 2, 3, 4], percentile(0.5), workers=1)
    assert not replay.complete[4]
    assert score(laddered, replay).kept == 1.0


def test_what_was_reached_between_two_rungs_counts() -> None:
    steps = [1, 2, 3, 4]
    curves = [[9, 9, 9, 9], [8, 8, 8, 8], [7, 7, 7, 7], [6, 6, 6, 6], [5, 1, 1, 1]]
    runs = [
        CurveRun(run=f"r{n}", steps=steps, seconds=steps, values=v, accepted=n == 4, target=5.0)
        for n, v in enumerate(curves)
    ]
    laddered = ladder(Sweep(name="s", runs=tuple(runs)), rungs=2)
    assert laddered.values[4].tolist() == [1, 1]
    assert laddered.best[4].tolist() == [5, 5]
    replay = replay_sweep(laddered, [0, 1, 2, 3, 4], percentile(0.5), workers=1)
    assert not replay.complete[4]
    assert score(laddered, replay).kept == 1.0


def test_one_worker_goes_in_order_and_workers_share_the_clock() -> None:
    seen: list[int] = []

    def watch(run: int, rung: int, board) -> bool:
        seen.append(run)
        return False

    laddered = ladder(sweep_of([1.0, 2.0, 3.0], points=3), rungs=3)
    replay_sweep(laddered, [2, 0, 1], watch, workers=1)
    assert seen == [2, 2, 2, 0, 0, 0, 1, 1, 1]
    seen.clear()
    replay_sweep(laddered, [0, 1, 2], watch, workers=2)
    assert seen[:4] == [0, 1, 0, 1]
    with pytest.raises(BadSetting):
        replay_sweep(laddered, [0], never, workers=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": [1, 1], "seconds": [1, 2], "values": [1, 2]},
        {"steps": [2, 1], "seconds": [1, 2], "values": [1, 2]},
        {"steps": [1, 2], "seconds": [2, 1], "values": [1, 2]},
        {"steps": [1, 2], "seconds": [-1, 1], "values": [1, 2]},
        {"steps": [1], "seconds": [1], "values": [float("nan")]},
        {"steps": [], "seconds": [], "values": []},
        {"steps": [1, 2], "seconds": [1], "values": [1, 2]},
    ],
)
def test_curves_that_cannot_be_are_refused(wrong) -> None:
    with pytest.raises(BadFile):
        CurveRun(run="r", **wrong)


def laddered_of_noise(seed: int) -> Laddered:
    draw = np.random.default_rng(seed)
    return ladder(sweep_of(draw.uniform(1, 9, 40).tolist()))


def test_optunas_pruners_are_driven_in_the_order_of_the_clock() -> None:
    pytest.importorskip("optuna")
    from unitcost.jobs.optuna_pruners import optuna_pruners

    laddered = laddered_of_noise(1)
    order = orders(40, 1)[0]
    saved = {}
    for name, make in optuna_pruners("test").items():
        first, second = (score(laddered, replay_sweep(laddered, order, make())) for _ in range(2))
        assert first == second
        saved[name] = first.saved
    assert set(saved) == {"median", "percentile 25", "ASHA", "Hyperband"}
    assert saved["ASHA"] > saved["median"] > 0.2
