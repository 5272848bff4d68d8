"""Training against serving over a model's life: the day on which serving has cost more, and which side to make cheaper first.

Exact amounts; whole days, the first day of serving is day 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_CEILING, Decimal

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.units import DAYS_PER_MONTH, PER_THOUSAND

_TENTH = Decimal("0.1")
#: Longest life that is followed. [days]
MOST_DAYS = 36_500
#: Amounts, and predictions a day, of more than 10 to this power are a slip of the pen.
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What goes into one training of the model, by what for; failed runs, sweeps, evaluation and labelling are part of it."""

    parts_usd: tuple[tuple[str, Decimal], ...]

    @property
    def usd(self) -> Decimal:
        """All of it. [USD]."""
        return money.add(amount for _, amount in self.parts_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """A model's life.

    Parameters
    ----------
    training
        What one training costs in all.
    predictions_per_day, usd_per_1k
        Traffic on the first day, and the unit cost of serving. [USD / 1k predictions]
    retrain_every_days
        How often it is trained anew, at the same cost; None = once.
    growth_per_month
        Growth of traffic in each month of 30 days, as a share; 0.1 is a tenth more.
    life_days
        How long it serves.
    first_served
        Date of day 1; None = days only.
    """

    training: Spending
    predictions_per_day: Decimal
    usd_per_1k: Decimal
    life_days: int = 365
    retrain_every_days: int | None = None
    growth_per_month: Decimal = money.ZERO
    first_served: date | None = None

    def __post_init__(self) -> None:
        amounts = (self.training.usd, self.predictions_per_day, self.usd_per_1k)
        if any(not amount.is_finite() or amount < 0 for amount in amounts) or self.growth_per_month <= -1:
            raise BadSetting(
                "an amount is negative, or traffic shrinks by all of it", mend="give amounts of zero or more"
            )
        if any(amount.adjusted() > _MOST_DIGITS for amount in amounts):
            raise BadSetting(f"an amount is above 1e{_MOST_DIGITS}", mend="correct the amounts")
        again = f" with training every {self.retrain_every_days} days" if self.retrain_every_days is not None else ""
        if not 1 <= self.life_days <= MOST_DAYS or (
            self.retrain_every_days is not None and self.retrain_every_days < 1
        ):
            raise BadSetting(
                f"a life of {self.life_days} days{again} cannot be",
                mend=f"use whole days, from 1 to {MOST_DAYS}",
            )
        months = self.life_days // DAYS_PER_MONTH
        last = math.log10(float(self.predictions_per_day) or 1.0) + months * math.log10(
            1 + float(self.growth_per_month)
        )
        if last > _MOST_DIGITS:
            raise BadSetting(
                f"traffic would grow to 1e{last:.0f} predictions a day", mend="give a smaller growth or a shorter life"
            )

    def serving_usd(self, day: int) -> Decimal:
        """Serving cost of one day. [USD]."""
        return _exact_serving(self.predictions_on(day), self.usd_per_1k)

    def predictions_on(self, day: int) -> Decimal:
        """Traffic of a day; it grows at the beginning of each month of 30 days."""
        months = (day - 1) // DAYS_PER_MONTH
        if not months or not self.growth_per_month:
            return self.predictions_per_day
        factor = money.QUOTIENT.power(money.add([Decimal(1), self.growth_per_month]), Decimal(months))
        return money.QUOTIENT.multiply(self.predictions_per_day, factor)

    def trainings_by(self, day: int) -> int:
        """How often it has been trained up to a day, the first time included."""
        return 1 if self.retrain_every_days is None else 1 + (day - 1) // self.retrain_every_days

    def date_of(self, day: int) -> date | None:
        """Date of a day."""
        return None if self.first_served is None else self.first_served + timedelta(days=day - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day with what either side has cost up to its end. [USD]."""

    day: int
    training_usd: Decimal
    serving_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeAnswer:
    """What a life comes to.

    Parameters
    ----------
    passing_day
        First day by whose end serving has cost as much as training; None = never within the life.
    training_usd, serving_usd
        Over the whole life. [USD]
    larger
        Side that is worth making cheaper first; `equal` when both are.
    tenth_of_training_usd, tenth_of_serving_usd
        What 10 % off each saves over the life. [USD]
    """

    passing_day: int | None
    passing_date: date | None
    training_usd: Decimal
    serving_usd: Decimal
    larger: str
    tenth_of_training_usd: Decimal
    tenth_of_serving_usd: Decimal
    days: tuple[Day, ...]


def follow(life: Lifetime) -> LifeAnswer:
    """Cumulative cost of both sides, day by day, and what follows from it."""
    days = tuple(_days(life))
    passing = next((day.day for day in days if day.serving_usd >= day.training_usd), None)
    last = days[-1]
    sides = {"training": last.training_usd, "serving": last.serving_usd}
    larger = "equal" if sides["training"] == sides["serving"] else max(sides, key=lambda side: sides[side])
    return LifeAnswer(
        passing_day=passing, passing_date=None if passing is None else life.date_of(passing),
        training_usd=last.training_usd, serving_usd=last.serving_usd, larger=larger,
        tenth_of_training_usd=money.multiply(last.training_usd, _TENTH),
        tenth_of_serving_usd=money.multiply(last.serving_usd, _TENTH), days=days,
    )  # fmt: skip


def _days(life: Lifetime) -> Iterator[Day]:
    served = money.ZERO
    month, per_day = -1, money.ZERO
    for day in range(1, life.life_days + 1):
        if (day - 1) // DAYS_PER_MONTH != month:
            month, per_day = (day - 1) // DAYS_PER_MONTH, life.serving_usd(day)
        served = money.add([served, per_day])
        trained = money.multiply(life.training.usd, Decimal(life.trainings_by(day)))
        yield Day(day=day, training_usd=trained, serving_usd=served)


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A distilled or quantised model that would take over.

    Parameters
    ----------
    spending
        What making it costs: training, labelling by the teacher ...
    good_enough
        Whether its quality is at the bar; None = not measured.
    starts_on_day
        Day of the life on which it takes over.
    """

    spending: Spending
    usd_per_1k: Decimal
    good_enough: bool | None = None
    starts_on_day: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Payback:
    """When a successor has paid for itself.

    Parameters
    ----------
    verdict
        `paid back`, `never`, or `not comparable`.
    after_days
        Full days of its serving after which the saving is as much as it cost; None when it is not.
    on_day
        That day, counted in the life of the model.
    daily_saving_usd
        On the day it takes over. [USD]
    """

    verdict: str
    reason: str
    after_days: int | None = None
    on_day: int | None = None
    daily_saving_usd: Decimal | None = None


def payback(life: Lifetime, successor: Successor) -> Payback:
    """When a successor has paid for its own training.

    Two models are compared at fixed quality only: with a quality that is not measured or below the bar the answer is
    "not comparable", whatever the money.
    """
    if successor.good_enough is not True:
        unknown = successor.good_enough is None
        return Payback(
            verdict="not comparable",
            reason="its quality has not been measured" if unknown else "its quality is below the bar",
        )
    each = money.subtract(life.usd_per_1k, successor.usd_per_1k)
    saving = _exact_serving(life.predictions_on(successor.starts_on_day), each)
    if saving <= 0:
        return Payback(verdict="never", reason="it does not serve for less", daily_saving_usd=saving)
    if not life.growth_per_month:
        days = int(money.divide(successor.spending.usd, saving).to_integral_value(rounding=ROUND_CEILING))
        return _paid(successor, max(days, 1), saving)
    saved = money.ZERO
    for after in range(1, MOST_DAYS + 1):
        day = successor.starts_on_day + after - 1
        saved = money.QUOTIENT.add(saved, _exact_serving(life.predictions_on(day), each))
        if saved >= successor.spending.usd:
            return _paid(successor, after, saving)
    return Payback(verdict="never", reason=f"not within {MOST_DAYS} days", daily_saving_usd=saving)


def _paid(successor: Successor, after: int, saving: Decimal) -> Payback:
    return Payback(
        verdict="paid back", reason=f"within full day {after} of its serving", after_days=after,
        on_day=successor.starts_on_day + after - 1, daily_saving_usd=saving,
    )  # fmt: skip


def _exact_serving(predictions: Decimal, usd_per_1k: Decimal) -> Decimal:
    """``predictions / 1000 * usd_per_1k``. [USD]."""
    return money.divide(money.multiply(predictions, usd_per_1k), PER_THOUSAND)
