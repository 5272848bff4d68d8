"""The report: ask the ledger, decide, divide what is shared, and build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import get_args

from unitcost import money
from unitcost.attribution import decide, fingerprint
from unitcost.attribution.decide import owner_rules
from unitcost.attribution.fx import rate_days, rate_in_force
from unitcost.attribution.near import near_drivers, near_keys, near_values
from unitcost.attribution.periods import Granularity, place
from unitcost.attribution.ranking import firmness
from unitcost.attribution.splits import Pool, apply_splits, pool_of
from unitcost.economics.unit_costs import compare, unit_costs
from unitcost.errors import UnknownName
from unitcost.facts.answers import Firmness, NearMiss, OwnerShare, UnitCost
from unitcost.facts.days import next_month
from unitcost.facts.rules import OWNER_KINDS, UNKNOWN_DRIVER, UNTAGGED, FxRate, OwnerKind, Settings, SplitRule
from unitcost.facts.spend import Attribution, Line, Placement, Selection, SpendRow, check_dimensions
from unitcost.figure import Figure, figure_id
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Ledger
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.build import build
from unitcost.report.inputs import DIMS, ReportInput, shown_driver, shown_owner
from unitcost.report.model import Report

#: Lines of the bill that stand beside the teams, and are none.
_LINES = frozenset(get_args(Line)) - {"usage", "marketplace"}
#: Above this many days a trend is drawn by month.
_MOST_DAYS = 200


def review(workspace: Workspace, selection: Selection, *, by: tuple[str, ...] = (), currency: str = "") -> Report:
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

    Raises
    ------
    UnitcostError
        When there is no ledger yet.
    UnknownName
        When `by` names no dimension, or nothing is billed in the currency.
    """
    check_dimensions(by)
    with workspace.open_ledger() as ledger:
        ledger.state_charges(workspace.settings.charges, now=workspace.now)
        ledger.state_invoices(workspace.settings.invoices)
        attributions = attribute(ledger, workspace.settings)
        asking = Asking.of(ledger, workspace, selection, _currency(ledger, currency))
        return build(_collect(asking, by, attributions))


def _currency(ledger: Ledger, said: str) -> str:
    """Currency as the ledger writes it."""
    known = ledger.currencies() if said else []
    found = next((name for name in known if name.casefold() == said.casefold()), "")
    if known and not found:
        raise UnknownName("charge in the currency", said, known)
    return found or said


def attribute(ledger: Ledger, settings: Settings) -> list[NearMiss]:
    """Decide owners and drivers where that has not been done with these rules; returns near misses of names."""
    facets = list(ledger.facets())
    attributions: list[Attribution] = decide(facets, settings)
    mark = fingerprint(settings)
    if not ledger.attributed(mark):
        ledger.write_attributions(mark, attributions)
    misses = near_drivers(settings.drivers)
    for kind in OWNER_KINDS:
        rules = owner_rules(settings, kind)
        misses += near_values(rules, attributions) + near_keys(rules, facets)
    return misses


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks an open ledger with one selection, the placements and exchange rates that belong to it."""

    ledger: Ledger
    settings: Settings
    as_of: str
    selection: Selection
    currency: str
    days: list[Placement]
    months: list[Placement]
    rates_since: tuple[date, ...]

    @classmethod
    def of(cls, ledger: Ledger, workspace: Workspace, selection: Selection, currency: str) -> Asking:
        """Prepare the questions of a report."""
        periods = ledger.charge_periods()
        span = (periods[-1][1] - periods[0][0]).days if periods else 0
        fine: Granularity = "day" if span <= _MOST_DAYS else "month"
        return cls(
            ledger=ledger, settings=workspace.settings, as_of=workspace.now.date().isoformat(), selection=selection,
            currency=currency, days=place(periods, fine, selection.timezone),
            months=place(periods, "month", selection.timezone), rates_since=rate_days(workspace.settings.fx),
        )  # fmt: skip

    def spend(self, dims: tuple[str, ...], selection: Selection | None = None) -> list[SpendRow]:
        """Sums of the selected cost."""
        placements = self.days if "day" in dims else self.months
        rows = self.ledger.spend(selection or self.selection, dims, placements=placements, rates_since=self.rates_since)
        return [row for row in rows if not self.currency or row.currency == self.currency]

    def amounts(self, selection: Selection | None = None) -> Amounts:
        """Maker of figures for a selection."""

        def rate_of(currency: str, since: date | None) -> FxRate | None:
            return rate_in_force(self.settings.fx, currency, since)

        return Amounts(
            selection=selection or self.selection, currency=self.currency or self.settings.currency, rate_of=rate_of
        )


def _collect(asking: Asking, by: tuple[str, ...], near: list[NearMiss]) -> ReportInput:
    selection = asking.selection
    amounts = asking.amounts()
    moved = _with_month_before(selection)
    groups = {
        name: asking.spend(dims, moved if name.startswith("movers") else selection) for name, dims in DIMS.items()
    }
    direct = {kind: _direct(amounts, kind, groups[kind]) for kind in OWNER_KINDS}
    owners = {kind: _owners(asking, amounts, kind, direct[kind]) for kind in OWNER_KINDS}
    costs = _unit_costs(asking, amounts)
    billed = replace(selection, cost="billed", place="billing")
    effective = replace(selection, cost="effective", place="billing")
    commitments = ("commitment", "commitment_status", "charge_category")
    return ReportInput(
        selection=selection, settings=asking.settings, as_of=asking.as_of, amounts=amounts, movers=asking.amounts(moved),
        spend=groups, owners=owners, owner_direct=direct,
        closing=[r for r in asking.ledger.closing(selection) if not asking.currency or r.currency == asking.currency],
        billed=asking.amounts(billed), effective=asking.amounts(effective),
        bridge_billed=asking.spend(("bridge_step",), billed), bridge_effective=asking.spend(("bridge_step",), effective),
        commitments_billed=asking.spend(commitments, billed), commitments_effective=asking.spend(commitments, effective),
        unit_costs=costs, comparisons=compare(costs, asking.settings.qualities),
        firmness={"driver": _driver_firmness(amounts, groups["driver"]), "team": _team_firmness(owners["team"])},
        near_misses=near, loads=asking.ledger.loads(), by=(by, asking.spend(by)) if by else None,
    )  # fmt: skip


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
    return amounts.regroup(f"{kind}-direct", raw, lambda key: (shown_owner(key[0], key[1], key[2]), key[1]))


def _owners(asking: Asking, amounts: Amounts, kind: OwnerKind, direct: ByUnit) -> dict[str, list[OwnerShare]]:
    splits = [split for split in asking.settings.splits if split.by == kind]
    owned = amounts.regroup(f"{kind}-own", direct, lambda key: (key[0],))
    metrics = _metrics(asking) if any(split.metric for split in splits) else {}
    taken = _taken(asking, amounts, kind, splits)
    shares = {}
    for unit, figures in owned.items():
        mine = {str(key[0]): figure for key, figure in figures.items()}
        pools = [
            Pool(rule=split, taken={str(key[0]): figure for key, figure in by_unit.get(unit, {}).items()})
            for split, by_unit in zip(splits, taken, strict=True)
        ]
        shares[unit] = apply_splits(mine, pools, unit=unit, at=amounts.selection.tag, kind=kind, metrics=metrics)
    return shares


def _taken(asking: Asking, amounts: Amounts, kind: OwnerKind, splits: Sequence[SplitRule]) -> list[ByUnit]:
    """What each split takes, by the owner it is taken from; the first split that selects a charge takes it whole."""
    if not splits:
        return []
    selecting = sorted({dimension for split in splits for dimension in split.of} - {kind})
    dims = (*selecting, kind, f"{kind}_how", "line")
    rows = asking.spend(dims)
    taken = []
    for number, _ in enumerate(splits):
        mine = [row for row in rows if pool_of(dict(zip(dims, row.keys, strict=True)), splits) == number]
        by_unit = amounts.by_unit(f"pool-{kind}-{number}", dims, mine)
        taken.append(
            amounts.regroup(
                f"pool-{kind}-{number}-owner", by_unit, lambda key: (shown_owner(key[-3], key[-2], key[-1]),)
            )
        )
    return taken


def _metrics(asking: Asking) -> dict[str, dict[str, Decimal]]:
    """Unit -> owner -> quantity: outputs whose service is named like an owner."""
    metrics: dict[str, dict[str, Decimal]] = {}
    for row in asking.ledger.outputs(asking.selection):
        found = metrics.setdefault(row.unit, {})
        found[row.service] = money.add([found.get(row.service, money.ZERO), row.quantity])
    return metrics


def _unit_costs(asking: Asking, amounts: Amounts) -> list[UnitCost]:
    """Unit costs of the services in the outputs, each with the charges of the project, resource or team of its name."""
    outputs = asking.ledger.outputs(asking.selection)
    names = {row.service for row in outputs}
    if not names or asking.currency:  # a part of the cost over all of the units would be wrong
        return []
    costs: dict[str, Figure] = {}
    for dimension in ("project", "experiment", "resource", "service", "team"):
        rows = [row for row in asking.spend((dimension,)) if row.keys[0] in names]
        by_unit = amounts.by_unit(f"service-cost-{dimension}", (dimension,), rows)
        for name in sorted(names - set(costs)):
            found = {unit: figures[(name,)] for unit, figures in by_unit.items() if (name,) in figures}
            if found:
                costs[name] = next(iter(found.values())) if len(found) == 1 else _mixed(amounts, name, tuple(found))
    return unit_costs(costs, outputs, at=amounts.selection.tag)


def _mixed(amounts: Amounts, name: str, units: tuple[str, ...]) -> Figure:
    """Cost of a service that is billed in several currencies without a rate: there is no such number."""
    return Figure(
        id=figure_id("service-cost", name, at=amounts.selection.tag), value=None, unit=units[0], basis="unknown",
        op="none", formula="no value", label=f"cost of {name}",
        note=f"billed in {' and '.join(units)}, and not all of it has a rate under [fx]",
    )  # fmt: skip


def _driver_firmness(amounts: Amounts, rows: Sequence[SpendRow]) -> dict[str, Firmness]:
    usage = [row for row in rows if row.keys[2] in ("usage", "marketplace")]
    raw = amounts.by_unit("driver-firm", DIMS["driver"], usage)
    answers = {}
    for unit, figures in amounts.regroup("driver-firm", raw, lambda key: (shown_driver(key[0], key[2]),)).items():
        values = {str(key[0]): figure.value or money.ZERO for key, figure in figures.items()}
        unknown = values.pop(UNKNOWN_DRIVER, money.ZERO)
        answers[unit] = firmness(values, unknown)
    return answers


def _team_firmness(owners: dict[str, list[OwnerShare]]) -> dict[str, Firmness]:
    answers = {}
    for unit, shares in owners.items():
        teams = [share for share in shares if share.owner not in _LINES]
        values = {share.owner: share.amount.value or money.ZERO for share in teams}
        unknown = values.pop(UNTAGGED, money.ZERO)
        answers[unit] = firmness(values, unknown)
    return answers
