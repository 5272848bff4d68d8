"""Own rate card and usage csv: what was held from when to when, and its price."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from fractions import Fraction
from pathlib import Path

from unitcost.errors import NeedsAnswer
from unitcost.facts.mapping import ColumnTags, Const, Field, Mapping, Time
from unitcost.facts.source import ReadOptions
from unitcost.facts.zones import zone_of
from unitcost.readers.head import Head
from unitcost.readers.moments import utc_moment
from unitcost.readers.owner_columns import owner_columns
from unitcost.readers.rates import Rate, decimal_text, hours_between, is_hourly, number, read_rates, unit_name
from unitcost.readers.reading import Reading

NAME = "rate-card"
CONVENTIONS = (
    "Cost = quantity x hours held x price per hour; where the quantity is in the unit of the price, quantity x price.",
    "Costs are exact and rounded once, to twelve places.",
    "A price per gpu-hour is for each GPU, a price per hour for the whole machine however many GPUs it has.",
    "A charge ends before its end; moments become UTC; a plain date is its midnight, UTC unless `timezone` is given.",
    "Each hour has the price in force in it; on the day named in `to` a price is no longer in force.",
    "A quantity that is not held by the hour has the price in force at its start.",
    "Own rates hold no prepayments: effective cost is billed cost.",
    "Usage without a price is set aside; it is not free.",
)
DEFINING = ("resource", "start", "end", "quantity", "usd_per_hour")

_WHAT = ("resource_id", "resource", "workload", "run", "run_id", "job", "job_id", "node", "machine", "instance", "name")
_START = ("start", "started", "started_at", "start_time", "begin")
_END = ("end", "ended", "ended_at", "end_time", "finish")
_GPUS = ("gpus", "gpu_count", "accelerators")
_QUANTITY = ("quantity", "count", "machines", "nodes", "instances", "amount")
_PRICE = re.compile(r"([a-z]{3})_per_([a-z]+(?:_[a-z]+)*)")
_TAG = re.compile(r"tags?[:./](.+)", re.IGNORECASE)
#: Source column -> charge column, taken as it is.
_PLAIN = {
    "sku": "sku_id", "service": "service_name", "provider": "service_provider_name", "region": "region_id",
    "account": "sub_account_id", "invoice": "invoice_id", "invoice_id": "invoice_id", "category": "service_category",
    "description": "charge_description", "resource_type": "resource_type", "pricing_category": "pricing_category",
}  # fmt: skip
_COST, _CURRENCY, _FROM, _TO = "cost (priced)", "currency (priced)", "start (UTC)", "end (UTC)"
_AMOUNT, _UNIT, _USED_PRICE = "quantity (priced)", "unit (priced)", "price (used)"
_THINGS = ("", "gpu", "gpus", "machine", "machines", "node", "nodes", "instance", "instances", "count", "unit", "units")
_DERIVED = (_COST, _CURRENCY, _FROM, _TO, _AMOUNT, _UNIT, _USED_PRICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Which source column is what; empty when there is none."""

    what: str
    start: str
    end: str
    gpus: str
    quantity: str
    unit: str
    sku: str
    currency: str
    price: str
    price_unit: str  # of an inline price, empty when the price is for a unit of the quantity
    price_currency: str


def sniff(head: Head) -> int:
    """How many columns of held capacity with a price (or a sku to price) the file has."""
    found = _columns(head.columns)
    if not (found.what and found.start and found.end and (found.price or found.sku)):
        return 0
    return sum(
        bool(c) for c in (found.what, found.start, found.end, found.gpus, found.quantity, found.price, found.sku)
    )


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of a usage table mean; see `Reader`."""
    found = _columns(columns)
    zone = zone_of(options.timezone, where="timezone") if options.timezone else None
    if not found.price and not options.rates:
        raise NeedsAnswer(
            "the usage has no price", where="usage csv",
            mend='say rates = "rates.csv" in [[load]] (sku, unit, price, currency), or add a column usd_per_hour',
        )  # fmt: skip
    rates = read_rates(Path(options.rates), options) if options.rates else ()
    _ask_zone(columns, sample, found, zone)
    return Reading(
        dialect="usage priced by a rate card" if rates else "usage with prices",
        mapping=_mapping(columns, found, rates, options),
        conventions=CONVENTIONS,
        derive=_pricer(found, rates, zone, options),
        derived=_DERIVED,
    )


def _columns(columns: Sequence[str]) -> _Columns:
    by_folded = {name.strip().casefold().replace(" ", "_"): name for name in reversed(columns)}

    def one(*names: str) -> str:
        return next((by_folded[name] for name in names if name in by_folded), "")

    inline = next(((m, name) for folded, name in by_folded.items() if (m := _PRICE.fullmatch(folded))), None)
    return _Columns(
        what=one(*_WHAT), start=one(*_START), end=one(*_END), gpus=one(*_GPUS), quantity=one(*_QUANTITY),
        unit=one("unit"), sku=one("sku"), currency=one("currency"), price=inline[1] if inline else one("unit_price"),
        price_unit=unit_name(inline[0][2]) if inline else "", price_currency=inline[0][1].upper() if inline else "",
    )  # fmt: skip


def _mapping(columns: Sequence[str], found: _Columns, rates: tuple[Rate, ...], options: ReadOptions) -> Mapping:
    mapping: Mapping = {
        "billed_cost": Field(_COST), "effective_cost": Field(_COST),
        "charge_period_start": Time(Field(_FROM)), "charge_period_end": Time(Field(_TO)),
        "pricing_quantity": Field(_AMOUNT), "pricing_unit": Field(_UNIT), "consumed_quantity": Field(_AMOUNT),
        "consumed_unit": Field(_UNIT), "contracted_unit_price": Field(_USED_PRICE), "resource_id": Field(found.what),
        "charge_category": Const("Usage"), "charge_frequency": Const("Usage-Based"),
        "service_name": Const("own rate card"),
    }  # fmt: skip
    for name in columns:
        target = _PLAIN.get(name.strip().casefold())
        if target:
            mapping[target] = Field(name)
    if rates or found.price_currency or found.currency:
        mapping["billing_currency"] = Field(_CURRENCY)
    tagged = [(match[1], name) for name in columns if (match := _TAG.fullmatch(name.strip()))]
    pairs = tagged + [(name, name) for name in owner_columns(columns)]
    if pairs:
        mapping["tags"] = ColumnTags(tuple(dict(pairs).items()))
    return mapping


def _ask_zone(columns: tuple[str, ...], sample: Sequence[Sequence[str]], found: _Columns, zone: tzinfo | None) -> None:
    for position, name in enumerate(columns):
        if name not in (found.start, found.end) or zone is not None:
            continue
        for row in sample:
            try:
                utc_moment(row[position], zone)
            except ValueError as error:
                if "unknown zone" in str(error):
                    raise NeedsAnswer(
                        f"{error}, in '{name}'", where="usage csv",
                        mend='say timezone = "Europe/Berlin" (or "UTC") in [[load]], or --timezone',
                    ) from None  # fmt: skip


def _pricer(
    found: _Columns, rates: tuple[Rate, ...], zone: tzinfo | None, options: ReadOptions
) -> Callable[[dict[str, str]], dict[str, str]]:
    by_sku: dict[str, list[Rate]] = {}
    for rate in rates:
        by_sku.setdefault(rate.sku.casefold(), []).append(rate)

    def priced(row: dict[str, str]) -> dict[str, str]:
        start, end = utc_moment(row[found.start], zone), utc_moment(row[found.end], zone)
        if end < start:
            raise ValueError("ends before it starts")
        usage = _Usage(row=row, columns=found, start=start, end=end, comma=options.decimal_comma)
        if found.price and row[found.price].strip():
            made = usage.at(_inline(usage))
        else:
            made = usage.at_rates(by_sku.get(row.get(found.sku, "").strip().casefold(), []))
        return {_FROM: _iso(start), _TO: _iso(end), **made}

    return priced


def _iso(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat() + "Z"


def _inline(usage: _Usage) -> Rate:
    found, row = usage.columns, usage.row
    unit = found.price_unit or unit_name(usage.cell(found.unit) or "hour")
    currency = found.price_currency or usage.cell(found.currency).upper()
    return Rate(sku="", unit=unit, price=number(row[found.price], usage.comma), currency=currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Usage:
    """One row of usage."""

    row: dict[str, str]
    columns: _Columns
    start: datetime
    end: datetime
    comma: bool

    def cell(self, column: str) -> str:
        return self.row.get(column, "").strip() if column else ""

    def quantity(self, price_unit: str) -> Fraction:
        """How many the price is for: GPUs for a price per GPU, otherwise machines or whatever is counted."""
        per_gpu = price_unit.startswith(("gpu", "accelerator"))
        column = self.columns.gpus if per_gpu and self.columns.gpus else self.columns.quantity
        text = self.cell(column)
        if not text:
            if column or per_gpu:
                raise ValueError("has no quantity" if column else "has a price per GPU and no number of GPUs")
            return Fraction(1)
        return number(text, self.comma)

    def is_held(self, price_unit: str) -> bool:
        """Whether the quantity is held for a time, rather than counted in the unit of the price."""
        unit = unit_name(self.cell(self.columns.unit)) if self.cell(self.columns.unit) else ""
        if unit == price_unit:
            return False
        if is_hourly(price_unit) and unit in (*_THINGS, price_unit.removesuffix("hour").strip("-")):
            return True
        if not unit:
            return False
        raise ValueError(f"is counted in '{unit}' but priced per '{price_unit}'")

    def at(self, rate: Rate) -> dict[str, str]:
        """Derived cells at one price."""
        amount = self.quantity(rate.unit)
        if self.is_held(rate.unit):
            amount *= hours_between(self.start, self.end)
        return _cells(amount * rate.price, amount, rate, rate.price)

    def at_rates(self, rates: list[Rate]) -> dict[str, str]:
        """Derived cells at the prices that were in force."""
        if not rates:
            raise ValueError(f"there is no price of '{self.cell(self.columns.sku)}' in the rate card")
        unit = unit_name(self.cell(self.columns.unit)) if self.cell(self.columns.unit) else ""
        rates = [rate for rate in rates if rate.unit == unit] or rates
        first = next((rate for rate in rates if rate.start <= self.start < rate.end), None)
        if first is None:
            raise ValueError(f"there is no price of '{rates[0].sku}' at {_iso(self.start)}")
        if not self.is_held(first.unit) or self.end <= first.end:
            return self.at(first)
        amount, cost, at = Fraction(0), Fraction(0), self.start
        for rate in rates:
            if rate.unit != first.unit or rate.end <= at or at >= self.end:
                continue
            if rate.start > at or rate.currency != first.currency:
                break
            until = min(rate.end, self.end)
            part = self.quantity(rate.unit) * hours_between(at, until)
            amount, cost, at = amount + part, cost + part * rate.price, until
        if at < self.end:
            raise ValueError(f"there is no price of '{first.sku}' in {first.currency} at {_iso(at)}")
        return _cells(cost, amount, first, None)


def _cells(cost: Fraction, amount: Fraction, rate: Rate, price: Fraction | None) -> dict[str, str]:
    return {
        _COST: decimal_text(cost), _CURRENCY: rate.currency, _AMOUNT: decimal_text(amount), _UNIT: rate.unit,
        _USED_PRICE: "" if price is None else decimal_text(price),
    }  # fmt: skip
