"""Whether an option is not worse than the margin allows, from right and wrong answers to the same items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from unitcost.errors import UnitcostError
from unitcost.facts.verdicts import Outcome, Verdict

#: Level of the one-sided test, and the chance to be told "not worse" when the two are equal.
ALPHA, POWER = 0.05, 0.80
_NORMAL = NormalDist()
#: Halvings of the interval in which a bound is sought: to 2 * 2^-60.
_HALVINGS = 60
TANGO = "one-sided score bound of paired shares (Tango 1998)"


def score(only_reference: int, only_option: int, items: int, loss: float) -> float:
    """Score statistic of a true loss: how many standard errors the observed loss lies above it.

    Parameters
    ----------
    only_reference, only_option
        Items that only the reference, and only the option, has right.
    items
        Items that both have answered.
    loss
        The true loss that is supposed; between -1 and 1.

    Notes
    -----
    ``(b - c - n*loss) / sqrt(n * (2*q + loss*(1 - loss)))`` where ``q``, the share that only the option has right, is the
    larger root of ``2n*q^2 + B*q - c*loss*(1 - loss) = 0`` with ``B = (2n - b + c)*loss - b - c``: its likeliest
    value when the loss is so [1]_.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
       design", Statistics in Medicine 17 (1998), section 3.
    """
    b, c, n = only_reference, only_option, items
    linear = (2 * n - b + c) * loss - b - c
    root = math.sqrt(max(linear * linear + 8 * n * c * loss * (1 - loss), 0.0))
    share = max((root - linear) / (4 * n), 0.0, -loss)
    variance = n * (2 * share + loss * (1 - loss))
    above = b - c - n * loss
    if variance <= 0:
        return 0.0 if above == 0 else math.copysign(math.inf, above)
    return above / math.sqrt(variance)


def bounds(only_reference: int, only_option: int, items: int, *, alpha: float = ALPHA) -> tuple[float, float]:
    """Lower and upper bound of the true loss, each one-sided at level `alpha`."""
    limit = _NORMAL.inv_cdf(1 - alpha)
    low = _where(only_reference, only_option, items, limit)
    high = _where(only_reference, only_option, items, -limit)
    return low, high


def decide(only_reference: int, only_option: int, items: int, margin: float, *, alpha: float = ALPHA) -> Verdict:
    """Verdict from the items on which the two disagree.

    Parameters
    ----------
    only_reference, only_option
        Items that only the reference, and only the option, has right.
    margin
        Loss that is allowed; a share, so one point is 0.01.

    Raises
    ------
    UnitcostError
        When there are no items, or the counts cannot be.
    """
    check_margin(margin)
    if items <= 0 or min(only_reference, only_option) < 0 or only_reference + only_option > items:
        raise UnitcostError(
            f"{only_reference} + {only_option} disagreements among {items} items cannot be",
            mend="give the answers of both options on the same labelled items",
        )
    low, high = bounds(only_reference, only_option, items, alpha=alpha)
    spread = (only_reference + only_option) / items
    outcome = outcome_of(low, high, margin)
    return Verdict(
        outcome=outcome, loss=(only_reference - only_option) / items, low=low, high=high, margin=margin,
        p_not_worse=_NORMAL.cdf(score(only_reference, only_option, items, margin)), items=items, spread=spread,
        needs_more=max(more_items(spread, margin, items), _least_items(margin, alpha) - items) if outcome == "undecided" else 0,
        method=TANGO,
    )  # fmt: skip


def outcome_of(low: float, high: float, margin: float) -> Outcome:
    """Outcome from the bounds of the loss."""
    if high < margin:
        return "not worse"
    return "worse" if low > margin else "undecided"


def items_needed(spread: float, margin: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """Items after which an equally good option is found not worse with probability `power`.

    Notes
    -----
    ``n = (z[1 - alpha] + z[power])^2 * spread / margin^2``, which is ``6.18 * spread / margin^2`` at 5 % and 80 %: the
    normal approximation of a one-sided paired test when the true loss is zero.
    """
    factor = (_NORMAL.inv_cdf(1 - alpha) + _NORMAL.inv_cdf(power)) ** 2
    return math.ceil(factor * spread / margin**2)


def more_items(spread: float, margin: float, items: int) -> int:
    """Further items that a decision is likely to need, at least one.

    Where the formula asks for no more than there are, luck decides: as many again as there are halves the doubt.
    """
    needed = items_needed(spread, margin) - items
    return needed if needed > 0 else items


def _least_items(margin: float, alpha: float) -> int:
    """Items that prove a margin where the two never disagree: the bound is ``z^2 / (n + z^2)`` then."""
    z = _NORMAL.inv_cdf(1 - alpha)
    return math.floor(z * z * (1 - margin) / margin) + 1 if margin < 1 else 1


def accepted_by_point(spread: float, items: int, margin: float, true_loss: float) -> float:
    """Chance that the point estimate alone lies inside the margin although the true loss is `true_loss`. [share]."""
    error = math.sqrt(max(spread - true_loss**2, 0.0) / items)
    if error == 0:
        return 1.0 if true_loss <= margin else 0.0
    return _NORMAL.cdf((margin - true_loss) / error)


def disagreements(reference: Sequence[bool], option: Sequence[bool]) -> tuple[int, int]:
    """Items that only the reference has right, and items that only the option has right."""
    pairs = list(zip(reference, option, strict=True))
    return sum(r and not o for r, o in pairs), sum(o and not r for r, o in pairs)


def check_margin(margin: float) -> None:
    """Refuse a margin that decides nothing.

    Raises
    ------
    UnitcostError
        When it is not above zero and finite.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise UnitcostError(
            f"a margin of {margin} decides nothing: no number of items proves an exact tie",
            mend="give the loss that you can bear, such as 0.01 for one point",
        )


def _where(only_reference: int, only_option: int, items: int, limit: float) -> float:
    """Loss whose score is `limit`; the score falls as the supposed loss rises."""
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if score(only_reference, only_option, items, middle) > limit:
            low = middle
        else:
            high = middle
    return (low + high) / 2
