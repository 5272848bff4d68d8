"""A line: the charges of one resource at one price, as columns of whole numbers.

Quantities and prices are counted in millionths, amounts of money in 10^-12, so that price times quantity is exact.
Nothing is drawn but from the raw bits of a generator: the same seed gives the same bytes with any NumPy.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache

import numpy as np

from unitcost import money
from unitcost.samples.calendar import Ints
from unitcost.units import HOURS_PER_DAY, LEDGER_PLACES

QUANTITY_PLACES = 6
MICRO = 10**QUANTITY_PLACES
#: Relative traffic by hour of the day; adds up to 1000.
DAY_SHAPE = (18, 14, 11, 10, 10, 13, 21, 34, 48, 56, 60, 61, 59, 60, 61, 60, 58, 56, 57, 58, 54, 45, 36, 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a charge truly is: whose, and what for. An empty owner is nobody; an empty driver cannot be told."""

    team: str = ""
    project: str = ""
    driver: str = ""
    line: str = "usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Charges of one resource at one price.

    Parameters
    ----------
    name
        Name within the provider; decides what is drawn.
    cells
        Cells that are the same in each row, by column of the export.
    starts, hours
        First hour of each row, and how long each row lasts [hours]; 0 = its whole month.
    quantity
        Per row [10^-6 units].
    billed, effective, listed
        Per row [10^-12 of the currency].
    label
        The truth about owner and driver.
    extra
        Further amounts per row that one export needs [10^-12], by column.
    billed_later
        Billing period of the rows: this many months after that of their usage.
    waste, wasted
        Kind of planted waste, and how much of each row it is; empty = all of `effective`.
    control
        Why this line must not be flagged, when it is a control.
    resource
        Name of the resource in the bill.
    """

    name: str
    cells: dict[str, str]
    starts: Ints
    hours: int
    quantity: Ints
    billed: Ints
    effective: Ints
    listed: Ints
    label: Label
    extra: dict[str, Ints] = field(default_factory=dict)
    billed_later: int = 0
    waste: str = ""
    wasted: Ints | None = None
    control: str = ""
    resource: str = ""


def generator(seed: int, *names: str) -> np.random.PCG64:
    """Source of raw bits for one line, apart from all other lines."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    return np.random.PCG64(int.from_bytes(digest[:8], "big"))


def draw(bits: np.random.PCG64, count: int, low: int, high: int) -> Ints:
    """Whole numbers from `low` to `high`, both included."""
    raw = bits.random_raw(count) if count else np.zeros(0, dtype=np.uint64)
    return (raw % np.uint64(high - low + 1)).astype(np.int64) + low


def priced(quantity: Ints, price: str) -> Ints:
    """Amounts [10^-12] of quantities [10^-6 units] at a price with at most six places."""
    return quantity * micro(price)


@cache
def micro(number: str) -> int:
    """Number with at most six places as an integer count of millionths."""
    return money.to_units(Decimal(number), QUANTITY_PLACES)


def pico(amount: str) -> int:
    """Amount of money as an integer count of 10^-12."""
    return money.to_units(Decimal(amount))


def exact_sum(amounts: Ints) -> int:
    """Sum as a Python integer, which cannot overflow."""
    return sum(amounts.tolist())


def texts(values: Ints, places: int = LEDGER_PLACES) -> list[str]:
    """Each integer count of 10^-places as a plain decimal."""
    distinct: dict[int, str] = {}
    listed = values.tolist()
    for value in listed:
        if value not in distinct:
            distinct[value] = plain(value, places)
    return [distinct[value] for value in listed]


def plain(value: int, places: int = LEDGER_PLACES) -> str:
    """One integer count of 10^-places as a plain decimal without trailing zeros."""
    if value < 0:
        return "-" + plain(-value, places)
    digits = str(value).zfill(places + 1)
    whole = digits[: len(digits) - places]
    tail = digits[len(whole) :].rstrip("0")
    return f"{whole}.{tail}" if tail else whole


def coarse(line: Line, step: int) -> Line:
    """Put rows of an hourly line together to rows of `step` hours; longer rows stay."""
    if step == 1 or line.hours != 1 or not len(line.starts):
        return line
    blocks = line.starts // step
    first = np.flatnonzero(np.diff(blocks, prepend=blocks[0] - 1))

    def summed(values: Ints) -> Ints:
        return np.add.reduceat(values, first)

    return replace(
        line, starts=blocks[first] * step, hours=step, quantity=summed(line.quantity), billed=summed(line.billed),
        effective=summed(line.effective), listed=summed(line.listed),
        extra={name: summed(values) for name, values in line.extra.items()},
        wasted=None if line.wasted is None else summed(line.wasted),
    )  # fmt: skip


def daily_shape(hours: Ints, per_day: Ints) -> Ints:
    """Spread a quantity per day over its hours by `DAY_SHAPE`; whole numbers, rounded down."""
    shape = np.array(DAY_SHAPE, dtype=np.int64)
    return per_day[hours // HOURS_PER_DAY] * shape[hours % HOURS_PER_DAY] // sum(DAY_SHAPE)


def one(*values: int) -> Ints:
    """Column of the given values."""
    return np.array(values, dtype=np.int64)
