"""How busy a workload kept what it held, from measurements of cards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.attribution.capacity import Held, Use, alone
from unitcost.attribution.places import Places
from unitcost.facts.measured import AloneOn, GaugeRow
from unitcost.units import MICROSECONDS_PER_SECOND, PERCENT, SHARE_PLACES

#: Measurements that say how busy a card is; the first that a card has counts. MIG instances have the second only.
BUSY_METRICS = ("gpu_utilisation", "gpu_engine_active", "gpu_sm_active")
_ONE = Decimal(1)


def uses_of(
    by_workload: Iterable[GaugeRow], by_holder: Iterable[GaugeRow], places: Places, held: Mapping[str, Sequence[Held]]
) -> dict[tuple[str, str], Use]:
    """Use by (place, workload).

    Parameters
    ----------
    by_workload
        Means by the workload that monitoring names.
    by_holder
        Means of cards while one workload alone held something of their place, by its key `source:id`. They count where
        monitoring names no workload; while several held the place, nobody gets a number.
    """
    watched: dict[tuple[str, str], dict[str, list[GaugeRow]]] = defaultdict(lambda: defaultdict(list))
    for gauge, holders_of in [(g, _named) for g in by_workload] + [(g, _alone) for g in by_holder]:
        place = places.find(gauge.resource_id, gauge.node)
        if place is None or gauge.metric not in BUSY_METRICS or gauge.mean is None:
            continue
        for holder in holders_of(gauge, {holding.workload for holding in held.get(place, ())}):
            watched[place, holder][gauge.metric].append(gauge)
    uses = {}
    for (place, holder), by_metric in sorted(watched.items()):
        rows = by_metric[next(metric for metric in BUSY_METRICS if metric in by_metric)]
        uses[place, holder] = _use(rows, [h for h in held[place] if h.workload == holder])
    return uses


def alone_on(
    cards: Iterable[tuple[str, str | None]], places: Places, held: Mapping[str, Sequence[Held]]
) -> list[AloneOn]:
    """Stretches in which one workload alone held something of a place with watched cards.

    Parameters
    ----------
    cards
        Watched cards, and the nodes that they are part of.
    """
    by_place: dict[str, list[str]] = defaultdict(list)
    for card, node in cards:
        place = places.find(card, node)
        if place is not None and place in held:
            by_place[place].append(card)
    return [
        AloneOn(cards=tuple(dict.fromkeys(found)), workload=workload, start_us=start, end_us=end)
        for place, found in sorted(by_place.items())
        for workload, (start, end) in alone(held[place])
    ]


def _named(gauge: GaugeRow, holders: set[str]) -> set[str]:
    return (
        {holder for holder in holders if _id_of(holder) == gauge.workload_id.casefold()} if gauge.workload_id else set()
    )


def _alone(gauge: GaugeRow, holders: set[str]) -> set[str]:
    return {gauge.workload_id} & holders if not gauge.workloads else set()


def _id_of(workload: str) -> str:
    """Id of a workload without the source that named it."""
    return workload.partition(":")[2].casefold()


def _use(rows: Sequence[GaugeRow], held: Sequence[Held]) -> Use:
    """Mean over all cards, weighted by the time for which each is known, and how much of the held time that is."""
    watched = sum(row.known_s for row in rows)
    held_us = money.add(money.multiply(h.quantity, Decimal(h.end_us - h.start_us)) for h in held)
    if not watched or held_us <= 0:
        return Use(busy_share=money.ZERO, watched_share=money.ZERO)
    busy = sum((row.mean or 0.0) / (float(PERCENT) if row.unit == "percent" else 1.0) * row.known_s for row in rows)
    share = watched * MICROSECONDS_PER_SECOND / float(held_us)
    return Use(busy_share=_share(busy / watched), watched_share=min(_ONE, _share(share)))


def _share(value: float) -> Decimal:
    return money.round_places(Decimal(repr(value)), SHARE_PLACES)
