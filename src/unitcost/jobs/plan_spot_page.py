"""The spot plan as a page."""

from __future__ import annotations

from unitcost.jobs.plan_words import ranged, usd, usd_ranged
from unitcost.jobs.spot_answers import SavingPlan, SpotOption, SpotPlan
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, bar_chart, line_chart, table
from unitcost.units import PERCENT

_POINTS = float(PERCENT)


def spot_page(plan: SpotPlan) -> PlanPage:
    """Page of a spot plan."""
    best = next(option for option in plan.options if option.name == plan.best)
    where = ", ".join(plan.zones) or "assumed two-state capacity"
    ask = plan.ask
    size = f"{ask.nodes} nodes" if ask.nodes > 1 else "1 node"
    return PlanPage(
        title="Spot plan",
        subtitle=f"{ask.hours:,.4g} h of work on {size}, deadline {ask.deadline_hours:,.4g} h, {where}",
        messages=plan.messages, tiles=_tiles(plan, best),
        sections=tuple(section for section in (_options(plan), _saving(plan), _how(plan)) if section is not None),
    )  # fmt: skip


def _tiles(plan: SpotPlan, best: SpotOption) -> tuple[PlanTile, ...]:
    share = best.on_demand_share
    tiles = [
        PlanTile(name="take", value=best.name, beside=f"{ranged(share, '.0%')} of on-demand" if share else ""),
        PlanTile(name="cost, USD", value=usd_ranged(best.usd), beside=f"{usd(plan.on_demand_usd)} on demand"),
    ]
    if plan.could_still_save_points is not None:
        tiles.append(
            PlanTile(
                name="at most more to save", value=f"{plan.could_still_save_points:.1f} points",
                beside="of on-demand, were the future known",
            )
        )  # fmt: skip
    if plan.saving:
        tiles.append(
            PlanTile(
                name="save after", value=_minutes(plan.saving), beside=f"mean up-time {plan.saving.mean_up_hours:.1f} h"
            )
        )
    return tuple(tiles)


def _minutes(saving: SavingPlan) -> str:
    return ", ".join(f"{minutes:.0f}" for minutes in saving.growing_minutes[:3]) + " ... min"


def _options(plan: SpotPlan) -> Section:
    shown = [*plan.options, *([plan.bound] if plan.bound else [])]
    rows = [
        [
            option.name, usd_ranged(option.usd), ranged(option.on_demand_share, ".1%"),
            "–" if option.spot_share is None else f"{option.spot_share:.0%}",
            "–" if option.changeovers is None else f"{option.changeovers:.1f}",
            "ruled out" if option.ruled_out else "",
        ]
        for option in shown
    ]  # fmt: skip
    bars = [(option.name, option.usd.value) for option in shown if option.usd]
    return Section(
        key="ways", title="Options", question="What does each way to run it cost, and which are ruled out?",
        tables=(table(["option", "USD", "of on-demand", "on spot", "starts", ""], rows),),
        charts=(bar_chart("options", "Cost, USD", bars, "USD"),),
        notes=tuple(f"{o.name} is ruled out: {'; '.join(o.ruled_out)}." for o in shown if o.ruled_out),
    )  # fmt: skip


def _saving(plan: SpotPlan) -> Section | None:
    saving = plan.saving
    if saving is None:
        return None
    rows = [
        ["Young", f"{saving.young_minutes:.1f}", "–"],
        ["Daly, higher order", f"{saving.daly_minutes:.1f}", f"{saving.daly_lost_share:.1%}"],
        [
            "growing with age", " ".join(f"{m:.0f}" for m in saving.growing_minutes) + " ...",
            f"{saving.growing_lost_share:.1%}",
        ],
    ]  # fmt: skip
    curve = [(minutes, lost * _POINTS) for minutes, lost in saving.curve]
    charts: tuple[Chart, ...] = ()
    if curve:
        charts = (
            line_chart(
                "loss", "Up-time lost by interval", {"lost": curve}, across="minutes between saves", up="% of up-time"
            ),
        )  # fmt: skip
    return Section(
        key="saving", title="Checkpoints", question="How often should it save?",
        tables=(table(["rule", "minutes of work between saves", "up-time lost"], rows),), charts=charts,
        notes=(
            "Growing with age: the first intervals of each up-time.",
            f"Basis: {saving.basis}. The mean up-time decides, not the median: the tail is heavy.",
        ),
    )  # fmt: skip


def _how(plan: SpotPlan) -> Section:
    notes = [
        "Cost: paid time at the price of its tick, change-overs included, and egress when a checkpoint moves.",
        "Range: tenth to ninetieth per cent of the starts."
        if plan.starts
        else "Range: always spot to always on-demand.",
    ]
    if plan.storage_usd:
        notes.append(f"Two checkpoints are kept: {usd(plan.storage_usd)} USD, inside each cost but on-demand's.")
    if plan.saving and plan.saving.growing_lost_share:
        notes.append("Saves and repeated work make the job on spot longer; that is counted.")
    return Section(key="how", title="How it is counted", question="What do these numbers stand on?", notes=tuple(notes))
