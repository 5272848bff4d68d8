"""What readers of work share: a cell that cannot be read, and the plain kinds of cell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from unitcost.errors import UnknownName
from unitcost.facts.pricing import PricingCategory, pricing_category
from unitcost.money import parse_amount

_TRUE, _FALSE = ("true", "yes", "y", "1"), ("false", "no", "n", "0")
Read = TypeVar("Read")


class BadCellError(ValueError):
    """A cell, and with it its record, cannot be read."""

    def __init__(self, column: str, value: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column
        self.value = value
        self.reason = reason


def read_cell(column: str, text: str, way: Callable[[str], Read]) -> Read:
    """Value of a cell.

    Raises
    ------
    BadCellError
        When `way` raises `ValueError`.
    """
    try:
        return way(text)
    except ValueError as error:
        raise BadCellError(column, text, str(error)) from None


def amount(text: str) -> Decimal:
    """Exact number that is not negative."""
    number = parse_amount(text)
    if number < 0:
        raise ValueError(f"{text.strip()!r} is negative")
    return number


def seconds(text: str) -> float:
    """Length of time that is not negative [s]."""
    return float(amount(text))


def whole(text: str) -> int:
    """Whole number that is not negative."""
    number = amount(text)
    if number != number.to_integral_value():
        raise ValueError(f"{text.strip()!r} is not a whole number")
    return int(number)


def truth(text: str) -> bool:
    """`true` or `yes`, `false` or `no`."""
    word = text.strip().casefold()
    if word not in _TRUE and word not in _FALSE:
        raise ValueError(f"{text.strip()!r} is neither yes nor no")
    return word in _TRUE


def truth_or_none(text: str) -> bool | None:
    """The same; None for any other word."""
    word = text.strip().casefold()
    return None if word not in _TRUE and word not in _FALSE else word in _TRUE


def category(text: str) -> PricingCategory:
    """Pricing category, in any of its words."""
    try:
        return pricing_category(text.strip())
    except UnknownName as error:
        raise ValueError(str(error)) from None


def check_period(start: datetime | None, end: datetime | None) -> None:
    """Refuse a period that ends before it starts."""
    if start is not None and end is not None and end < start:
        raise ValueError(f"it ends ({end:%Y-%m-%d %H:%M:%S} UTC) before it starts ({start:%Y-%m-%d %H:%M:%S} UTC)")
