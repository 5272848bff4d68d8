"""What one useful unit costs."""

from __future__ import annotations

from collections.abc import Iterator

from unitcost import money
from unitcost.facts.answers import UnitCost
from unitcost.report import charts
from unitcost.report.figures import Made
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Cell, Column, Section, Table
from unitcost.report.sections.tables import remarked


def unit_costs(given: ReportInput, made: Made) -> Section:
    """Unit cost of each service that has outputs, one table per unit and currency, with what cannot be said and why."""
    groups: dict[tuple[str, str], list[UnitCost]] = {}
    for cost in given.unit_costs:
        groups.setdefault((cost.unit, cost.cost.unit), []).append(cost)
    return Section(
        key="unit-costs", title="Unit costs", question="What does one useful unit cost?",
        tables=tuple(_table(unit, currency, costs) for (unit, currency), costs in sorted(groups.items())),
        notes=tuple(_notes(given, made)),
    )  # fmt: skip


def _table(unit: str, currency: str, costs: list[UnitCost]) -> Table:
    tried = any(cost.wasted is not None for cost in costs)
    columns = (
        Column(name="service"), Column(name="cost of"), Column(name="cost", kind="money"),
        Column(name="useful units", kind="count"), Column(name=f"per {unit}", kind="unit"),
        *([Column(name="wasted", kind="money")] if tried else []), Column(name=""),
    )  # fmt: skip
    shown, rows, _ = remarked(columns, [_row(cost, tried=tried) for cost in costs])
    return Table(columns=shown, rows=rows, unit=currency, caption=f"Per {unit}, {currency}")


def _row(cost: UnitCost, *, tried: bool) -> tuple[Cell, ...]:
    note = cost.per_unit.note if cost.per_unit.value is None else ""
    wasted = (cost.wasted,) if tried else ()
    return cost.service, cost.of or None, cost.cost, cost.quantity, cost.per_unit, *wasted, note


def _notes(given: ReportInput, made: Made) -> Iterator[str]:
    for answer in given.comparisons:
        yield f"Per {answer.unit}: " + (
            f"{answer.cheapest} is the cheapest." if answer.cheapest else f"{answer.reason}."
        )
    levels = sorted({cost.of for cost in given.unit_costs if cost.of})
    if len(levels) > 1:
        yield (
            f"Costs are those of the {' or '.join(levels)} of that name. One charge can be of each, so these rows overlap "
            "and are not to be added up."
        )
    if given.selection.cost == "billed" and given.unit_costs:
        yield from _not_billed(made)
    if not given.unit_costs:
        yield (
            f"No unit costs of charges in {given.currency} alone: outputs are made with all charges."
            if given.currency
            else "No outputs are loaded: a csv `service, day, unit, quantity` gives cost per useful unit."
        )


def _not_billed(made: Made) -> Iterator[str]:
    """Use that commitments cover is not on the bill, so it is in no unit cost either."""
    for unit in sorted({one.unit for one in made.commitments}):
        used = money.add(one.used.value for one in made.commitments if one.unit == unit and one.used.value is not None)
        if used:
            yield (
                f"By billed cost these leave out use that commitments cover ({charts.grouped(used)} {unit} by effective "
                "cost in this range). `--cost effective` counts it."
            )
