"""The caching plan as a page."""

from __future__ import annotations

from unitcost.jobs.plan_cache import CachePlan
from unitcost.jobs.plan_words import usd
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, PlanTile, line_chart, table


def cache_page(plan: CachePlan) -> PlanPage:
    """Page of a caching plan."""
    answer, ask = plan.answer, plan.asked.ask
    fewest = "never" if answer.break_even_passes is None else f"{answer.break_even_passes} passes"
    tiles = [
        PlanTile(name="cache it", value="yes" if answer.worth_it else "no", beside=answer.reason),
        PlanTile(name="saves, USD", value=usd(answer.saves_usd), beside=f"over {answer.passes} passes"),
        PlanTile(name="pays from", value=fewest),
    ]
    if plan.hit_share is not None:
        tiles.append(
            PlanTile(name="local cache hits", value=f"{plan.hit_share:.0%}", beside=f"{plan.asked.order} order")
        )
    return PlanPage(
        title="Caching plan", subtitle=f"{ask.epochs} epochs of {ask.runs} runs", messages=answer.warnings,
        tiles=tuple(tiles), sections=(_parts(plan),),
    )  # fmt: skip


def _parts(plan: CachePlan) -> Section:
    ask = plan.asked.ask
    rows = [
        ["a pass on the fly", f"{ask.on_the_fly_hours:g} h", usd(ask.on_the_fly_hours * ask.usd_per_hour)],
        ["a pass from the cache", f"{ask.cached_hours:g} h", usd(ask.cached_hours * ask.usd_per_hour)],
        ["filling the cache, once", f"{ask.one_off_hours:g} h", usd(ask.one_off_hours * ask.usd_per_hour)],
        ["keeping it", f"{plan.asked.data_gb:g} GB for {plan.asked.months:g} months", usd(plan.storage_usd)],
        ["moving it", f"{plan.asked.moved_gb:g} GB", usd(plan.egress_usd)],
    ]
    points = [(float(passes), saved) for passes, saved in plan.break_even]
    return Section(
        key="parts", title="What it costs", question="What does each part take?",
        tables=(table(["part", "amount", "USD"], rows),),
        charts=(line_chart("saved", "Saved by passes", {"saved": points}, across="passes", up="USD"),),
        notes=(
            f"Basis: {plan.saved_usd.basis}; {plan.saved_usd.because}.",
            "A cache that drops what was least recently used and is smaller than the data serves nothing of the next"
            " pass in a fixed order.",
            *(f"Price: {source}." for source in plan.sources),
        ),
    )  # fmt: skip
