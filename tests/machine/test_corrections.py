"""Corrections: found again where they were planted, shrunk where little was seen, wider bands where less is known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.machine.test_steps import small_grid

from unitcost.machine.corrections import QUANTILES, Work, features, fit_correction
from unitcost.machine.steps import Served


def served(model="a", gpu="H200", size=1):
    return Served(model=model, gpu=gpu, precision="fp8", backend="vllm", tensor_parallel=size)


def works(model, concurrencies, **changed):
    return [
        Work(
            served=served(model), concurrency=n, input_tokens=1024, output_tokens=512, told_ttft_s=0.05 + 0.002 * n,
            told_tpot_s=0.01 + 0.0001 * n, **changed,
        )
        for n in concurrencies
    ]  # fmt: skip


def fitted(gaps, *, relative=False):
    """Correction of rows (work, gap), each a configuration of its own."""
    rows = [work for work, _ in gaps]
    seen = np.array([features(work, small_grid()) for work in rows])
    names = [f"{work.served.model} {work.concurrency}" for work in rows]
    return fit_correction(
        [work.served for work in rows], seen, np.array([gap for _, gap in gaps]), names, noise=0.1, relative=relative
    )


SIZES = (4, 8, 16, 32, 64, 128)


def test_a_factor_of_each_group_is_found_again():
    rows = [(work, 0.5) for work in works("a", SIZES)] + [(work, -0.5) for work in works("b", SIZES)]
    correction = fitted(rows)
    for work, gap in rows:
        assert np.log(correction.factor(work.served, features(work, small_grid()))) == pytest.approx(gap, abs=0.05)


def test_a_slope_with_concurrency_is_found_again():
    rows = [(work, 0.2 * np.log2(work.concurrency)) for work in works("a", SIZES)]
    correction = fitted(rows)
    ends = [np.log(correction.factor(work.served, features(work, small_grid()))) for work, _ in (rows[0], rows[-1])]
    assert ends[1] - ends[0] == pytest.approx(1.0, abs=0.1)


def test_work_beyond_what_was_seen_counts_as_the_nearest_seen():
    correction = fitted([(work, 0.2 * np.log2(work.concurrency)) for work in works("a", SIZES)])
    huge = features(works("a", (128,))[0], small_grid())
    huge[1:] *= 100
    assert np.isfinite(correction.factor(served("a"), huge))
    assert correction.factor(served("a"), huge) == correction.factor(
        served("a"), np.clip(huge, correction.low, correction.high)
    )


def test_one_row_moves_the_factor_less_than_many():
    few = fitted([(work, 1.0) for work in works("a", (16,))] + [(work, 0.0) for work in works("b", SIZES)])
    many = fitted([(work, 1.0) for work in works("a", SIZES)] + [(work, 0.0) for work in works("b", SIZES)])
    seen = features(works("a", (16,))[0], small_grid())
    assert few.factor(served("a"), seen) < many.factor(served("a"), seen)


def test_what_is_known_is_said_and_less_knowledge_has_a_wider_band():
    random = np.random.default_rng(5)
    rows = [
        (work, level + random.normal(0, 0.05))
        for model, level in (("a", 0.6), ("b", -0.6), ("c", 0.1), ("d", 0.9))
        for work in works(model, SIZES)
    ]
    correction = fitted(rows)
    assert correction.known(served("a")) == "deployment"
    assert correction.known(served("a", size=2)) == "measured group"
    assert correction.known(served("new")) == "backend"
    assert correction.known(Served(model="a", gpu="H200", precision="fp8", backend="other")) == "nothing"
    widths = [correction.bands[name][-1] / correction.bands[name][0] for name in ("deployment", "backend")]
    assert widths[0] < widths[1]
    assert len(correction.band(served("new"))) == len(QUANTILES)


def test_relative_error_is_least_below_the_middle():
    random = np.random.default_rng(2)
    rows = [(work, random.normal(0, 0.6)) for _ in range(20) for work in works("a", SIZES)]
    seen = [features(work, small_grid()) for work, _ in rows]
    measured = np.exp([gap for _, gap in rows])

    def error(correction):
        told = np.array([correction.factor(served("a"), one) for one in seen])
        return np.abs(told / measured - 1).mean(), np.log(told).mean()

    (plain, middle), (least, lower) = error(fitted(rows)), error(fitted(rows, relative=True))
    assert least < plain
    assert lower < middle
