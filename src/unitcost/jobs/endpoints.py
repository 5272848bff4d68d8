"""Joining what is paid for serving with the requests that were served."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from unitcost.attribution.capacity import Period, merged
from unitcost.attribution.places import short_name
from unitcost.economics.endpoints import Endpoint, endpoint_answers
from unitcost.facts.answers import EndpointAnswer
from unitcost.facts.capacity import PaidRow, WorkAnswers
from unitcost.facts.drivers import SERVING
from unitcost.jobs.capacity import USAGE, clipped, microseconds, service_of_work
from unitcost.ledger.spend import Question

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.report.amounts import Amounts

_DIMS = ("resource", "line", "driver")


def endpoints(asking: Asking, amounts: Amounts, work: WorkAnswers | None = None) -> dict[str, list[EndpointAnswer]]:
    """Unit -> endpoints that are paid for by name, and whether anybody called them."""
    rows = _paid(asking)
    outputs = asking.outputs
    services = sorted({row.service for row in outputs})
    names = _served(work, services) | _services([str(row.spend.keys[0]) for row in rows], services)
    paid: dict[str, list[Period]] = defaultdict(list)
    for row in rows:
        periods = ((microseconds(start), microseconds(end)) for start, end in row.periods)
        paid[str(row.spend.keys[0])] += clipped(periods, asking.selection)
    lengths = {name: sum(end - start for start, end in merged(periods)) for name, periods in paid.items()}
    parts = amounts.by_unit("endpoint-part", _DIMS, [row.spend for row in rows])
    by_unit = amounts.regroup("endpoint-cost", parts, lambda key: (key[0],))
    return {
        unit: endpoint_answers(
            [Endpoint(name=str(name), cost=cost, paid_us=lengths[str(name)]) for (name,), cost in figures.items()],
            outputs, at=amounts.selection.tag, names=names,
        )
        for unit, figures in by_unit.items()
    }  # fmt: skip


def _paid(asking: Asking) -> list[PaidRow]:
    question = Question(
        selection=asking.selection, dims=_DIMS, placements=asking.months, rates_since=asking.rates_since,
        where=(("driver", SERVING),),
    )  # fmt: skip
    return [
        row
        for row in asking.ledger.work.paid(question)
        if row.spend.keys[0] and row.spend.keys[1] in USAGE and asking.currency in ("", row.spend.currency)
    ]


def _served(work: WorkAnswers | None, services: Sequence[str]) -> dict[str, str]:
    """Machine -> service of the outputs that all work that held it belongs to."""
    found: dict[str, set[str]] = defaultdict(set)
    for capacity in work.capacity.values() if work else ():
        for part in capacity.parts:
            if work and part.workload:
                found[part.place].add(service_of_work(work, part.workload, services))
    return {place: next(iter(names)) for place, names in found.items() if len(names) == 1 and "" not in names}


def _services(resources: Iterable[str], services: Sequence[str]) -> dict[str, str]:
    """Billed endpoint -> service of the outputs: the same name, or the same last part of it."""
    exact = set(services)
    short = {short_name(service): service for service in services}
    found = {name: name if name in exact else short.get(short_name(name), "") for name in resources}
    return {name: service for name, service in found.items() if service}
