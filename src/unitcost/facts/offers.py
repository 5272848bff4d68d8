"""Machines that can be rented: what they hold, and how sources list them before any check."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from unitcost.facts.prices import MACHINE_HOUR, Commitment, PriceRecord, Source

#: What a check does about what it finds.
Done = Literal["dropped", "left out", "repaired", "flagged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a machine holds.

    Parameters
    ----------
    region
        Where it holds that; empty = everywhere.
    accelerator_count
        Accelerators of the machine; a fraction for a slice of one.
    accelerator_memory_gib
        Memory of one device as the vendor counts it [GiB], never of all together.
    """

    provider: str
    instance_type: str
    region: str = ""
    vcpus: Decimal | None = None
    memory_gib: Decimal | None = None
    accelerator: str = ""
    accelerator_count: Decimal | None = None
    accelerator_memory_gib: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A machine in a region, as a source lists it, unchecked.

    Parameters
    ----------
    operating_system
        `linux`, or what else the price includes.
    accelerator
        As the source spells it.
    device_memory_gib
        As the source reports it: of one device, of all, or in another unit [GiB].
    unit
        What the prices are for: a machine-hour or an accelerator-hour.
    on_demand, spot, committed
        Prices per `unit`; None = the source states none.
    effective_from
        When the source says that its on-demand price began; None = it does not say.
    spot_source, spot_observed, spot_derived
        Where the spot price comes from, when it is another place, and the formula when it was computed.
    remarks
        What a reader of the price should know; checks add what they find strange but not wrong.
    """

    source: Source
    observed: str
    provider: str
    region: str
    instance_type: str
    zone: str = ""
    operating_system: str = "linux"
    vcpus: Decimal | None = None
    memory_gib: Decimal | None = None
    accelerator: str = ""
    accelerator_count: Decimal | None = None
    device_memory_gib: Decimal | None = None
    unit: str = MACHINE_HOUR
    currency: str = "USD"
    on_demand: Decimal | None = None
    spot: Decimal | None = None
    committed: tuple[tuple[Commitment, Decimal], ...] = ()
    effective_from: datetime | None = None
    spot_source: Source | None = None
    spot_observed: str = ""
    spot_derived: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found in a listing, and what was done about it.

    `done` is `dropped` (the listing), `left out` (one of its values), `repaired` or `flagged`.
    """

    check: str
    provider: str
    region: str
    instance_type: str
    what: str
    done: Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A machine that can be rented in a region, with the prices in force.

    Parameters
    ----------
    on_demand, spot
        Price records in force; None = none is known.
    committed
        The price records in force under a promise.
    """

    shape: Shape
    region: str
    on_demand: PriceRecord | None = None
    spot: PriceRecord | None = None
    committed: tuple[PriceRecord, ...] = ()
