"""What runs and sweeps cost over all their attempts, and what of it was useful.

Times and prices are exact fractions until the end; only the last division into money rounds, to 34 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import lcm

from unitcost import money
from unitcost.facts.runs import Effort, Life, RunCost, SpotSaving
from unitcost.units import MICROSECONDS_PER_SECOND, PER_THOUSAND, SECONDS_PER_HOUR

_US_PER_HOUR = MICROSECONDS_PER_SECOND * SECONDS_PER_HOUR
_ENDED_WELL = "completed"
_LAST = datetime.max.replace(tzinfo=UTC)


def run_cost(lives: Sequence[Life]) -> RunCost:
    """Cost of a run over all its attempts, and what its time went into.

    An attempt that never started costs nothing. One without an end is listed apart, and not taken to last until now.
    """
    ordered = in_order(lives)
    effort, reason = _effort(ordered)
    return RunCost(
        usd=decimal_of(sum(map(usd_of, ordered), Fraction(0))),
        gpu_hours=decimal_of(sum(map(gpu_hours_of, ordered), Fraction(0))),
        open_attempts=tuple(life.attempt for life in ordered if life.held_us is None),
        unpriced_attempts=tuple(life.attempt for life in ordered if life.held_us and life.usd_per_hour is None),
        effort=effort, no_effort=reason,
    )  # fmt: skip


def usd_per_1k_useful_steps(cost: RunCost) -> Decimal | None:
    """Everything a run cost over its useful steps; None when it has none. [USD / 1k useful steps]."""
    if cost.effort is None or cost.effort.useful_steps <= 0:
        return None
    return money.divide(money.multiply(cost.usd, PER_THOUSAND), Decimal(cost.effort.useful_steps))


def realised_saving(lives: Sequence[Life], on_demand_usd_per_hour: Decimal) -> SpotSaving | None:
    """What spot capacity saved at equal useful steps; None when the steps or a price are not known.

    Parameters
    ----------
    on_demand_usd_per_hour
        Price of one accelerator without interruptions. [USD / accelerator-hour]

    Notes
    -----
    ``price * on_demand_hours(lives)`` against what was spent.
    """
    cost = run_cost(lives)
    hours = on_demand_hours(lives)
    on_demand = hours * Fraction(on_demand_usd_per_hour) if hours is not None else Fraction(0)
    if not on_demand or cost.unpriced_attempts:
        return None
    spent = sum((usd_of(life) for life in lives if life.held_us), Fraction(0))
    return SpotSaving(usd=cost.usd, on_demand_usd=decimal_of(on_demand), share=decimal_of(1 - spent / on_demand))


def on_demand_hours(lives: Sequence[Life]) -> Fraction | None:
    """Time that the useful steps would have held without interruptions; None when the steps are not known.

    Returns
    -------
    Fraction or None
        [accelerator-hours]

    Notes
    -----
    On demand the useful steps would take as long as they did, at the mean speed of all steps made, after one start-up
    of mean length: ``stepping_hours * useful / made + startup_hours / attempts``.
    """
    effort = run_cost(lives).effort
    started = [life for life in lives if life.held_us]
    if effort is None or not effort.useful_steps:
        return None
    parts = [_parts(life, later) for life, later in _with_later(in_order(started))]
    made = sum(part.made for part in parts)
    stepping = sum((part.stepping_hours for part in parts), Fraction(0))
    startup = sum((part.startup_hours for part in parts), Fraction(0))
    return stepping * Fraction(effort.useful_steps, made) + startup / len(started)


def in_order(lives: Sequence[Life]) -> list[Life]:
    """Attempts in the order in which they were made."""
    return sorted(lives, key=lambda life: (life.attempt, life.started_at or _LAST))


def gpu_hours_of(life: Life) -> Fraction:
    """Time that an attempt held, none when its end is not known. [accelerator-hours]."""
    return Fraction(life.held_us or 0, _US_PER_HOUR) * Fraction(life.quantity)


def usd_of(life: Life) -> Fraction:
    """Money that an attempt cost, none when its end or its price is not known. [USD]."""
    return gpu_hours_of(life) * Fraction(life.usd_per_hour or 0)


def decimal_of(value: Fraction) -> Decimal:
    """The same as a decimal, to 34 digits."""
    return money.divide(Decimal(value.numerator), Decimal(value.denominator))


def split_by(total: Decimal, weights: Sequence[Fraction]) -> list[Decimal]:
    """Parts of an amount in exact proportion; they add up to it."""
    whole = lcm(*(weight.denominator for weight in weights))
    numbers = [Decimal(int(weight * whole)) for weight in weights]
    return money.split_amount(total, numbers) if any(numbers) else [money.ZERO] * len(weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What the steps and the time of one attempt were."""

    made: int
    repeated: int
    lost: int
    startup_hours: Fraction
    stepping_hours: Fraction

    def hours(self) -> list[Fraction]:
        """Of useful, repeated and lost steps, and of the start-up. [accelerator-hours]."""
        if not self.made:  # no step came of it: all of it was start-up
            return [Fraction(0), Fraction(0), Fraction(0), self.startup_hours + self.stepping_hours]
        each = self.stepping_hours / self.made
        useful = self.made - self.repeated - self.lost
        return [each * useful, each * self.repeated, each * self.lost, self.startup_hours]


def _effort(ordered: Sequence[Life]) -> tuple[Effort | None, str]:
    started = [life for life in ordered if life.held_us != 0]
    reason = _doubt(started)
    if reason:
        return None, reason
    parts = [_parts(life, later) for life, later in _with_later(started)]
    hours = [sum(column, Fraction(0)) for column in zip(*(part.hours() for part in parts), strict=True)]
    rates = [Fraction(life.usd_per_hour or 0) for life in started]
    spent = [
        sum((hour * rate for hour, rate in zip(column, rates, strict=True)), Fraction(0))
        for column in zip(*(part.hours() for part in parts), strict=True)
    ]
    usd = split_by(decimal_of(sum(spent, Fraction(0))), spent)
    made, repeated, lost = (sum(getattr(part, name) for part in parts) for name in ("made", "repeated", "lost"))
    return Effort(
        useful_steps=made - repeated - lost, repeated_steps=repeated, lost_steps=lost,
        useful_hours=decimal_of(hours[0]), repeated_hours=decimal_of(hours[1]), lost_hours=decimal_of(hours[2]),
        startup_hours=decimal_of(hours[3]), useful_usd=usd[0], repeated_usd=usd[1], lost_usd=usd[2], startup_usd=usd[3],
    ), ""  # fmt: skip


def _doubt(started: Sequence[Life]) -> str:
    """Why the time of a run cannot be told apart; empty when it can."""
    if not started:
        return "it never started"
    for life in started:
        if life.held_us is None:
            return f"attempt {life.attempt} has no end"
        if life.start_step is None or life.end_step is None:
            return f"the steps of attempt {life.attempt} are not known"
        if life.end_step < life.start_step:
            return f"attempt {life.attempt} ends at step {life.end_step}, before its start at {life.start_step}"
        if life.startup_us is None:
            return f"the start-up time of attempt {life.attempt} is not known"
        if life.startup_us > life.held_us:
            return f"the start-up of attempt {life.attempt} is longer than the attempt"
    return ""


def _with_later(ordered: Sequence[Life]) -> list[tuple[Life, _Later]]:
    kept = max((life.kept_step or life.start_step or 0 for life in ordered), default=0)
    if ordered and ordered[-1].status == _ENDED_WELL:
        kept = max(life.end_step or 0 for life in ordered)
    return [
        (life, _Later(spans=[(x.start_step or 0, x.end_step or 0) for x in ordered[i + 1 :]], kept=kept))
        for i, life in enumerate(ordered)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Later:
    """Steps that later attempts made, and up to which step the run was saved in the end."""

    spans: list[tuple[int, int]]
    kept: int

    def covered(self, start: int, end: int) -> int:
        """How many of the steps from `start` to `end` are made by later attempts, each counted once."""
        count, reached = 0, start
        for first, last in sorted(self.spans):
            first, last = max(first, reached), min(last, end)
            if last > first:
                count, reached = count + last - first, last
        return count


def _parts(life: Life, later: _Later) -> _Parts:
    start, end = life.start_step or 0, life.end_step or 0
    beyond = max(start, min(end, later.kept))
    quantity = Fraction(life.quantity) / _US_PER_HOUR
    startup = (life.startup_us or Fraction(0)) * quantity
    return _Parts(
        made=end - start, repeated=later.covered(start, end), lost=(end - beyond) - later.covered(beyond, end),
        startup_hours=startup, stepping_hours=(life.held_us or 0) * quantity - startup,
    )  # fmt: skip
