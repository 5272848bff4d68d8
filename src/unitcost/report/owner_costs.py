"""What each owner pays for: drivers, with what is kept in stores told apart, and shared cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from unitcost import money
from unitcost.facts.answers import OwnerShare
from unitcost.facts.drivers import STORAGE
from unitcost.facts.naming import spelt_owner
from unitcost.facts.rules import OwnerKind
from unitcost.facts.stored import KEPT_FOR, StoredPart
from unitcost.figure import Figure, figure_id, total
from unitcost.report.amounts import ByUnit, Key, order
from unitcost.report.inputs import DIMS, ReportInput, shown_driver, shown_owner

#: What an owner has of shared cost, less what it gave away.
SHARED = "shared cost"


def owner_costs(given: ReportInput, kind: OwnerKind) -> ByUnit:
    """Unit -> (owner, what for) -> amount; what an owner has here is what its row in the table of owners says."""
    raw = given.amounts.by_unit(f"{kind}-part", DIMS[kind], given.spend[kind])
    by_driver = given.amounts.regroup(
        f"{kind}-cost-direct", raw, lambda key: (shown_owner(key[0], key[2]), shown_driver(key[3], key[2]))
    )
    found: ByUnit = {}
    for unit, direct in by_driver.items():
        book = _Book(kind=kind, unit=unit, at=given.selection.tag)
        stored = given.stored.get(unit, ())
        parts = [
            *_direct(book, direct, stored),
            *_kept(stored, kind),
            *_shared(book, given.owners.get(kind, {}).get(unit, ())),
        ]
        found[unit] = _summed(book, parts)
    return found


class _Book:
    """Names figures of one kind of owner in one currency."""

    def __init__(self, *, kind: OwnerKind, unit: str, at: str) -> None:
        self.kind, self.unit, self.at = kind, unit, at

    def sum_of(self, key: Key, parts: Sequence[Figure], *steps: str) -> Figure:
        return total(self._id(key, *steps), tuple(parts), unit=self.unit, label=" / ".join(str(name) for name in key))

    def less(self, key: Key, whole: Figure, parts: Sequence[Figure], formula: str, *steps: str) -> Figure:
        gone = money.add(part.value or money.ZERO for part in parts)
        return Figure(
            id=self._id(key, *steps), value=money.subtract(whole.value or money.ZERO, gone), unit=self.unit,
            basis="derived", op="difference", formula=formula, inputs=(whole, *parts),
            label=" / ".join(str(name) for name in key),
        )  # fmt: skip

    def _id(self, key: Key, *steps: str) -> str:
        return figure_id("owner-cost", self.kind, *(str(name) for name in key), *steps, self.unit, at=self.at)


def _direct(book: _Book, direct: Mapping[Key, Figure], stored: Sequence[StoredPart]) -> Iterable[tuple[Key, Figure]]:
    """Own charges by driver; of storage what no listing tells of."""
    listed: dict[Key, list[Figure]] = defaultdict(list)
    for part in stored:
        listed[spelt_owner(part.charged[book.kind]), STORAGE].append(part.amount)
    for key, figure in direct.items():
        parts = listed.get(key)
        yield key, book.less(key, figure, parts, "storage less what listings tell of", "rest") if parts else figure


def _kept(stored: Sequence[StoredPart], kind: OwnerKind) -> Iterable[tuple[Key, Figure]]:
    for part in stored:
        yield (spelt_owner(part.owners[kind]), KEPT_FOR.get(part.kind, KEPT_FOR["other"])), part.amount


def _shared(book: _Book, shares: Sequence[OwnerShare]) -> Iterable[tuple[Key, Figure]]:
    """What splits gave and took; what changed hands by listings stands where it is kept."""
    for share in shares:
        received, given = _without(share.shared, share.listed), _without(share.given, share.unlisted)
        key: Key = (share.owner, SHARED)
        if received or given:
            whole = book.sum_of(key, received, "received")
            yield key, book.less(key, whole, given, "shared with it - shared out", "net") if given else whole


def _without(figures: Sequence[Figure], others: Sequence[Figure]) -> list[Figure]:
    gone = {figure.id for figure in others}
    return [figure for figure in figures if figure.id not in gone]


def _summed(book: _Book, parts: Iterable[tuple[Key, Figure]]) -> dict[Key, Figure]:
    """Sums by owner and what for; what comes to nothing after a listing took it is left out."""
    groups: dict[Key, list[Figure]] = defaultdict(list)
    for key, figure in parts:
        if figure.value or figure.op != "difference":
            groups[key].append(figure)
    return {
        key: figures[0] if len(figures) == 1 else book.sum_of(key, figures)
        for key, figures in sorted(groups.items(), key=lambda item: order(item[0]))
    }
