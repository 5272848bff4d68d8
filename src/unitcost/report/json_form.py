"""The report as JSON; the layout is documented in docs/reference/report-json.md."""

from __future__ import annotations

from typing import Any

from unitcost import money
from unitcost.figure import Figure
from unitcost.report.model import Cell, Report, Section, Table

SCHEMA_VERSION = 1


def as_data(report: Report) -> dict[str, Any]:
    """Report as plain data: money as exact decimal strings, each number with the id of its figure."""
    selection = report.selection
    return {
        "schema_version": SCHEMA_VERSION,
        "title": report.title,
        "cost": selection.cost,
        "from": selection.start.isoformat() if selection.start else None,
        "until": selection.end.isoformat() if selection.end else None,
        "place": selection.place,
        "timezone": selection.timezone,
        "as_of": report.as_of,
        "closes": report.closes,
        "messages": list(report.messages),
        **report.answers,
        "tiles": [{"name": tile.name, **figure_data(tile.figure), "beside": tile.beside} for tile in report.tiles],
        "sections": [_section(section) for section in report.sections],
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    """Figure without its inputs."""
    data: dict[str, Any] = {
        "value": None if figure.value is None else money.text(figure.value),
        "unit": figure.unit,
        "basis": figure.basis,
        "figure": figure.id,
    }
    return data | ({"note": figure.note} if figure.note else {})


def _section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "question": section.question,
        "notes": list(section.notes),
        "tables": [_table(table) for table in section.tables],
        "charts": [{"name": chart.name, "title": chart.title, "text": chart.text} for chart in section.charts],
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "caption": table.caption,
        "unit": table.unit,
        "columns": [{"name": column.name, "kind": column.kind} for column in table.columns],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "total": [_cell(cell) for cell in table.total] if table.total else None,
    }


def _cell(cell: Cell) -> Any:
    return figure_data(cell) if isinstance(cell, Figure) else cell
