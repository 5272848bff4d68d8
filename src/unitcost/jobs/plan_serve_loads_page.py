"""Options measured at several loads, as a page."""

from __future__ import annotations

from unitcost import money
from unitcost.jobs.plan_serve_loads import LoadRow, LoadsPlan
from unitcost.jobs.plan_words import usd
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, table
from unitcost.units import MILLISECONDS_PER_SECOND


def loads_page(plan: LoadsPlan) -> PlanPage:
    """Page of the cheapest option at each load."""
    ask = plan.ask
    said = [
        f"p95 at most {ask.p95_s:g} s" if ask.p95_s is not None else "no limit",
        f"quality at least {money.text(ask.quality_bar)}" if ask.quality_bar is not None else "no quality bar",
    ]
    sections = (_options(plan), _ruled_out(plan), _how(plan))
    return PlanPage(
        title="Serving plan", subtitle=f"{ask.profile.name}, {', '.join(said)}", tiles=_tiles(plan), messages=_tied(plan),
        sections=tuple(section for section in sections if section is not None),
    )  # fmt: skip


def _tied(plan: LoadsPlan) -> tuple[str, ...]:
    best = plan.chosen
    if best is None:
        return ()
    names = {row.option for row in plan.rows if row.usd_per_day == best.usd_per_day and not row.ruled_out_by} - {
        best.option
    }
    return (
        (f"{best.option} costs the same a day as {', '.join(sorted(names))}: whole replicas hide the rest",)
        if names
        else ()
    )


def _tiles(plan: LoadsPlan) -> tuple[PlanTile, ...]:
    tiles = [
        PlanTile(
            name=f"at concurrency {one.concurrency}", value=one.chosen or "no answer",
            beside=f"{_cost(plan, one.concurrency, one.chosen)}{one.reason}",
        )
        for one in plan.at
    ]  # fmt: skip
    best = plan.chosen
    if best is not None and best.usd_per_day is not None:
        tiles.insert(
            0,
            PlanTile(
                name="take", value=f"{best.replicas} x {best.option}",
                beside=f"{usd(best.usd_per_day)} USD a day for {plan.ask.per_day:,.0f} a day, {best.concurrency} in flight each",
            ),
        )  # fmt: skip
    return tuple(tiles)


def _cost(plan: LoadsPlan, load: str, option: str) -> str:
    row = next((row for row in plan.rows if (row.concurrency, row.option) == (load, option)), None)
    return f"{row.usd_per_unit:,.4f} USD per {plan.unit}; " if row and row.usd_per_unit is not None else ""


def _options(plan: LoadsPlan) -> Section:
    chosen = {(one.concurrency, one.chosen) for one in plan.at}
    rows = [
        _cells(row, "cheapest" if (row.concurrency, row.option) in chosen else row.ruled_out_by) for row in plan.rows
    ]
    columns = [
        "option",
        "in flight",
        "per second",
        "p95 ms",
        "quality",
        f"USD per {plan.unit}",
        "replicas",
        "USD/day",
        "",
    ]
    bars = [(f"{row.option} at {row.concurrency}", float(row.usd_per_unit or 0)) for row in plan.rows]
    return Section(
        key="ways", title="Options", question="What does each option cost at each load, busy all the time?",
        tables=(table(columns, rows),), charts=(bar_chart("ways", f"USD per {plan.unit}", bars, "USD"),),
    )  # fmt: skip


def _cells(row: LoadRow, remark: str) -> list[str]:
    return [
        row.option, row.concurrency, f"{row.per_s:,.4g}" if row.per_s < 1 else f"{row.per_s:,.0f}",
        f"{row.p95_s * MILLISECONDS_PER_SECOND:,.0f}", "–" if row.quality is None else money.text(row.quality),
        "–" if row.usd_per_unit is None else f"{row.usd_per_unit:,.4f}", "–" if row.replicas is None else str(row.replicas),
        "–" if row.usd_per_day is None else usd(row.usd_per_day), remark,
    ]  # fmt: skip


def _ruled_out(plan: LoadsPlan) -> Section | None:
    out = [row for row in plan.rows if row.ruled_out_by]
    if not out:
        return None
    return Section(
        key="ruled-out", title="Ruled out", question="What does not take part, and why?",
        notes=tuple(f"{row.option} at {row.concurrency}, by {row.ruled_out_by}: {row.ruled_out_because}." for row in out),
    )  # fmt: skip


def _how(plan: LoadsPlan) -> Section:
    notes = [f"Cost per {plan.unit}: the price of an hour over what is answered in it at the measured speed."]
    if plan.ask.per_day:
        notes.append(
            "Replicas are whole; of options that cost the same a day the one with most room to spare comes first."
        )
    else:
        notes.append("A volume (--predictions-per-day, tokens where the speed is in tokens) gives whole replicas.")
    return Section(key="how", title="How it is counted", question="What do these numbers stand on?", notes=tuple(notes))
