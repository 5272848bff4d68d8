"""What the pure rooms answer, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost.figure import Figure

Traffic = Literal["in use", "no requests", "traffic unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerShare:
    """What an owner has after all splits.

    `direct` is what its own charges cost, `shared` the parts it received from pools; what it gave away as a
    pool is taken off: `amount` = direct + shared - given. `direct` is None when it only received. Of `shared` and
    `given`, `listed` and `unlisted` are what changed hands because a listing tells whose a part of a store is.
    """

    owner: str
    direct: Figure | None
    shared: tuple[Figure, ...]
    amount: Figure
    given: tuple[Figure, ...] = ()
    listed: tuple[Figure, ...] = ()
    unlisted: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNote:
    """What a split did not do as the settings say: it took nothing, nobody received it, a name is not known."""

    kind: str
    split: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Share of the spend that has an owner, and share that is tagged with one, before anything is split."""

    owned: Figure
    tagged: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCost:
    """What one useful unit of a service costs.

    Parameters
    ----------
    cost
        All that the service cost in the range.
    quantity
        Useful units made.
    per_unit
        The unit cost; without a value, and with the reason in its note, when there is none.
    wasted
        Part of the cost that went into attempts without a useful result; None when attempts are unknown.
    of
        Dimension in which charges bear the name of the service, such as `project`; empty when none do.
    """

    service: str
    unit: str
    cost: Figure
    quantity: Figure
    per_unit: Figure
    wasted: Figure | None = None
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAnswer:
    """Whether anybody called an endpoint.

    Parameters
    ----------
    requests
        Requests, or predictions where those are counted; None when nothing tells, which is not the same as none.
    recoverable
        What switching it off would save a month, at its present price; only where there were no requests.
    """

    name: str
    cost: Figure
    traffic: Traffic
    requests: Decimal | None
    unit: str
    recoverable: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Answer to "which is the cheapest?" among services with the same unit.

    `cheapest` is empty when they are not comparable; `reason` then says why. `ruled_out` holds (service, why) of
    those that did not take part.
    """

    unit: str
    cheapest: str
    reason: str
    ruled_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A name that looks like a known one.

    `what` is a `value` (the name of an owner) or a `key` (of a tag) in the bills, or a `rule` of the settings.
    """

    kind: str
    what: str
    found: str
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Firmness:
    """Whether an order stands against what is unknown: the largest, and what could overtake it.

    `flips` holds the neighbours in the order, (above, below), that the unknown could make change places.
    """

    largest: str
    firm: bool
    overtaking: tuple[str, ...]
    flips: tuple[tuple[str, str], ...] = ()
