"""ECharts options as plain data, and the same in words. A name keeps its colour in every chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.figure import Figure
from unitcost.report.amounts import Key
from unitcost.units import PERCENT

#: Colours that hold on white and on near-black.
PALETTE = (
    "#3b5bdb", "#0ca678", "#f08c00", "#c2255c", "#868e96", "#1098ad", "#7048e8", "#5c940d",
    "#d9480f", "#e64980", "#1864ab", "#087f5b", "#e67700", "#862e9c", "#495057", "#66a80f",
)  # fmt: skip
_GREY = {"unknown", "untagged", "(none)"}


def colours(names: Iterable[str]) -> dict[str, str]:
    """Colour of each name, the same for the same set of names; what is unknown is grey."""
    listed = sorted(set(names))
    bright = [name for name in listed if name not in _GREY]
    chosen = {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(bright)}
    return chosen | {name: "#adb5bd" for name in listed if name in _GREY}


def number(amount: Decimal | None) -> float:
    """Amount as a chart draws it; the page prints the exact one beside it."""
    return float(money.round_places(amount, 2)) if amount is not None else 0.0


def percent(value: Decimal) -> str:
    """Share as a percentage with one place."""
    rounded = money.round_places(money.multiply(value, PERCENT), 1)
    return f"{abs(rounded) if rounded == 0 else rounded} %"


def in_words(ranked: Sequence[tuple[Key, Figure]], unit: str, most: int = 6) -> str:
    """What a chart of ranked amounts says."""
    parts = [f"{key[0] or '(none)'} {grouped(figure.value)} {unit}" for key, figure in ranked[:most]]
    return "; ".join(parts) + (f"; and {len(ranked) - most} more" if len(ranked) > most else "")


def grouped(amount: Decimal | None, places: int = 2) -> str:
    """Amount with thousands set apart; a dash for none."""
    return "–" if amount is None else f"{money.round_places(amount, places):,}"


def bars(ranked: Sequence[tuple[Key, Figure]], unit: str) -> dict[str, Any]:
    """Horizontal bars, the largest on top."""
    names = [key[0] or "(none)" for key, _ in ranked]
    palette = colours(names)
    return {
        "aria": {"enabled": True},
        "grid": {"left": 8, "right": 24, "top": 8, "bottom": 8, "containLabel": True},
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "xAxis": {"type": "value"},
        "yAxis": {"type": "category", "inverse": True, "data": names},
        "series": [
            {
                "type": "bar",
                "name": unit,
                "barMaxWidth": 22,
                "data": [
                    {"value": number(figure.value), "itemStyle": {"color": palette[name]}}
                    for name, (_, figure) in zip(names, ranked, strict=True)
                ],
            }
        ],
    }


def stacked(buckets: Sequence[str], series: Mapping[str, Mapping[str, Decimal]], unit: str) -> dict[str, Any]:
    """Stacked areas over days, or bars over months: name -> bucket -> amount."""
    palette = colours(series)
    by_day = any(len(bucket) > len("2026-09") for bucket in buckets)
    kind: dict[str, Any] = {"type": "line", "areaStyle": {"opacity": 0.85}, "symbol": "none", "lineStyle": {"width": 0}}
    return {
        "aria": {"enabled": True},
        "grid": {"left": 8, "right": 16, "top": 44, "bottom": 8, "containLabel": True},
        "legend": {"type": "scroll", "top": 0, "left": 0, "data": list(series)},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "category", "data": list(buckets), "boundaryGap": not by_day},
        "yAxis": {"type": "value"},
        "series": [
            {
                **(kind if by_day else {"type": "bar", "barMaxWidth": 48}),
                "name": name,
                "stack": "all",
                "color": palette[name],
                "data": [number(values.get(bucket)) for bucket in buckets],
            }
            for name, values in series.items()
        ],
    }


def sankey(flows: Mapping[tuple[str, str, str], Decimal]) -> dict[str, Any]:
    """Flow of money from provider over driver to team; what is negative (credits) is left to the tables."""
    links: dict[tuple[str, str], Decimal] = {}
    columns: dict[str, int] = {}
    for (provider, driver, team), amount in sorted(flows.items()):
        if amount <= 0:
            continue
        steps = (f"{provider}\u2009", driver, f"\u2009{team}")  # thin spaces keep equal names in their own columns
        columns.update({step: column for column, step in enumerate(steps)})
        for pair in ((steps[0], steps[1]), (steps[1], steps[2])):
            links[pair] = money.add([links.get(pair, money.ZERO), amount])
    palette = colours(name.strip("\u2009") for name in columns)
    return {
        "aria": {"enabled": True},
        "tooltip": {"trigger": "item"},
        "series": [
            {
                "type": "sankey",
                "left": 8,
                "right": 120,
                "top": 8,
                "bottom": 8,
                "nodeGap": 14,
                "emphasis": {"focus": "adjacency"},
                "lineStyle": {"color": "gradient", "opacity": 0.3},
                "data": [
                    {"name": name, "depth": column, "itemStyle": {"color": palette[name.strip("\u2009")]}}
                    for name, column in columns.items()
                ],
                "links": [
                    {"source": source, "target": target, "value": number(amount)}
                    for (source, target), amount in links.items()
                ],
            }
        ],
    }
