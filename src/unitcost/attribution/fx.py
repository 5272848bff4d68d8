"""Dated exchange rates: without one, amounts of another currency stay apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from unitcost import money
from unitcost.facts.rules import FxRate
from unitcost.figure import Figure, figure_id, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """Amounts of several currencies in one, as far as rates allow.

    Parameters
    ----------
    converted
        Sum of all that is in the currency or could be converted to it; None when there is nothing such.
    apart
        Sums of what has no rate, one per currency, in their own.
    rates
        Rates that were used.
    """

    converted: Figure | None
    apart: tuple[Figure, ...]
    rates: tuple[FxRate, ...]

    @property
    def total(self) -> Figure | None:
        """The total, None when something stays apart: there is no total across currencies without a rate."""
        return None if self.apart else self.converted


def rate_in_force(rates: Sequence[FxRate], currency: str, since: date | None) -> FxRate | None:
    """Rate of a currency that applies to charges whose newest rate change was on `since`.

    Parameters
    ----------
    rates
        All rates, of any currency.
    since
        Latest day among all rates on or before the charge, or the day of the charge itself; None when the charge
        is older than all.

    Returns
    -------
    FxRate or None
        None when no rate of this currency was in force then.
    """
    if since is None:
        return None
    usable = [rate for rate in rates if rate.currency == currency and rate.since <= since]
    return max(usable, key=lambda rate: rate.since, default=None)


def rate_days(rates: Sequence[FxRate]) -> tuple[date, ...]:
    """Days on which some rate begins to apply, in order."""
    return tuple(sorted({rate.since for rate in rates}))


def convert(
    amounts: Iterable[tuple[Figure, date | None]], rates: Sequence[FxRate], currency: str, *, path: str, at: str
) -> Conversion:
    """Exact sum of amounts in one currency; those without a rate in force stay apart in their own.

    Parameters
    ----------
    amounts
        Figures whose unit is their currency, each with its day, or the day since which the newest rate applies.
    currency
        What to convert to.
    path, at
        First step of the figure ids, and tag of the selection.
    """
    here: list[Figure] = []
    apart: dict[str, list[Figure]] = {}
    used: dict[tuple[str, date], FxRate] = {}
    for number, (amount, day) in enumerate(amounts):
        rate = None if amount.unit == currency else rate_in_force(rates, amount.unit, day)
        if amount.unit == currency:
            here.append(amount)
        elif rate is None or amount.value is None:
            apart.setdefault(amount.unit, []).append(amount)
        else:
            used[rate.currency, rate.since] = rate
            here.append(_product(amount, rate, currency, identity=figure_id(path, "converted", str(number), at=at)))
    return Conversion(
        converted=total(figure_id(path, currency, at=at), tuple(here), unit=currency, label=currency) if here else None,
        apart=tuple(
            total(figure_id(path, unit, at=at), tuple(parts), unit=unit, label=unit)
            for unit, parts in sorted(apart.items())
        ),
        rates=tuple(used[key] for key in sorted(used)),
    )


def _product(amount: Figure, rate: FxRate, currency: str, *, identity: str) -> Figure:
    assert amount.value is not None
    given = Figure(
        id=f"rate/{identity}", value=rate.rate, unit=f"{currency}/{rate.currency}", basis="derived", op="given",
        formula=f"rate of {rate.since} in the settings", label=f"{rate.currency} in {currency}",
    )  # fmt: skip
    return Figure(
        id=identity, value=money.multiply(amount.value, rate.rate), unit=currency, basis="derived", op="product",
        formula=f"{rate.currency} amount x rate of {rate.since}", inputs=(amount, given), label=amount.label,
    )  # fmt: skip
