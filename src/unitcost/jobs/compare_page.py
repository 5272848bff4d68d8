"""The answer of a comparison as a page, and as data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.economics.quality.choosing import label
from unitcost.economics.quality.paired import accepted_by_point
from unitcost.economics.quality.totals import exact, wilson
from unitcost.facts.options import Choice, Demand, Limits, Option, Ranked
from unitcost.facts.verdicts import Verdict
from unitcost.report.model import Chart, Section
from unitcost.report.palette import colours
from unitcost.report.plan_page import PlanPage, PlanTile, table
from unitcost.units import MIB, MILLISECONDS_PER_SECOND

#: Significant digits of a price per unit.
_DIGITS = 4


def compare_page(
    choice: Choice, demand: Demand, limits: Limits, *, title: str = "Cheapest at fixed quality"
) -> PlanPage:
    """Page of a comparison."""
    best = next((row for row in choice.ranked if label(row.option) == choice.cheapest), None)
    tiles = [PlanTile(name="Cheapest", value=choice.cheapest or "no answer", beside=choice.reason)]
    if best is not None and best.total_usd is not None:
        tiles.append(PlanTile(name=f"USD per {demand.unit}", value=amount(best.total_usd), beside=_range(best)))
    return PlanPage(
        title=title, subtitle=_asked(demand, limits), tiles=tuple(tiles),
        sections=tuple(s for s in (_options(choice, demand, limits), _verdicts(choice), _caches(choice), _ruled_out(choice)) if s),
        messages=choice.notes if choice.cheapest else (choice.reason, *choice.notes),
    )  # fmt: skip


def compare_data(choice: Choice, demand: Demand, limits: Limits) -> dict[str, Any]:
    """The answer for machines; money is a decimal string."""
    return {
        "cheapest": choice.cheapest or None, "reason": choice.reason, "unit": demand.unit,
        "reference": limits.reference or None, "options": [_row_data(row, demand) for row in choice.ranked],
        "notes": list(choice.notes),
    }  # fmt: skip


def usd_per_day(usd: Decimal | None, demand: Demand) -> Decimal | None:
    """What a day costs, out of what a unit costs; None where either is not known. [USD]."""
    if usd is None or demand.per_day is None:
        return None
    return money.divide(money.multiply(usd, exact(demand.per_day)), demand.per)


def amount(value: Decimal | None) -> str:
    """Price of a unit with four significant digits; a dash for none."""
    if value is None:
        return "–"
    if not value:
        return "0"
    return money.text(money.round_places(value, max(0, _DIGITS - 1 - value.adjusted())))


def _row_data(row: Ranked, demand: Demand) -> dict[str, Any]:
    option, wrong = row.option, row.error_share
    return {
        "option": option.name, "machine": option.machine or None, "label": label(option), "basis": option.basis,
        "precision": option.precision or None, "replicas": row.replicas, "per_s": option.per_s,
        "latency_s": dict(option.latencies_s), "memory_bytes": option.memory_bytes, "quality": option.quality,
        "items": option.items or None, "infra_usd": _text(row.infra_usd),
        "infra_usd_per_day": _text(usd_per_day(row.infra_usd, demand)),
        "wrong_per_day": None if wrong is None or demand.per_day is None else round(wrong * demand.per_day, 6),
        "error_share": wrong,
        "total_usd": _text(row.total_usd), "total_low_usd": _text(row.total_low_usd),
        "total_high_usd": _text(row.total_high_usd), "break_even_error_usd": _text(row.break_even_error_usd),
        "cache": _cache_data(option), "on_front": row.on_front, "verdict": _verdict_data(row.verdict),
        "ruled_out": [{"by": out.by, "why": out.why} for out in row.ruled_out],
    }  # fmt: skip


def _verdict_data(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "outcome": verdict.outcome, "loss": verdict.loss, "low": verdict.low, "high": verdict.high,
        "margin": verdict.margin, "p_not_worse": verdict.p_not_worse, "items": verdict.items,
        "spread": verdict.spread, "needs_more": verdict.needs_more, "method": verdict.method,
    }  # fmt: skip


def _cache_data(option: Option) -> dict[str, Any] | None:
    hits = option.cache
    if hits is None:
        return None
    return {
        "fronts": option.fronts, "threshold": hits.threshold, "requests": hits.requests, "hits": hits.hits,
        "changed": hits.changed, "changed_interval": list(wilson(hits.changed, hits.hits)) if hits.hits else None,
        "wrong": hits.wrong if hits.judged else None,
        "wrong_interval": list(wilson(hits.wrong, hits.judged)) if hits.judged else None,
    }  # fmt: skip


def _text(value: Decimal | None) -> str | None:
    return None if value is None else money.text(value)


def _asked(demand: Demand, limits: Limits) -> str:
    parts = [f"per {demand.unit}"]
    if demand.per_day is not None:
        parts.append(f"{demand.per_day:,.0f} a day")
    elif demand.utilisation != 1:
        parts.append(f"replicas {demand.utilisation:.0%} busy")
    parts += [f"{name} at most {limit_s * MILLISECONDS_PER_SECOND:g} ms" for name, limit_s in limits.latencies_s]
    if limits.bar is not None:
        parts.append(f"quality {'at least' if limits.is_more_better else 'at most'} {limits.bar:g}")
    if limits.error_cost_usd is not None:
        parts.append(f"an error costs {money.text(limits.error_cost_usd)} USD")
    return ", ".join(parts)


def _range(row: Ranked) -> str:
    if row.total_low_usd == row.total_high_usd:
        return ""
    return f"{amount(row.total_low_usd)} to {amount(row.total_high_usd)}"


def _options(choice: Choice, demand: Demand, limits: Limits) -> Section:
    with_errors = limits.error_cost_usd is not None
    measures = list(dict.fromkeys(name for row in choice.ranked for name, _ in row.option.latencies_s))
    shown = [name for name, _ in limits.latencies_s] or [m for m in measures if m in ("p50", "p99")] or measures[:1]
    heads = [
        "option",
        "on",
        "in",
        f"USD/{demand.unit}",
        "USD/day",
        *(["with errors"] if with_errors else []),
        *[f"{m} ms" for m in shown],
    ]
    heads += ["quality", "break-even USD/error", ""]
    rows = [[*_cells(row, shown, demand, with_errors), _mark(row, choice)] for row in choice.ranked]
    kept = [place for place in range(len(heads)) if place in (0, 3) or any(row[place] not in ("–", "") for row in rows)]
    words = sum(place in kept for place in (0, 1, 2))
    return Section(
        key="compared", title="Options", question="What does each cost, and what does it keep?",
        tables=(table([heads[p] for p in kept], [[row[p] for p in kept] for row in rows], numbers=words),),
        charts=tuple(chart for chart in (_cost_chart(choice, demand), _front_chart(choice, demand, shown)) if chart),
    )  # fmt: skip


def _cells(row: Ranked, measures: Sequence[str], demand: Demand, with_errors: bool) -> list[str]:
    option, late = row.option, dict(row.option.latencies_s)
    name = option.name.removesuffix(f" ({option.precision})")
    cells = [name, option.machine or "–", option.precision or "–", amount(row.infra_usd)]
    cells.append(amount(usd_per_day(row.infra_usd, demand)))
    cells += [amount(row.total_usd) + (f" ({_range(row)})" if _range(row) else "")] if with_errors else []
    cells += [ms_words(late[m]) if m in late else "–" for m in measures]
    quality = "–" if option.quality is None else f"{option.quality:.4g}"
    return [*cells, quality, amount(row.break_even_error_usd)]


def _mark(row: Ranked, choice: Choice) -> str:
    if label(row.option) == choice.cheapest:
        return "cheapest"
    return f"out: {', '.join(dict.fromkeys(out.by for out in row.ruled_out))}" if row.ruled_out else ""


def _verdicts(choice: Choice) -> Section | None:
    found = {row.option.name: row.verdict for row in choice.ranked if row.verdict is not None}
    if not found:
        return None
    rows = [
        [name, verdict.outcome, f"{verdict.loss:+.4f}", f"{verdict.high:+.4f}", f"{verdict.margin:.4f}",
         f"{verdict.items:,}", f"{verdict.needs_more:,}" if verdict.needs_more else "–"]
        for name, verdict in found.items()
    ]  # fmt: skip
    heads = ["option", "verdict", "loss", "at most", "margin", "items", "needs more"]
    notes = (*dict.fromkeys(verdict.method for verdict in found.values()), *_luck(list(found.values())))
    return Section(
        key="quality", title="Quality", question="Is it not worse than the reference by more than the margin?",
        tables=(table(heads, rows, numbers=2),), notes=notes,
    )  # fmt: skip


def _caches(choice: Choice) -> Section | None:
    found = {row.option.name: row.option.cache for row in choice.ranked if row.option.cache is not None}
    if not found:
        return None
    rows = [
        [
            name, f"{hits.hits / hits.requests:.1%} of {hits.requests:,}",
            "–" if hits.threshold is None else share_words(hits.changed, hits.hits), share_words(hits.wrong, hits.judged),
        ]
        for name, hits in found.items()
    ]  # fmt: skip
    notes = (
        "changed: the model would have answered otherwise; wrong: not the right answer; both of the hits, with 95 %.",
        "Equal requests are taken to get equal answers.",
        "Costs count what is asked of the model and the lookups; latencies are those of misses.",
    )
    return Section(
        key="caches", title="Caches", question="How often does a stored answer stand in, and is it another one?",
        tables=(table(["option", "hits", "changed", "wrong"], rows),), notes=notes,
    )  # fmt: skip


def share_words(count: int, of: int) -> str:
    """Share with its 95 % interval; a dash where nothing was counted."""
    low, high = wilson(count, of)
    return f"{count / of:.1%} ({low:.1%} to {high:.1%})" if of else "–"


def _luck(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """What comparing two numbers would do with an option that is truly as bad as the margin."""
    worst = max(verdicts, key=lambda verdict: verdict.spread)
    if not worst.spread:
        return ()
    by_point = accepted_by_point(worst.spread, worst.items, worst.margin, worst.margin)
    return (
        f"By its point value an option that is worse by the whole margin would pass {by_point:.0%} of the time; here 5 %.",
    )


def _ruled_out(choice: Choice) -> Section | None:
    """Reasons, each with the options that it rules out; as sentences, since a table would cut them."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for row in choice.ranked:
        for out in row.ruled_out:
            grouped.setdefault((out.by, out.why), []).append(_shown(row))
    if not grouped:
        return None
    notes = tuple(f"{', '.join(names)}: {by}: {why}" for (by, why), names in grouped.items())
    return Section(key="ruled-out", title="Ruled out", question="What does not take part, and why?", notes=notes)


def _shown(row: Ranked) -> str:
    """Name of an option as it is printed: its precision has a column of its own."""
    option = row.option
    name = option.name.removesuffix(f" ({option.precision})")
    return f"{name}@{option.machine}" if option.machine else name


def _cost_chart(choice: Choice, demand: Demand) -> Chart | None:
    """Bars of the cost, each with its amount; a price of a unit has more places than a chart of a bill shows."""
    bars = [(_shown(row), row.total_usd) for row in choice.ranked if row.total_usd is not None]
    if not bars:
        return None
    palette = colours([name for name, _ in bars])
    data = [
        {"value": float(usd), "itemStyle": {"color": palette[name]},
         "label": {"show": True, "position": "right", "formatter": amount(usd)}}
        for name, usd in bars
    ]  # fmt: skip
    option: dict[str, Any] = {
        "grid": {"left": 30, "right": 90, "top": 4, "bottom": 4, "containLabel": True}, "tooltip": {"show": False},
        "xAxis": {"type": "value", "show": False},
        "yAxis": {"type": "category", "inverse": True, "data": [name for name, _ in bars]},
        "series": [{"type": "bar", "name": "USD", "barMaxWidth": 18, "data": data}],
    }  # fmt: skip
    words = "; ".join(f"{name} {amount(usd)} USD" for name, usd in bars)
    return Chart(name="costs", title=f"USD per {demand.unit}", option=option, text=words)


def _front_chart(choice: Choice, demand: Demand, measures: Sequence[str]) -> Chart | None:
    """Cost across, quality up; the size of a point is its latency."""
    rows = [row for row in choice.ranked if row.total_usd is not None and row.option.quality is not None]
    if len(rows) < 2 or any(not row.total_usd for row in rows):
        return None
    palette = colours([label(row.option) for row in rows])
    measure = measures[0] if measures else ""
    across = [float(row.total_usd or 0) for row in rows]
    option: dict[str, Any] = {
        "grid": {"left": 32, "right": 24, "top": 40, "bottom": 30, "containLabel": True},
        "legend": {"type": "scroll", "top": 0, "left": 0, "data": [label(row.option) for row in rows]},
        "tooltip": {"trigger": "item"},
        "xAxis": {
            "type": "log",
            "name": f"USD per {demand.unit}",
            "nameLocation": "middle",
            "nameGap": 28,
            "min": float(f"{min(across) * 0.7:.1g}"),
            "max": float(f"{max(across) * 1.6:.1g}"),
        },
        "yAxis": {"type": "value", "name": "quality", "nameLocation": "middle", "nameGap": 52, "scale": True},
        "series": [_point(row, palette[label(row.option)], rows, measure) for row in rows],
    }
    front = ", ".join(label(row.option) for row in rows if row.on_front)
    words = "; ".join(_point_words(row, measure) for row in rows)
    return Chart(name="front", title="Cost, quality and latency", option=option, text=f"{words}. Not beaten: {front}")


def _point_words(row: Ranked, measure: str) -> str:
    late = dict(row.option.latencies_s).get(measure)
    more = f", {measure} {ms_words(late)} ms" if late is not None else ""
    return f"{label(row.option)}: {amount(row.total_usd)} USD, quality {row.option.quality:.4g}{more}"


def _point(row: Ranked, colour: str, rows: Sequence[Ranked], measure: str) -> dict[str, Any]:
    slowest = max((dict(r.option.latencies_s).get(measure, 0.0) for r in rows), default=0.0)
    late = dict(row.option.latencies_s).get(measure, 0.0)
    size = 10 + round(18 * (late / slowest) ** 0.5) if slowest else 14
    style = {
        "opacity": 1 if not row.ruled_out else 0.45,
        "borderWidth": 2 if row.on_front else 0,
        "borderColor": colour,
    }
    return {
        "type": "scatter", "name": label(row.option), "color": colour, "symbolSize": size,
        "symbol": "circle" if row.on_front else "diamond", "itemStyle": style,
        "data": [[float(money.round_places(row.total_usd or money.ZERO, 9)), row.option.quality]],
    }  # fmt: skip


def ms_words(seconds: float) -> str:
    """Milliseconds with three digits, never with an exponent."""
    value = seconds * MILLISECONDS_PER_SECOND
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def memory_words(size_bytes: int | None) -> str:
    """Memory in MiB; a dash for none."""
    return "–" if size_bytes is None else f"{size_bytes / MIB:,.0f}"
