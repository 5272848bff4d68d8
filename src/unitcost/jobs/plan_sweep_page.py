"""The sweep plan as a page."""

from __future__ import annotations

from unitcost.jobs.plan_sweep import SweepPlan
from unitcost.jobs.plan_words import ranged, usd, usd_ranged
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, table


def sweep_page(plan: SweepPlan) -> PlanPage:
    """Page of a sweep plan."""
    best = next(way for way in plan.ways if way.name == plan.best)
    tiles = [
        PlanTile(name="take", value=best.name, beside=f"saves {ranged(best.saved, '.0%')}"),
        PlanTile(name="cost, USD", value=usd_ranged(best.usd), beside=f"{usd(plan.full_usd)} without stopping"),
    ]
    if plan.usd_per_accepted:
        tiles.append(
            PlanTile(
                name="USD per accepted result", value=usd_ranged(plan.usd_per_accepted),
                beside=f"{plan.acceptance_share:.0%} are accepted",
            )
        )  # fmt: skip
    return PlanPage(
        title="Sweep plan", subtitle=f"{plan.trials} trials of {plan.hours_per_trial:,.3g} h, {plan.ask.workers} at once",
        messages=plan.messages, tiles=tuple(tiles), sections=tuple(s for s in (_ways(plan), _smaller(plan)) if s),
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _ways(plan: SweepPlan) -> Section:
    rows = [
        [
            way.name, ranged(way.saved, ".0%"), _share(way.kept), _share(way.lost_all), _share(way.top3_kept),
            "–" if way.regret is None else f"{way.regret:.2%}", usd_ranged(way.usd), "ruled out" if way.ruled_out else "",
        ]
        for way in plan.ways
    ]  # fmt: skip
    charts: tuple[Chart, ...] = (
        bar_chart("cost", "Cost, USD", [(way.name, way.usd.value) for way in plan.ways], "USD"),
    )
    if all(way.kept is not None for way in plan.ways):
        kept = [(way.name, (way.kept or 0.0) * 100) for way in plan.ways]
        charts = (*charts, bar_chart("kept", "Accepted results kept, %", kept, "%"))
    return Section(
        key="ways", title="Stopping early", question="What does each way save, and what does it lose?",
        tables=(table(["way", "saved", "accepted kept", "lost all", "top 3 kept", "regret", "USD", ""], rows),), charts=charts,
        notes=(
            *(f"{way.name} is ruled out: {'; '.join(way.ruled_out)}." for way in plan.ways if way.ruled_out),
            "Regret: how far the best result found is below the best there was.",
            "Pausing needs the checkpoint of each paused trial to be kept until the sweep ends.",
        ),
    )  # fmt: skip


def _smaller(plan: SweepPlan) -> Section | None:
    if not plan.smaller:
        return None
    rows = [
        [f"{share:.0%} of the trials", f"{regret:.2%}", usd(plan.full_usd * share)] for share, regret in plan.smaller
    ]
    return Section(
        key="smaller", title="A smaller sweep", question="What would fewer trials have found?",
        tables=(table(["sweep", "best below the best of all", "USD"], rows),),
    )  # fmt: skip
