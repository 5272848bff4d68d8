"""The cheapest cooldown, as a page."""

from __future__ import annotations

from decimal import Decimal

from unitcost import money
from unitcost.jobs.plan_cooldown import CooldownPlan, duration
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, table
from unitcost.units import SECONDS_PER_MINUTE


def cooldown_page(plan: CooldownPlan) -> PlanPage:
    """Page of a plan of cooldowns."""
    best = next(row for row in plan.rows if row.name == plan.best)
    tiles = [
        PlanTile(name="stop after", value=plan.best, beside=f"{_usd(best.usd)} USD over {plan.gaps:,} gaps"),
        *break_even_tiles(plan),
    ]
    how = Section(
        key="how", title="How it is counted", question="What do these numbers stand on?",
        notes=(
            f"Ready: {_usd(plan.price.usd_per_hour)} USD an hour. A cold start: {_start(plan)}.",
            "Each gap is replayed: no longer than the cooldown, it is waited out; longer, it costs the cooldown, and the next "
            "request a cold start.",
            f"Who knew each gap beforehand would pay {_usd(plan.least_usd)} USD; waiting as long as the break-even gap costs at most "
            "twice that.",
        ),
    )  # fmt: skip
    return PlanPage(
        title="Cooldown plan", subtitle=f"{plan.gaps:,} gaps between requests, the longest {minutes(plan.longest_gap_s)} min",
        tiles=tuple(tiles), sections=(cooldown_section(plan), how), messages=plan.findings,
    )  # fmt: skip


def break_even_tiles(plan: CooldownPlan) -> list[PlanTile]:
    """The gap from which on stopping pays."""
    if plan.break_even_gap_s is None:
        return [PlanTile(name="break-even gap", value="none", beside="waiting is free")]
    return [
        PlanTile(
            name="break-even gap, min", value=minutes(plan.break_even_gap_s),
            beside=f"{duration_s(plan.break_even_gap_s)}: waiting longer costs more than a cold start",
        )
    ]  # fmt: skip


def cooldown_section(plan: CooldownPlan) -> Section:
    """Table and chart of the cooldowns."""
    rows = [
        [
            row.name, minutes(row.waiting_s), str(row.starts), _usd(row.waiting_usd), _usd(row.starts_usd), _usd(row.usd),
            "cheapest" if row.name == plan.best else "the same" if row.name in plan.tied else "",
        ]
        for row in plan.rows
    ]  # fmt: skip
    return Section(
        key="cooldowns", title="Cooldowns", question="What does one replica cost that stops after so long without a request?",
        tables=(table(["cooldown", "waits, min", "starts", "waiting, USD", "starts, USD", "USD", ""], rows),),
        charts=(bar_chart("cooldowns", "USD over the gaps", [(row.name, float(row.usd)) for row in plan.rows], "USD"),),
    )  # fmt: skip


def minutes(seconds: Decimal) -> str:
    """A time in minutes for a reader."""
    found = f"{money.divide(seconds, Decimal(SECONDS_PER_MINUTE)):,.2f}"
    return found.rstrip("0").rstrip(".")


def duration_s(seconds: Decimal) -> str:
    """A time in seconds for a reader."""
    return f"{seconds:,.1f} s"


def _usd(amount: Decimal) -> str:
    return f"{amount:,.2f}"


def _start(plan: CooldownPlan) -> str:
    billed = f"{duration(plan.price.start_s)} long, {'paid like ready time' if plan.price.start_billed else 'not paid'}"
    slow = plan.price.usd_per_slow_answer
    return f"{billed}, with {_usd(slow)} USD for its slow answer {_usd(plan.usd_per_start)} USD"
