"""Records of the same thing, one after the other: which is in force, and what changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from unitcost.facts.prices import OWN, InForce, PriceRecord, holds_at, midnight

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A record and the moment from which it counts."""

    since: datetime
    record: PriceRecord


def _by_key(records: Iterable[PriceRecord]) -> dict[tuple[str, ...], list[PriceRecord]]:
    """Records of each thing."""
    groups: dict[tuple[str, ...], list[PriceRecord]] = defaultdict(list)
    for record in records:
        groups[record.key].append(record)
    return groups


def _steps(group: Iterable[PriceRecord]) -> list[_Step]:
    """Records of one thing in the order in which they count.

    A source may state a beginning that lies before another price was still being read. Then the later reading does not
    rewrite what was read: its price counts from that reading on.
    """
    steps: list[_Step] = []
    for record in sorted(group, key=lambda r: (r.observed, r.effective_from or _ALWAYS, r.source.key)):
        since = record.effective_from or _ALWAYS
        if record.dating == "stated":
            contradicted = any(
                since <= midnight(step.record.observed_on) and step.record.observed_on < record.observed_on
                for step in steps
                if step.record.tiers != record.tiers and step.record.dating == "observed"
            )
            since = midnight(record.observed_on) if contradicted else since
        steps.append(_Step(since=since, record=record))
    return sorted(steps, key=lambda step: (step.since, step.record.observed, step.record.source.key))


def _current(group: Sequence[PriceRecord], at: datetime) -> InForce | None:
    """The latest record of one thing that counts and has not ended."""
    steps = _steps(group)
    begun = [i for i, step in enumerate(steps) if step.since <= at]
    if not begun or not holds_at(group[0].hours, at):
        return None
    place = begun[-1]
    record = steps[place].record
    if record.effective_to is not None and record.effective_to <= at:
        return None
    following = next((s for s in steps[place + 1 :] if s.record.tiers != record.tiers), None)
    end = following.since if following else None
    seen = [
        r.observed_on for r in group if r.tiers == record.tiers and (end is None or midnight(r.observed_on) < end)
    ]  # fmt: skip
    return InForce(
        record=record, last_seen=max([record.observed_on, *seen]), next=following.record if following else None
    )  # fmt: skip
