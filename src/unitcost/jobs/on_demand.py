"""What spot capacity would have cost on demand: at prices of the settings, else at those of the price book."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from unitcost.attribution.work_prices import price_in_force
from unitcost.economics.capacity import hourly_rate
from unitcost.economics.run_answers import PricedLife
from unitcost.errors import NoPrice, UnknownName
from unitcost.facts.capacity import BilledMachine, Capacity
from unitcost.facts.runs import OnDemand
from unitcost.facts.work import CPU
from unitcost.jobs.prices import open_book
from unitcost.jobs.sellers import seller

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.prices import PriceBook

#: Currency of the prices in the settings.
_PRICED_IN = "USD"
_SPOT = "Dynamic"
#: Seller in the price book, where it is not called as in bills.
_SELLERS = {"google": "gcp"}
_NAME = re.compile(r"[\w.-]+")


def on_demand_prices(
    asking: Asking,
    lives: Mapping[str, Sequence[PricedLife]],
    capacity: Mapping[str, Capacity],
    *,
    billed: Iterable[str],
) -> dict[str, OnDemand]:
    """Job that held spot capacity -> price of one accelerator on demand; jobs of which it is not known are missing.

    Parameters
    ----------
    billed
        Jobs whose cost the bill says.
    """
    known = frozenset(billed)
    book = _Book(asking, capacity)
    found = {}
    for job, held in lives.items():
        price = _stated(asking, held, billed=job in known)
        if price is None and job in known and _comparable(asking, held, billed=True):
            price = book.price(job, held)
        if price is not None:
            found[job] = price
    return found


def _comparable(asking: Asking, lives: Sequence[PricedLife], *, billed: bool) -> bool:
    """Whether a price in USD can be set against the cost: a bill has what was held in the range only."""
    first = asking.bounds[0]
    began = [life.started_at for life, _ in lives]
    whole = all(start is not None and not (billed and first and start < first) for start in began)
    return bool(lives) and whole and (not billed or asking.settings.currency == _PRICED_IN)


def _stated(asking: Asking, lives: Sequence[PricedLife], *, billed: bool) -> OnDemand | None:
    """Price of the settings; None where nothing was held as spot, or it cannot be compared with the cost.

    A price for any category that is also what the spot capacity cost says nothing about on demand.
    """
    if not _comparable(asking, lives, billed=billed) or all(life.pricing_category != _SPOT for life, _ in lives):
        return None
    rules, found = asking.settings.work.prices, set()
    for life, _ in lives:
        assert life.started_at is not None  # `_comparable` has seen to it
        price = price_in_force(rules, life.accelerator, "Standard", life.started_at.date())
        same = price_in_force(rules, life.accelerator, _SPOT, life.started_at.date())
        if price is None or (not billed and price is same):
            return None
        found.add(price.usd_per_hour)
    return (
        OnDemand(usd_per_hour=found.pop(), basis="measured", source="price of the settings")
        if len(found) == 1
        else None
    )


class _Book:
    """Prices on demand of the machines that the bill names, opened when one is needed."""

    def __init__(self, asking: Asking, capacity: Mapping[str, Capacity]) -> None:
        self._asking = asking
        self._places: dict[str, set[str]] = defaultdict(set)
        for part in (part for found in capacity.values() for part in found.parts if part.workload):
            self._places[part.workload].add(part.place)
        self._book: PriceBook | None = None
        self._machines: dict[str, list[BilledMachine]] | None = None
        self._skus: dict[str, dict[str, str]] = defaultdict(dict)
        self._known: dict[tuple[str, str, str, datetime], OnDemand | None] = {}

    def price(self, job: str, lives: Sequence[PricedLife]) -> OnDemand | None:
        """Price of the one machine in the one region that a job held as spot; None where that is not so."""
        billed = self._billed()
        machines = [machine for place in sorted(self._places.get(job, ())) for machine in billed.get(place, ())]
        spot = any(life.pricing_category == _SPOT for life, _ in lives) or any(
            m.pricing_category == _SPOT for m in machines
        )
        if not spot or any(life.accelerator == CPU for life, _ in lives):
            return None
        self._book = self._book or open_book(self._asking.workspace)
        named = {(sku, m.provider, m.region) for m in machines for sku in self._named(m)}
        began = [life.started_at for life, _ in lives if life.started_at]
        if len(named) != 1 or not began:
            return None
        sku, provider, region = named.pop()
        asked = (sku, _seller(provider), region, min(began))
        if asked not in self._known:
            self._known[asked] = self._of(self._book, *asked)
        return self._known[asked]

    def _billed(self) -> dict[str, list[BilledMachine]]:
        """What the bill says of all places, asked for once."""
        if self._machines is None:
            self._machines = defaultdict(list)
            for machine in self._asking.ledger.work.billed_machines(sorted(set().union(*self._places.values()))):
                self._machines[machine.resource].append(machine)
        return self._machines

    def _named(self, machine: BilledMachine) -> set[str]:
        """Machines of the seller that the texts of a charge name."""
        assert self._book is not None
        if not self._skus:
            for provider, sku in self._book.machines():
                self._skus[provider][sku.casefold()] = sku
        known = self._skus[_seller(machine.provider)]
        words = {word.casefold() for word in _NAME.findall(machine.texts)}
        return {known[word] for word in words & known.keys()}

    def _of(self, book: PriceBook, sku: str, provider: str, region: str, at: datetime) -> OnDemand | None:
        shape = book.shape(provider, sku, region)
        if shape is None or not shape.accelerator_count or not region:
            return None
        try:
            record = book.price(sku, region=region, at=at, provider=provider).record
        except (NoPrice, UnknownName):
            return None  # the book does not know it: then nothing is said of a saving
        if record.currency != _PRICED_IN:
            return None
        rate = hourly_rate(record, shape.accelerator_count)
        return OnDemand(
            usd_per_hour=rate.usd_per_accelerator_hour, basis="estimated",
            source=f"price book: {provider} {sku} in {region}, on demand, by {record.source.name}; {record.id}",
        )  # fmt: skip


def _seller(name: str) -> str:
    found = seller(name)
    return _SELLERS.get(found, found)
