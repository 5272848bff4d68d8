"""The user's own price files: csv, one row per price; machines and models are told apart by their columns."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.errors import BadPrice, near_names
from unitcost.facts.accelerators import recognise
from unitcost.facts.offers import Shape
from unitcost.facts.prices import (
    ACCELERATOR_HOUR,
    MACHINE_HOUR,
    OWN,
    Commitment,
    PriceRecord,
    Source,
    Tier,
    flat,
)
from unitcost.facts.pricing import PricingCategory, category_named
from unitcost.facts.tokens import TOKEN_CLASSES, UNITS, ModelPrice
from unitcost.units import PER_MILLION

#: Columns of a file of model prices besides the rates -> what they mean.
MODEL_COLUMNS = {
    "model": "name of the model, as the calls write it",
    "provider": "who sells it; empty = any",
    "variant": "`batch`, `priority` ...; empty = the usual way",
    "effective_from": "first moment (ISO, UTC); empty = always",
    "effective_to": "end, exclusive; empty = until the next row of that model",
    "prompt_tokens_over": "the row prices calls whose whole prompt is larger; empty = 0",
}
#: Rate columns -> class or fee; `cache_write` alone is the five-minute one.
RATE_COLUMNS = {
    **{f"{c}_usd_per_mtok": c for c in TOKEN_CLASSES if c != "cache_write"},
    "cache_write_usd_per_mtok": "cache_write_5m",
    "usd_per_request": "request",
    "usd_per_web_search": "web_search",
}
#: Columns of a file of machine prices -> what they mean.
MACHINE_COLUMNS = {
    "instance_type": "name of the machine",
    "provider": "who rents it out",
    "region": "where; empty = everywhere",
    "category": "`Standard` (default), `Dynamic`, `Committed` or `Other`",
    "usd_per_hour": "price of the machine for an hour; or else",
    "usd_per_accelerator_hour": "price of one of its accelerators for an hour",
    "plan": "name of the commitment",
    "term_months": "its term",
    "accelerator": "name of the accelerator, when the book does not know the machine",
    "accelerator_count": "how many of them the machine has",
    "effective_from": "first moment (ISO, UTC); empty = always",
    "effective_to": "end, exclusive; empty = until the next row of that machine",
}
_ONE = Decimal(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPrices:
    """What a file of the user's holds."""

    records: tuple[PriceRecord, ...] = ()
    shapes: tuple[Shape, ...] = ()
    models: tuple[ModelPrice, ...] = ()


class _Row:
    """A row, whose cells know where they stand."""

    def __init__(self, cells: Mapping[str, str], where: str) -> None:
        self.cells = {name: (cell or "").strip() for name, cell in cells.items()}
        self.where = where

    def text(self, column: str) -> str:
        return self.cells.get(column, "")

    def amount(self, column: str) -> Decimal | None:
        text = self.text(column)
        if not text:
            return None
        try:
            value = money.parse_amount(text)
        except ValueError:
            raise self.bad(f"`{column}` is {text!r}, not a number", "write it with a decimal point") from None
        if value < 0:
            raise self.bad(f"`{column}` is negative", "a price is not negative")
        return value

    def moment(self, column: str) -> datetime | None:
        text = self.text(column)
        try:
            found = datetime.fromisoformat(text) if text else None
        except ValueError:
            raise self.bad(f"`{column}` is {text!r}, not a date", "write it as 2026-09-01") from None
        if found is None or found.tzinfo is not None:
            return found.astimezone(UTC) if found else None
        return found.replace(tzinfo=UTC)

    def bad(self, what: str, mend: str) -> BadPrice:
        return BadPrice(what, where=self.where, mend=mend)


def read(path: Path, *, name: str, observed: str) -> OwnPrices:
    """Prices of a file.

    Parameters
    ----------
    name
        How messages and sources call the file.
    observed
        Day on which the user vouches for it.

    Raises
    ------
    BadPrice
        When the file cannot be read, or a row is no price; the message names file, row and column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadPrice(f"cannot be read: {error}", where=name, mend="name a csv file in UTF-8") from None
    rows = [_Row(cells, f"{name}:{number}") for number, cells in enumerate(table, 2) if any(cells.values())]
    columns = list(table[0]) if table else []
    source = Source(key=name, name=name, licence=OWN)
    if "model" in columns:
        _check(columns, {**MODEL_COLUMNS, **RATE_COLUMNS}, name)
        return OwnPrices(models=tuple(_models(rows, source, observed)))
    if "instance_type" in columns or not table:
        _check(columns, MACHINE_COLUMNS, name)
        records = tuple(_machine(row, source, observed) for row in rows)
        return OwnPrices(records=records, shapes=tuple(_shapes(rows)))
    raise BadPrice(
        "has neither a column `model` nor `instance_type`", where=name, mend="docs/how-to/prices.md lists the columns"
    )


def _check(columns: Sequence[str], known: Mapping[str, Any], name: str) -> None:
    for column in columns:
        if column not in known:
            near = near_names(str(column), known, most=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            mend = "" if near else f"known: {', '.join(known)}"
            raise BadPrice(f"there is no column `{column}`{hint}", where=name, mend=mend)


def _models(rows: Sequence[_Row], source: Source, observed: str) -> list[ModelPrice]:
    groups: dict[tuple[Any, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        if not row.text("model"):
            raise row.bad("`model` is empty", "name the model")
        interval = (row.moment("effective_from"), row.moment("effective_to"))
        groups[row.text("provider"), row.text("model"), row.text("variant").casefold(), *interval].append(row)
    return [_model(key, group, source, observed) for key, group in groups.items()]


def _model(key: tuple[Any, ...], rows: Sequence[_Row], source: Source, observed: str) -> ModelPrice:
    provider, model, variant, start, end = key
    rates: dict[str, dict[Decimal, Decimal]] = defaultdict(dict)
    for row in rows:
        over = row.amount("prompt_tokens_over") or money.ZERO
        for column, meter in RATE_COLUMNS.items():
            price = row.amount(column)
            if price is not None and rates[meter].setdefault(over, price) != price:
                raise row.bad(f"`{column}` has two prices", "leave one of them")
    for meter, tiers in rates.items():
        if tiers and money.ZERO not in tiers:
            raise rows[0].bad(f"{meter} has no price for short prompts", "add a row without prompt_tokens_over")
    records = tuple(
        PriceRecord(
            kind="model", provider=provider, sku=model, meter=meter, variant=variant, currency="USD",
            unit=UNITS.get(meter, "tokens"), per=PER_MILLION if meter in TOKEN_CLASSES else _ONE,
            tiers=tuple(Tier(over=over, price=price) for over, price in sorted(tiers.items())), mode="whole-request",
            effective_from=start, effective_to=end, dating="stated", observed=observed, source=source,
        )
        for meter, tiers in rates.items()
        if tiers
    )  # fmt: skip
    if not records:
        raise rows[0].bad("the row has no price", "fill one of the rate columns")
    return ModelPrice(
        provider=provider, model=model, variant=variant, rates=records, source=source, effective_from=start,
        effective_to=end,
    )  # fmt: skip


def _machine(row: _Row, source: Source, observed: str) -> PriceRecord:
    whole, each = row.amount("usd_per_hour"), row.amount("usd_per_accelerator_hour")
    if (whole is None) == (each is None):
        raise row.bad("needs either `usd_per_hour` or `usd_per_accelerator_hour`", "say what the price is for")
    if not row.text("instance_type"):
        raise row.bad("`instance_type` is empty", "name the machine")
    price = whole if whole is not None else each
    assert price is not None
    plan = row.text("plan")
    return PriceRecord(
        kind="instance", provider=row.text("provider"), region=row.text("region"), sku=row.text("instance_type"),
        unit=MACHINE_HOUR if whole is not None else ACCELERATOR_HOUR, currency="USD", category=_category(row),
        commitment=Commitment(plan=plan, term_months=int(row.amount("term_months") or 0)) if plan else None,
        tiers=flat(price), effective_from=row.moment("effective_from"), effective_to=row.moment("effective_to"),
        dating="stated", observed=observed, source=source,
    )  # fmt: skip


def _category(row: _Row) -> PricingCategory:
    text = row.text("category") or "Standard"
    found = category_named(text)
    if found:
        return found
    raise row.bad(f"`category` is {text!r}", "write Standard, Dynamic, Committed or Other")


def _shapes(rows: Sequence[_Row]) -> list[Shape]:
    """Machines that the file itself describes."""
    return [
        Shape(
            provider=row.text("provider"), instance_type=row.text("instance_type"), region=row.text("region"),
            accelerator=_accelerator(row), accelerator_count=row.amount("accelerator_count"),
        )
        for row in rows
        if row.text("accelerator") or row.text("accelerator_count")
    ]  # fmt: skip


def _accelerator(row: _Row) -> str:
    known = recognise(row.text("accelerator"))
    return known.name if known else row.text("accelerator")
