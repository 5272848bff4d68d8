"""The plan of a model that answers in one step, as a page."""

from __future__ import annotations

from dataclasses import replace

from unitcost.jobs.plan_cooldown_page import cooldown_section
from unitcost.jobs.plan_serve_profile import ProfilePlan, ProfileRow
from unitcost.jobs.plan_words import usd
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, table
from unitcost.units import MILLISECONDS_PER_SECOND


def profile_page(plan: ProfilePlan) -> PlanPage:
    """Page of a plan from a profile."""
    limit = plan.ask.e2e_p95_s
    within = f"p95 at most {limit:g} s" if limit is not None else "no limit"
    waits = cooldown_section(plan.cooldowns) if plan.cooldowns else None
    sections = (_ways(plan), _cache(plan), waits, _spot(plan), _ruled_out(plan), _how(plan))
    return PlanPage(
        title="Serving plan", subtitle=f"{plan.ask.profile.name}, {plan.predictions_per_day:,.0f} predictions a day, {within}",
        tiles=_tiles(plan), sections=tuple(section for section in sections if section is not None),
        messages=(*plan.findings, *_tied(plan), *(() if plan.chosen else ("nothing keeps the limit: see what was ruled out",))),
    )  # fmt: skip


def _tied(plan: ProfilePlan) -> tuple[str, ...]:
    if plan.chosen is None or not plan.ties:
        return ()
    pools = any(tie.startswith("warm pool") for tie in plan.ties)
    why = (
        ": a replica in the pool is priced like a ready one; --standby-usd-per-hour says what it costs" if pools else ""
    )
    return (
        f"{plan.chosen.way} costs the same as {', '.join(plan.ties)}{why if plan.ask.standby_usd_per_hour is None else ''}",
    )


def _tiles(plan: ProfilePlan) -> tuple[PlanTile, ...]:
    best = plan.chosen
    if best is None:
        return (PlanTile(name="take", value="nothing keeps the limit"),)
    tiles = [
        PlanTile(name="take", value=f"{best.replicas} x ({best.name})", beside=best.way),
        PlanTile(name="a day, USD", value=f"{best.usd_per_day:,.2f}", beside=f"busy {best.busy_share:.0%}"),
        PlanTile(name="1,000 predictions, USD", value=_unit(best), beside=f"p95 {_ms(best)} ms"),
    ]
    if plan.break_even_gap_s is not None:
        tiles.append(
            PlanTile(
                name="break-even gap, s", value=f"{plan.break_even_gap_s:,.1f}",
                beside=f"stopping pays in longer gaps; the longest here is {plan.longest_gap_s:,.1f} s",
            )
        )  # fmt: skip
    return tuple(tiles)


def _unit(row: ProfileRow) -> str:
    return "–" if row.usd_per_1k is None else f"{row.usd_per_1k:,.4f}"


def _ms(row: ProfileRow) -> str:
    return f"{row.e2e_p95_s * MILLISECONDS_PER_SECOND:,.1f}"


_DRAWN = (
    "A volume is played as requests that come on their own (a Poisson process) at an even rate, for a day or until there are enough"
    " of them; a trace (--trace) has the peaks of a real day."
)
_COLUMNS = ["option", "way", "replicas", "USD/h each", "USD/day", "USD/1k", "p95 ms", "busy", "batch", ""]


def _cells(row: ProfileRow) -> list[str]:
    return [
        row.name, row.way, str(row.replicas), f"{row.usd_per_replica_hour:,.2f}", usd(row.usd_per_day), _unit(row), _ms(row),
        f"{row.busy_share:.0%}", f"{row.batch_mean:.1f}", "; ".join(part for part in (row.remark, *row.misses) if part),
    ]  # fmt: skip


def _ways(plan: ProfilePlan) -> Section:
    bars = [(f"{row.name}, {row.way}", float(row.usd_per_day)) for row in plan.rows]
    return Section(
        key="ways", title="Options", question="What does each batch size and way cost with the fewest replicas inside the limit?",
        tables=(table(_COLUMNS, [_cells(row) for row in plan.rows], numbers=2),),
        charts=(bar_chart("ways", "USD a day", bars, "USD"),) if bars else (),
    )  # fmt: skip


def _cache(plan: ProfilePlan) -> Section:
    spare = ("USD/h each", "busy", "batch")
    cells = [_cells(replace(plan.cache, remark=""))] if plan.cache else []
    tables = (table(_COLUMNS, cells, numbers=2, spare=spare),) if plan.cache else ()
    said = plan.cache.remark.split("; ") if plan.cache else [plan.cache_remark or "nothing keeps the limit without it"]
    return Section(
        key="cache", title="Prediction cache", question="What would a cache of answers in front save?", tables=tables,
        notes=tuple(f"{part[:1].upper()}{part[1:]}." for part in said),
    )  # fmt: skip


def _spot(plan: ProfilePlan) -> Section:
    tables = (table(_COLUMNS, [_cells(plan.spot)], numbers=2),) if plan.spot else ()
    return Section(
        key="spot", title="Spot", question="How many spot replicas survive the loss of any one?", tables=tables,
        notes=(f"{plan.spot_remark}.",),
    )  # fmt: skip


def _ruled_out(plan: ProfilePlan) -> Section | None:
    if not plan.ruled_out:
        return None
    rows = [[one.name, one.stage, one.reason] for one in plan.ruled_out]
    return Section(
        key="ruled-out", title="Ruled out", question="What does not take part, and why?",
        tables=(table(["option", "by", ""], rows, numbers=2),),
    )  # fmt: skip


def _how(plan: ProfilePlan) -> Section:
    return Section(
        key="how", title="How it is counted", question="What do these numbers stand on?",
        notes=(
            *(() if plan.ask.trace is not None else (_DRAWN,)),
            f"{plan.runs} runs of the simulator over {plan.requests:,} requests; latencies by batch size as measured, linear between.",
            "Break-even gap: the price of a cold start over that of a ready second. Loading is paid like ready time.",
            "A replica in the warm pool costs what --standby-usd-per-hour says, else as much as a ready one.",
        ),
    )  # fmt: skip
