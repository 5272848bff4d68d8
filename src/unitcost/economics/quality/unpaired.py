"""Bounds of a loss that is put together from two measurements which do not share their items."""

from __future__ import annotations

import math
from statistics import NormalDist

from unitcost.economics.quality.paired import ALPHA, check_margin, items_needed, outcome_of
from unitcost.economics.quality.totals import wilson
from unitcost.errors import UnitcostError
from unitcost.facts.qualities import CacheHits
from unitcost.facts.verdicts import Verdict

_NORMAL = NormalDist()
UNPAIRED = "unpaired: bound of two shares measured apart (Newcombe 1998); answers of both to the same items need fewer"
BEHIND_CACHE = "with what the cache changes: bounds of a sum (Zou and Donner 2008), each change counted as a loss"
#: Halvings of the level at which the bound is the margin.
_HALVINGS = 50
_LEAST = 1e-15


def unpaired_bounds(
    reference: tuple[float, int], option: tuple[float, int], *, alpha: float = ALPHA
) -> tuple[float, float]:
    """Lower and upper bound of the loss of shares of right answers, each one-sided at level `alpha`.

    Parameters
    ----------
    reference, option
        Share of right answers, and the items that it was measured on.

    Notes
    -----
    ``d + sqrt((u1 - p1)^2 + (p2 - l2)^2)`` above, ``d - sqrt((p1 - l1)^2 + (u2 - p2)^2)`` below, with Wilson's bounds l
    and u of each share: method 10 of [1]_.

    References
    ----------
    .. [1] R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
       methods", Statistics in Medicine 17 (1998).
    """
    p1, p2 = reference[0], option[0]
    (l1, u1), (l2, u2) = (wilson(p * n, n, level=1 - 2 * alpha) for p, n in (reference, option))
    return p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)


def unpaired(
    reference: tuple[float, int], option: tuple[float, int], margin: float, *, alpha: float = ALPHA
) -> Verdict:
    """Verdict where only the share of right answers of each and the number of items are known.

    Raises
    ------
    UnitcostError
        When a share is none, or the items are not told.
    """
    check_margin(margin)
    if any(not 0 <= share <= 1 or items < 1 for share, items in (reference, option)):
        raise UnitcostError(
            f"shares of {reference[0]} of {reference[1]:,} and {option[0]} of {option[1]:,} items cannot be compared",
            mend="give shares of right answers between 0 and 1, and the number of items",
        )
    low, high = unpaired_bounds(reference, option, alpha=alpha)
    spread = sum(share * (1 - share) for share, _ in (reference, option))
    outcome, items = outcome_of(low, high, margin), min(reference[1], option[1])
    more = items_needed(spread, margin) - items
    return Verdict(
        outcome=outcome, loss=reference[0] - option[0], low=low, high=high, margin=margin,
        p_not_worse=_probability(reference, option, margin), items=items, spread=spread,
        needs_more=0 if outcome != "undecided" else more if more > 0 else items, method=UNPAIRED,
    )  # fmt: skip


def cache_verdict(model: Verdict | None, hits: CacheHits, margin: float, *, alpha: float = ALPHA) -> Verdict:
    """Verdict of a model behind a cache, out of that of the model and the answers that the cache changes.

    Parameters
    ----------
    model
        Verdict of the model against the reference; None when it is the reference.

    Notes
    -----
    An answer that is changed is counted as one that was right and is wrong now. The bounds of the sum of the two losses
    are ``a + b +- sqrt((a - bound of a)^2 + (b - bound of b)^2)`` [1]_.

    References
    ----------
    .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27
       (2008).
    """
    check_margin(margin)
    changed = hits.changed / hits.requests
    _, most = wilson(hits.changed, hits.requests, level=1 - 2 * alpha)
    loss, low, high = (model.loss, model.low, model.high) if model else (0.0, 0.0, 0.0)
    above = loss + changed + math.hypot(high - loss, most - changed)
    outcome = outcome_of(low, above, margin)  # a change may also mend an answer, so the cache raises no lower bound
    away = _NORMAL.inv_cdf(1 - alpha) * (margin - loss - changed) / (above - loss - changed)
    items = min(hits.requests, model.items if model else hits.requests)
    spread = changed * (1 - changed) + (model.spread if model else 0.0)
    more = items_needed(spread, margin) - items
    return Verdict(
        outcome=outcome, loss=loss + changed, low=low, high=above, margin=margin, p_not_worse=1 - _NORMAL.cdf(away),
        items=items, spread=spread, needs_more=0 if outcome != "undecided" else more if more > 0 else items,
        method=f"{model.method}; {BEHIND_CACHE}" if model else BEHIND_CACHE,
    )  # fmt: skip


def _probability(reference: tuple[float, int], option: tuple[float, int], margin: float) -> float:
    """Level at which the upper bound is the margin; above one half the lower one."""
    is_above = reference[0] - option[0] >= margin
    low, high = 0.0, 0.5
    for _ in range(_HALVINGS):
        level = (low + high) / 2
        bounds = unpaired_bounds(reference, option, alpha=max(level, _LEAST))
        is_wide = bounds[0] < margin if is_above else bounds[1] > margin
        low, high = (level, high) if is_wide else (low, level)
    return 1 - high if is_above else high
