"""One job of a scheduler in which several runs were made: its cost is divided among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from unitcost import money
from unitcost.facts.runs import Run
from unitcost.figure import Figure, figure_id
from unitcost.units import MICROSECONDS_PER_SECOND

_MICROSECOND = timedelta(microseconds=1)


def sharers_of(runs: Iterable[Run], jobs: Mapping[str, str]) -> dict[str, tuple[Run, ...]]:
    """Job -> runs that were made in it, where there are several.

    A run whose children are in the same job did nothing beside them: a sweep around its trials.

    Parameters
    ----------
    jobs
        Run -> job that it says it is part of.
    """
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.workload in jobs:
            found[jobs[run.workload]].append(run)
    sharers = {}
    for job, together in found.items():
        parents = {run.parent for run in together}
        makers = [run for run in together if run.workload not in parents]
        if len(together) > 1:
            sharers[job] = tuple(sorted(makers, key=lambda run: run.workload))
    return sharers


def share_of(run: Run, sharers: Sequence[Run], cost: Figure, *, at: str) -> Figure:
    """Part of the cost of a job that one of its runs has, by how long each lasted; they add up to it.

    Without a value, and with the reason, where it is not known how long one of them lasted.
    """
    name = run.workload
    if run not in sharers:
        return _nothing(name, cost, at)
    lengths = [_length_s(one) for one in sharers]
    known = [length for length in lengths if length is not None]
    if cost.value is None or len(known) < len(lengths):
        why = cost.note or f"{len(sharers)} runs share its job, and how long one of them lasted is not known"
        return Figure(
            id=figure_id("run", name, "share", cost.unit, at=at), value=None, unit=cost.unit, basis="unknown", op="none",
            formula="no value", note=why, label=name,
        )  # fmt: skip
    weights = tuple(
        Figure(
            id=figure_id("run", one.workload, "lasted", at=at), value=length if any(known) else Decimal(1), unit="s",
            basis="measured", op="given", formula="end - start, as its tracker tells", label=f"{one.workload} lasted",
        )
        for one, length in zip(sharers, known, strict=True)
    )  # fmt: skip
    number = sharers.index(run)
    values = money.split_amount(cost.value, [weight.value or money.ZERO for weight in weights])
    return Figure(
        id=figure_id("run", name, "share", cost.unit, at=at), value=values[number], unit=cost.unit, basis="estimated",
        op="split", formula="cost of the job in proportion to how long each of its runs lasted", inputs=(cost, *weights),
        part=number, label=name,
    )  # fmt: skip


def _nothing(name: str, cost: Figure, at: str) -> Figure:
    return Figure(
        id=figure_id("run", name, "share", cost.unit, at=at), value=money.ZERO, unit=cost.unit, basis="derived", op="given",
        formula="the runs below it in the same job have its cost", label=name,
    )  # fmt: skip


def _length_s(run: Run) -> Decimal | None:
    if run.started_at is None or run.ended_at is None:
        return None
    length = max(0, (run.ended_at - run.started_at) // _MICROSECOND)
    return money.divide(Decimal(length), Decimal(MICROSECONDS_PER_SECOND))
