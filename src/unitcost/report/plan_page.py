"""The answer of a plan as a page: tiles, tables, charts, what was ruled out and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unitcost.report.html import page, plain_tile
from unitcost.report.model import Chart, Column, Section, Table
from unitcost.report.palette import PAIRS, colours

_FOOTER = (
    "A plan is an estimate. Each number has a low and a high value and a basis: measured, modelled, assumed or quoted. "
    "The same numbers are printed by <code>--json</code>."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTile:
    """One number at the top, as text, and a line beside it."""

    name: str
    value: str
    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPage:
    """Answer of a plan.

    Parameters
    ----------
    subtitle
        What was asked, in one line.
    messages
        What the reader must know first.
    """

    title: str
    subtitle: str
    tiles: tuple[PlanTile, ...]
    sections: tuple[Section, ...]
    messages: tuple[str, ...] = ()


def as_html(plan: PlanPage) -> str:
    """One-file page of a plan; the same plan gives the same bytes."""
    return page(
        plan.title, plan.subtitle, messages=plan.messages,
        tiles=[plain_tile(tile.name, tile.value, tile.beside) for tile in plan.tiles], sections=plan.sections,
        bar=[(section.key, section.title) for section in plan.sections], footer=_FOOTER,
    )  # fmt: skip


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int = 1, caption: str = "", spare: Sequence[str] = ()
) -> Table:  # fmt: skip
    """Table of texts; the last columns but `numbers` of them at the beginning hold numbers.

    Parameters
    ----------
    numbers
        How many columns at the beginning hold words; a last column without a name holds remarks.
    spare
        Columns that a narrow terminal may leave out.
    """
    kinds = [
        Column(name=name) if place < numbers or not name else Column(name=name, kind="count", spare=name in spare)
        for place, name in enumerate(columns)
    ]
    return Table(columns=tuple(kinds), rows=tuple(tuple(row) for row in rows), caption=caption)


def bar_chart(name: str, title: str, bars: Sequence[tuple[str, float]], unit: str) -> Chart:
    """Horizontal bars with their values, in the order given."""
    option: dict[str, Any] = {
        "grid": {"left": 30, "right": 90, "top": 4, "bottom": 4, "containLabel": True},
        "tooltip": {"trigger": "item"},
        "xAxis": {"type": "value", "show": False},
        "yAxis": {"type": "category", "inverse": True, "data": [label for label, _ in bars]},
        "series": [
            {
                "type": "bar",
                "name": unit,
                "barMaxWidth": 18,
                "data": [
                    {
                        "value": round(value, 4),
                        "itemStyle": {"color": PAIRS[0][0]},
                        "label": {"show": True, "position": "right", "formatter": f"{value:,.2f}"},
                    }
                    for label, value in bars
                ],
            }
        ],
    }
    words = "; ".join(f"{label} {value:,.2f} {unit}" for label, value in bars)
    return Chart(name=name, title=title, option=option, text=words)


def line_chart(
    name: str, title: str, lines: Mapping[str, Sequence[tuple[float, float]]], *, across: str, up: str,
    logarithmic: bool = False,
) -> Chart:  # fmt: skip
    """Lines over a scale.

    Parameters
    ----------
    across, up
        What the two scales are, with units.
    """
    palette, several = colours(lines), len(lines) > 1
    option: dict[str, Any] = {
        "grid": {"left": 8, "right": 24, "top": 64 if several else 34, "bottom": 30, "containLabel": True},
        **({"legend": {"type": "scroll", "top": 0, "left": 0, "data": list(lines)}} if several else {}),
        "tooltip": {"trigger": "axis"},
        "xAxis": {
            "type": "log" if logarithmic else "value", "name": across, "nameLocation": "middle", "nameGap": 28,
            **({"min": _short_below(min(x for points in lines.values() for x, _ in points))} if logarithmic else {}),
        },
        "yAxis": {"type": "value", "name": up, "nameTextStyle": {"align": "left"}},
        "series": [
            {
                "type": "line", "name": label, "symbol": "none", "color": palette[label],
                "data": [[round(x, 4), round(y, 4)] for x, y in points],
            }
            for label, points in lines.items()
        ],
    }  # fmt: skip
    ends = "; ".join(
        f"{label}: from {points[0][1]:,.2f} to {points[-1][1]:,.2f}" for label, points in lines.items() if points
    )
    return Chart(name=name, title=title, option=option, text=f"{up} by {across}. {ends}")


def _short_below(value: float) -> float:
    """Next lower number of three digits, as the end of a scale is written; `value` is above zero."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.floor(value / step) * step:.3g}")


def points_chart(
    name: str,
    title: str,
    groups: Mapping[str, Sequence[tuple[float, float, str]]],
    *,
    across: str,
    up: str,
    joined: str = "",
) -> Chart:
    """Points on logarithmic scales; those of one group may be joined.

    Parameters
    ----------
    groups
        Points (across, up, what it is) by the name of their group.
    across, up
        What the two scales are, with units.
    joined
        Group whose points are joined by a line.
    """
    drawn = {label: [p for p in points if p[0] > 0 and p[1] > 0] for label, points in groups.items()}
    drawn = {label: points for label, points in drawn.items() if points}
    palette = colours(drawn)
    option: dict[str, Any] = {
        "grid": {"left": 8, "right": 40, "top": 64, "bottom": 30, "containLabel": True},
        "legend": {"type": "scroll", "top": 0, "left": 0, "data": list(drawn)},
        "tooltip": {"trigger": "item", "formatter": "{b}"},
        "xAxis": {"type": "log", "name": across, "nameLocation": "middle", "nameGap": 28},
        "yAxis": {"type": "log", "name": up, "nameTextStyle": {"align": "left"}},
        "series": [
            {
                "type": "line" if label == joined else "scatter", "name": label, "color": palette[label],
                "data": [{"value": [round(x, 4), round(y, 4)], "name": what} for x, y, what in points],
            }
            for label, points in drawn.items()
        ],
    }  # fmt: skip
    ends = "; ".join(f"{what}: {x:,.0f} and {y:,.3f}" for x, y, what in drawn.get(joined, ()))
    return Chart(name=name, title=title, option=option, text=f"{up} by {across}. {ends}")
