"""Joining what was paid for with who held it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from unitcost.attribution import decide
from unitcost.attribution.capacity import Held, Period, merged
from unitcost.attribution.decide import owner_rules
from unitcost.attribution.periods import selection_bounds
from unitcost.attribution.places import Places
from unitcost.attribution.states import CapacitySplitter, Paid
from unitcost.attribution.uses import BUSY_METRICS, spans_of, uses_of
from unitcost.economics.run_answers import group_answers
from unitcost.facts.capacity import PAID_DIMS, Capacity, HeldRow, KnownResource, PaidRow, WorkAnswers, Worker
from unitcost.facts.drivers import DATA_MOVEMENT, LLM_API, STORAGE
from unitcost.facts.rules import OWNER_KINDS, UNKNOWN_DRIVER, Settings
from unitcost.facts.spend import Selection
from unitcost.facts.work import CPU, WORKLOAD_DRIVERS
from unitcost.figure import Figure
from unitcost.jobs.held import held_costs_of
from unitcost.jobs.kinds import kind_by_rule
from unitcost.jobs.runs import runs_of
from unitcost.ledger import Ledger
from unitcost.ledger.spend import Question
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.report.amounts import Amounts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: What is charged under the id of a machine and is no capacity that work could hold.
_NO_CAPACITY = frozenset({STORAGE, DATA_MOVEMENT, LLM_API})
_DAY_US = MICROSECONDS_PER_SECOND * SECONDS_PER_DAY
USAGE = ("usage", "marketplace")


def work_answers(asking: Asking, amounts: Amounts) -> WorkAnswers | None:
    """What became of paid capacity, and whose work it was; None when nothing is known about work."""
    if all(load.dataset != "work" for load in asking.ledger.loads()):
        return None
    known = asking.ledger.work.resources()
    accounts, statuses = held_costs_of(asking)
    capacity = _capacity(asking, amounts, known)
    runs = runs_of(asking, capacity)
    return WorkAnswers(
        capacity=capacity, runs=tuple(runs), groups=tuple(group_answers(runs, at=asking.selection.tag)),
        workers=workers(asking.ledger, asking.settings, _holders(capacity)),
        accounts=accounts, statuses=statuses, counts=asking.ledger.work.counts(),
    )  # fmt: skip


def _capacity(asking: Asking, amounts: Amounts, known: Sequence[KnownResource]) -> dict[str, Capacity]:
    places = Places.over(known, asking.ledger.work.charged_names(asking.selection))
    if not places.charged:
        return {}
    held = held_by_place(places, asking.ledger.work.held())
    if not held:  # nothing tells who held anything
        return {}
    start, end = asking.bounds
    gap = asking.settings.work.gap_intervals
    named = asking.ledger.gauges(start, end, by="workload", metrics=BUSY_METRICS, gap_intervals=gap)
    spans = spans_of(known, places, held)
    alone = asking.ledger.work.gauges(start, end, metrics=BUSY_METRICS, gap_intervals=gap, spans=spans)
    splitter = CapacitySplitter(
        held=held, capacities=places.capacities(), uses=uses_of(named, alone, places, held), at=amounts.selection.tag,
        told=told_of(held, places.charged),
    )  # fmt: skip
    return {unit: splitter.split(paid) for unit, paid in _paid(asking, amounts, places).items()}


def service_parts(work: WorkAnswers | None, names: Collection[str]) -> dict[str, dict[str, list[Figure]]]:
    """Service -> unit -> parts of paid capacity that work of its name, or work that it owns, held."""
    found: dict[str, dict[str, list[Figure]]] = defaultdict(lambda: defaultdict(list))
    for unit, capacity in work.capacity.items() if work else ():
        for part in capacity.parts:
            service = service_of_work(work, part.workload, names) if work else ""
            if service:
                found[service][unit].append(part.amount)
    return found


def service_of_work(work: WorkAnswers, workload: str, names: Collection[str]) -> str:
    """Service that a workload is, or that owns it; empty when it is none of these."""
    worker = work.workers.get(workload)
    called = [workload.partition(":")[2], *((worker.name, worker.parent) if worker else ())]
    return next((name for name in called if name and name in names), "")


def held_by_place(places: Places, rows: Iterable[HeldRow]) -> dict[str, list[Held]]:
    """Holdings of the places that are charged; those whose end is not known are left out.

    Where accelerators of a place were held its cores do not count: a job that holds all cards uses some cores too.
    """
    accelerators: dict[str, list[Held]] = defaultdict(list)
    cores: dict[str, list[Held]] = defaultdict(list)
    for row in rows:
        place = places.find(row.resource_id, row.node)
        if place is None or row.ended_at is None:
            continue
        (cores if row.accelerator == CPU else accelerators)[place].append(
            Held(
                workload=row.workload, quantity=row.quantity, start_us=microseconds(row.started_at), end_us=microseconds(row.ended_at)
            )
        )  # fmt: skip
    return {**cores, **accelerators}


def told_of(held: Mapping[str, Sequence[Held]], places: Iterable[str]) -> dict[str, Period]:
    """Place -> whole days (UTC) from the first to the last of which the schedulers that give it out told something.

    A place that was never held is told of whenever any scheduler told something.
    """
    windows: dict[str, Period] = {}
    for holding in (holding for found in held.values() for holding in found):
        source = _source(holding)
        first, last = windows.get(source, (holding.start_us, holding.end_us))
        windows[source] = min(first, holding.start_us), max(last, holding.end_us)
    found = {}
    for place in places:
        sources = {_source(holding) for holding in held.get(place, ())} or windows.keys()
        first, last = min(windows[source][0] for source in sources), max(windows[source][1] for source in sources)
        found[place] = first - first % _DAY_US, last + -last % _DAY_US
    return found


def _source(holding: Held) -> str:
    return holding.workload.partition(":")[0]


def _holders(capacity: Mapping[str, Capacity]) -> list[str]:
    return sorted({part.workload for found in capacity.values() for part in found.parts if part.workload})


def workers(ledger: Ledger, settings: Settings, wanted: Sequence[str]) -> dict[str, Worker]:
    """Owner and driver of some workloads: by the rules for charges, else by their kind.

    Where owners are inherited all workloads are looked at, as an owner may come from one that is not wanted.
    """
    inherits = any(owner_rules(settings, kind).inherit or owner_rules(settings, kind).lineage for kind in OWNER_KINDS)
    listed = list(ledger.work.workload_facets(None if inherits else wanted))
    found = {}
    for (key, facet), decided in zip(listed, decide((facet for _, facet in listed), settings), strict=True):
        kind = facet.get("resource_type") or kind_by_rule(settings, facet)
        by_kind = WORKLOAD_DRIVERS.get(kind, UNKNOWN_DRIVER)
        found[key] = Worker(
            workload=key, name=facet.get("resource_name") or key, kind=kind, parent=facet.get("resource_group") or "",
            owners={owner: decided.owners[owner][0] for owner in OWNER_KINDS},
            driver=by_kind if decided.driver == UNKNOWN_DRIVER else decided.driver,
        )  # fmt: skip
    return found


def _paid(asking: Asking, amounts: Amounts, places: Places) -> dict[str, list[Paid]]:
    """Unit -> charges of the places, by hourly rate, in a fixed order."""
    question = Question(
        selection=asking.selection, dims=PAID_DIMS, placements=asking.months, rates_since=asking.rates_since,
        resources=places.charged,
    )  # fmt: skip
    rows = [row for row in asking.ledger.work.paid(question) if _is_capacity(row, asking.currency)]
    periods: dict[tuple[str | None, ...], list[Period]] = defaultdict(list)
    for row in rows:
        periods[row.spend.keys] += clipped(
            ((microseconds(start), microseconds(end)) for start, end in row.periods), asking.selection
        )
    found: dict[str, list[Paid]] = {}
    for unit, figures in amounts.by_unit("capacity", PAID_DIMS, [row.spend for row in rows]).items():
        found[unit] = [
            Paid(
                place=str(key[0]), rate=f"{key[1]}-{key[3]}", driver=key[2] or UNKNOWN_DRIVER, charges=figure,
                periods=tuple(merged(periods[key])),
            )
            for key, figure in figures.items()
        ]  # fmt: skip
    return found


def _is_capacity(row: PaidRow, currency: str) -> bool:
    _, _, driver, line = row.spend.keys
    return line in USAGE and driver not in _NO_CAPACITY and (not currency or row.spend.currency == currency)


def clipped(periods: Iterable[Period], selection: Selection) -> Sequence[Period]:
    """Periods inside the range of a selection by charge period; a charge that counts whole keeps its period."""
    if selection.place != "charge":
        return list(periods)
    first, last = selection_bounds(selection)
    start_us = microseconds(first) if first else None
    end_us = microseconds(last) if last else None
    return [
        (start if start_us is None else max(start, start_us), end if end_us is None else min(end, end_us))
        for start, end in periods
    ]


def microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
