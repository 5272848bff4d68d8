"""Limits as people write them on the command line."""

from __future__ import annotations

import re
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadSetting
from unitcost.units import (
    GB,
    GIB,
    HOURS_PER_DAY,
    KIB,
    MB,
    MIB,
    MILLISECONDS_PER_SECOND,
    SECONDS_PER_DAY,
    SECONDS_PER_HOUR,
    SECONDS_PER_MINUTE,
)

_TIME = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)\s*(?P<unit>us|ms|s|m|h|d)", re.I)
_TIMES_S = {
    "ms": 1 / MILLISECONDS_PER_SECOND, "us": 1 / MILLISECONDS_PER_SECOND**2, "s": 1.0, "m": float(SECONDS_PER_MINUTE),
    "h": float(SECONDS_PER_HOUR), "d": float(SECONDS_PER_HOUR * HOURS_PER_DAY),
}  # fmt: skip
_SIZE = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)\s*(?P<unit>kib|mib|gib|mb|gb|b)?", re.I)
_SIZES = {"": 1, "b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "mb": MB, "gb": GB}
_PERCENTILE = re.compile(r"p\d{2,4}")
_RATES_S = {"s": 1, "m": SECONDS_PER_MINUTE, "h": SECONDS_PER_HOUR, "d": SECONDS_PER_DAY, "day": SECONDS_PER_DAY}


def seconds(text: str, option: str, *, may_be_zero: bool = False) -> float:
    """Time written as `15ms`, `2s`, `10m`. [s].

    Raises
    ------
    BadSetting
        When it is none, or zero where it may not be.
    """
    found = _TIME.fullmatch(text.strip())
    value = float(found["number"]) * _TIMES_S[found["unit"].lower()] if found else -1.0
    if value < 0 or (value == 0 and not may_be_zero):
        raise BadSetting(f"{option} is {text!r}, not a time", mend="write it with its unit, like 15ms, 2s or 10m")
    return value


def latency_limit(text: str, option: str) -> tuple[str, float]:
    """Percentile and its limit, written as `p99=15ms`; a bare time is that of p99. [s]."""
    name, mark, limit = text.partition("=")
    if not mark:
        name, limit = "p99", text
    if not _PERCENTILE.fullmatch(name.strip()):
        raise BadSetting(f"{option} is {text!r}", mend="write a percentile and a time, like p99=15ms")
    return name.strip(), seconds(limit, option)


def percentile_share(name: str) -> float:
    """Share that a percentile stands for: 0.99 of p99, 0.999 of p999."""
    digits = name.removeprefix("p")
    return float(f"0.{digits}")


def memory_bytes(text: str, option: str) -> int:
    """Size written as `512MiB`, `4GiB`, `2GB`. [bytes]."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise BadSetting(f"{option} is {text!r}, not a size", mend="write it with its unit, like 512MiB or 4GiB")
    return round(float(found["number"]) * _SIZES[(found["unit"] or "").lower()])


def amount(text: str, option: str) -> Decimal:
    """Exact amount of money that is not negative."""
    try:
        value = money.parse_amount(text)
    except ValueError as error:
        raise BadSetting(f"{option}: {error}", mend="write it with '.' decimals") from error
    if value < 0:
        raise BadSetting(f"{option} is {text}, below zero", mend="give what it costs, zero or more")
    return value


def per_second(text: str, option: str) -> float:
    """Rate written as `200/s`, `40e6/day`; a bare number is per second. [1/s]."""
    number, mark, unit = text.replace(" ", "").partition("/")
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf") or (mark and unit not in _RATES_S):
        raise BadSetting(f"{option} is {text!r}, not a rate", mend="write it like 200/s or 40e6/day")
    return value / _RATES_S[unit or "s"]


def pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """`name=value` texts as a mapping."""
    found = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name.strip():
            raise BadSetting(f"{option} is {text!r}", mend=f"write it as {option} NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def counts(text: str, option: str) -> tuple[int, ...]:
    """Whole numbers above zero, written as `1,4,16`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadSetting(f"{option} is {text!r}", mend="write whole numbers with commas, like 1,4,16")
    return tuple(dict.fromkeys(int(part) for part in parts))


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Numbers above zero that rise, written as `0.7,0.9`; `inf` is allowed."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or any(not value > 0 for value in found) or list(found) != sorted(set(found)):
        raise BadSetting(f"{option} is {text!r}", mend="write numbers above zero that rise, with commas")
    return found
