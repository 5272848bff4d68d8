"""A figure unfolded: formula, inputs, and the rows it stands on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

from unitcost import money
from unitcost.facts.spend import LedgerRow
from unitcost.figure import Figure
from unitcost.report.json_form import figure_data

#: Finds the rows of a leaf, the largest first, and says how many there are.
RowsOf = Callable[[Figure], tuple[Sequence[LedgerRow], int]]


def as_lines(figure: Figure, rows_of: RowsOf, *, width: int = 80, depth: int = 0) -> list[str]:
    """Tree of a figure as indented lines.

    Parameters
    ----------
    width
        Where lines are broken, at spaces only. [characters]
    """
    origin = _origin(figure)
    value = "no value" if figure.value is None else f"{money.text(figure.value)} {figure.unit}"
    lines = [f"{figure.label or figure.id} = {value}  [{origin.basis}]  {_formula(origin)}"]
    lines += [f"  note: {each.note}" for each in dict.fromkeys((figure, origin)) if each.note]
    if origin.rows is not None:
        lines += _row_lines(origin, rows_of)
    indent = "  " * depth
    found = [piece for line in lines for piece in _broken(indent + line, width)]
    for inner in origin.inputs:
        found += as_lines(inner, rows_of, width=width, depth=depth + 1)
    return found


def _origin(figure: Figure) -> Figure:
    """What a figure is made from, past sums of one figure alone."""
    while figure.op == "sum" and len(figure.inputs) == 1 and not figure.note:
        figure = figure.inputs[0]
    return figure


def _formula(figure: Figure) -> str:
    """Formula in words; the parts of a sum stand below it anyway."""
    return f"sum of the {len(figure.inputs)} below" if figure.op == "sum" and figure.inputs else figure.formula


def _broken(line: str, width: int) -> list[str]:
    """Line broken at spaces, further lines indented under it."""
    words = line.lstrip(" ")
    indent = " " * (len(line) - len(words))
    return wrap(
        words, max(width, 40), initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _row_lines(figure: Figure, rows_of: RowsOf) -> list[str]:
    rows, count = rows_of(figure)
    lines = [
        f"  {row.file}:{row.row_number}  {money.text(row.amount)} {row.currency}  {row.service} {row.resource} "
        f"{row.charge_period_start}..{row.charge_period_end}".rstrip()
        for row in rows
    ]
    if count > len(rows):
        shown = money.add(row.amount for row in rows)
        rest = money.subtract(figure.value or money.ZERO, shown)
        lines.append(f"  ... and {count - len(rows)} more rows, {money.text(rest)} {figure.unit}")
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
