"""The report as data: sections of tables whose numbers are figures, and charts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from unitcost.errors import UnknownName
from unitcost.facts.rules import FxRate
from unitcost.facts.spend import Selection
from unitcost.figure import Figure, walk_once

#: How cells are printed; a `change` is a share with its sign, a `unit` the price of one unit.
Kind = Literal["text", "money", "share", "change", "count", "unit"]
Cell = str | Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    kind
        How its cells are printed.
    none
        What is printed where there is nothing.
    spare
        Whether a terminal that is too narrow for the whole table leaves it out.
    """

    name: str
    kind: Kind = "text"
    none: str = "–"
    spare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text and figures.

    Parameters
    ----------
    unit
        Currency of its money columns; empty when it has none.
    total
        Last row, the sum of those above; None when a sum has no meaning.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: tuple[Cell, ...] | None = None
    unit: str = ""
    caption: str = ""

    def figures(self) -> Iterator[Figure]:
        """All figures of the table."""
        for row in (*self.rows, *((self.total,) if self.total else ())):
            yield from (cell for cell in row if isinstance(cell, Figure))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart: an ECharts option, and what it says in words."""

    name: str
    title: str
    option: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Answer to one question."""

    key: str
    title: str
    question: str
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One number at the top: its name, the figure, and a line beside it."""

    name: str
    figure: Figure
    kind: Kind
    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report.

    Parameters
    ----------
    messages
        What the reader must know first: invoices that differ, currencies without a rate.
    closes
        Whether every invoice that is known agrees with the bill to the last place.
    answers
        Top-level answers for machines; see docs/reference/report-json.md.
    rates
        Exchange rates that amounts were converted with.
    """

    title: str
    selection: Selection
    currencies: tuple[str, ...]
    as_of: str
    tiles: tuple[Tile, ...]
    sections: tuple[Section, ...]
    messages: tuple[str, ...]
    closes: bool
    answers: dict[str, Any] = field(default_factory=dict)
    rates: tuple[FxRate, ...] = ()

    def only(self, keys: Collection[str]) -> Report:
        """The report with no sections but these, in its own order; without keys, the whole report.

        Raises
        ------
        UnknownName
            When it has no such section.
        """
        if not keys:
            return self
        known = {section.key for section in self.sections}
        for key in keys:
            if key not in known:
                raise UnknownName(
                    "section", key, known, mend=f"sections that have something to show here: {', '.join(sorted(known))}"
                )
        return replace(self, sections=tuple(section for section in self.sections if section.key in keys))

    def shown(self) -> Iterator[Figure]:
        """Figures of tiles and tables."""
        yield from (tile.figure for tile in self.tiles)
        for section in self.sections:
            for table in section.tables:
                yield from table.figures()

    def figures(self) -> dict[str, Figure]:
        """Every figure of the report by its id, those that others stand on included."""
        found: dict[str, Figure] = {}
        for figure in walk_once(self.shown()):
            found.setdefault(figure.id, figure)
        return found
