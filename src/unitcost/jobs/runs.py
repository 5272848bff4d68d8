"""Runs with what they cost: from the bill where it names what they held, else at prices of the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unitcost.attribution.accepted import AcceptedRule, accepted_by, parse_accepted
from unitcost.attribution.work_prices import price_in_force
from unitcost.economics.job_steps import with_steps
from unitcost.economics.run_answers import Known, PricedLife, run_answers
from unitcost.economics.shared_jobs import sharers_of
from unitcost.facts.capacity import Capacity
from unitcost.facts.runs import HeldLife, Run, RunAnswer
from unitcost.facts.work import RUN_KINDS, SCHEDULER_JOB
from unitcost.figure import Figure, figure_id, total
from unitcost.jobs.kinds import kinds_by_rule
from unitcost.jobs.on_demand import on_demand_prices

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking


def runs_of(asking: Asking, capacity: Mapping[str, Capacity]) -> list[RunAnswer]:
    """Runs of the range of the selection, the dearest first."""
    known = _all_runs(asking)
    runs = [run for run in known if _in_range(asking, run)]
    if not runs:
        return []
    jobs = {run.workload: run.tags[SCHEDULER_JOB] for run in known if run.tags.get(SCHEDULER_JOB)}
    wanted = {run.workload for run in runs} | {jobs[run.workload] for run in runs if run.workload in jobs}
    lives = {job: _priced(asking, held) for job, held in asking.ledger.work.lives(sorted(wanted)).items()}
    jobs = {run: job for run, job in jobs.items() if job in lives}  # a job of which nothing else tells is the run's own
    sharers = sharers_of(known, jobs)
    for run, steps in asking.ledger.work.steps(sorted(jobs)).items():
        if jobs[run] not in sharers:
            lives[jobs[run]] = with_steps(lives[jobs[run]], steps)
    bills = _bills(capacity, asking.settings.currency, asking.selection.tag)
    rule = parse_accepted(asking.settings.work.accepted) if asking.settings.work.accepted else None
    about = Known(
        bills=bills, lives=lives, jobs=jobs,
        sharers=sharers, accepted={run.workload: _accepted(rule, run) for run in runs},
        on_demand=on_demand_prices(asking, {job: lives.get(job, ()) for job in wanted}, capacity, billed=bills),
    )  # fmt: skip
    return run_answers(runs, about, at=asking.selection.tag)


def _all_runs(asking: Asking) -> list[Run]:
    """Workloads whose kind, as the source or else a rule of the settings tells, is meant to end in a result.

    A job that a run says it is part of is no run by itself.
    """
    kinds = kinds_by_rule(asking.ledger, asking.settings)
    named = [workload for workload, kind in kinds.items() if kind in RUN_KINDS]
    runs = asking.ledger.work.runs(RUN_KINDS, named)
    jobs = {run.tags[SCHEDULER_JOB] for run in runs if run.tags.get(SCHEDULER_JOB)}
    return [
        replace(run, kind=run.kind or kinds.get(run.workload, ""))
        for run in runs
        if run.kind or not {run.workload, _short(run.workload)} & jobs
    ]


def _short(workload: str) -> str:
    """Key without the cluster or the namespace before the id."""
    source, _, name = workload.partition(":")
    return f"{source}:{name.rpartition('/')[2]}"


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
