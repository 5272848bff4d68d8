"""What a model's life comes to as estimates: a low and a high value, what each stands on, and its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from unitcost import money
from unitcost.economics.lifetime import LifeAnswer, Lifetime, Payback, Successor, follow, payback
from unitcost.facts.estimates import Estimate, EstimateBasis, exactly

#: Traffic is a forecast: low and high are with a tenth less and a tenth more of it.
_LESS, _MORE = Decimal("0.9"), Decimal("1.1")
_TRAFFIC = "low and high: traffic a tenth less or more than was given"
_TRAINED = "one training x times it is trained within the life"
_SERVED = "sum over days of predictions / 1000 x USD per 1k"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEstimates:
    """Answers of a life.

    Parameters
    ----------
    passing_day
        First day by whose end serving has cost as much as training; None = never within the life.
    training_usd, serving_usd, tenth_of_training_usd, tenth_of_serving_usd
        Over the whole life, and what 10 % off saves. [USD]
    payback_days
        Full days after which a successor has paid for itself; None when it has not, or none was given.
    """

    passing_day: Estimate | None
    training_usd: Estimate
    serving_usd: Estimate
    tenth_of_training_usd: Estimate
    tenth_of_serving_usd: Estimate
    payback_days: Estimate | None


def life_estimates(
    life: Lifetime, answer: LifeAnswer, paid: Payback | None, successor: Successor | None, *, basis: EstimateBasis
) -> LifeEstimates:
    """Answers of a life, with those for less and for more traffic as their range.

    Parameters
    ----------
    basis
        What the cost of training stands on.
    """
    less, more = (_with_traffic(life, part) for part in (_LESS, _MORE))
    low, high = follow(less), follow(more)

    def served(of: Callable[[LifeAnswer], Decimal], formula: str) -> Estimate:
        return Estimate(
            value=float(of(answer)), low=float(of(low)), high=float(of(high)), basis="assumed",
            because=f"{formula}; {_TRAFFIC}",
        )  # fmt: skip

    return LifeEstimates(
        passing_day=_days(
            answer.passing_day, high.passing_day, low.passing_day, life.life_days,
            "first day by whose end serving has cost as much as training",
        ),
        training_usd=exactly(float(answer.training_usd), basis, _TRAINED),
        serving_usd=served(lambda found: found.serving_usd, _SERVED),
        tenth_of_training_usd=exactly(float(answer.tenth_of_training_usd), basis, f"0.1 x ({_TRAINED})"),
        tenth_of_serving_usd=served(lambda found: found.tenth_of_serving_usd, f"0.1 x ({_SERVED})"),
        payback_days=_payback_days(paid, successor, less, more),
    )  # fmt: skip


def _with_traffic(life: Lifetime, part: Decimal) -> Lifetime:
    return replace(life, predictions_per_day=money.multiply(life.predictions_per_day, part))


def _payback_days(paid: Payback | None, successor: Successor | None, less: Lifetime, more: Lifetime) -> Estimate | None:
    if paid is None or successor is None or paid.after_days is None:
        return None
    soon, late = payback(more, successor).after_days, payback(less, successor).after_days
    return _days(
        paid.after_days, soon, late, less.life_days, "cost of the successor / what it saves a day, in full days"
    )


def _days(value: int | None, soon: int | None, late: int | None, life_days: int, formula: str) -> Estimate | None:
    """Day of an event; where it does not happen with less traffic, the end of the life stands for that."""
    if value is None:
        return None
    never = "" if late is not None else ", with less traffic not within the life"
    last = max(value, life_days) if late is None else late
    return Estimate(
        value=float(value), low=float(soon or value), high=float(last), basis="assumed",
        because=f"{formula}; {_TRAFFIC}{never}",
    )  # fmt: skip
