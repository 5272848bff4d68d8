"""Fleets over the whole traffic, as sections of the serving plan's page."""

from __future__ import annotations

from collections.abc import Iterator

from unitcost.jobs.fleet_answers import FleetPlan, FleetRow
from unitcost.jobs.plan_words import usd
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanTile, bar_chart, table
from unitcost.report.time_chart import areas_over_time, steps_over_time
from unitcost.serving.fleet_ways import SPOT, SPOT_SCALED
from unitcost.units import MILLISECONDS_PER_SECOND, SECONDS_PER_HOUR

_NONE = "–"


def fleets_section(plan: FleetPlan | None) -> Iterator[Section]:
    """What each way costs and keeps, and how many replicas it has over time."""
    if plan is None:
        return
    columns = ["fleet", "USD/day", "change", "USD/M total", "TTFT p95 ms", "TPOT p95 ms", "inside targets", "verdict"]
    priced = [(row.name, float(row.usd_per_day)) for row in plan.rows if row.usd_per_day is not None]
    yield Section(
        key="fleets", title="Fleets over the whole traffic",
        question=f"Which way to keep replicas of ({plan.option}) is the cheapest inside the targets?",
        tables=(
            table(columns, [_costs(row, plan.chosen) for row in plan.rows]),
            table(
                ["replica-hours", "busy", "idle", "cold", "warm", "on spot", "on demand"],
                [_hours(row) for row in plan.rows if row.hours is not None], caption="Replica-hours by state, and by who is paid",
            ),
        ),
        charts=(bar_chart("fleets-usd", "Cost of a day", priced, "USD"), *_charts(plan)),
        notes=(
            *(f"{row.name}: {_said(row)}." for row in plan.rows),
            "Inside targets: share of all requests that are answered within each target, over the whole traffic; the p95 are over all "
            "that are answered. `change` is against the fixed fleet.",
            *plan.notes,
        ),
    )  # fmt: skip


def fleets_tile(plan: FleetPlan | None) -> Iterator[PlanTile]:
    """The cheapest way to keep replicas over the whole traffic, beside the fixed fleet."""
    for row in plan.rows if plan is not None else ():
        if plan is not None and row.name == plan.chosen and row.usd_per_day is not None:
            change = "" if not row.change_share else f", {row.change_share:+.0%} against fixed"
            yield PlanTile(name="cheapest fleet, a day, USD", value=usd(row.usd_per_day), beside=f"{row.name}{change}")


def _said(row: FleetRow) -> str:
    """Setting of a row, what the draws of losses cost, and the verdict."""
    drawn = row.usd_per_day_draws
    several = (
        f"{len(drawn)} draws of losses, {usd(min(drawn))} to {usd(max(drawn))} USD a day, shown: mean cost, worst latency"
        if len(drawn) > 1
        else ""
    )
    return "; ".join(part for part in (row.setting, several, row.verdict) if part)


def _costs(row: FleetRow, chosen: str) -> list[str]:
    unit = row.usd_per_mtok_total
    return [
        row.name, _NONE if row.usd_per_day is None else usd(row.usd_per_day),
        _NONE if row.change_share is None else f"{row.change_share:+.0%}", _NONE if unit is None else f"{unit:,.3f}",
        _ms(row.ttft_p95_s), _ms(row.tpot_p95_s), _NONE if row.good_share is None else f"{row.good_share:.2%}",
        _word(row, chosen),
    ]  # fmt: skip


def _word(row: FleetRow, chosen: str) -> str:
    """The verdict in a word."""
    if row.hours is None:
        return _NONE
    if row.name == chosen:
        return "taken"
    return ("same cost" if "as much as" in row.verdict else "dearer") if row.meets else "misses"


def _hours(row: FleetRow) -> list[str]:
    hours = row.hours
    assert hours is not None  # left out before
    return [
        row.name,
        *(f"{spent:,.1f}" for spent in (hours.busy, hours.idle, hours.cold, hours.warm, hours.spot, hours.on_demand)),
    ]


def _ms(seconds: float | None) -> str:
    return _NONE if seconds is None else f"{seconds * MILLISECONDS_PER_SECOND:,.0f}"


def _charts(plan: FleetPlan) -> Iterator[Chart]:
    slot_h = plan.slot_s / SECONDS_PER_HOUR
    peak = max(plan.requests_per_s, default=0.0)
    scale = plan.fixed_replicas / peak if peak else 0.0
    demand = [rate * scale for rate in plan.requests_per_s]
    lines = {
        row.name: row.ready_replicas for row in plan.rows if row.ready_replicas and row.name not in (SPOT, SPOT_SCALED)
    }
    yield steps_over_time(
        "fleets-replicas", "Ready replicas against demand", lines, shadow=("demand, at its peak the fixed fleet", demand),
        slot=slot_h, across="hours", up="replicas",
    )  # fmt: skip
    for row in plan.rows:
        if row.name in (SPOT, SPOT_SCALED) and row.ready_replicas:
            rest = [all_ - spot for all_, spot in zip(row.ready_replicas, row.spot_replicas, strict=True)]
            yield areas_over_time(
                f"fleets-{row.name.split(',')[0].replace(' ', '-')}", f"Ready replicas: {row.name}",
                {"spot": row.spot_replicas, "on demand": rest}, shadow=("demand, at its peak the fixed fleet", demand),
                slot=slot_h, across="hours", up="replicas",
            )  # fmt: skip
