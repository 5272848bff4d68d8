"""Durations and quantities as people write them, and numbers as plans print them."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate
from unitcost.units import (
    GIGA,
    KILO,
    MEGA,
    MILLISECONDS_PER_SECOND,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    SECONDS_PER_MINUTE,
    TERA,
)

_DURATION = re.compile(r"(?P<number>[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>[a-z]*)", re.I)
_DAYS_PER_WEEK, _DAYS_PER_YEAR = 7, 365
_SECONDS: dict[str, float] = {
    "ms": 1 / MILLISECONDS_PER_SECOND, "s": 1, "m": SECONDS_PER_MINUTE, "min": SECONDS_PER_MINUTE, "h": SECONDS_PER_HOUR,
    "d": SECONDS_PER_DAY, "w": _DAYS_PER_WEEK * SECONDS_PER_DAY, "y": _DAYS_PER_YEAR * SECONDS_PER_DAY,
}  # fmt: skip
_SIZES = {"": 1, "k": KILO, "m": MEGA, "b": GIGA, "g": GIGA, "t": TERA}
#: Places of money in JSON: plans are estimates.
_PLACES = 4
#: From here on amounts are shown without cents.
_WHOLE_USD = 100


def seconds(text: str, option: str, *, unit: str = "") -> float:
    """Time written as `60ms`, `90s`, `12m`, `24h`, `10d`, `1y`. [s].

    Parameters
    ----------
    unit
        What a bare number means; empty = a unit must be written.

    Raises
    ------
    BadSetting
        When it is none of these, or negative.
    """
    found = _DURATION.fullmatch(text.strip())
    said = (found["unit"].casefold() or unit) if found else ""
    if found is None or said not in _SECONDS:
        raise BadSetting(f"{option} is {text!r}, not a time", mend="write it like 60ms, 90s, 12m, 24h, 10d or 1y")
    return _positive(float(found["number"]) * _SECONDS[said], option, text)


def hours(text: str, option: str) -> float:
    """Time in hours; a bare number is hours. [h]."""
    return seconds(text, option, unit="h") / SECONDS_PER_HOUR


def days(text: str, option: str) -> int:
    """Time in whole days; a bare number is days.

    Raises
    ------
    BadSetting
        When it rounds to no day at all.
    """
    found = round(seconds(text, option, unit="d") / SECONDS_PER_DAY)
    if found < 1:
        raise BadSetting(f"{option} is {text!r}, less than a day", mend="give whole days, such as 30d")
    return found


def quantity(text: str, option: str) -> float:
    """Number such as `140e9`, `140b`, `10m`, `2.5`.

    Raises
    ------
    BadSetting
        When it is no number above zero.
    """
    found = re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kmbgt]?)", text.strip(), re.I)
    try:
        value = float(found[1]) * _SIZES[found[2].casefold()] if found else math.nan
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise BadSetting(f"{option} is {text!r}, not a number above zero", mend="write it like 140e9, 140b or 2.5")
    return value


def amount(text: str, option: str) -> Decimal:
    """Exact amount of money.

    Raises
    ------
    BadSetting
        When it is none, or negative.
    """
    try:
        value = money.parse_amount(text)
    except ValueError:
        value = Decimal(-1)
    if value < 0:
        raise BadSetting(f"{option} is {text!r}, not an amount", mend="write it like 12.50")
    return value


def _positive(value: float, option: str, text: str) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise BadSetting(f"{option} is {text!r}", mend="give a time of zero or more")
    return value


def exact_usd(value: float) -> Decimal:
    """Estimated amount as it leaves the planner: a decimal to a hundredth of a cent."""
    return money.round_places(Decimal(repr(float(value))), _PLACES)


def usd(value: float | Decimal) -> str:
    """Amount for a reader."""
    return f"{value:,.0f}" if abs(float(value)) >= _WHOLE_USD else f"{value:,.2f}"


def ranged(estimate: Estimate | None, form: str = ",.1f", scale: float = 1.0) -> str:
    """Estimate for a reader: value and range."""
    if estimate is None:
        return "–"
    value, low, high = (format(x * scale, form) for x in (estimate.value, estimate.low, estimate.high))
    return value if low == high else f"{value} ({low} to {high})"


def usd_ranged(estimate: Estimate | None) -> str:
    """Estimated amount for a reader."""
    return ranged(estimate, ",.0f" if estimate and estimate.value >= _WHOLE_USD else ",.2f")


def as_data(value: Any, name: str = "") -> Any:
    """Answer of a plan for JSON: money as decimal strings, no value that is no number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = name if isinstance(value, Estimate) else ""
        return {
            field.name: as_data(getattr(value, field.name), _money_name(named, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): as_data(inner, _money_name(name, str(key))) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return as_data(value.tolist(), name)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_data(inner, name) for inner in value]
    return _single(value, name)


def _money_name(outer: str, inner: str) -> str:
    """Name under which a value is looked at: parts of an estimate of money are money."""
    return outer if "usd" in outer and inner in {"value", "low", "high"} else inner


def _single(value: Any, name: str) -> Any:
    if isinstance(value, Decimal):
        return money.text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return money.text(exact_usd(value)) if "usd" in name.split("_") else value
    return value
