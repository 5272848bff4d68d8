"""Runs with what they cost: from the bill where it names what they held, else at prices of the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unitcost.attribution.accepted import AcceptedRule, accepted_by, parse_accepted
from unitcost.attribution.work_prices import price_in_force
from unitcost.economics.run_answers import PricedLife, run_answers
from unitcost.facts.capacity import Capacity
from unitcost.facts.runs import HeldLife, Run, RunAnswer
from unitcost.facts.work import RUN_KINDS, SCHEDULER_JOB
from unitcost.figure import Figure, figure_id, total

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking


def runs_of(asking: Asking, capacity: Mapping[str, Capacity]) -> list[RunAnswer]:
    """Runs of the range of the selection, the dearest first."""
    runs = [run for run in asking.ledger.work.runs(RUN_KINDS) if _in_range(asking, run)]
    if not runs:
        return []
    jobs = {run.workload: run.tags.get(SCHEDULER_JOB, run.workload) for run in runs}
    held = asking.ledger.work.lives(sorted(set(jobs.values())))
    lives = {workload: _priced(asking, held.get(job, ())) for workload, job in jobs.items()}
    bills = _bills(capacity, asking.settings.currency, asking.selection.tag)
    costs = {workload: bills[job] for workload, job in jobs.items() if job in bills}
    rule = parse_accepted(asking.settings.work.accepted) if asking.settings.work.accepted else None
    accepted = {run.workload: _accepted(rule, run) for run in runs}
    return run_answers(runs, costs, lives, accepted, at=asking.selection.tag)


def _in_range(asking: Asking, run: Run) -> bool:
    """A run belongs to the range in which it ended, or began while its end is not known."""
    moment = run.ended_at or run.started_at
    first, last = asking.bounds
    return moment is None or ((first is None or moment >= first) and (last is None or moment < last))


def _priced(asking: Asking, lives: Sequence[HeldLife]) -> list[PricedLife]:
    prices = asking.settings.work.prices
    found: list[PricedLife] = []
    for life in lives:
        price = (
            price_in_force(prices, life.accelerator, life.pricing_category, life.started_at.date())
            if life.started_at
            else None
        )
        found.append((life, price.usd_per_hour if price else None))
    return found


def _bills(capacity: Mapping[str, Capacity], currency: str, at: str) -> dict[str, Figure]:
    """Workload -> what the bill says that it held, in the currency of the report."""
    parts: dict[str, list[Figure]] = defaultdict(list)
    if currency in capacity:
        for part in capacity[currency].parts:
            if part.workload:
                parts[part.workload].append(part.amount)
    return {
        workload: total(figure_id("run", workload, "bill", at=at), tuple(found), unit=currency, label=workload)
        for workload, found in parts.items()
    }


def _accepted(rule: AcceptedRule | None, run: Run) -> bool | None:
    said = accepted_by(rule, run.tags, run.metrics) if rule else None
    return run.accepted if said is None else said
