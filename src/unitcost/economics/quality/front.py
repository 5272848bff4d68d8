"""Options that no other beats: the Pareto front of cost, latency and quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unitcost.facts.options import Limits, Ranked


def with_front(rows: Sequence[Ranked], limits: Limits) -> list[Ranked]:
    """Rows that say whether they are on the front; a row that lacks one of the three is not.

    Parameters
    ----------
    limits
        The first percentile with a limit is the latency that counts; without one the highest that all have measured.
    """
    measure = _percentile(rows, limits)
    points = [_point(row, measure, limits) for row in rows]
    known = [point for point in points if point is not None]
    return [
        replace(row, on_front=point is not None and not any(_beats(other, point) for other in known))
        for row, point in zip(rows, points, strict=True)
    ]


def latency_s(row: Ranked, measure: str) -> float | None:
    """Latency of an option at a percentile; None when it is not measured. [s]."""
    return dict(row.option.latencies_s).get(measure)


def _percentile(rows: Sequence[Ranked], limits: Limits) -> str:
    if limits.latencies_s:
        return limits.latencies_s[0][0]
    names = [{name for name, _ in row.option.latencies_s} for row in rows if row.option.latencies_s]
    shared = set.intersection(*names) if names else set()
    return max(shared, key=lambda name: (len(name), name), default="")


def _point(row: Ranked, measure: str, limits: Limits) -> tuple[float, ...] | None:
    """What the three count, each so that less is better; a latency that nobody has measured does not count."""
    quality = row.option.quality
    if row.total_usd is None or quality is None:
        return None
    late = latency_s(row, measure) if measure else 0.0
    return None if late is None else (float(row.total_usd), late, -quality if limits.is_more_better else quality)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
