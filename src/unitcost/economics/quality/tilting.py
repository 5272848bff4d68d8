"""Bounds of a mean by resampling from weights under which the mean would be the bound: one sample serves all bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import MissingLibrary

Floats = NDArray[np.float64]
#: Different values that are told apart; more are put together with their neighbours, and weighted as one.
GROUPS = 1_000
#: Share of the way to the end of the values up to which a bound is sought.
_NEARLY = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Items with nearly the same influence.

    Parameters
    ----------
    values
        Mean influence of each group; the mean over all items is the loss.
    counts
        Items of each.
    of_item
        Group of each item.
    """

    values: Floats
    counts: NDArray[np.int64]
    of_item: NDArray[np.int64]

    @property
    def items(self) -> int:
        """Items in all."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """Samples drawn from the items with replacement.

    Parameters
    ----------
    drawn
        How often each group was drawn: one row per sample.
    losses
        Loss of each sample.
    """

    drawn: NDArray[np.float32]
    losses: Floats


def grouped(influences: Floats, most: int = GROUPS) -> Groups:
    """Items in groups of equal influence, or of neighbours where there are too many values."""
    values, of_item, counts = np.unique(influences, return_inverse=True, return_counts=True)
    if len(values) > most:
        ranks = np.empty(len(influences), dtype=np.int64)
        ranks[np.argsort(influences, kind="stable")] = np.arange(len(influences))
        of_item = ranks * most // len(influences)
        counts = np.bincount(of_item, minlength=most)
        values = np.bincount(of_item, weights=influences, minlength=most) / counts
    return Groups(values=values, counts=counts, of_item=of_item)


def tail(groups: Groups, resamples: Resamples, loss: float, supposed: float) -> float:
    """Chance of a loss as low as was found, or lower, if the true loss were `supposed`, above it; ties count half.

    Notes
    -----
    The weights are the likeliest ones under which the mean is `supposed`, ``w ~ 1 / (1 + l*(value - supposed))`` [1]_;
    for differences of 1, 0 and -1 they are those of the score test of paired shares. The samples were drawn with equal
    weights; each counts by how much likelier it is under the others [2]_, which is precise where the chance is small.

    References
    ----------
    .. [1] A. Owen, "Empirical likelihood ratio confidence intervals for a single functional", Biometrika 75 (1988).
    .. [2] B. Efron, "Nonparametric standard errors and confidence intervals", Canadian Journal of Statistics 9 (1981),
       section 11: nonparametric tilting.
    """
    away = groups.values - supposed
    if away.max() <= 0:
        return 0.0
    logarithms = -np.log1p(_multiplier(away, groups.counts) * away)
    step = 1e-9 * float(np.abs(groups.values).max())
    below = np.where(resamples.losses < loss - step, 1.0, np.where(resamples.losses <= loss + step, 0.5, 0.0))
    likelier = resamples.drawn[below > 0] @ logarithms.astype(np.float32)
    return float(min(1.0, (np.exp(likelier.astype(np.float64)) * below[below > 0]).sum() / len(below)))


def upper_bound(groups: Groups, resamples: Resamples, loss: float, alpha: float) -> float:
    """Largest true loss under which a loss as low as was found has still the chance `alpha`."""
    try:
        from scipy.optimize import brentq
    except ImportError:
        raise MissingLibrary("scipy", "measure", "the paired bootstrap") from None
    end = loss + (float(groups.values.max()) - loss) * _NEARLY
    start = loss + (end - loss) * (1 - _NEARLY)
    if end <= loss or tail(groups, resamples, loss, start) <= alpha:
        return loss
    return float(brentq(lambda to: tail(groups, resamples, loss, to) - alpha, start, end, xtol=1e-9, rtol=1e-7))


def turned(groups: Groups, resamples: Resamples) -> tuple[Groups, Resamples]:
    """The same with the sign of every loss turned, for the lower bound."""
    return (
        Groups(values=-groups.values, counts=groups.counts, of_item=groups.of_item),
        Resamples(drawn=resamples.drawn, losses=-resamples.losses),
    )


def _multiplier(away: Floats, counts: NDArray[np.int64]) -> float:
    """Root l of ``sum(counts * away / (1 + l*away))``: it falls from +inf to -inf between the poles."""
    low, high = -1 / float(away.max()), -1 / float(away.min())
    for _ in range(60):
        middle = (low + high) / 2
        if float((counts * away / (1 + middle * away)).sum()) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
