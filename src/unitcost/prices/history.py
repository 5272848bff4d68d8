"""Records of the same thing, one after the other: which is in force, and what changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from unitcost.facts.prices import OWN, InForce, PriceRecord, holds_at

_ALWAYS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A price at one moment and at a later one; None = there was none."""

    before: PriceRecord | None
    after: PriceRecord | None


def in_force(records: Iterable[PriceRecord], at: datetime) -> list[InForce]:
    """The records in force at a moment, one per thing priced, in the order of their keys.

    The user's own record wins over any other of the same thing, in its place or everywhere.
    """
    found = []
    for _, group in sorted(_by_key(records).items()):
        own = [record for record in group if record.source.licence == OWN]
        current = _current(own, at) or _current(group, at)
        if current is not None:
            found.append(current)
    return _own_first(found)


def _own_first(items: list[InForce]) -> list[InForce]:
    """Leave out what a record of the user's covers: the same thing there or everywhere, by whatever unit."""
    own = [item.record for item in items if item.record.source.licence == OWN]
    return [
        item for item in items if item.record.source.licence == OWN or not any(_covers(o, item.record) for o in own)
    ]


def _covers(own: PriceRecord, other: PriceRecord) -> bool:
    same = ("kind", "sku", "meter", "destination", "variant", "category", "commitment")
    places = ("provider", "region", "zone")
    return all(getattr(own, name) == getattr(other, name) for name in same) and all(
        getattr(own, name) in ("", getattr(other, name)) for name in places
    )


def changes(records: Iterable[PriceRecord], before: datetime, after: datetime) -> list[Change]:
    """What cost something else at two moments, what is new and what is gone."""
    kept = list(records)
    old = {item.record.key: item.record for item in in_force(kept, before)}
    new = {item.record.key: item.record for item in in_force(kept, after)}
    return [
        Change(before=old.get(key), after=new.get(key))
        for key in sorted(old.keys() | new.keys())
        if key not in old or key not in new or old[key].tiers != new[key].tiers
    ]


def _by_key(records: Iterable[PriceRecord]) -> dict[tuple[str, ...], list[PriceRecord]]:
    """Records of each thing, in the order in which they begin."""
    groups: dict[tuple[str, ...], list[PriceRecord]] = defaultdict(list)
    for record in records:
        groups[record.key].append(record)
    for group in groups.values():
        group.sort(key=_order)
    return groups


def _order(record: PriceRecord) -> tuple[datetime, str, str]:
    """By beginning; of two that begin together the one read later, then by source."""
    return (record.effective_from or _ALWAYS, record.observed, record.source.key)


def _current(group: Sequence[PriceRecord], at: datetime) -> InForce | None:
    """The latest record of one thing that has begun and has not ended."""
    begun = [i for i, record in enumerate(group) if record.effective_from is None or record.effective_from <= at]
    if not begun or not holds_at(group[0].hours, at):
        return None
    place = begun[-1]
    record = group[place]
    if record.effective_to is not None and record.effective_to <= at:
        return None
    later = group[place + 1 :]
    same = next((i for i, r in enumerate(later) if r.tiers != record.tiers), len(later))
    seen = max(r.observed_on for r in (record, *later[:same]))
    return InForce(record=record, last_seen=seen, next=later[same] if same < len(later) else None)
