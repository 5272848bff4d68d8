"""Small tables that a plan is made from: learning curves, measured runs, offers, up-times. Streamed, a row at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from unitcost import money
from unitcost.errors import BadFile
from unitcost.facts.source import ReadOptions
from unitcost.readers import survey, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row: its cells by column name in lower case, and where it stands."""

    cells: dict[str, str]
    where: str

    def text(self, column: str) -> str:
        """Cell as written, trimmed; empty when the table has no such column."""
        return self.cells.get(column, "")

    def number(self, column: str, *, least: float = -math.inf) -> float | None:
        """Cell as a finite number; None when it is empty.

        Raises
        ------
        BadFile
            When it is anything else, NaN and infinity included, or below `least`.
        """
        text = self.text(column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < least:
            limit = "" if least == -math.inf else f" of at least {least:g}"
            raise BadFile(f"`{column}` is {text!r}, not a number{limit}", where=self.where, mend="correct the cell")
        return value

    def needed(self, column: str, *, least: float = -math.inf) -> float:
        """Cell as a finite number that must be there.

        Raises
        ------
        BadFile
            When it is empty or no such number.
        """
        value = self.number(column, least=least)
        if value is None:
            raise BadFile(f"`{column}` is empty", where=self.where, mend="give a number, or leave the row out")
        return value

    def amount(self, column: str) -> Decimal:
        """Cell as an exact amount that is not negative.

        Raises
        ------
        BadFile
            When it is not one.
        """
        try:
            value = money.parse_amount(self.text(column))
        except ValueError as error:
            raise BadFile(
                f"`{column}` is {self.text(column)!r}, not an amount", where=self.where, mend="write it like 12.50"
            ) from error
        if value < 0:
            raise BadFile(f"`{column}` is negative", where=self.where, mend="give a price of zero or more")
        return value

    def day(self, column: str) -> date:
        """Cell as a date.

        Raises
        ------
        BadFile
            When it is not written as YYYY-MM-DD.
        """
        try:
            return date.fromisoformat(self.text(column))
        except ValueError as error:
            raise BadFile(
                f"`{column}` is {self.text(column)!r}, not a date", where=self.where, mend="write it like 2026-09-01"
            ) from error


def read_lines(path: Path, *, needs: Sequence[str]) -> Iterator[Line]:
    """Rows of a csv, JSON or parquet table, packed or not.

    Parameters
    ----------
    needs
        Columns that the table must have; others are kept.

    Raises
    ------
    BadFile
        When the file is no table, lacks a column, or a row cannot be taken apart.
    """
    source = survey.look(path, ReadOptions())
    if source.format == "text":  # one column, so no sign that parts two
        source = survey.with_header(replace(source, format="csv", delimiter=","))
    columns = [name.strip().casefold() for name in source.columns]
    missing = [name for name in needs if name not in columns]
    if missing:
        raise BadFile(
            f"there is no column {', '.join(f'`{name}`' for name in missing)}", where=source.name,
            mend=f"the table needs {', '.join(needs)}; it has {', '.join(columns[:12]) or 'none'}",
        )  # fmt: skip
    for number, row in enumerate(tables.rows(source), start=1):
        where = f"{source.name}:{number + 1}"
        if isinstance(row, tables.Broken):
            raise BadFile(row.reason, where=where, mend="correct the row")
        if len(row) > len(columns):
            raise BadFile(
                f"the row has {len(row)} cells, the header {len(columns)}", where=where, mend="correct the row"
            )
        yield Line(cells=dict(zip(columns, (cell.strip() for cell in row), strict=False)), where=where)
