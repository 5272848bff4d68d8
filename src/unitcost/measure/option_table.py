"""A table of options with what is known of each: csv or JSON, one row per option."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from unitcost import money
from unitcost.errors import BadFile, UnknownName
from unitcost.facts.options import Option, OptionBasis
from unitcost.measure.tables import Row, column, read_rows
from unitcost.units import GB, GIB, MB, MIB, MILLISECONDS_PER_SECOND, PER_MILLION, PER_THOUSAND

NAMES = ("option", "config", "name", "model", "variant")
MACHINES = ("machine", "instance", "instance_type")
SPEEDS = ("per_s", "predictions_per_s", "requests_per_s", "tok_per_s", "tokens_per_s")
QUALITIES = ("quality", "accuracy", "exact_match", "f1", "auc", "score", "rmse", "mae")
ITEMS = ("items", "n")
_UNIT_PRICES: Mapping[str, Decimal] = {
    "usd_per_1k": PER_THOUSAND, "usd_per_mtok": PER_MILLION, "usd_per_request": Decimal(1)
}  # fmt: skip
_MEMORIES: Mapping[str, int] = {
    "memory_bytes": 1,
    "memory_mib": MIB,
    "memory_gib": GIB,
    "memory_mb": MB,
    "memory_gb": GB,
}
_LATENCY = re.compile(r"(?P<name>p\d{2,4})_(?P<unit>ms|s)")
#: Other columns that are understood.
_WORDS = ("usd_per_hour", "precision", "basis", "note")
_BASES = ("measured", "stated", "estimated")


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionTable:
    """Options of a file, and the columns that hold their quality; empty when none does."""

    options: tuple[Option, ...]
    quality_columns: tuple[str, ...]


def read_options(
    path: Path, *, at: Mapping[str, str] | None = None, usd_per_hour: Decimal | None = None
) -> OptionTable:
    """Options of a table.

    Parameters
    ----------
    at
        Column -> value: only rows that have it, as `concurrency` -> `64`.
    usd_per_hour
        Price of a machine for rows that give none. [USD/h]

    Raises
    ------
    BadFile
        When there is no name, a number is none, or no row is left.
    UnknownName
        When `at` names a column that is not there.
    """
    rows = read_rows(path)
    for name in at or {}:
        if name not in rows[0]:
            raise UnknownName("column", name, rows[0], where=str(path))
    kept = [(place, row) for place, row in enumerate(rows) if all(_same(row[k], v) for k, v in (at or {}).items())]
    if not kept:
        raise BadFile("no row is left", where=str(path), mend="check what --at asks for")
    if not column(rows, NAMES):
        mend = f"name the options in a column called one of: {', '.join(NAMES)}"
        raise BadFile("has no column with the names of options", where=str(path), mend=mend)
    options = [_option(row, f"{path}:{place + 2}", usd_per_hour) for place, row in kept]
    qualities = tuple(name for name in QUALITIES if any(_first(row, (name,)) for _, row in kept))
    return OptionTable(options=tuple(_told_apart(options, [row for _, row in kept])), quality_columns=qualities)


def _option(row: Row, where: str, usd_per_hour: Decimal | None) -> Option:
    hourly = _money(row, "usd_per_hour", where)
    basis = str(row.get("basis") or "stated")
    if basis not in _BASES:
        raise UnknownName("basis", basis, _BASES, where=where)
    items = _least(row, _first(row, ITEMS), where, 0)
    name = str(row.get(column([row], NAMES)) or "").strip()
    if not name:
        raise BadFile("an option has no name", where=where, mend="name each option, or leave the row out")
    return Option(
        name=name, machine=str(row.get(column([row], MACHINES)) or ""),
        usd_per_hour=usd_per_hour if hourly is None else hourly, usd_per_unit=_unit_price(row, where),
        per_s=_above_zero(row, _first(row, SPEEDS), where), latencies_s=_latencies(row, where), memory_bytes=_memory(row, where),
        quality=_number(row, _first(row, QUALITIES), where), items=int(items or 0), precision=str(row.get("precision") or ""),
        basis=cast(OptionBasis, basis), note=str(row.get("note") or ""),
    )  # fmt: skip


def _told_apart(options: list[Option], rows: Sequence[Row]) -> list[Option]:
    """Options; where several have one name and machine, the settings in which they differ stand behind the machine."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for option, row in zip(options, rows, strict=True):
        groups.setdefault((option.name, option.machine), []).append(row)
    settings = [
        name for name in rows[0]
        if not _is_known(name) and any(len({str(row.get(name)) for row in group}) > 1 for group in groups.values())
    ]  # fmt: skip
    told = [" ".join(f"{name}={row.get(name)}" for name in settings) for row in rows]
    return [replace(o, machine=f"{o.machine} {more}".strip()) for o, more in zip(options, told, strict=True)]


def _is_known(name: str) -> bool:
    known = (*NAMES, *MACHINES, *SPEEDS, *QUALITIES, *ITEMS, *_UNIT_PRICES, *_MEMORIES, *_WORDS)
    return name in known or _LATENCY.fullmatch(name) is not None


def _same(cell: Any, value: str) -> bool:
    return str(cell).strip() == value.strip()


def _first(row: Row, names: Sequence[str]) -> str:
    return next((name for name in names if str(row.get(name) or "").strip()), "")


def _number(row: Row, name: str, where: str) -> float | None:
    if not name:
        return None
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(
            f"{name} is {row[name]!r}, not a number", where=where, mend="write it with '.' decimals, or leave it empty"
        )
    return value


def _least(row: Row, name: str, where: str, least: float) -> float | None:
    value = _number(row, name, where)
    if value is not None and value < least:
        raise BadFile(
            f"{name} is {row[name]}, below {least:g}", where=where, mend="look at the measurement it comes from"
        )
    return value


def _above_zero(row: Row, name: str, where: str) -> float | None:
    value = _least(row, name, where, 0)
    if value == 0:
        raise BadFile(f"{name} is 0: what makes nothing has no price per unit", where=where, mend="leave the row out")
    return value


def _money(row: Row, name: str, where: str) -> Decimal | None:
    text = str(row.get(name) if row.get(name) is not None else "").strip()
    if not text:
        return None
    try:
        value = money.parse_amount(text)
    except ValueError as error:
        raise BadFile(f"{name}: {error}", where=where, mend="write amounts with '.' decimals") from error
    if value < 0:
        raise BadFile(f"{name} is {text}, below zero", where=where, mend="give what it costs, zero or more")
    return value


def _unit_price(row: Row, where: str) -> Decimal | None:
    for name, per in _UNIT_PRICES.items():
        price = _money(row, name, where)
        if price is not None:
            return money.divide_exactly(price, per)
    return None


def _memory(row: Row, where: str) -> int | None:
    name = _first(row, tuple(_MEMORIES))
    value = _least(row, name, where, 0)
    return None if value is None else round(value * _MEMORIES[name])


def _latencies(row: Row, where: str) -> tuple[tuple[str, float], ...]:
    found = []
    for name in row:
        match = _LATENCY.fullmatch(str(name))
        value = _least(row, _first(row, (name,)), where, 0) if match else None
        if match and value is not None:
            found.append((match["name"], value / (MILLISECONDS_PER_SECOND if match["unit"] == "ms" else 1)))
    return tuple(found)
