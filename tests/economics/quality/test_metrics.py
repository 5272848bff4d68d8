"""Metrics against the library that everybody uses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from unitcost.economics.quality.bootstrap import Pair, verdict
from unitcost.economics.quality.metrics import METRICS, loss, metric
from unitcost.errors import UnitcostError, UnknownName

RNG = np.random.default_rng(2)


def test_auc_is_that_of_scikit_learn_with_ties():
    scores = RNG.integers(0, 12, 500).astype(float)
    truth = (RNG.random(500) < scores / 12).astype(int)
    assert metric("auc").score(scores, truth) == pytest.approx(sklearn_metrics.roc_auc_score(truth, scores))


@pytest.mark.parametrize("classes", [2, 5])
def test_f1_is_that_of_scikit_learn(classes: int):
    truth, said = RNG.integers(0, classes, 400), RNG.integers(0, classes, 400)
    average = "binary" if classes == 2 else "macro"
    assert metric("f1").score(said, truth) == pytest.approx(sklearn_metrics.f1_score(truth, said, average=average))


def test_errors_of_numbers():
    truth, said = np.array([1.0, 2.0, 4.0]), np.array([1.0, 4.0, 3.0])
    assert metric("rmse").score(said, truth) == pytest.approx((5 / 3) ** 0.5)
    assert metric("mae").score(said, truth) == pytest.approx(1.0)


def test_texts_match_without_the_space_around_them():
    assert metric("exact-match").score(np.array([" yes", "no"]), np.array(["yes", "no "])) == 1.0
    assert metric("accuracy").score(np.array(["7", "x"]), np.array(["7", "y"])) == 0.5


def test_more_loss_is_worse_whatever_the_sense_of_the_metric():
    truth, good, bad = np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([2.0, 4.0])
    for name in ("rmse", "mae"):
        assert loss(METRICS[name], good, bad, truth) > 0
    assert loss(METRICS["accuracy"], good, bad, truth) > 0


def test_a_worse_ranking_is_found_by_the_bootstrap():
    truth = (RNG.random(800) < 0.4).astype(int)
    reference = truth + RNG.normal(size=800)
    same, worse = reference + RNG.normal(size=800) * 0.01, RNG.normal(size=800)
    assert (
        verdict(METRICS["auc"], Pair(reference=reference, option=same, truth=truth), 0.02, resamples=400).outcome
        == "not worse"
    )
    assert (
        verdict(METRICS["auc"], Pair(reference=reference, option=worse, truth=truth), 0.02, resamples=400).outcome
        == "worse"
    )


def test_what_has_no_answer_is_refused():
    with pytest.raises(UnitcostError, match="auc needs labels 0 and 1"):
        metric("auc").score(np.array([1.0, 2.0]), np.array([1, 1]))
    with pytest.raises(UnknownName, match="accuracy"):
        metric("acuracy")
    with pytest.raises(UnitcostError, match="cannot be paired"):
        verdict(METRICS["accuracy"], Pair(reference=np.ones(3), option=np.ones(2), truth=np.ones(3)), 0.01)
