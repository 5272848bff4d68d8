"""Dated prices of a rate card, and what usage costs at them, as exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from unitcost import money
from unitcost.errors import BadBill, BadFile
from unitcost.facts.source import ReadOptions
from unitcost.facts.zones import zone_of
from unitcost.readers import tables
from unitcost.readers.moments import utc_moment
from unitcost.readers.survey import look
from unitcost.units import LEDGER_PLACES, MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

_NEEDED = ("sku", "unit", "price", "currency")
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Price of one unit of a sku from `start` until before `end`."""

    sku: str
    unit: str
    price: Fraction
    currency: str
    start: datetime = _FIRST
    end: datetime = _LAST


def unit_name(text: str) -> str:
    """Unit in one spelling: `GPU hours`, `gpu_hour` and `GPU-Hour` are `gpu-hour`."""
    words = text.casefold().replace("_", "-").replace(" ", "-").strip("-").split("-")
    last = words[-1]
    words[-1] = {"hours": "hour", "hrs": "hour", "hr": "hour", "h": "hour"}.get(last, last)
    return "-".join(words)


def is_hourly(unit: str) -> bool:
    """Whether a price of this unit is for holding something for an hour."""
    return unit == "hour" or unit.endswith("-hour")


def hours_between(start: datetime, end: datetime) -> Fraction:
    """Length of a period [hours]."""
    length = end - start
    seconds = length.days * 24 * SECONDS_PER_HOUR + length.seconds
    return Fraction(seconds * MICROSECONDS_PER_SECOND + length.microseconds, SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND)


def decimal_text(amount: Fraction, places: int = LEDGER_PLACES) -> str:
    """Amount rounded once, half away from zero, as a plain decimal."""
    scaled = abs(amount) * 10**places
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return money.text(money.from_units(-units if amount < 0 else units, places))


def read_rates(path: Path, options: ReadOptions) -> tuple[Rate, ...]:
    """Rates of a csv with `sku, unit, price, currency` and, where prices change, `from` and `to` (not included).

    Raises
    ------
    BadFile
        When a column is missing.
    BadBill
        When a cell cannot be read, or two prices of one sku and unit hold at the same time.
    """
    source = look(path, ReadOptions(encoding=options.encoding, delimiter=options.delimiter))
    at = {name.casefold(): position for position, name in enumerate(source.columns)}
    missing = [name for name in _NEEDED if name not in at]
    if missing:
        raise BadFile(
            f"the rate card lacks {', '.join(missing)}",
            where=source.name,
            mend="columns: sku, unit, price, currency, from, to",
        )
    zone = zone_of(options.timezone, where="timezone") if options.timezone else UTC
    found = []
    for number, row in enumerate(tables.rows(source), 1):
        try:
            found.append(_rate(row, at, zone, options.decimal_comma))
        except (ValueError, IndexError) as error:
            raise BadBill(str(error), where=f"{source.name}, row {number}", mend="mend the rate card") from None
    return _without_overlap(found, source.name)


def _rate(row: tables.Row, at: dict[str, int], zone: tzinfo, decimal_comma: bool) -> Rate:
    if isinstance(row, tables.Broken):
        raise ValueError(row.reason)
    cells = {name: row[position].strip() for name, position in at.items() if position < len(row)}
    for name in _NEEDED:
        if not cells.get(name):
            raise ValueError(f"the rate has no {name}")
    return Rate(
        sku=cells["sku"], unit=unit_name(cells["unit"]), price=number(cells["price"], decimal_comma),
        currency=cells["currency"].upper(),
        start=utc_moment(cells["from"], zone) if cells.get("from") else _FIRST,
        end=utc_moment(cells["to"], zone) if cells.get("to") else _LAST,
    )  # fmt: skip


def number(text: str, decimal_comma: bool = False) -> Fraction:
    """Exact number of a cell.

    Raises
    ------
    ValueError
        When it is none.
    """
    return Fraction(money.parse_amount(text.replace(",", ".") if decimal_comma else text))


def _without_overlap(rates: Sequence[Rate], where: str) -> tuple[Rate, ...]:
    ordered = sorted(rates, key=lambda rate: (rate.sku, rate.unit, rate.start))
    for first, second in pairwise(ordered):
        if (first.sku, first.unit) == (second.sku, second.unit) and second.start < first.end:
            raise BadBill(
                f"two prices of '{first.sku}' per {first.unit} hold at the same time", where=where,
                mend="end the first where the second starts",
            )  # fmt: skip
    return tuple(ordered)
