"""Metrics of quality, each as a number of which more is better, and what each counts as an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import UnitcostError, UnknownName

#: What a model answered, and what was right: one entry per item.
Answers = NDArray[Any]
#: (answers, truth) -> value in the metric's own sense.
Score = Callable[[Answers, Answers], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric.

    Parameters
    ----------
    score
        Its value over all items.
    per_item
        Its value on each item, where the whole is their mean; None where it is not.
    sign
        1 when more is better, -1 when less is.
    is_share_right
        Whether an item is right or wrong, so that the discordant counts decide.
    is_by_class
        Whether labels only name classes, so that numbers may stand for texts.
    """

    name: str
    score: Score
    per_item: Callable[[Answers, Answers], NDArray[np.float64]] | None = None
    sign: int = 1
    is_share_right: bool = False
    is_by_class: bool = False


def metric(name: str) -> Metric:
    """Metric by name.

    Raises
    ------
    UnknownName
        When there is none by that name.
    """
    if name not in METRICS:
        raise UnknownName("metric", name, METRICS)
    return METRICS[name]


def loss(metric: Metric, reference: Answers, option: Answers, truth: Answers) -> float:
    """Quality of the reference less that of the option; positive = the option is worse."""
    return metric.sign * (metric.score(reference, truth) - metric.score(option, truth))


def equal(answers: Answers, truth: Answers) -> NDArray[np.float64]:
    """1 where the answer is the truth, else 0; texts are compared without the space around them."""
    if answers.dtype.kind in "US" or truth.dtype.kind in "USO":
        return np.asarray(np.char.strip(answers.astype(str)) == np.char.strip(truth.astype(str)), dtype=np.float64)
    return np.asarray(answers == truth, dtype=np.float64)


def f1(answers: Answers, truth: Answers) -> float:
    """F1 of the positive class where labels are 0 and 1, else the mean F1 of the classes that occur.

    Notes
    -----
    ``2*tp / (2*tp + fp + fn)`` per class; a class that neither occurs nor is predicted does not count.
    """
    if answers.dtype.kind not in "iufb" or truth.dtype.kind not in "iufb":
        answers, truth = (np.char.strip(column.astype(str)) for column in (answers, truth))
    classes, found = np.unique(np.concatenate([answers, truth]), return_inverse=True)
    said, is_so = found[: len(answers)], found[len(answers) :]
    right = np.bincount(said[said == is_so], minlength=len(classes))
    scores = 2 * right / np.bincount(found, minlength=len(classes))
    if classes.dtype.kind in "iufb" and set(classes.tolist()) <= {0, 1}:
        return float(scores[-1]) if classes[-1] == 1 else 0.0
    return float(scores.mean())


def auc(scores: Answers, truth: Answers) -> float:
    """Chance that a positive item scores above a negative one, ties counted half.

    Raises
    ------
    UnitcostError
        When the labels are not 0 and 1, or only one of them occurs.

    Notes
    -----
    ``(sum of the ranks of the positives - n1*(n1 + 1)/2) / (n1*n0)``: the Mann-Whitney statistic.
    """
    positives = truth == 1
    n1, n0 = int(positives.sum()), int((truth == 0).sum())
    if n1 + n0 != len(truth) or not n1 or not n0:
        raise UnitcostError("auc needs labels 0 and 1, and both of them", mend="choose another --metric")
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return float((ranks[positives].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def _mean(per_item: Callable[[Answers, Answers], NDArray[np.float64]]) -> Score:
    return lambda answers, truth: float(np.mean(per_item(answers, truth)))


def _squared(answers: Answers, truth: Answers) -> NDArray[np.float64]:
    return np.asarray((answers.astype(np.float64) - truth.astype(np.float64)) ** 2, dtype=np.float64)


def _absolute(answers: Answers, truth: Answers) -> NDArray[np.float64]:
    return np.asarray(np.abs(answers.astype(np.float64) - truth.astype(np.float64)), dtype=np.float64)


def _given(scores: Answers, _: Answers) -> NDArray[np.float64]:
    return np.asarray(scores, dtype=np.float64)


METRICS: Mapping[str, Metric] = {
    found.name: found
    for found in (
        Metric(name="accuracy", score=_mean(equal), per_item=equal, is_share_right=True),
        Metric(name="exact-match", score=_mean(equal), per_item=equal, is_share_right=True),
        Metric(name="f1", score=f1, is_by_class=True),
        Metric(name="auc", score=auc),
        Metric(name="rmse", score=lambda answers, truth: float(np.sqrt(np.mean(_squared(answers, truth)))), sign=-1),
        Metric(name="mae", score=_mean(_absolute), per_item=_absolute, sign=-1),
        Metric(name="score", score=_mean(_given), per_item=_given),
    )
}
