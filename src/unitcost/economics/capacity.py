"""Where a number of accelerators can be rented, at which price per machine and per accelerator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Literal

from unitcost import money
from unitcost.facts.offers import Offer
from unitcost.facts.prices import ACCELERATOR_HOUR, PriceRecord

#: What capacity is ranked by.
By = Literal["on-demand", "spot", "committed"]
#: A third of a device is written 0.333333: three of them are one.
_SLICE = Decimal("0.001")
BYS: tuple[By, ...] = ("on-demand", "spot", "committed")


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyRate:
    """A price per hour in its three forms; the record says which of them the source quotes.

    `usd_per_hour` is that of all machines together. [USD/h]
    """

    record: PriceRecord
    usd_per_machine_hour: Decimal
    usd_per_accelerator_hour: Decimal
    usd_per_hour: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Machines of one kind that together hold enough accelerators.

    Parameters
    ----------
    machines
        How many are needed.
    on_demand, spot, committed
        Rates in force; None = no such price is known. Of several promises the cheapest.
    """

    offer: Offer
    machines: int
    on_demand: HourlyRate | None
    spot: HourlyRate | None
    committed: HourlyRate | None

    def rate(self, by: By) -> HourlyRate | None:
        """The rate of a kind."""
        return {"on-demand": self.on_demand, "spot": self.spot, "committed": self.committed}[by]


def rank_capacity(
    offers: Iterable[Offer], count: Decimal, *, by: By = "on-demand", split: bool = False
) -> list[Capacity]:
    """Capacity for a number of accelerators, cheapest first; what has no such price comes last.

    Parameters
    ----------
    count
        Accelerators that are needed.
    split
        Whether several machines may hold them; without it one machine must.
    """
    found = [made for offer in offers if (made := _capacity(offer, count, split)) is not None]
    return sorted(found, key=lambda capacity: _order(capacity, by))


def hourly_rate(record: PriceRecord, accelerators: Decimal | None, machines: int = 1) -> HourlyRate:
    """Rate of a record for machines with so many accelerators each.

    A record per accelerator-hour is multiplied up to the machine; one per machine-hour is divided down.
    """
    devices = accelerators or Decimal(1)
    if record.unit == ACCELERATOR_HOUR:
        machine, each = money.multiply(record.price, devices), record.price
    else:
        machine, each = record.price, money.divide(record.price, devices)
    return HourlyRate(
        record=record, usd_per_machine_hour=machine, usd_per_accelerator_hour=each,
        usd_per_hour=money.multiply(machine, Decimal(machines)),
    )  # fmt: skip


def _capacity(offer: Offer, count: Decimal, split: bool) -> Capacity | None:
    devices = offer.shape.accelerator_count
    if not devices or (devices < count and not split):
        return None
    machines = max(1, int(money.divide(count, devices).quantize(_SLICE).to_integral_value(rounding=ROUND_CEILING)))
    rates = [hourly_rate(record, devices, machines) for record in offer.committed]

    def rate(record: PriceRecord | None) -> HourlyRate | None:
        return hourly_rate(record, devices, machines) if record else None

    return Capacity(
        offer=offer, machines=machines, on_demand=rate(offer.on_demand), spot=rate(offer.spot),
        committed=min(rates, key=lambda r: r.usd_per_hour, default=None),
    )  # fmt: skip


def _order(capacity: Capacity, by: By) -> tuple[bool, Decimal, str, str, str]:
    rate = capacity.rate(by)
    shape = capacity.offer.shape
    price = rate.usd_per_hour if rate else money.ZERO
    return (rate is None, price, shape.provider, shape.instance_type, capacity.offer.region)
