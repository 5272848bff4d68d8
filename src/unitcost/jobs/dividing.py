"""Owners after shared cost is divided, and what the splits of the settings could not do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.attribution.split_notes import known_owners, notes_of
from unitcost.attribution.splits import Listed, Pool, apply_splits, pool_of
from unitcost.facts.answers import OwnerShare, SplitNote
from unitcost.facts.naming import NOBODY, spelt_owner
from unitcost.facts.rules import OwnerKind, SplitRule
from unitcost.facts.spend import SpendRow
from unitcost.facts.stored import StoredPart
from unitcost.figure import Figure, figure_id, total
from unitcost.jobs.asking import Asking
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.inputs import shown_owner

Metrics = dict[str, dict[str, Decimal]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """Owners of one kind by unit, after the splits, which splits gave something, and what is to be said of the others."""

    owners: dict[str, list[OwnerShare]]
    dividing: frozenset[str]
    notes: list[SplitNote]


def divide(
    asking: Asking, amounts: Amounts, kind: OwnerKind, direct: ByUnit, stored: Mapping[str, Sequence[StoredPart]]
) -> Divided:
    """Owners of one kind after the splits.

    Parameters
    ----------
    direct
        Unit -> (shown owner, how it is known) -> figure of the owner's own charges.
    stored
        Unit -> parts of the charges of stores; what nobody owns goes to those that listings tell of.
    """
    splits = [split for split in asking.settings.splits if split.by == kind]
    owned = amounts.regroup(f"{kind}-own", direct, lambda key: (key[0],))
    selected = _Selected.of(asking, kind, splits)
    metrics = _metrics(asking) if any(split.metric for split in splits) else {}
    names = {str(key[0]) for figures in owned.values() for key in figures} - NOBODY
    names |= {spelt_owner(name) for name in known_owners(asking.settings, kind)}
    found: dict[str, list[str]] = {
        split.name: list(notes_of(number, splits, selected.cells(), owners=names, metrics=metrics))
        for number, split in enumerate(splits)
    }
    taken = [selected.taken(amounts, number) for number in range(len(splits))]
    shares: dict[str, list[OwnerShare]] = {}
    dividing: set[str] = set()
    for unit, figures in owned.items():
        mine = {str(key[0]): figure for key, figure in figures.items()}
        pools = [
            Pool(rule=split, taken={str(key[0]): figure for key, figure in by_unit.get(unit, {}).items()})
            for split, by_unit in zip(splits, taken, strict=True)
        ]
        division = apply_splits(
            mine, pools, unit=unit, at=amounts.selection.tag, kind=kind, metrics=metrics, others=names,
            listed=_listed(stored.get(unit, ()), kind, unit, amounts.selection.tag),
        )  # fmt: skip
        shares[unit] = list(division.shares)
        dividing |= division.gave
        for split, says in division.notes:
            found[split].append(says)
    notes = [SplitNote(kind=kind, split=split, says=says) for split, many in found.items() for says in many]
    return Divided(owners=shares, dividing=frozenset(dividing), notes=notes)


def _listed(parts: Sequence[StoredPart], kind: OwnerKind, unit: str, at: str) -> list[Listed]:
    """What owners have in stores whose charges are another's, or nobody's."""
    moves: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for part in parts:
        if part.owners[kind] != part.charged[kind]:
            moves[spelt_owner(part.charged[kind]), spelt_owner(part.owners[kind])].append(part.amount)
    return [
        Listed(
            source=source, owner=owner,
            amount=total(
                figure_id("listed", kind, owner, source, unit, at=at), tuple(found), unit=unit, label=f"{owner}, in stores"
            ),
        )
        for (source, owner), found in sorted(moves.items())
    ]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selected:
    """Sums by all that the splits of one kind select by."""

    kind: OwnerKind
    splits: Sequence[SplitRule]
    dims: tuple[str, ...]
    rows: Sequence[SpendRow]

    @classmethod
    def of(cls, asking: Asking, kind: OwnerKind, splits: Sequence[SplitRule]) -> _Selected:
        selecting = sorted({dimension for split in splits for dimension in split.of} - {kind})
        dims = (*selecting, kind, "line")
        return cls(kind=kind, splits=splits, dims=dims, rows=asking.spend(dims) if splits else ())

    def cells(self) -> list[dict[str, str | None]]:
        """What charges hold, by dimension."""
        return [dict(zip(self.dims, row.keys, strict=True)) for row in self.rows]

    def taken(self, amounts: Amounts, number: int) -> ByUnit:
        """What a split takes, by the owner it is taken from; the first that selects a charge takes it whole."""
        mine = [row for row, cell in zip(self.rows, self.cells(), strict=True) if pool_of(cell, self.splits) == number]
        by_unit = amounts.by_unit(f"pool-{self.kind}-{number}", self.dims, mine)
        return amounts.regroup(
            f"pool-{self.kind}-{number}-owner", by_unit, lambda key: (shown_owner(key[-2], key[-1]),)
        )


def _metrics(asking: Asking) -> Metrics:
    """Unit -> owner -> quantity: outputs whose service is named like an owner."""
    metrics: Metrics = {}
    for row in asking.outputs:
        found = metrics.setdefault(row.unit, {})
        name = spelt_owner(row.service)
        found[name] = money.add([found.get(name, money.ZERO), row.quantity])
    return metrics
