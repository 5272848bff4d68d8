"""Joining charges of stores with listings of what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unitcost.attribution.places import short_name
from unitcost.attribution.stored import stored_parts
from unitcost.facts.drivers import STORAGE
from unitcost.facts.stored import Kept, StoredPart
from unitcost.jobs.capacity import USAGE, workers

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.report.amounts import Amounts

_DIMS = ("resource", "driver", "line")


def stored(asking: Asking, amounts: Amounts) -> dict[str, list[StoredPart]]:
    """Unit -> charges of the stores that listings tell of, by kind, run and team."""
    periods = asking.ledger.charge_periods()
    if not periods:
        return {}
    first, last = asking.bounds
    kept = asking.ledger.work.kept(first or periods[0][0], last or max(end for _, end in periods))
    if not kept:
        return {}
    stores = {short_name(row.store) for row in kept}
    rows = [
        row
        for row in asking.spend(_DIMS)
        if short_name(row.keys[0]) in stores and row.keys[1] == STORAGE and row.keys[2] in USAGE
    ]
    parts = amounts.by_unit("store-part", _DIMS, rows)
    by_unit = amounts.regroup("store", parts, lambda key: (key[0],))
    owned = _owned(asking, kept)
    found = {}
    for unit, figures in by_unit.items():
        charges = {str(key[0]): figure for key, figure in figures.items()}
        ids = {short_name(name): name for name in charges}
        named = [replace(row, store=ids[short_name(row.store)]) for row in owned if short_name(row.store) in ids]
        found[unit] = stored_parts(charges, named, at=asking.selection.tag)
    return found


def _owned(asking: Asking, kept: list[Kept]) -> list[Kept]:
    """The same with the team of the run in place of an owner that the listing does not name."""
    keys = asking.ledger.work.called(sorted({row.run for row in kept if row.run}))
    teams = {
        key: worker.owners.get("team") or ""
        for key, worker in workers(asking.ledger, asking.settings, sorted(set(keys.values()))).items()
    }
    merged: dict[tuple[str, str, str, str], int] = {}
    for row in kept:
        owner = row.owner or teams.get(keys.get(row.run, ""), "")
        place = (row.store, row.kind, row.run, owner)
        merged[place] = merged.get(place, 0) + row.byte_us
    return [
        Kept(store=store, kind=kind, run=run, owner=owner, byte_us=byte_us)
        for (store, kind, run, owner), byte_us in sorted(merged.items())
    ]
