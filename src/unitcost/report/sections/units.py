"""What one useful unit costs."""

from __future__ import annotations

from unitcost.facts.answers import UnitCost
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table


def unit_costs(given: ReportInput) -> Section:
    """Unit cost of each service that has outputs, with what cannot be said and why."""
    notes = [
        f"Per {answer.unit}: " + (f"{answer.cheapest} is the cheapest." if answer.cheapest else f"{answer.reason}.")
        for answer in given.comparisons
    ]
    if not given.unit_costs:
        notes.append("No outputs are loaded: a csv `service, day, unit, quantity` gives cost per useful unit.")
    columns = (
        Column(name="service"), Column(name="unit"), Column(name="currency"), Column(name="cost", kind="money"),
        Column(name="useful units", kind="count"), Column(name="cost per unit", kind="unit"),
        Column(name="wasted", kind="money"), Column(name=""),
    )  # fmt: skip
    rows = tuple(_row(cost) for cost in given.unit_costs)
    return Section(
        key="unit-costs", title="Unit costs", question="What does one useful unit cost?",
        tables=(Table(columns=columns, rows=rows),) if rows else (), notes=tuple(notes),
    )  # fmt: skip


def _row(cost: UnitCost) -> tuple[Cell, ...]:
    note = cost.per_unit.note if cost.per_unit.value is None else ""
    return cost.service, cost.unit, cost.cost.unit, cost.cost, cost.quantity, cost.per_unit, cost.wasted, note
