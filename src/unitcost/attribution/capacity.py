"""Who held paid capacity, how much of it nobody held, and how much of what was held was used.

All in integers: accelerators in millionths, time in microseconds, so that the parts of a resource add up to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money

#: Steps that an accelerator is cut into.
_PLACES = 6
#: Less than one part in so many is the rounding of parts such as sixths, and nothing that was promised twice.
_ROUNDING = 10**5
#: Start and end of a period, half-open. [microseconds since 1970-01-01 UTC]
Period = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A workload holds part of a resource for some time.

    Parameters
    ----------
    quantity
        Accelerators, a fraction of one included.
    start_us, end_us
        Half-open. [microseconds since 1970-01-01 UTC]
    """

    workload: str
    quantity: Decimal
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What became of the capacity of one resource in the periods that were paid for.

    Parameters
    ----------
    held
        Workload -> what it held, in sorted order. [10^-6 accelerators x microseconds]
    unallocated
        What nobody held, in the same unit.
    capacity
        Accelerators of the resource.
    over_us
        How long more was promised than there is. What each one held is then scaled down. [microseconds]
    capacity_known
        False when the capacity is the most that was ever held at once.
    """

    held: dict[str, int]
    unallocated: int
    capacity: Decimal
    over_us: int
    capacity_known: bool

    @property
    def steps(self) -> int:
        """Capacity in the steps that it is counted in. [10^-6 accelerators]."""
        return _steps(self.capacity)

    @property
    def whole(self) -> int:
        """All of it: held by somebody or by nobody."""
        return sum(self.held.values()) + self.unallocated


def shares_of(capacity: Decimal | None, periods: Iterable[Period], held: Sequence[Held]) -> Shares:
    """Parts of a resource by who held them, over the periods that were paid for.

    Parameters
    ----------
    capacity
        Accelerators of the resource; None = not known, then the most that was held at once counts.
    periods
        What was paid for; where two overlap the time counts once.
    held
        Who held what; the parts outside the periods do not count here.

    Returns
    -------
    Shares
        Parts that add up to capacity times paid time exactly.

    Notes
    -----
    Between two changes of who holds what, each holder counts with what it holds. Where that is more than there is
    (promises of schedulers that share cards may be), the capacity is divided in proportion, by largest remainder.
    """
    paid = merged(periods)
    there = _steps(capacity) if capacity is not None else _peak(paid, held)
    parts: dict[str, int] = dict.fromkeys(sorted({holding.workload for holding in held}), 0)
    unallocated = over_us = 0
    for start, end, holders in _stretches(paid, held):
        length = end - start
        wanted = sum(holders.values())
        if wanted > there:
            over_us += length if wanted - there > there // _ROUNDING else 0
            names = sorted(holders)
            holders = dict(zip(names, money.split_units(there, [holders[name] for name in names]), strict=True))
            wanted = there
        for name, steps in holders.items():
            parts[name] += steps * length
        unallocated += (there - wanted) * length
    return Shares(
        held={name: part for name, part in parts.items() if part}, unallocated=unallocated,
        capacity=money.from_units(there, _PLACES), over_us=over_us, capacity_known=capacity is not None,
    )  # fmt: skip


def sole_holders(held: Sequence[Held]) -> list[tuple[str, int, int]]:
    """Times during which one workload alone held something of a resource, in order: workload, start, end."""
    found: list[tuple[str, int, int]] = []
    for start, end, holders in _stretches(merged((one.start_us, one.end_us) for one in held), held):
        if len(holders) != 1:
            continue
        (name,) = holders
        if found and found[-1][0] == name and found[-1][2] == start:
            found[-1] = (name, found[-1][1], end)
        else:
            found.append((name, start, end))
    return found


def merged(periods: Iterable[Period]) -> list[Period]:
    """Periods in order, those that touch or overlap made one, those without length left out."""
    found: list[Period] = []
    for start, end in sorted(periods):
        if end <= start:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def cut(periods: Iterable[Period], told: Period | None) -> tuple[list[Period], int]:
    """Parts of periods that lie inside of `told`, and how much lies outside [microseconds]; None holds for all."""
    paid = merged(periods)
    if told is None:
        return paid, 0
    inside = merged((max(start, told[0]), min(end, told[1])) for start, end in paid)
    return inside, sum(end - start for start, end in paid) - sum(end - start for start, end in inside)


def _steps(quantity: Decimal) -> int:
    return money.to_units(money.round_places(quantity, _PLACES), _PLACES)


def _peak(paid: Sequence[Period], held: Sequence[Held]) -> int:
    return max((sum(holders.values()) for _, _, holders in _stretches(paid, held)), default=0)


def _stretches(paid: Sequence[Period], held: Sequence[Held]) -> Iterator[tuple[int, int, dict[str, int]]]:
    """Stretches of paid time during which nothing changes: start, end, steps by holder."""
    changes: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for holding in held:
        steps = _steps(holding.quantity)
        if steps > 0 and holding.end_us > holding.start_us:
            changes[holding.start_us].append((holding.workload, steps))
            changes[holding.end_us].append((holding.workload, -steps))
    moments = sorted(changes)
    now: dict[str, int] = {}
    at = 0
    for start, end in paid:
        here = start
        while at < len(moments) and moments[at] < end:
            moment = moments[at]
            if moment > here:
                yield here, moment, dict(now)
                here = moment
            _change(now, changes[moment])
            at += 1
        if end > here:
            yield here, end, dict(now)


def _change(now: dict[str, int], changes: Iterable[tuple[str, int]]) -> None:
    for workload, steps in changes:
        left = now.get(workload, 0) + steps
        if left:
            now[workload] = left
        else:
            now.pop(workload, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How busy something was while it was watched.

    Parameters
    ----------
    busy_share
        Mean over the watched time, 0 to 1.
    watched_share
        Part of the held time for which there are measurements, 0 to 1.
    """

    busy_share: Decimal
    watched_share: Decimal = Decimal(1)


def use_weights(use: Use | None) -> tuple[Decimal, Decimal, Decimal]:
    """Weights of used, allocated but idle, and use unknown; they add up to 1.

    Without a measurement all of it is unknown: what nobody watched is not idle.
    """
    if use is None:
        return money.ZERO, money.ZERO, Decimal(1)
    watched = min(max(use.watched_share, money.ZERO), Decimal(1))
    used = money.multiply(watched, min(max(use.busy_share, money.ZERO), Decimal(1)))
    return used, money.subtract(watched, used), money.subtract(Decimal(1), watched)
