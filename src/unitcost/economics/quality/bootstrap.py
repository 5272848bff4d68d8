"""Paired bootstrap: the verdict for a metric that is not a share of right answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.economics.quality.metrics import Answers, Metric, loss
from unitcost.economics.quality.paired import ALPHA, check_margin, decide, more_items, outcome_of
from unitcost.errors import MissingLibrary, UnitcostError
from unitcost.facts.verdicts import Verdict

RESAMPLES = 5_000
#: Items of all resamples that are held at once.
_BATCH_ITEMS = 2_000_000
_METHOD = "paired bootstrap, percentile bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Answers of a reference and of an option to the same items, and what is right: one entry per item."""

    reference: Answers
    option: Answers
    truth: Answers


def verdict(
    metric: Metric, pair: Pair, margin: float, *, alpha: float = ALPHA, resamples: int = RESAMPLES, seed: int = 0
) -> Verdict:
    """Whether an option is not worse than a reference, from the answers of both on the same items.

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
    if metric.is_share_right and metric.per_item is not None:
        right, also = metric.per_item(reference, truth) > 0, metric.per_item(option, truth) > 0
        return decide(int((right & ~also).sum()), int((also & ~right).sum()), len(truth), margin, alpha=alpha)
    losses = resampled_losses(metric, pair, resamples=resamples, seed=seed, alpha=alpha)
    low, high = np.quantile(losses, [alpha, 1 - alpha])
    outcome = outcome_of(float(low), float(high), margin)
    spread = float(np.var(losses)) * len(truth)
    return Verdict(
        outcome=outcome, loss=loss(metric, reference, option, truth), low=float(low), high=float(high), margin=margin,
        p_not_worse=(1 + int((losses >= margin).sum())) / (1 + len(losses)), items=len(truth), spread=spread,
        needs_more=more_items(spread, margin, len(truth)) if outcome == "undecided" else 0, method=_METHOD,
    )  # fmt: skip


def resampled_losses(
    metric: Metric, pair: Pair, *, resamples: int = RESAMPLES, seed: int = 0, alpha: float = ALPHA
) -> NDArray[np.float64]:
    """Losses of samples drawn from the items with replacement, each item with both answers."""
    try:
        from scipy.stats import bootstrap
    except ImportError:
        raise MissingLibrary("scipy", "measure", "the paired bootstrap") from None
    reference, option, truth = pair.reference, pair.option, pair.truth
    differences = None
    if metric.per_item is not None:
        differences = metric.sign * (metric.per_item(reference, truth) - metric.per_item(option, truth))

    def statistic(places: NDArray[Any], axis: int = -1) -> Any:
        if differences is not None:
            return differences[places].mean(axis=axis)
        rows = np.moveaxis(places, axis, -1)
        flat = rows.reshape(-1, rows.shape[-1])
        found = [loss(metric, reference[row], option[row], truth[row]) for row in flat]
        return np.array(found).reshape(rows.shape[:-1])

    found = bootstrap(
        (np.arange(len(truth)),), statistic, n_resamples=resamples, vectorized=True, method="percentile", axis=-1,
        confidence_level=1 - 2 * alpha, batch=max(1, _BATCH_ITEMS // len(truth)), rng=np.random.default_rng(seed),
    )  # fmt: skip
    return np.asarray(found.bootstrap_distribution, dtype=np.float64)
