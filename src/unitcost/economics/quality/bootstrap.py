"""Paired bootstrap: the verdict for a metric that is not a share of right answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unitcost.economics.quality.metrics import Answers, Metric, loss
from unitcost.economics.quality.paired import ALPHA, check_margin, decide, more_items, outcome_of
from unitcost.economics.quality.tilting import Floats, Groups, Resamples, grouped, tail, turned, upper_bound
from unitcost.errors import UnitcostError
from unitcost.facts.verdicts import Verdict

RESAMPLES = 5_000
#: Items up to which every one is left out once, for a metric that is no mean; with more the percentiles are as good.
_LEFT_OUT_ITEMS = 5_000
#: Items of one resample of such a metric; with more items its spread is scaled to theirs.
_SAMPLE_ITEMS = 20_000
#: Groups from which it is faster to draw items than counts of groups.
_MANY_GROUPS = 50
#: Items that must differ before resampling them tells how much others may differ.
_FEW = 10
#: Share of the resamples in which the metric may have no value.
_WITHOUT_VALUE = 0.05
TILTED = "paired bootstrap, bound by tilting (Efron 1981)"
PERCENTILE = "paired bootstrap, percentile bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Answers of a reference and of an option to the same items, and what is right: one entry per item."""

    reference: Answers
    option: Answers
    truth: Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounded:
    """Bounds of a loss, the probability that goes with the margin, the variance of one item, and the way."""

    low: float
    high: float
    p_not_worse: float
    spread: float
    method: str


def verdict(
    metric: Metric, pair: Pair, margin: float, *, alpha: float = ALPHA, resamples: int = RESAMPLES, seed: int = 0
) -> Verdict:
    """Whether an option is not worse than a reference, from the answers of both on the same items.

    Items that are right or wrong are counted; any other metric is resampled.

    Parameters
    ----------
    margin
        Loss that is allowed, in the unit of the metric.

    Raises
    ------
    UnitcostError
        When there are no items, or their numbers differ.
    """
    check_margin(margin)
    reference, option, truth = pair.reference, pair.option, pair.truth
    if len(reference) != len(option) or len(option) != len(truth) or not len(truth):
        raise UnitcostError(
            f"{len(reference)} and {len(option)} answers to {len(truth)} items cannot be paired",
            mend="give one answer of each option for each labelled item",
        )
    if metric.per_item is not None:
        theirs, mine = metric.per_item(reference, truth), metric.per_item(option, truth)
        if all(np.isin(values, (0.0, 1.0)).all() for values in (theirs, mine)):
            lost = metric.sign * (theirs - mine)
            return decide(int((lost > 0).sum()), int((lost < 0).sum()), len(truth), margin, alpha=alpha)
    return resampled_verdict(metric, pair, margin, alpha=alpha, resamples=resamples, seed=seed)


def resampled_verdict(
    metric: Metric, pair: Pair, margin: float, *, alpha: float = ALPHA, resamples: int = RESAMPLES, seed: int = 0
) -> Verdict:
    """Verdict of the paired bootstrap: items are drawn with replacement, each with both answers."""
    rng = np.random.default_rng(seed)
    pair = _coded(pair) if metric.is_by_class else pair
    found, items = loss(metric, pair.reference, pair.option, pair.truth), len(pair.truth)
    influences = influences_of(metric, pair, found)
    if influences is None:
        bounded = _percentile(_drawn(metric, pair, None, resamples, rng), found, margin, alpha, items)
    elif not np.ptp(influences):
        bounded = _Bounded(low=found, high=found, p_not_worse=float(found >= margin), spread=0.0, method=TILTED)
    else:
        groups = grouped(influences)
        drawn = (
            _drawn_groups(groups, resamples, rng) if metric.per_item else _drawn(metric, pair, groups, resamples, rng)
        )
        bounded = _tilted(groups, drawn, found, margin, alpha)
    bounded = _not_below_luck(metric, pair, influences, bounded, margin, alpha)
    outcome = outcome_of(bounded.low, bounded.high, margin)
    return Verdict(
        outcome=outcome, loss=found, low=bounded.low, high=bounded.high, margin=margin, p_not_worse=bounded.p_not_worse,
        items=items, spread=bounded.spread, method=bounded.method,
        needs_more=more_items(bounded.spread, margin, items) if outcome == "undecided" else 0,
    )  # fmt: skip


def influences_of(metric: Metric, pair: Pair, found: float) -> Floats | None:
    """What each item adds to the loss, so that their mean is the loss; None where that would take too long.

    Notes
    -----
    For a metric that is no mean over items it is ``loss + (n - 1) * (loss - loss without the item)``, shifted to the
    mean: the values of the jackknife.
    """
    reference, option, truth = pair.reference, pair.option, pair.truth
    if metric.per_item is not None:
        return np.asarray(
            metric.sign * (metric.per_item(reference, truth) - metric.per_item(option, truth)), np.float64
        )
    if not 2 <= len(truth) <= _LEFT_OUT_ITEMS:
        return None
    places = np.arange(len(truth))
    without = np.array([_or_nan(metric, pair, np.delete(places, place)) for place in places])
    if np.isnan(without).any():
        return None
    influences = (len(truth) - 1) * (found - without)
    return np.asarray(influences - influences.mean() + found, dtype=np.float64)


def _drawn_groups(groups: Groups, resamples: int, rng: np.random.Generator) -> Resamples:
    """Resamples of a mean: how often each group is drawn is all that matters."""
    many, items = len(groups.values), groups.items
    drawn = np.empty((resamples, many), dtype=np.float32)
    if many < _MANY_GROUPS or items > _SAMPLE_ITEMS:
        drawn[:] = rng.multinomial(items, groups.counts / items, size=resamples)
    else:
        for row in drawn:
            row[:] = np.bincount(groups.of_item[rng.integers(0, items, items)], minlength=many)
    return Resamples(drawn=drawn, losses=np.array([row @ groups.values for row in drawn]) / items)


def _drawn(metric: Metric, pair: Pair, groups: Groups | None, resamples: int, rng: np.random.Generator) -> Resamples:
    items = len(pair.truth)
    size = min(items, _SAMPLE_ITEMS)
    many = 0 if groups is None else len(groups.values)
    losses, drawn = np.full(resamples, np.nan), np.zeros((resamples, many), dtype=np.float32)
    for place in range(resamples):
        row = rng.integers(0, items, size)
        losses[place] = _or_nan(metric, pair, row)
        if groups is not None:
            drawn[place] = np.bincount(groups.of_item[row], minlength=many)
    known = ~np.isnan(losses)
    if known.mean() < 1 - _WITHOUT_VALUE:
        raise UnitcostError(
            f"{metric.name} has no value in {1 - known.mean():.0%} of the resamples",
            mend="give more items of each class",
        )
    return Resamples(drawn=drawn[known], losses=losses[known])


def _or_nan(metric: Metric, pair: Pair, row: NDArray[np.int64]) -> float:
    """Loss of some items; NaN where the metric has none there, as with one class only."""
    try:
        return loss(metric, pair.reference[row], pair.option[row], pair.truth[row])
    except UnitcostError:
        return float("nan")


def _tilted(groups: Groups, drawn: Resamples, found: float, margin: float, alpha: float) -> _Bounded:
    groups_, drawn_ = turned(groups, drawn)
    p = tail(groups, drawn, found, margin) if margin > found else 1 - tail(groups_, drawn_, -found, -margin)
    mean = float(groups.counts @ groups.values) / groups.items
    return _Bounded(
        low=-upper_bound(groups_, drawn_, -found, alpha), high=upper_bound(groups, drawn, found, alpha), p_not_worse=p,
        spread=float(groups.counts @ (groups.values - mean) ** 2) / groups.items, method=TILTED,
    )  # fmt: skip


def _percentile(drawn: Resamples, found: float, margin: float, alpha: float, items: int) -> _Bounded:
    losses = found + (drawn.losses - found) * (min(items, _SAMPLE_ITEMS) / items) ** 0.5
    low, high = np.quantile(losses, [alpha, 1 - alpha])
    share = (1 + int((losses >= margin).sum())) / (1 + len(losses))
    spread = float(np.var(losses)) * items
    return _Bounded(low=float(low), high=float(high), p_not_worse=share, spread=spread, method=PERCENTILE)


def _not_below_luck(
    metric: Metric, pair: Pair, influences: Floats | None, bounded: _Bounded, margin: float, alpha: float
) -> _Bounded:
    """Bounds that are no nearer than those of the signs of the differences, where too few items differ to be resampled.

    Notes
    -----
    Where none of n items differs, resampling finds no spread at all; up to ``z^2 / (n + z^2)`` of others may differ, by
    as much as the largest difference that was seen, or by the size of the metric.
    """
    is_mean = metric.per_item is not None and influences is not None
    differs = np.asarray(influences != 0) if is_mean else np.asarray(pair.reference != pair.option)
    if int(differs.sum()) >= _FEW:
        return bounded
    signs = np.ones(int(differs.sum())) if influences is None else np.sign(influences[differs])
    scale = _scale(metric, pair, None if influences is None else influences[differs])
    signed = decide(int((signs > 0).sum()), int((signs < 0).sum()), len(pair.truth), margin / scale, alpha=alpha)
    return replace(
        bounded, low=min(bounded.low, scale * signed.low), high=max(bounded.high, scale * signed.high),
        p_not_worse=max(bounded.p_not_worse, signed.p_not_worse), method=f"{bounded.method}; few items differ",
    )  # fmt: skip


def _coded(pair: Pair) -> Pair:
    """The same with a number for each label, where labels are texts: numbers are counted much faster."""
    columns = (pair.reference, pair.option, pair.truth)
    if all(column.dtype.kind in "iufb" for column in columns):
        return pair
    _, numbers = np.unique(
        np.concatenate([np.char.strip(column.astype(str)) for column in columns]), return_inverse=True
    )
    reference, option, truth = np.split(numbers + 2, 3)  # 0 and 1 would be taken for no and yes
    return Pair(reference=reference, option=option, truth=truth)


def _scale(metric: Metric, pair: Pair, differences: Floats | None) -> float:
    """Largest difference of an item that was seen; without one the size of the metric, 1 where that is zero."""
    if differences is not None and len(differences):
        return float(np.abs(differences).max())
    if metric.per_item is not None:
        return float(np.abs(metric.per_item(pair.reference, pair.truth)).max()) or 1.0
    return abs(metric.score(pair.reference, pair.truth)) or 1.0
