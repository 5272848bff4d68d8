"""Tables of price records and machines as csv: those that ship with the project and those that a refresh wrote.

A column that a table leaves out has its default everywhere; a table of instances needs few.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.offers import Shape
from unitcost.facts.prices import (
    MACHINE_HOUR,
    Commitment,
    PriceRecord,
    Source,
    Tier,
    first_day,
    flat,
    midnight,
)

#: Columns of a table of records, in their order, and what an empty cell means.
RECORD_COLUMNS: dict[str, str] = {
    "kind": "instance", "provider": "", "region": "", "zone": "", "sku": "", "meter": "", "destination": "",
    "variant": "", "hours": "", "unit": MACHINE_HOUR, "per": "1", "currency": "USD", "category": "Standard", "plan": "",
    "term_months": "", "payment": "", "mode": "graduated", "price": "", "from": "", "to": "", "dating": "observed",
    "observed": "", "source": "", "derived_from": "", "inputs": "", "remarks": "",
}  # fmt: skip
SHAPE_COLUMNS = (
    "provider", "instance_type", "region", "vcpus", "memory_gib", "accelerator", "accelerator_count",
    "accelerator_memory_gib",
)  # fmt: skip
SOURCE_COLUMNS = ("key", "name", "revision", "licence")
Row = Mapping[str, str]


def rows(text: str) -> list[dict[str, str]]:
    """Rows of a csv with a header."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def sources(table: Iterable[Row]) -> dict[str, Source]:
    """Sources by key."""
    return {row["key"]: Source(**{column: row[column] for column in SOURCE_COLUMNS}) for row in table}


def record(row: Row, known: Mapping[str, Source]) -> PriceRecord:
    """Price record of a row.

    Raises
    ------
    BadPrice
        When the row cannot be one.
    """
    cell = {column: row.get(column) or default for column, default in RECORD_COLUMNS.items()}
    try:
        fields: dict[str, Any] = {
            name: cell[name]
            for name in (
                "kind", "provider", "region", "zone", "sku", "meter", "destination", "variant", "hours", "unit", "currency",
                "category", "mode", "dating", "observed", "derived_from",
            )
        }  # fmt: skip
        return PriceRecord(
            **fields, per=money.parse_amount(cell["per"]), tiers=_tiers(cell["price"]), commitment=_commitment(cell),
            effective_from=_since(cell), effective_to=_moment(cell["to"]), source=known[cell["source"]],
            inputs=_list(cell["inputs"]), remarks=_list(cell["remarks"]),
        )  # fmt: skip
    except (ValueError, KeyError) as error:
        raise BadPrice(
            f"a row of the price table cannot be read: {error}", where=f"{cell['provider']} {cell['sku']}",
            mend="write the table anew",
        ) from None  # fmt: skip


def shape(row: Row) -> Shape:
    """Machine of a row."""
    numbers = {name: _number(row[name]) for name in SHAPE_COLUMNS if name not in _SHAPE_TEXT}
    return Shape(**{name: row[name] for name in _SHAPE_TEXT}, **numbers)  # type: ignore[arg-type]


def record_row(record: PriceRecord) -> dict[str, str]:
    """Cells of a record; those that hold the default are empty."""
    promise = record.commitment
    cell = {
        name: str(getattr(record, name))
        for name in (
            "kind", "provider", "region", "zone", "sku", "meter", "destination", "variant", "hours", "unit", "currency",
            "category", "mode", "dating", "observed", "derived_from",
        )
    } | {
        "per": money.text(record.per),
        "plan": promise.plan if promise else "",
        "term_months": str(promise.term_months) if promise else "",
        "payment": promise.payment if promise else "",
        "price": _tiers_text(record.tiers),
        "from": _since_text(record),
        "to": record.effective_to.isoformat() if record.effective_to else "",
        "source": record.source.key,
        "inputs": ";".join(record.inputs),
        "remarks": ";".join(record.remarks),
    }  # fmt: skip
    return {name: "" if cell[name] == default else cell[name] for name, default in RECORD_COLUMNS.items()}


def shape_row(shape: Shape) -> dict[str, str]:
    """Cells of a machine."""
    return {name: _text(getattr(shape, name)) for name in SHAPE_COLUMNS}


def source_row(source: Source) -> dict[str, str]:
    """Cells of a source."""
    return {name: getattr(source, name) for name in SOURCE_COLUMNS}


def written(table: Sequence[Row], columns: Iterable[str]) -> str:
    """Text of a csv; a column that is empty in every row is left out."""
    used = [name for name in columns if any(row[name] for row in table)]
    text = io.StringIO()
    writer = csv.DictWriter(text, used, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


_SHAPE_TEXT = ("provider", "instance_type", "region", "accelerator")


def _tiers(text: str) -> tuple[Tier, ...]:
    """Tiers of `0.09` or `0:0.09;10240:0.085`."""
    if ":" not in text:
        return flat(money.parse_amount(text))
    pairs = (part.split(":") for part in text.split(";"))
    return tuple(Tier(over=money.parse_amount(over), price=money.parse_amount(price)) for over, price in pairs)


def _tiers_text(tiers: Sequence[Tier]) -> str:
    if len(tiers) == 1:
        return money.text(tiers[0].price)
    return ";".join(f"{money.text(tier.over)}:{money.text(tier.price)}" for tier in tiers)


def _commitment(cell: Row) -> Commitment | None:
    if not cell["plan"]:
        return None
    return Commitment(plan=cell["plan"], term_months=int(cell["term_months"]), payment=cell["payment"])


def _since(cell: Row) -> datetime | None:
    """Beginning of a record: as written, or the day on which it was observed, or `-` for none."""
    if cell["from"] == "-":
        return None
    return _moment(cell["from"]) or midnight(first_day(cell["observed"]))


def _since_text(record: PriceRecord) -> str:
    if record.effective_from is None:
        return "-"
    if record.effective_from == midnight(record.observed_on):
        return ""
    return record.effective_from.isoformat()


def _moment(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _list(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(";") if part)


def _number(text: str) -> Decimal | None:
    return money.parse_amount(text) if text else None


def _text(value: object) -> str:
    return "" if value is None else money.text(value) if isinstance(value, Decimal) else str(value)
