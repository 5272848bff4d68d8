"""Exact amounts of money: reading, adding, multiplying, splitting and printing them.

Amounts are `Decimal`. Python's default context rounds to 28 places, so sums and products here run in a
context that is wide enough to be exact and that raises instead of rounding.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from unitcost.errors import CurrencyMix, UnitcostError
from unitcost.units import CENT_PLACES, LEDGER_PLACES

EXACT = decimal.Context(
    prec=400,
    rounding=decimal.ROUND_HALF_UP,
    traps=[decimal.Inexact, decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)
#: Quotients (unit costs, shares) are not exact; they keep this many digits.
QUOTIENT = decimal.Context(prec=34, rounding=decimal.ROUND_HALF_EVEN)

ZERO = Decimal(0)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def parse_amount(text: str) -> Decimal:
    """Exact amount written in `text`: plain or E-notation, no separators, no currency sign.

    Raises
    ------
    ValueError
        When `text` is anything else; `NaN`, `Infinity` and `1_000` included.
    """
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        raise ValueError(f"{text!r} is not a number")
    return Decimal(stripped)


def add(amounts: Iterable[Decimal]) -> Decimal:
    """Exact sum, in any order, of any number of amounts in one currency."""
    total = ZERO
    for amount in amounts:
        total = EXACT.add(total, amount)
    return total


def subtract(left: Decimal, right: Decimal) -> Decimal:
    """Exact difference."""
    return EXACT.subtract(left, right)


def negate(amount: Decimal) -> Decimal:
    """Exact opposite; the operator `-` would round to the default context's 28 digits."""
    return amount.copy_negate()


def multiply(amount: Decimal, factor: Decimal) -> Decimal:
    """Exact product, unrounded."""
    return EXACT.multiply(amount, factor)


def divide(amount: Decimal, by: Decimal) -> Decimal:
    """Quotient to 34 significant digits; the caller has made sure that `by` is not zero."""
    return QUOTIENT.divide(amount, by)


def divide_exactly(amount: Decimal, by: Decimal) -> Decimal:
    """Quotient without rounding; for divisors such as a million.

    Raises
    ------
    decimal.Inexact
        When the quotient has no end.
    """
    return EXACT.divide(amount, by)


def round_places(amount: Decimal, places: int) -> Decimal:
    """Amount rounded half away from zero to `places` decimal places."""
    with decimal.localcontext(prec=400, rounding=decimal.ROUND_HALF_UP):
        return amount.quantize(Decimal(1).scaleb(-places))


def to_units(amount: Decimal, places: int = LEDGER_PLACES) -> int:
    """Amount as an integer count of 10^-places.

    Raises
    ------
    decimal.Inexact
        When the amount has more places than that.
    """
    return int(EXACT.to_integral_exact(EXACT.scaleb(amount, places)))


def from_units(units: int, places: int = LEDGER_PLACES) -> Decimal:
    """Amount of an integer count of 10^-places."""
    return EXACT.scaleb(Decimal(units), -places)


def split_units(total: int, weights: Sequence[int]) -> list[int]:
    """Split an integer by integer weights so that the parts add up to it: largest remainder.

    Parameters
    ----------
    total
        What to split; may be negative.
    weights
        Non-negative integers, one per receiver in sorted order, not all zero.

    Returns
    -------
    list of int
        Parts in the order of `weights`. Units left over after rounding down go to the largest
        remainders; among equal remainders the later receiver is served first.

    Notes
    -----
    Hamilton's method of apportionment; exact because it never leaves the integers.
    """
    if not weights or any(weight < 0 for weight in weights) or sum(weights) == 0:
        raise UnitcostError(
            "a split needs weights that are not negative and not all zero",
            mend="check who receives the split",
        )
    sign = -1 if total < 0 else 1
    whole = sum(weights)
    parts, remainders = zip(*(divmod(abs(total) * w, whole) for w in weights), strict=True)
    left = abs(total) - sum(parts)
    order = sorted(range(len(weights)), key=lambda i: (remainders[i], i), reverse=True)
    bonus = set(order[:left])
    return [sign * (part + (i in bonus)) for i, part in enumerate(parts)]


def integer_weights(weights: Sequence[Decimal]) -> list[int]:
    """Decimal weights scaled to integers in the same proportion."""
    places = max((_places(w) for w in weights), default=0)
    return [int(EXACT.scaleb(w, places)) for w in weights]


def split_amount(amount: Decimal, weights: Sequence[Decimal], *, places: int = LEDGER_PLACES) -> list[Decimal]:
    """Split an amount by weights in steps of 10^-places; the parts add up to it exactly.

    What is finer than a step cannot be split so: it goes to the last receiver whose weight is not zero.
    """
    steps = _whole_steps(amount, places)
    units = split_units(to_units(steps, places), integer_weights(weights))
    parts = [from_units(part, places) for part in units]
    rest = subtract(amount, steps)
    if rest:
        last = max(i for i, weight in enumerate(weights) if weight)
        parts[last] = add([parts[last], rest])
    return parts


def _whole_steps(amount: Decimal, places: int) -> Decimal:
    """Amount cut towards zero to `places` decimal places."""
    with decimal.localcontext(prec=400, rounding=decimal.ROUND_DOWN):
        return amount.quantize(Decimal(1).scaleb(-places))


def round_to_total(amounts: Sequence[Decimal], *, places: int = CENT_PLACES) -> list[Decimal]:
    """Amounts rounded for print so that the printed column adds up to the rounded total.

    Each amount is rounded down; the units then missing from the rounded total go to the largest
    remainders, ties to the later row.
    """
    total = to_units(round_places(add(amounts), places), places)
    scaled = [EXACT.scaleb(a, places) for a in amounts]
    floors = [int(s.to_integral_value(rounding=decimal.ROUND_FLOOR)) for s in scaled]
    remainders = [EXACT.subtract(s, Decimal(f)) for s, f in zip(scaled, floors, strict=True)]
    left = total - sum(floors)
    order = sorted(range(len(amounts)), key=lambda i: (remainders[i], i), reverse=True)
    bonus = set(order[:left])
    return [from_units(f + (i in bonus), places) for i, f in enumerate(floors)]


def text(amount: Decimal) -> str:
    """Amount as a plain decimal string, without exponent and without trailing zeros."""
    if amount == 0:
        return "0"
    plain = format(amount, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def add_by_currency(amounts: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """Exact sums per currency, sorted by currency."""
    totals: dict[str, Decimal] = {}
    for currency, amount in amounts:
        totals[currency] = EXACT.add(totals.get(currency, ZERO), amount)
    return dict(sorted(totals.items()))


def only_currency(totals: Mapping[str, Decimal]) -> str:
    """The one currency of `totals`.

    Raises
    ------
    CurrencyMix
        When there are several: amounts of unlike currencies are never added.
    """
    if len(totals) != 1:
        raise CurrencyMix(
            f"amounts in {', '.join(sorted(totals)) or 'no currency'} cannot be added",
            mend="give dated rates under [fx] in unitcost.toml, or report one currency with --currency",
        )
    return next(iter(totals))


def _places(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int):
        raise UnitcostError(f"{amount} is not a finite number")
    return max(0, -exponent)
