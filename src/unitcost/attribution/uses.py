"""How busy a workload kept what it held, from measurements of cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.attribution.capacity import Held, Use, sole_holders
from unitcost.attribution.places import Places
from unitcost.facts.capacity import KnownResource
from unitcost.facts.measured import GaugeRow, HeldSpan
from unitcost.units import MICROSECONDS_PER_SECOND, PERCENT, SHARE_PLACES

#: Measurements that say how busy a card is; the first that a card has counts. MIG instances have the second only.
BUSY_METRICS = ("gpu_utilisation", "gpu_engine_active", "gpu_sm_active")
_ONE = Decimal(1)


def spans_of(known: Iterable[KnownResource], places: Places, held: Mapping[str, Sequence[Held]]) -> list[HeldSpan]:
    """When one workload alone held the place that a card is part of."""
    cards: dict[str, str] = {}
    for resource in known:
        place = places.find(resource.resource_id, resource.node)
        if resource.resource_id and place is not None and place in held:
            cards.setdefault(resource.resource_id, place)
    sole = {place: sole_holders(held[place]) for place in set(cards.values())}
    return [
        HeldSpan(resource_id=card, workload=workload, start_us=start, end_us=end)
        for card, place in sorted(cards.items())
        for workload, start, end in sole[place]
    ]


def uses_of(
    named: Iterable[GaugeRow], alone: Iterable[GaugeRow], places: Places, held: Mapping[str, Sequence[Held]]
) -> dict[tuple[str, str], Use]:
    """Use by (place, workload).

    Parameters
    ----------
    named
        Means by the workload that monitoring names; such a mean counts for it.
    alone
        Means of cards while one workload, named `source:id`, alone held something of their place. They count where
        monitoring names nobody; while several held something, nobody gets a number.
    """
    watched: dict[tuple[str, str], _Rows] = defaultdict(lambda: defaultdict(list))
    for gauge, place in _placed(named, places):
        for holder in {holding.workload for holding in held.get(place, ())}:
            if gauge.workload_id and _id_of(holder) == gauge.workload_id.casefold():
                watched[place, holder][gauge.metric].append(gauge)
    by_name = set(watched)
    for gauge, place in _placed(alone, places):
        if not gauge.workloads and (place, gauge.workload_id) not in by_name:
            watched[place, gauge.workload_id][gauge.metric].append(gauge)
    uses = {}
    for (place, holder), by_metric in sorted(watched.items()):
        rows = by_metric[next(metric for metric in BUSY_METRICS if metric in by_metric)]
        mine = [holding for holding in held[place] if holding.workload == holder]
        uses[place, holder] = _use(rows, mine, by_name=(place, holder) in by_name)
    return uses


_Rows = dict[str, list[GaugeRow]]


def _placed(gauges: Iterable[GaugeRow], places: Places) -> Iterator[tuple[GaugeRow, str]]:
    for gauge in gauges:
        place = places.find(gauge.resource_id, gauge.node)
        if place is not None and gauge.metric in BUSY_METRICS and gauge.mean is not None:
            yield gauge, place


def _id_of(workload: str) -> str:
    """Id of a workload without the source that named it."""
    return workload.partition(":")[2].casefold()


def _use(rows: Sequence[GaugeRow], held: Sequence[Held], *, by_name: bool) -> Use:
    """Mean over all cards, weighted by the time for which each is known, and how much of the held time that is.

    Where monitoring names nobody and more cards were watched than were held, those that nobody held did nothing: what was
    busy was of the held ones.
    """
    watched_s = sum(row.known_s for row in rows)
    held_us = money.add(money.multiply(h.quantity, Decimal(h.end_us - h.start_us)) for h in held)
    if not watched_s or held_us <= 0:
        return Use(busy_share=money.ZERO, watched_share=money.ZERO)
    held_s = float(held_us) / MICROSECONDS_PER_SECOND
    busy_s = sum((row.mean or 0.0) / (float(PERCENT) if row.unit == "percent" else 1.0) * row.known_s for row in rows)
    busy = min(1.0, max(0.0, busy_s / (watched_s if by_name else min(watched_s, held_s))))
    return Use(busy_share=_share(busy), watched_share=min(_ONE, _share(watched_s / held_s)))


def _share(value: float) -> Decimal:
    return money.round_places(Decimal(repr(value)), SHARE_PLACES)
