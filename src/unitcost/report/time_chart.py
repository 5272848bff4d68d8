"""Charts of what holds for a slot of time each: steps, and areas on top of each other, with a shadow of what they follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unitcost.report.model import Chart
from unitcost.report.palette import REST, colours

_PLACES = 3
_SHADOW_OPACITY, _AREA_OPACITY = 0.18, 0.75


def steps_over_time(
    name: str, title: str, lines: Mapping[str, Sequence[float]], *, shadow: tuple[str, Sequence[float]], slot: float,
    across: str, up: str,
) -> Chart:  # fmt: skip
    """A step line for each name, one value a slot.

    Parameters
    ----------
    shadow
        Name and values of what the lines follow, drawn as an area behind them.
    slot
        Length of a slot, in the unit of the scale `across`.
    """
    palette = colours(lines)
    drawn = [{**_series(label, values, slot), "color": palette[label]} for label, values in lines.items()]
    return _chart(name, title, lines, [_shadow(*shadow, slot), *drawn], shadow, slot, across, up)


def areas_over_time(
    name: str, title: str, parts: Mapping[str, Sequence[float]], *, shadow: tuple[str, Sequence[float]], slot: float,
    across: str, up: str,
) -> Chart:  # fmt: skip
    """Parts of a whole on top of each other, one value a slot each; see `steps_over_time`."""
    palette = colours(parts)
    drawn = [
        {
            **_series(label, values, slot), "color": palette[label], "stack": "whole",
            "areaStyle": {"opacity": _AREA_OPACITY},
        }
        for label, values in parts.items()
    ]  # fmt: skip
    followed = {**_series(*shadow, slot), "color": REST[0], "lineStyle": {"type": "dashed", "width": 2}}
    return _chart(name, title, parts, [*drawn, followed], shadow, slot, across, up)


def _chart(
    name: str, title: str, lines: Mapping[str, Sequence[float]], series: list[dict[str, Any]],
    shadow: tuple[str, Sequence[float]], slot: float, across: str, up: str,
) -> Chart:  # fmt: skip
    option: dict[str, Any] = {
        "grid": {"left": 8, "right": 24, "top": 64, "bottom": 30, "containLabel": True},
        "legend": {"type": "scroll", "top": 0, "left": 0, "data": [*lines, shadow[0]]},
        "tooltip": {"trigger": "axis"},
        "xAxis": {
            "type": "value", "name": across, "nameLocation": "middle", "nameGap": 28, "min": 0,
            "max": round(slot * max((len(values) for values in lines.values()), default=0), _PLACES),
        },
        "yAxis": {"type": "value", "name": up, "nameTextStyle": {"align": "left"}},
        "series": series,
    }  # fmt: skip
    said = "; ".join(
        f"{label} from {min(values):,.1f} to {max(values):,.1f}" for label, values in lines.items() if values
    )
    return Chart(name=name, title=title, option=option, text=f"{up} by {across}: {said}")


def _shadow(label: str, values: Sequence[float], slot: float) -> dict[str, Any]:
    return {
        **_series(label, values, slot), "color": REST[0], "lineStyle": {"width": 0},
        "areaStyle": {"opacity": _SHADOW_OPACITY},
    }  # fmt: skip


def _series(label: str, values: Sequence[float], slot: float) -> dict[str, Any]:
    points = [[round(place * slot, _PLACES), round(value, _PLACES)] for place, value in enumerate(values)]
    last = [[round(len(values) * slot, _PLACES), round(values[-1], _PLACES)]] if values else []
    return {"type": "line", "name": label, "symbol": "none", "step": "end", "data": [*points, *last]}
