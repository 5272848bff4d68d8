"""Prices that a training plan needs: the user's table first, then the price book."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from unitcost.economics.capacity import By, Capacity, HourlyRate, rank_capacity
from unitcost.facts.accelerators import meant_by
from unitcost.facts.offers import Offer
from unitcost.facts.rentals import PricingCategory, Rental
from unitcost.jobs.prices import moment, open_book
from unitcost.jobs.workspace import Workspace
from unitcost.machine.accelerators import CHIPS, Chip, chip, chip_like
from unitcost.prices import PriceBook

#: Runs on more accelerators than one machine holds are planned on machines of at least this many.
WHOLE_MACHINE = 8
_BY: dict[PricingCategory, By] = {"on-demand": "on-demand", "spot": "spot", "reserved": "committed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """Prices of an accelerator for a run of some size. [USD / accelerator-hour].

    Parameters
    ----------
    on_demand, spot
        Cheapest that is known; None = none.
    """

    chip: Chip
    on_demand: Rental | None = None
    spot: Rental | None = None


def chips_of(name: str) -> list[Chip]:
    """Accelerators that are meant: one, a family, or all whose peak is known (`any`).

    Raises
    ------
    UnknownName
        When there is none; the message names the near ones.
    """
    if name.casefold() == "any":
        return list(CHIPS)
    family = [known for known in CHIPS if known.family.casefold() == name.casefold()]
    return family or [chip(name)]


class Prices:
    """Prices of accelerators in some regions at a moment."""

    def __init__(
        self, workspace: Workspace, *, own: Sequence[Rental] = (), regions: Sequence[str] = (), at: str = ""
    ) -> None:
        self.workspace, self.own, self.regions = workspace, own, tuple(regions)
        self.at = moment(at, workspace)
        self._book: PriceBook | None = None
        self._offers: dict[str, list[Offer]] = {}

    @property
    def day(self) -> date:
        """Day that prices are asked for."""
        return self.at.date()

    def priced(self, known: Chip, count: int) -> Priced:
        """Cheapest price of an accelerator for a run of some size."""
        return Priced(
            chip=known, on_demand=self.cheapest(known, count, "on-demand"), spot=self.cheapest(known, count, "spot")
        )

    def cheapest(self, known: Chip, count: int, category: PricingCategory) -> Rental | None:
        """Cheapest price in one category: the user's own where there is one, else that of the book; None = none is known."""
        own = [
            rental for rental in self.own if rental.category == category and chip_like(rental.accelerator) == known
        ]  # fmt: skip
        if own:
            return min(own, key=lambda rental: rental.usd_per_accelerator_hour)
        return self._of_book(known, count, category)

    def _of_book(self, known: Chip, count: int, category: PricingCategory) -> Rental | None:
        by = _BY[category]
        least = Decimal(min(count, WHOLE_MACHINE))
        large = [o for o in self._offers_of(known) if (o.shape.accelerator_count or 0) >= least]
        for capacity in rank_capacity(large, Decimal(count), by=by, split=True):
            rate = capacity.rate(by)
            if rate is not None and rate.record.currency == "USD":
                return _rental(known, capacity, rate, category)
        return None

    def same_machine(self, known: Chip, rental: Rental, category: PricingCategory) -> Rental | None:
        """Price of the machine of a rental in its own region under other terms; None = none is known."""
        if any(own is rental for own in self.own):
            same = [
                own for own in self.own
                if own.category == category and (own.accelerator, own.machine, own.region, own.count)
                == (rental.accelerator, rental.machine, rental.region, rental.count)
            ]  # fmt: skip
            return min(same, key=lambda own: own.usd_per_hour, default=None)
        by = _BY[category]
        for capacity in rank_capacity(self._offers_of(known), Decimal(rental.count), by=by, split=True):
            rate, shape = capacity.rate(by), capacity.offer.shape
            machine = f"{shape.provider} {shape.instance_type}"
            if (machine, capacity.offer.region) == (rental.machine, rental.region) and rate is not None:
                return _rental(known, capacity, rate, category)
        return None

    def spot_beside_on_demand(self, known: Chip, count: int, spot_share: float) -> tuple[Rental, Rental] | None:
        """Spot and on-demand price of one machine in one region; None = no machine has both.

        Parameters
        ----------
        spot_share
            Part of the time that is paid at the spot price; the pair is the cheapest at that mix, for whole machines.
        """
        pairs = []
        for spot in self._all(known, count, "spot"):
            beside = self.same_machine(known, spot, "on-demand")
            if beside is not None:
                pairs.append((spot, beside))

        def mixed(pair: tuple[Rental, Rental]) -> float:
            spot, beside = (float(one.usd_per_hour) * math.ceil(count / one.count) for one in pair)
            return spot_share * spot + (1 - spot_share) * beside

        return min(pairs, key=mixed, default=None)

    def _all(self, known: Chip, count: int, category: PricingCategory) -> list[Rental]:
        """Prices in one category: the user's own where there is one, else those of the book."""
        own = [one for one in self.own if one.category == category and chip_like(one.accelerator) == known]
        if own:
            return own
        by, least = _BY[category], Decimal(min(count, WHOLE_MACHINE))
        large = [o for o in self._offers_of(known) if (o.shape.accelerator_count or 0) >= least]
        found = [(one, one.rate(by)) for one in rank_capacity(large, Decimal(count), by=by, split=True)]
        return [
            _rental(known, one, rate, category) for one, rate in found
            if rate is not None and rate.record.currency == "USD"
        ]  # fmt: skip

    def _offers_of(self, known: Chip) -> list[Offer]:
        """Machines that hold an accelerator; looked up once."""
        if known.name not in self._offers:
            self._book = self._book or open_book(self.workspace)
            self._offers[known.name] = self._book.offers(meant_by(known.name), self.regions, self.at)
        return self._offers[known.name]


def _rental(known: Chip, capacity: Capacity, rate: HourlyRate, category: PricingCategory) -> Rental:
    record, shape = rate.record, capacity.offer.shape
    return Rental(
        accelerator=known.name, machine=f"{record.provider} {record.sku}", count=max(1, int(shape.accelerator_count or 1)),
        usd_per_hour=rate.usd_per_machine_hour, category=category, region=capacity.offer.region,
        source=str(record.source), as_of=_day_of(record.observed),
    )  # fmt: skip


def _day_of(observed: str) -> date:
    """Day of an observation that may state a month or a year only: its first."""
    parts = [int(part) for part in observed.split("-")]
    year, month, day = [*parts, 1, 1][:3]
    return date(year, month, day)
