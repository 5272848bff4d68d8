"""How busy a workload kept what it held, from measurements of cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.attribution.capacity import Held, Use
from unitcost.attribution.places import Places
from unitcost.facts.capacity import GaugeRow
from unitcost.units import SHARE_PLACES

_ONE = Decimal(1)


def uses_of(
    gauges: Iterable[GaugeRow], places: Places, held: Mapping[str, Sequence[Held]]
) -> dict[tuple[str, str], Use]:
    """Use by (place, workload).

    A measurement that names its workload counts for it. One of a whole card counts for the workload that alone
    held something of the place; where several did, who of them used it is not known, and nobody gets a number.
    """
    watched: dict[tuple[str, str], list[GaugeRow]] = defaultdict(list)
    for gauge in gauges:
        place = places.find(gauge.resource_id, gauge.node)
        if place is None:
            continue
        holders = {holding.workload for holding in held.get(place, ())}
        named = {holder for holder in holders if gauge.workload and _id_of(holder) == _id_of(gauge.workload)}
        for holder in named or (holders if len(holders) == 1 and not gauge.workload else set()):
            watched[place, holder].append(gauge)
    return {
        (place, holder): _use(rows, [h for h in held[place] if h.workload == holder])
        for (place, holder), rows in sorted(watched.items())
    }


def _id_of(workload: str) -> str:
    """Id of a workload without the source that named it."""
    source, sign, name = workload.partition(":")
    return (name if sign else source).casefold()


def _use(rows: Sequence[GaugeRow], held: Sequence[Held]) -> Use:
    watched_us = sum(row.watched_us for row in rows)
    if not watched_us:
        return Use(busy_share=money.ZERO, watched_share=money.ZERO)
    busy = money.add(money.multiply(row.busy_share, Decimal(row.watched_us)) for row in rows)
    held_us = money.add(money.multiply(h.quantity, Decimal(h.end_us - h.start_us)) for h in held)
    share = min(_ONE, money.divide(Decimal(watched_us), held_us)) if held_us > 0 else money.ZERO
    return Use(
        busy_share=money.round_places(money.divide(busy, Decimal(watched_us)), SHARE_PLACES),
        watched_share=money.round_places(share, SHARE_PLACES),
    )
