"""A figure unfolded: formula, inputs, and the rows it stands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unitcost import money
from unitcost.facts.spend import LedgerRow
from unitcost.figure import Figure
from unitcost.report.json_form import figure_data

#: Finds the rows of a leaf, the largest first, and says how many there are.
RowsOf = Callable[[Figure], tuple[Sequence[LedgerRow], int]]


def as_lines(figure: Figure, rows_of: RowsOf, *, depth: int = 0) -> list[str]:
    """Tree of a figure as indented lines."""
    indent = "  " * depth
    value = "no value" if figure.value is None else f"{money.text(figure.value)} {figure.unit}"
    name = figure.label or figure.id
    lines = [f"{indent}{name} = {value}  [{figure.basis}]  {figure.formula}"]
    if figure.note:
        lines.append(f"{indent}  note: {figure.note}")
    if figure.rows is not None:
        lines += _row_lines(figure, rows_of, indent + "  ")
    for inner in figure.inputs:
        lines += as_lines(inner, rows_of, depth=depth + 1)
    return lines


def _row_lines(figure: Figure, rows_of: RowsOf, indent: str) -> list[str]:
    rows, count = rows_of(figure)
    lines = [
        f"{indent}{row.file}:{row.row_number}  {money.text(row.amount)} {row.currency}  {row.service} {row.resource} "
        f"{row.charge_period_start}..{row.charge_period_end}".rstrip()
        for row in rows
    ]
    if count > len(rows):
        shown = money.add(row.amount for row in rows)
        rest = money.subtract(figure.value or money.ZERO, shown)
        lines.append(f"{indent}... and {count - len(rows)} more rows, {money.text(rest)} {figure.unit}")
    return lines


def as_data(figure: Figure, rows_of: RowsOf) -> dict[str, Any]:
    """Tree of a figure as plain data."""
    data = figure_data(figure) | {"label": figure.label, "op": figure.op, "formula": figure.formula}
    if figure.rows is not None:
        rows, count = rows_of(figure)
        data["rows"] = {
            "count": count,
            "column": figure.rows.column,
            "where": [{"dimension": name, "value": value} for name, value in figure.rows.where],
            "largest": [
                {
                    "file": row.file, "row": row.row_number, "amount": money.text(row.amount),
                    "cost": money.text(row.cost), "currency": row.currency, "service": row.service,
                    "resource": row.resource, "charge_period_start": row.charge_period_start,
                    "charge_period_end": row.charge_period_end,
                }
                for row in rows
            ],
        }  # fmt: skip
    if figure.inputs:
        data["inputs"] = [as_data(inner, rows_of) for inner in figure.inputs]
    return data
