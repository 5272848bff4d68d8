"""From the input to the report: sections in their order, tiles, messages and the answers for machines."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.rules import OWNER_KINDS
from unitcost.figure import Figure
from unitcost.report import charts
from unitcost.report.answers import answers, not_added, rates_used
from unitcost.report.figures import make
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Report, Section, Tile
from unitcost.report.sections import (
    capacity,
    changes,
    closing,
    costs,
    endpoints,
    loaded,
    runs,
    spending,
    stored,
    tokens,
    units,
    work,
)

#: Section -> what a report tells of where it has no charges.
_BESIDE_CHARGES = {
    "tokens": "calls of models",
    "runs": "runs",
    "work": "work",
    "endpoints": "endpoints",
    "stored": "stored data",
}


def build(given: ReportInput) -> Report:
    """Report of an input; the same input gives the same report."""
    made = make(given)
    sections = [
        spending.extra(given),
        changes.trend(given),
        spending.drivers(given, made),
        changes.flow(given),
        *(spending.owners(given, kind) for kind in OWNER_KINDS),
        costs.costs(given, made),
        units.unit_costs(given, made),
        tokens.tokens(given),
        endpoints.endpoints(given),
        runs.runs(given),
        capacity.capacity(given, made),
        work.work(given),
        stored.stored(given),
        changes.movers(given),
        spending.untagged(given),
        closing.commitments(made),
        *(spending.group(given, made, key) for key in ("lines", "providers", "services", "accounts", "regions")),
        spending.months(given, made),
        closing.closing(given),
        loaded.data(given),
    ]
    totals = made.totals
    return Report(
        title=_title(given, [section.key for section in sections if section is not None and section.tables]),
        selection=given.selection,
        currencies=tuple(totals),
        as_of=given.as_of,
        tiles=tuple(_tiles(given, totals, [s for s in sections if s])),
        sections=tuple(section for section in sections if section is not None and (totals or section.tables)),
        messages=tuple(_messages(given, totals)),
        closes=closing.closes(given),
        answers=answers(given, made),
        rates=tuple(rates_used(given)),
    )


def _title(given: ReportInput, shown: Sequence[str]) -> str:
    selection = given.selection
    placed = "month" if selection.place == "charge" else "billing_month"
    months = sorted({row.keys[0] for row in given.spend[placed] if row.keys[0]})
    first = selection.start.strftime("%Y-%m") if selection.start else (months[0] if months else "")
    last = months[-1] if months else ""
    span = first if first == last or not last else f"{first} to {last}"
    beside = [name for key, name in _BESIDE_CHARGES.items() if key in shown]
    if span or not beside:
        return f"{selection.cost.capitalize()} cost, {span or 'no charges'}"
    said = " and ".join(filter(None, [", ".join(beside[:-1]), beside[-1]]))
    return f"{said[0].upper()}{said[1:]}, without charges"


def _messages(given: ReportInput, totals: dict[str, Figure]) -> list[str]:
    found = closing.messages(given)
    if not totals:
        found.append(_no_charges(given))
    apart = not_added(given, totals)
    if apart:
        both = " and ".join(totals) if len(totals) > 1 else f"{', '.join(totals)} and {given.amounts.currency}"
        found.append(f"Amounts in {both} are not added: there is {', '.join(apart.values())} under [fx].")
    unknown = sum(row.unknown_rows for row in given.spend["line"])
    if unknown:
        found.append(f"{unknown} charges have no {given.selection.cost} cost; they count as nothing here.")
    aside = sum(load.rows_rejected for load in given.loads)
    if aside:
        found.append(f"{aside} rows were set aside when the files were loaded.")
    return found


def _no_charges(given: ReportInput) -> str:
    """That there are none, and what is loaded instead where no file has any."""
    if not given.loads or given.settings.charges or any(load.dataset == "charges" for load in given.loads):
        return "There are no charges in this range."
    return f"No charges are loaded; what is: {loaded.rows_by_reader(given.loads)}."


def _tiles(given: ReportInput, totals: dict[str, Figure], sections: list[Section]) -> list[Tile]:
    tiles = [
        Tile(
            name=f"{given.selection.cost.capitalize()} cost, {unit}",
            figure=figure,
            kind="money",
            beside=_change(sections, unit),
        )
        for unit, figure in totals.items()
    ]
    for unit in totals:
        shares = given.owned["team"].get(unit)
        if shares:
            splits = given.divides
            beside = _tagged(shares.tagged) + (", before splits" if splits else "")
            tiles.append(Tile(name=f"Owned by a team, {unit}", figure=shares.owned, kind="share", beside=beside))
    tiles += [
        Tile(name=f"{cost.service} per {cost.unit}, {cost.cost.unit}", figure=cost.per_unit, kind="unit")
        for cost in given.unit_costs[:2]
        if cost.per_unit.value is not None
    ]
    return tiles[:6]


def _tagged(share: Figure) -> str:
    return f"{charts.percent(share.value)} tagged" if share.value is not None else ""


def _change(sections: list[Section], unit: str) -> str:
    """Change of the last month against the one before, from the movers."""
    movers = next(section for section in sections if section.key == "movers")
    table = next((table for table in movers.tables if table.unit == unit and table.total), None)
    if table is None or table.total is None:
        return ""
    before, change = table.total[1], table.total[3]
    if not isinstance(before, Figure) or not isinstance(change, Figure) or not before.value or change.value is None:
        return ""
    sign = "+" if change.value >= 0 else "−"
    relative = charts.percent(abs(change.value) / abs(before.value))
    return f"{sign}{relative} from {table.columns[1].name} to {table.columns[2].name}"
