"""Cells as a person reads them: cents that add up, shares as percentages, a dash for no value."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from unitcost import money
from unitcost.facts.rules import FxRate
from unitcost.figure import Figure
from unitcost.report.charts import grouped, percent
from unitcost.report.model import Cell, Kind, Report, Table
from unitcost.units import CENT_PLACES

NONE = "–"
#: Significant digits of a unit cost.
_UNIT_DIGITS = 4
#: Exchange rates that are named before the others are only counted.
_MOST_RATES = 4


def printed(table: Table) -> tuple[list[str], list[list[str]], bool]:
    """Headers and rows as text, and whether the last row is the total.

    Money columns of a table with a total are rounded together, so that the printed column adds up to the
    printed total.
    """
    rows = [*table.rows, *((table.total,) if table.total else ())]
    columns = [_column(table, place) for place in range(len(table.columns))]
    headers = [column.name for column in table.columns]
    return (
        headers,
        [[columns[place][line] for place in range(len(headers))] for line in range(len(rows))],
        table.total is not None,
    )


def _column(table: Table, place: int) -> list[str]:
    kind = table.columns[place].kind
    cells = [row[place] for row in table.rows]
    if kind != "money" or table.total is None:
        ends = [table.total[place]] if table.total else []
        return [table.columns[place].none if cell is None else shown(cell, kind) for cell in (*cells, *ends)]
    values = [cell.value for cell in cells if isinstance(cell, Figure) and cell.value is not None]
    end = table.total[place]
    adds_up = isinstance(end, Figure) and end.value is not None and money.add(values) == end.value
    if not adds_up:
        return [shown(cell, kind) for cell in (*cells, end)]
    rounded = iter(money.round_to_total(values))
    texts = [
        grouped(next(rounded)) if isinstance(cell, Figure) and cell.value is not None else shown(cell, kind)
        for cell in cells
    ]
    return [*texts, shown(end, kind)]


def shown(cell: Cell, kind: Kind) -> str:
    """One cell as text."""
    if not isinstance(cell, Figure):
        return NONE if cell is None else visible(cell)
    if cell.value is None:
        return NONE
    if kind == "share":
        return percent(cell.value)
    if kind == "change":
        return f"+{percent(cell.value)}" if cell.value > 0 else percent(cell.value)
    if kind == "count":
        return grouped(cell.value, 0) if cell.value == cell.value.to_integral_value() else grouped(cell.value)
    return unit_price(cell.value) if kind == "unit" else grouped(cell.value)


def visible(text: str) -> str:
    """Text in which control characters and marks of writing direction are spelt out."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def unit_price(value: Decimal) -> str:
    """Small price with four significant digits, at least cents."""
    if value == 0:
        return grouped(value)
    if abs(value) >= 1:
        return grouped(value, max(CENT_PLACES, _UNIT_DIGITS - len(str(int(abs(value))))))
    places = _UNIT_DIGITS - 1 - value.adjusted()
    return grouped(value, places)


def heading(report: Report) -> str:
    """First line of a printed report."""
    return f"{report.title} · {context(report)}"


def context(report: Report) -> str:
    """What puts a charge into the report, in which zone, and at which rates other currencies were converted."""
    selection = report.selection
    way = "billing period" if selection.place == "billing" else "time of use"
    parts = [f"by {way}", f"months and days in {selection.timezone}", _rates(report.rates)]
    return " · ".join(part for part in parts if part)


def _rates(rates: Sequence[FxRate]) -> str:
    more = f" and {len(rates) - _MOST_RATES} more rates (all in --json)" if len(rates) > _MOST_RATES else ""
    return ", ".join(f"{r.currency} at {_rate(r.rate)} of {r.since}" for r in rates[:_MOST_RATES]) + more


def _rate(rate: Decimal) -> str:
    """Rate with all its places, at least cents."""
    places = len(money.text(rate).partition(".")[2])
    return grouped(rate, max(CENT_PLACES, places))
