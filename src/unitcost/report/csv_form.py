"""The report as one long csv: a row per number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from unitcost import money
from unitcost.figure import Figure
from unitcost.report.model import Cell, Column, Report, Table

HEADER = ("section", "row", "column", "value", "unit", "basis", "figure")
#: First characters by which a spreadsheet takes a text for a formula.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def as_csv(report: Report) -> str:
    """Report as csv text; names that a spreadsheet would run as a formula begin with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(HEADER)
    for section in report.sections:
        for table in section.tables:
            writer.writerows([section.key, *line] for line in _lines(table))
    return out.getvalue()


def _lines(table: Table) -> list[list[str]]:
    lines = []
    for row in (*table.rows, *((table.total,) if table.total else ())):
        name = " / ".join(_names(table.columns, row))
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Figure):
                value = "" if cell.value is None else money.text(cell.value)
                lines.append([inert(name), inert(column.name), value, inert(cell.unit), cell.basis, cell.id])
    return lines


def _names(columns: Sequence[Column], row: Sequence[Cell]) -> Iterator[str]:
    """Names that a row begins with."""
    for column, cell in zip(columns, row, strict=True):
        if column.kind != "text" or isinstance(cell, Figure):
            return
        if cell != "":
            yield column.none if cell is None else cell


def inert(text: str) -> str:
    """Text that no spreadsheet runs."""
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text
