"""Joined sessions as a page, and as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unitcost.facts.options import Demand, Limits
from unitcost.jobs.compare_page import compare_data, compare_page
from unitcost.jobs.merge import Merged
from unitcost.report.model import Section
from unitcost.report.plan_page import PlanPage, table
from unitcost.units import MILLISECONDS_PER_SECOND


def merge_page(merged: Merged, demand: Demand, limits: Limits) -> PlanPage:
    """Page of joined sessions."""
    compared = compare_page(merged.choice, demand, limits, title="Cheapest over machines")
    return replace(compared, sections=(*compared.sections, _machines(merged), *_estimates(merged)))


def merge_data(merged: Merged, demand: Demand, limits: Limits) -> dict[str, Any]:
    """The answer for machines."""
    machines = [
        {"machine": r.machine, "file": r.path.name, "cpu": r.found["machine"]["cpu"], "anchors_s": anchors}
        for r, (_, anchors) in zip(merged.results, merged.anchors, strict=True)
    ]
    return {**compare_data(merged.choice, demand, limits), "machines": machines}


def _machines(merged: Merged) -> Section:
    rows = [
        [r.machine, r.path.name, str(r.found["machine"]["cpu"]), str(r.found.get("measured_at", "–"))[:10],
         ", ".join(f"{value * MILLISECONDS_PER_SECOND:.3g}" for value in anchors.values())]
        for r, (_, anchors) in zip(merged.results, merged.anchors, strict=True)
    ]  # fmt: skip
    heads = ["machine", "file", "processor", "measured", "anchors ms"]
    return Section(
        key="machines", title="Machines", question="Where was it measured, and how fast were the anchors?",
        tables=(table(heads, rows, numbers=4),),
    )  # fmt: skip


def _estimates(merged: Merged) -> tuple[Section, ...]:
    rows = [
        [r.option.name, r.option.machine, r.option.note] for r in merged.choice.ranked if r.option.basis == "estimated"
    ]
    if not rows:
        return ()
    section = Section(
        key="estimates", title="Estimates", question="What may other machines do?",
        notes=("An estimate is a reason to measure, never an answer.",),
        tables=(table(["option", "machine", "range"], rows, numbers=3),),
    )  # fmt: skip
    return (section,)
