"""What became of paid capacity: used, allocated but idle, use unknown, held by nobody; and the rest of the bill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from unitcost import money
from unitcost.facts.capacity import STATES, StatePart, Worker
from unitcost.facts.drivers import DATA_MOVEMENT, LLM_API, PLATFORM, STORAGE
from unitcost.facts.naming import spelt_owner
from unitcost.facts.spend import BESIDE_LINES
from unitcost.figure import Figure, figure_id, total
from unitcost.report.figures import Made
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import TOP, amount_tables

#: What is paid for and is no capacity that somebody could hold.
_APART = frozenset({STORAGE, DATA_MOVEMENT, LLM_API, PLATFORM, *BESIDE_LINES})
NOBODY = "(held by nobody)"


def capacity(given: ReportInput, made: Made) -> Section | None:
    """Paid capacity by what became of it; None when nothing is known about work."""
    if given.work is None or not given.work.capacity:
        return None
    notes = [note for found in given.work.capacity.values() for note in found.notes]
    workers = given.work.workers
    tables = [*_states(given, made)]
    for unit, found in given.work.capacity.items():
        tables.append(_by(given, "team", unit, found.parts, lambda part: _team(workers, part), TOP))
        tables.append(_by(given, "resource", unit, found.parts, lambda part: part.place, TOP))
        held = [part for part in found.parts if part.workload]
        tables.append(_by(given, "workload", unit, held, lambda part: _name(workers, part), TOP))
    return Section(
        key="capacity", title="Capacity", question="How much of what was paid for was held, and used?",
        tables=tuple(tables), notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _states(given: ReportInput, made: Made) -> Sequence[Table]:
    """The whole bill once: capacity by what became of it, and all else by what it is for."""
    assert given.work is not None
    by_unit = {}
    for unit, drivers in made.drivers.items():
        found = given.work.capacity.get(unit)
        figures: dict[tuple[str | None, ...], Figure] = {}
        for state in STATES:
            parts = [part.amount for part in found.parts if part.state == state] if found else []
            if parts:
                figures[(state,)] = _sum(given, "capacity-state", unit, state, parts)
        for (driver,), figure in drivers.items():
            matched = [amount for name, amount in found.matched if name == driver] if found else []
            left = _left(given, unit, str(driver), figure, matched)
            if left.value:
                name = str(driver) if driver in _APART else f"{driver}, holder unknown"
                figures[(name,)] = left
        by_unit[unit] = figures
    return amount_tables("capacity-state", by_unit, given.amounts, names=("what became of it",), top=20, ordered=True)


def _left(given: ReportInput, unit: str, driver: str, whole: Figure, matched: list[Figure]) -> Figure:
    """Charges of a driver that are no capacity of known work."""
    if not matched or whole.value is None:
        return whole
    values = [figure.value or money.ZERO for figure in matched]
    return Figure(
        id=figure_id("capacity-left", driver, unit, at=given.selection.tag),
        value=money.subtract(whole.value, money.add(values)), unit=unit, basis="derived", op="difference",
        formula=f"{driver} less what known work held", inputs=(whole, *matched), label=f"{driver}, holder unknown",
    )  # fmt: skip


def _by(
    given: ReportInput, what: str, unit: str, parts: Iterable[StatePart], name_of: Callable[[StatePart], str], top: int
) -> Table:
    """Table of names by state, the largest first, the tail in one row."""
    groups: dict[str, dict[str, list[Figure]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        groups[name_of(part)][part.state].append(part.amount)
    sizes = {
        name: money.add(figure.value or money.ZERO for figures in states.values() for figure in figures)
        for name, states in groups.items()
    }
    names = sorted(groups, key=lambda name: (-sizes[name], name))
    shown, rest = (names, []) if len(names) <= top + 1 else (names[:top], names[top:])
    rows = [_row(given, what, unit, name, groups[name]) for name in shown]
    if rest:
        rows.append(_row(given, what, unit, f"other ({len(rest)})", _together(groups[name] for name in rest)))
    whole = _row(given, what, unit, "total", _together(groups.values()))
    columns = [
        Column(name=what),
        *(Column(name=state, kind="money") for state in STATES),
        Column(name=unit, kind="money"),
    ]
    return Table(columns=tuple(columns), rows=tuple(rows), total=whole, unit=unit, caption=f"By {what}")


def _together(groups: Iterable[dict[str, list[Figure]]]) -> dict[str, list[Figure]]:
    found: dict[str, list[Figure]] = defaultdict(list)
    for states in groups:
        for state, figures in states.items():
            found[state] += figures
    return found


def _row(given: ReportInput, what: str, unit: str, name: str, states: dict[str, list[Figure]]) -> tuple[Cell, ...]:
    path = f"capacity-{what}"
    cells: list[Cell] = [
        _sum(given, path, unit, name, states[state], state) if states.get(state) else None for state in STATES
    ]
    known = tuple(cell for cell in cells if isinstance(cell, Figure))
    whole = total(figure_id(path, name, unit, at=given.selection.tag), known, unit=unit, label=name)
    return (name, *cells, whole)


def _sum(given: ReportInput, path: str, unit: str, name: str, parts: Sequence[Figure], state: str = "") -> Figure:
    steps = (path, name, state, unit) if state else (path, name, unit)
    label = f"{name}, {state}" if state else name
    return total(figure_id(*steps, at=given.selection.tag), tuple(parts), unit=unit, label=label)


def _team(workers: dict[str, Worker], part: StatePart) -> str:
    if not part.workload:
        return NOBODY
    worker = workers.get(part.workload)
    return spelt_owner(worker.owners.get("team") if worker else None)


def _name(workers: dict[str, Worker], part: StatePart) -> str:
    worker = workers.get(part.workload)
    return worker.name if worker else part.workload
