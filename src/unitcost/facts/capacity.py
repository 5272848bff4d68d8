"""Paid capacity and who held it, as the ledger gives it and the pure rooms answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from unitcost.facts.runs import GroupAnswer, RunAnswer
from unitcost.facts.spend import SpendRow
from unitcost.figure import Figure

#: What became of a charge, so that all of them add up to the bill.
State = Literal["used", "allocated idle", "use unknown", "unallocated"]
STATES: tuple[State, ...] = ("used", "allocated idle", "use unknown", "unallocated")
#: Names by which something that can be held is known: a card, its node, and the instance that the provider bills.
Names = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownResource:
    """A card or a node that somebody told of; None where that is not known.

    `quantity` counts its accelerators. `told` says whether somebody who gives it out, or a list of what there is, names
    it; monitoring alone does not tell who held it.
    """

    resource_id: str | None
    node: str | None
    instance_id: str | None
    quantity: Decimal | None
    told: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """What one workload held of one resource, an exact stretch of time. `ended_at` is None while its end is unknown."""

    workload: str  # source:workload_id
    resource_id: str | None
    node: str | None
    accelerator: str | None
    quantity: Decimal
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSum:
    """Time that lives of one account held one kind of accelerator, while one price was in force.

    Parameters
    ----------
    epoch
        Number of the stretch of time between two price changes.
    counted
        Whether the rule of billing charges for it.
    micro_us, weight_us
        Quantity, and the weight that the scheduler bills by, times time. [10^-6 x microseconds]
    lives
        How many lives begin their count here.
    """

    source: str
    account: str | None
    status: str
    accelerator: str
    pricing_category: str
    epoch: int
    counted: bool
    micro_us: int
    weight_us: int | None
    lives: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCounts:
    """Workloads that are in no sum: their end is not known, or they never started."""

    open_lives: int
    never_started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidRow:
    """Charges of one resource at one hourly rate, and the periods that they paid for, in UTC."""

    spend: SpendRow  # keys: see PAID_DIMS
    periods: tuple[tuple[datetime, datetime], ...]


#: Dimensions that charges of capacity are grouped by.
PAID_DIMS: tuple[str, ...] = ("resource", "hourly_rate", "driver", "line")


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledMachine:
    """What charges of a resource say of the machine; `texts` are those that may name its type."""

    resource: str
    provider: str
    region: str
    pricing_category: str
    texts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePart:
    """A part of paid capacity: whose, on what, and what became of it.

    `workload` is empty for what nobody held, or of which nothing tells who did. `driver` is that of the charges.
    """

    place: str
    workload: str
    state: State
    amount: Figure
    driver: str

    @property
    def holder_known(self) -> bool:
        """Whether it is known who held it, or that nobody did."""
        return bool(self.workload) or self.state == "unallocated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What became of paid capacity.

    Parameters
    ----------
    parts
        They add up to the charges of every resource that somebody is known to have held.
    matched
        Figures of those charges, by driver.
    notes
        What had to be taken for granted, and what does not fit.
    """

    parts: tuple[StatePart, ...]
    matched: tuple[tuple[str, Figure], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Who a workload belongs to (None = nobody) and what it is for, as decided by the rules of the settings."""

    workload: str  # source:workload_id
    name: str
    kind: str
    parent: str
    owners: dict[str, str | None]
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCost:
    """What a group of lives held, and what that costs at the prices of the settings.

    `unpriced_hours` are charged for by the rule of billing, and have no price.
    """

    name: str
    accelerator_hours: Figure
    core_hours: Figure
    cost: Figure
    unpriced_hours: Figure
    lives: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkAnswers:
    """What is known about work, beside what was paid.

    Parameters
    ----------
    capacity
        Unit -> what became of paid capacity.
    workers
        Workload -> whose it is.
    accounts, statuses
        What was held, by account and by how it ended.
    runs, groups
        What runs cost, and what one accepted result costs.
    """

    capacity: dict[str, Capacity]
    workers: dict[str, Worker]
    accounts: tuple[HeldCost, ...] = ()
    statuses: tuple[HeldCost, ...] = ()
    runs: tuple[RunAnswer, ...] = ()
    groups: tuple[GroupAnswer, ...] = ()
    counts: WorkCounts = WorkCounts(open_lives=0, never_started=0)
