"""The sweep plan as a page."""

from __future__ import annotations

from unitcost.facts.estimates import Estimate
from unitcost.jobs.plan_sweep import SweepPlan, Way
from unitcost.jobs.plan_words import ranged, usd, usd_ranged
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, table

_MOST_DUPLICATES = 12


def sweep_page(plan: SweepPlan) -> PlanPage:
    """Page of a sweep plan."""
    best = next(way for way in plan.ways if way.name == plan.best)
    unit, whole = _unit(plan), plan.full_accelerator_hours if plan.full_usd is None else plan.full_usd
    tiles = [
        PlanTile(name="take", value=best.name, beside=f"saves {ranged(best.saved, '.0%')}"),
        PlanTile(name=f"cost, {unit}", value=usd_ranged(_cost(best)), beside=f"{usd(whole)} without stopping"),
    ]
    accepted = plan.usd_per_accepted or plan.accelerator_hours_per_accepted
    if accepted:
        tiles.append(
            PlanTile(
                name=f"{unit} per accepted result", value=usd_ranged(accepted),
                beside=f"{plan.acceptance_share:.0%} are accepted",
            )
        )  # fmt: skip
    return PlanPage(
        title="Sweep plan", subtitle=f"{plan.trials} trials of {plan.hours_per_trial:,.3g} h, {plan.ask.workers} at once",
        messages=plan.messages, tiles=tuple(tiles),
        sections=tuple(s for s in (_ways(plan), _smaller(plan), _duplicates(plan)) if s),
    )  # fmt: skip


def _unit(plan: SweepPlan) -> str:
    return "GPU-hours" if plan.full_usd is None else "USD"


def _cost(way: Way) -> Estimate:
    """Cost in USD, or in hours where no price is known."""
    return way.usd or way.accelerator_hours


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _ways(plan: SweepPlan) -> Section:
    unit = _unit(plan)
    rows = [
        [
            way.name, f"{way.saved.value:.0%}", _share(way.kept), _share(way.lost_all), _share(way.top3_kept),
            "–" if way.regret is None else f"{way.regret:.2%}", usd_ranged(_cost(way)), "ruled out" if way.ruled_out else "",
        ]
        for way in plan.ways
    ]  # fmt: skip
    charts: tuple[Chart, ...] = (
        bar_chart("cost", f"Cost, {unit}", [(way.name, _cost(way).value) for way in plan.ways], unit),
    )
    if all(way.kept is not None for way in plan.ways):
        kept = [(way.name, (way.kept or 0.0) * 100) for way in plan.ways]
        charts = (*charts, bar_chart("kept", "Accepted results kept, %", kept, "%"))
    return Section(
        key="ways", title="Stopping early", question="What does each way save, and what does it lose?",
        tables=(table(["way", "saved", "kept", "lost all", "top 3", "regret", unit, ""], rows),), charts=charts,
        notes=(
            *(f"{way.name} is ruled out: {'; '.join(way.ruled_out)}." for way in plan.ways if way.ruled_out),
            "Kept: part of the accepted results that was still found; top 3: part of the three best runs that came to their end.",
            "Lost all: part of the orders in which no accepted result was left.",
            "Regret: how far the best result found is below the best there was.",
            "Pausing needs the checkpoint of each paused trial to be kept until the sweep ends.",
        ),
    )  # fmt: skip


def _smaller(plan: SweepPlan) -> Section | None:
    if not plan.smaller:
        return None
    whole = plan.full_accelerator_hours if plan.full_usd is None else plan.full_usd
    rows = [[f"{share:.0%} of the trials", f"{regret:.2%}", usd(whole * share)] for share, regret in plan.smaller]
    return Section(
        key="smaller", title="A smaller sweep", question="What would fewer trials have found?",
        tables=(table(["sweep", "regret", _unit(plan)], rows),),
    )  # fmt: skip


def _duplicates(plan: SweepPlan) -> Section | None:
    if not plan.duplicates:
        return None
    rows = [[config, f"{more}"] for config, more in plan.duplicates[:_MOST_DUPLICATES]]
    return Section(
        key="duplicates", title="Duplicates", question="Which configurations were run more than once?",
        tables=(table(["configuration", "repeats"], rows),),
        notes=(f"{len(plan.duplicates)} configurations in all.",) if len(plan.duplicates) > len(rows) else (),
    )  # fmt: skip
