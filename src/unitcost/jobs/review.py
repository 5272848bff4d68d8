"""The report: ask the ledger, decide, divide what is shared, and build."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import date

from unitcost import money
from unitcost.attribution import decide, fingerprint
from unitcost.attribution.decide import owner_rules
from unitcost.attribution.near import near_drivers, near_keys, near_values
from unitcost.attribution.owners import owned_shares
from unitcost.attribution.places import short_name
from unitcost.attribution.ranking import firmness
from unitcost.economics.unit_costs import compare, unit_costs
from unitcost.errors import UnknownName
from unitcost.facts.answers import Firmness, NearMiss, Owned, OwnerShare, UnitCost
from unitcost.facts.capacity import WorkAnswers
from unitcost.facts.days import next_month
from unitcost.facts.rules import OWNER_KINDS, UNKNOWN_DRIVER, UNTAGGED, OwnerKind, Settings
from unitcost.facts.spend import BESIDE_LINES, Selection, SpendRow, check_dimensions
from unitcost.facts.token_account import PricedCalls
from unitcost.figure import Figure, figure_id, total
from unitcost.jobs.asking import Asking
from unitcost.jobs.calls import priced_calls
from unitcost.jobs.capacity import service_parts, work_answers
from unitcost.jobs.dividing import divide
from unitcost.jobs.endpoints import endpoints
from unitcost.jobs.prices import open_models
from unitcost.jobs.stored import stored
from unitcost.jobs.token_account import token_account
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Ledger
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.build import build
from unitcost.report.inputs import COMMITMENTS, DIMS, ReportInput, shown_driver, shown_owner
from unitcost.report.model import Report


def review(
    workspace: Workspace,
    selection: Selection,
    *,
    by: tuple[str, ...] = (),
    currency: str = "",
    ledger: Ledger | None = None,
) -> Report:
    """Report of what is loaded.

    Parameters
    ----------
    workspace
        Where the ledger is.
    selection
        Which charges, and which cost of theirs.
    by
        Dimensions of an extra table.
    currency
        Only charges billed in this currency; empty = all.
    ledger
        The workspace's ledger, when it is open already; it stays open.

    Raises
    ------
    UnitcostError
        When there is no ledger yet.
    UnknownName
        When `by` names no dimension, or nothing is billed in the currency.
    """
    check_dimensions(by)
    selection = replace(selection, currency=currency)
    with nullcontext(ledger) if ledger else workspace.open_ledger() as ledger:
        ledger.state_charges(workspace.settings.charges, now=workspace.now)
        ledger.state_invoices(workspace.settings.invoices)
        attribute(ledger, workspace.settings)
        asking = Asking.of(ledger, workspace, selection, _currency(ledger, currency))
        return build(_collect(asking, by, _calls(workspace, ledger, selection)))


def _currency(ledger: Ledger, said: str) -> str:
    """Currency as the ledger writes it."""
    known = ledger.currencies() if said else []
    found = next((name for name in known if name.casefold() == said.casefold()), "")
    if known and not found:
        raise UnknownName("charge in the currency", said, known)
    return found or said


def attribute(ledger: Ledger, settings: Settings) -> None:
    """Decide owners and drivers, unless that has been done with these rules."""
    mark = fingerprint(settings)
    if not ledger.attributed(mark):
        ledger.write_attributions(mark, decide(ledger.facets(), settings))


def _calls(workspace: Workspace, ledger: Ledger, selection: Selection) -> PricedCalls | None:
    """Calls with prices and owners; the price lists are opened only when there are calls."""
    if not ledger.work.calls.any():
        return None
    return priced_calls(ledger, open_models(workspace), workspace.settings, selection)


def _collect(asking: Asking, by: tuple[str, ...], calls: PricedCalls | None) -> ReportInput:
    selection = asking.selection
    amounts = asking.amounts()
    moved = _with_month_before(selection)
    groups = {
        name: asking.spend(dims, moved if name.startswith("movers") else selection) for name, dims in DIMS.items()
    }
    direct = {kind: _direct(amounts, kind, groups[kind]) for kind in OWNER_KINDS}
    kept = stored(asking, amounts)
    divided = {kind: divide(asking, amounts, kind, direct[kind], kept) for kind in OWNER_KINDS}
    owners = {kind: found.owners for kind, found in divided.items()}
    dividing = frozenset(name for found in divided.values() for name in found.dividing)
    split_notes = [note for found in divided.values() for note in found.notes]
    work = work_answers(asking, amounts)
    costs = _unit_costs(asking, amounts, work)
    billed = replace(selection, cost="billed", place="billing")
    effective = replace(selection, cost="effective", place="billing")
    return ReportInput(
        selection=selection, settings=asking.settings, as_of=asking.as_of, amounts=amounts, movers=asking.amounts(moved),
        spend=groups, owners=owners, owner_direct=direct,
        owned={kind: _owned(amounts, kind, direct[kind]) for kind in OWNER_KINDS},
        closing=[r for r in asking.ledger.closing(selection) if not asking.currency or r.currency == asking.currency],
        billed=asking.amounts(billed), effective=asking.amounts(effective),
        bridge_billed=asking.spend(("bridge_step",), billed), bridge_effective=asking.spend(("bridge_step",), effective),
        commitments_billed=asking.spend(COMMITMENTS, billed), commitments_effective=asking.spend(COMMITMENTS, effective),
        unit_costs=costs, comparisons=compare(costs, asking.settings.qualities),
        firmness={"driver": _driver_firmness(amounts, groups["driver"]), "team": _team_firmness(owners["team"])},
        work=work, endpoints=endpoints(asking, amounts, work), stored=kept,
        tokens=token_account(asking, amounts, calls, costs),
        near_misses=_near_misses(asking, groups), dividing=dividing, split_notes=split_notes,
        currency=asking.currency, loads=asking.ledger.loads(), by=(by, asking.spend(by)) if by else None,
    )  # fmt: skip


def _near_misses(asking: Asking, groups: Mapping[str, Sequence[SpendRow]]) -> list[NearMiss]:
    """Names in the selected charges that almost match."""
    keys = asking.tag_keys()
    misses = near_drivers(asking.settings.drivers)
    for kind in OWNER_KINDS:
        rules = owner_rules(asking.settings, kind)
        misses += near_values(rules, ((row.keys[0], row.keys[1]) for row in groups[kind])) + near_keys(rules, keys)
    return misses


def _with_month_before(selection: Selection) -> Selection:
    """One month alone is compared with the one before it."""
    if selection.start is None or selection.end is None or next_month(selection.start) != selection.end:
        return selection
    start = selection.start
    before = date(start.year - (start.month == 1), (start.month - 2) % 12 + 1, 1)
    return replace(selection, start=before)


def _direct(amounts: Amounts, kind: OwnerKind, rows: Sequence[SpendRow]) -> ByUnit:
    """Figures of owners' own charges by (shown owner, how it is known)."""
    raw = amounts.by_unit(f"{kind}-part", DIMS[kind], rows)
    return amounts.regroup(f"{kind}-direct", raw, lambda key: (shown_owner(key[0], key[2]), key[1]))


def _owned(amounts: Amounts, kind: OwnerKind, direct: ByUnit) -> dict[str, Owned]:
    """Shares of the spend that have an owner, by unit."""
    at = amounts.selection.tag
    by_how = amounts.regroup(f"{kind}-how", direct, lambda key: (key[1],))
    return {
        unit: owned_shares({str(key[0]): figure for key, figure in found.items()}, unit=unit, at=at, kind=kind)
        for unit, found in by_how.items()
    }


def _unit_costs(asking: Asking, amounts: Amounts, work: WorkAnswers | None) -> list[UnitCost]:
    """Unit costs of the services in the outputs, each with the charges, or else the capacity, that its name stands for."""
    outputs = asking.outputs
    names = {row.service for row in outputs}
    if not names or asking.currency:  # a part of the cost over all of the units would be wrong
        return []
    costs: dict[str, Figure] = {}
    levels: dict[str, str] = {}
    for dimension in ("project", "experiment", "resource", "service", "team"):
        by_unit = _costs_called(asking, amounts, dimension, names)
        for name in sorted(names - set(costs)):
            found = {unit: figures[(name,)] for unit, figures in by_unit.items() if (name,) in figures}
            if found:
                costs[name] = next(iter(found.values())) if len(found) == 1 else _mixed(amounts, name, tuple(found))
                levels[name] = dimension
    for name, held in service_parts(work, names - set(costs)).items():
        made = {
            unit: total(
                figure_id("service-cost", "work", name, unit, at=amounts.selection.tag), tuple(parts), unit=unit
            )
            for unit, parts in held.items()
        }
        costs[name] = next(iter(made.values())) if len(made) == 1 else _mixed(amounts, name, tuple(made))
        levels[name] = "work"
    return unit_costs(costs, outputs, at=amounts.selection.tag, of=levels)


def _costs_called(asking: Asking, amounts: Amounts, dimension: str, names: Collection[str]) -> ByUnit:
    """Charges by those of the names that they bear in a dimension; the id of a resource may have a path before it."""
    if dimension != "resource":
        rows = [row for row in asking.spend((dimension,)) if row.keys[0] in names]
        return amounts.by_unit(f"service-cost-{dimension}", (dimension,), rows)
    short = {short_name(name): name for name in names}

    def called(resource: str | None) -> str | None:
        return resource if resource in names else short.get(short_name(resource)) if resource else None

    rows = [row for row in asking.spend((dimension,)) if called(row.keys[0])]
    parts = amounts.by_unit("service-cost-resource-part", (dimension,), rows)
    return amounts.regroup("service-cost-resource", parts, lambda key: (called(key[0]),))


def _mixed(amounts: Amounts, name: str, units: tuple[str, ...]) -> Figure:
    """Cost of a service that is billed in several currencies without a rate: there is no such number."""
    return Figure(
        id=figure_id("service-cost", name, at=amounts.selection.tag), value=None, unit=units[0], basis="unknown",
        op="none", formula="no value", label=f"cost of {name}",
        note=f"billed in {' and '.join(units)}, and not all of it has a rate under [fx]",
    )  # fmt: skip


def _driver_firmness(amounts: Amounts, rows: Sequence[SpendRow]) -> dict[str, Firmness]:
    driven = [row for row in rows if shown_driver(row.keys[0], row.keys[2]) not in BESIDE_LINES]
    raw = amounts.by_unit("driver-firm", DIMS["driver"], driven)
    answers = {}
    for unit, figures in amounts.regroup("driver-firm", raw, lambda key: (shown_driver(key[0], key[2]),)).items():
        values = {str(key[0]): figure.value or money.ZERO for key, figure in figures.items()}
        unknown = values.pop(UNKNOWN_DRIVER, money.ZERO)
        answers[unit] = firmness(values, unknown)
    return answers


def _team_firmness(owners: dict[str, list[OwnerShare]]) -> dict[str, Firmness]:
    answers = {}
    for unit, shares in owners.items():
        teams = [share for share in shares if share.owner not in BESIDE_LINES]
        values = {share.owner: share.amount.value or money.ZERO for share in teams}
        unknown = values.pop(UNTAGGED, money.ZERO)
        answers[unit] = firmness(values, unknown)
    return answers
