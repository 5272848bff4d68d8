"""Joining charges of stores with listings of what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unitcost.attribution.decide import owner_rules
from unitcost.attribution.owners import known_name
from unitcost.attribution.places import short_name
from unitcost.attribution.splits import pool_of
from unitcost.attribution.stored import stored_parts
from unitcost.facts.drivers import STORAGE
from unitcost.facts.rules import OWNER_KINDS, OwnerKind
from unitcost.facts.spend import USAGE_LINES, SpendRow
from unitcost.facts.stored import Kept, StoreCharges, StoredPart
from unitcost.figure import Figure
from unitcost.jobs.capacity import workers
from unitcost.ledger.spend import Question

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.report.amounts import Amounts, Key

_DIMS = ("resource", "driver", "line", *OWNER_KINDS)


def stored(asking: Asking, amounts: Amounts) -> dict[str, list[StoredPart]]:
    """Unit -> charges of the stores that listings tell of, by kind, run and owner."""
    periods = asking.ledger.charge_periods()
    if not periods:
        return {}
    first, last = asking.bounds
    kept = asking.ledger.work.kept(first or periods[0][0], last or max(end for _, end in periods))
    if not kept:
        return {}
    told = _owned(asking, kept)
    found = {}
    for unit, figures in amounts.by_unit("store", _DIMS, _charged(asking, {row.store for row in told})).items():
        charges = [_charges(asking, key, figures[key]) for key in figures]
        found[unit] = stored_parts(charges, _of_stores(told, charges), at=asking.selection.tag)
    return found


def _charged(asking: Asking, stores: set[str]) -> list[SpendRow]:
    """Charges for storage of the stores, by owner."""
    names = {name for name, _ in asking.ledger.work.charged_names(asking.selection) if short_name(name) in stores}
    question = Question(
        selection=asking.selection, dims=_DIMS, placements=asking.months, rates_since=asking.rates_since,
        resources=tuple(sorted(names)),
    )  # fmt: skip
    return [
        row
        for row in asking.ledger.work.spend(question)
        if row.keys[1] == STORAGE
        and row.keys[2] in USAGE_LINES
        and (not asking.currency or row.currency == asking.currency)
    ]


def _charges(asking: Asking, key: Key, amount: Figure) -> StoreCharges:
    cell = dict(zip(_DIMS, key, strict=True))
    divided = frozenset(
        kind
        for kind in OWNER_KINDS
        if pool_of(cell, [split for split in asking.settings.splits if split.by == kind]) is not None
    )
    owners: dict[OwnerKind, str | None] = {kind: cell[kind] for kind in OWNER_KINDS}
    return StoreCharges(store=str(key[0]), owners=owners, amount=amount, divided=divided)


def _of_stores(told: list[Kept], charges: list[StoreCharges]) -> list[Kept]:
    """What is kept in each store that is charged, under the name that its charges have."""
    names = sorted({found.store for found in charges})
    return [replace(row, store=name) for name in names for row in told if row.store == short_name(name)]


def _owned(asking: Asking, kept: list[Kept]) -> list[Kept]:
    """The same by short names of stores, with owners of the run in place of those that the listing does not name."""
    keys = asking.ledger.work.called(sorted({row.run for row in kept if row.run}))
    known = workers(asking.ledger, asking.settings, sorted(set(keys.values())))
    rules = owner_rules(asking.settings, "team")
    merged: dict[Kept, int] = {}
    for row in kept:
        worker = known.get(keys.get(row.run, ""))
        owners: dict[OwnerKind, str] = {kind: (worker.owners[kind] if worker else None) or "" for kind in OWNER_KINDS}
        place = replace(
            row, store=short_name(row.store), byte_us=0, team=known_name(rules, row.team) or owners["team"],
            project=owners["project"], experiment=owners["experiment"],
        )  # fmt: skip
        merged[place] = merged.get(place, 0) + row.byte_us
    return [replace(place, byte_us=byte_us) for place, byte_us in merged.items()]
