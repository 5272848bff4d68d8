"""ECharts options as plain data, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.facts.naming import NONE
from unitcost.figure import Figure
from unitcost.report.amounts import Key
from unitcost.report.palette import REST
from unitcost.units import CENT_PLACES, PERCENT


def number(amount: Decimal | None) -> float:
    """Amount as a chart draws it; the page prints the exact one beside it."""
    return float(money.round_places(amount, 2)) if amount is not None else 0.0


def percent(value: Decimal) -> str:
    """Share as a percentage with one place."""
    rounded = money.round_places(money.multiply(value, PERCENT), 1)
    return f"{abs(rounded) if rounded == 0 else rounded} %"


def in_words(ranked: Sequence[tuple[Key, Figure]], unit: str, most: int = 6) -> str:
    """What a chart of ranked amounts says."""
    parts = [f"{key[0] or NONE} {grouped(figure.value)} {unit}" for key, figure in ranked[:most]]
    return "; ".join(parts) + (f"; and {len(ranked) - most} more" if len(ranked) > most else "")


def grouped(amount: Decimal | None, places: int = 2) -> str:
    """Amount with thousands set apart; a dash for none."""
    return "–" if amount is None else f"{money.round_places(amount, places):,}"


#: A bar shorter than this part of the longest cannot be seen.
_LEAST_SHARE = 0.001


def bars(ranked: Sequence[tuple[Key, Figure]], unit: str, palette: Mapping[str, str]) -> dict[str, Any]:
    """Horizontal bars, the largest on top, each with its amount; what could not be seen is left to the table."""
    least = max((abs(number(figure.value)) for _, figure in ranked), default=0.0) * _LEAST_SHARE
    drawn = [(key[0] or NONE, figure) for key, figure in ranked if abs(number(figure.value)) > least]
    places = 0 if least >= 1 else CENT_PLACES
    return {
        "grid": {"left": 16, "right": 72, "top": 4, "bottom": 4, "containLabel": True},
        "tooltip": {"trigger": "item"},
        "xAxis": {"type": "value", "show": False},
        "yAxis": {"type": "category", "inverse": True, "data": [name for name, _ in drawn]},
        "series": [
            {
                "type": "bar",
                "name": unit,
                "barMaxWidth": 18,
                "data": [_bar(figure, palette[name], places) for name, figure in drawn],
            }
        ],
    }


def _bar(figure: Figure, color: str, places: int) -> dict[str, Any]:
    return {
        "value": number(figure.value),
        "itemStyle": {"color": color},
        "label": {"show": True, "position": "right", "formatter": grouped(figure.value, places)},
    }


def stacked(
    buckets: Sequence[str], series: Mapping[str, Mapping[str, Decimal]], palette: Mapping[str, str]
) -> dict[str, Any]:
    """Stacked areas over days, or bars over months: name -> bucket -> amount. A name without a colour is the rest."""
    by_day = any(len(bucket) > len("2026-09") for bucket in buckets)
    area: dict[str, Any] = {"type": "line", "areaStyle": {"opacity": 0.85}, "symbol": "none", "lineStyle": {"width": 0}}
    return {
        "grid": {"left": 8, "right": 16, "top": 40, "bottom": 14, "containLabel": True},
        "legend": {"type": "scroll", "top": 0, "left": 0, "data": list(series)},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "category", "data": list(buckets), "boundaryGap": not by_day},
        "yAxis": {"type": "value"},
        "series": [
            {
                **(area if by_day else {"type": "bar", "barMaxWidth": 48}),
                "name": name,
                "stack": "all",
                "color": palette.get(name, REST[0]),
                "data": [number(values.get(bucket)) for bucket in buckets],
            }
            for name, values in series.items()
        ],
    }


#: Provider, driver and team.
Flow = tuple[str, str, str]
FlowColours = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]
#: Names that a column of the flow shows before the rest is put into one.
_MOST_NODES = 14


def fewer(flows: Mapping[Flow, Decimal]) -> dict[Flow, Decimal]:
    """Flows in which the small names of each column are one, so that the picture can be read."""
    kept = [_largest(flows, column) for column in range(3)]
    rest = [len({flow[column] for flow in flows} - kept[column]) for column in range(3)]
    few: dict[Flow, Decimal] = {}
    for flow, amount in flows.items():
        names = [name if name in kept[column] else f"other ({rest[column]})" for column, name in enumerate(flow)]
        key = (names[0], names[1], names[2])
        few[key] = money.add([few.get(key, money.ZERO), amount])
    return few


def _largest(flows: Mapping[Flow, Decimal], column: int) -> set[str]:
    sums: dict[str, Decimal] = {}
    for flow, amount in flows.items():
        sums[flow[column]] = money.add([sums.get(flow[column], money.ZERO), amount])
    ordered = sorted(sums, key=lambda name: (-sums[name], name))
    return set(ordered if len(ordered) <= _MOST_NODES + 1 else ordered[:_MOST_NODES])


def sankey(flows: Mapping[Flow, Decimal], palettes: FlowColours) -> dict[str, Any]:
    """Flow of money from provider over driver to team; what is negative (credits) is left to the tables."""
    links: dict[tuple[str, str], Decimal] = {}
    nodes: dict[str, dict[str, Any]] = {}
    for flow, amount in sorted(flows.items()):
        if amount <= 0:
            continue
        # thin spaces keep equal names in their own columns
        steps = (f"{flow[0]}\u2009", flow[1], f"\u2009{flow[2]}")
        for depth, step in enumerate(steps):
            nodes[step] = {
                "name": step,
                "depth": depth,
                "itemStyle": {"color": palettes[depth].get(flow[depth], REST[0])},
            }
        for pair in ((steps[0], steps[1]), (steps[1], steps[2])):
            links[pair] = money.add([links.get(pair, money.ZERO), amount])
    return {
        "tooltip": {"trigger": "item"},
        "series": [
            {
                "type": "sankey",
                "left": 4,
                "right": 120,
                "top": 8,
                "bottom": 8,
                "nodeGap": 12,
                "nodeWidth": 12,
                "emphasis": {"focus": "adjacency"},
                "lineStyle": {"color": "gradient", "opacity": 0.3},
                "data": list(nodes.values()),
                "links": [
                    {"source": source, "target": target, "value": number(amount)}
                    for (source, target), amount in links.items()
                ],
            }
        ],
    }
