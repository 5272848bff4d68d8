"""Prices as facts: what one unit costs, from when, and who says so.

A record is never edited. A new price is a new record with a later beginning; the older one stays and prices the use
of its time.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.pricing import PricingCategory

#: `graduated`: each tier prices what lies inside it. `whole-request`: one tier, chosen by the whole, prices everything.
TierMode = Literal["graduated", "whole-request"]
#: What is sold. `transfer` is data that moves, `request` an operation on storage.
Kind = Literal["instance", "model", "storage", "transfer", "request"]
KINDS: tuple[Kind, ...] = ("instance", "model", "storage", "transfer", "request")
#: Units of an hour: a price per machine and a price per accelerator are never mixed.
MACHINE_HOUR = "machine-hour"
ACCELERATOR_HOUR = "accelerator-hour"
#: `stated`: the source says from when. `observed`: somebody read it on a day; it began at some time before.
Dating = Literal["stated", "observed"]

#: Licence of what the user wrote.
OWN = "own"
#: Days after which a price is said to be stale.
_STALE_SPOT_DAYS = 7
_STALE_OWN_DAYS = 365
_STALE_DAYS: dict[Kind, int] = {"instance": 90, "model": 30, "storage": 180, "transfer": 180, "request": 180}

_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who says so.

    Parameters
    ----------
    key
        Short name, such as `karpenter-aws`.
    name
        What it is, for a reader.
    revision
        Commit, version or publication date that was read.
    licence
        Under which the figures are given, or `own` for the user's.
    """

    key: str
    name: str = ""
    revision: str = ""
    licence: str = ""

    def __str__(self) -> str:
        return f"{self.name or self.key}@{self.revision}" if self.revision else self.name or self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """What is promised in exchange for a lower price: a plan, its term and how it is paid."""

    plan: str
    term_months: int
    payment: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (f"{self.plan} {self.term_months} months", self.payment) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Price of what lies above `over` units (more than, not at least), up to the next tier."""

    over: Decimal
    price: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRecord:
    """What one unit of something costs, as one source says.

    Parameters
    ----------
    kind
        What is sold.
    provider, region, zone
        Where; an empty region means everywhere, an empty zone the whole region.
    sku
        Instance type, model or product.
    meter
        What of it is counted: a token class, `internet_egress`; empty for an instance.
    destination
        Where data goes to, for a transfer.
    variant
        How a model was called when that changes the price: `batch`, `priority`; empty = the usual way.
    hours
        Hours of the day (UTC) in which the price holds, such as `16:30-00:30`; empty = all day.
    unit, per
        The price is that of `per` units.
    category, commitment
        FOCUS pricing category, and the promise behind a committed price.
    tiers, mode
        Prices by quantity, ascending, the first over zero.
    effective_from, effective_to
        Half-open, UTC. No beginning = the source states none and the price holds for all earlier use; no end = until
        a later record begins.
    dating
        Whether the source states the beginning, or it is the day on which the price was read.
    observed
        When it was read: `2026-07-20`, or `2026-07`, `2026` where no more is known.
    derived_from, inputs
        Formula of a price that was computed, and the ids of the records it was computed from.
    remarks
        What a reader of the price should know: conditions of the source, and what a check found strange.
    """

    kind: Kind
    provider: str
    sku: str
    unit: str
    currency: str
    tiers: tuple[Tier, ...]
    observed: str
    source: Source
    region: str = ""
    zone: str = ""
    meter: str = ""
    destination: str = ""
    variant: str = ""
    hours: str = ""
    per: Decimal = Decimal(1)
    category: PricingCategory = "Standard"
    commitment: Commitment | None = None
    mode: TierMode = "graduated"
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    dating: Dating = "observed"
    derived_from: str = ""
    inputs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_tiers(self)
        _check_dates(self)

    @property
    def key(self) -> tuple[str, ...]:
        """What two prices must share to be one after the other: all but amount, time and source."""
        promise = str(self.commitment or "")
        return (
            self.kind, self.provider, self.region, self.zone, self.sku, self.meter, self.destination, self.variant,
            self.hours, self.unit, str(self.per), self.currency, self.category, promise,
        )  # fmt: skip

    @property
    def id(self) -> str:
        """Name made from the content: what costs how much since when, by which source.

        When the price was read, and at which revision, is no part of it: the same price read again keeps its name.
        """
        tiers = ";".join(f"{money.text(t.over)}:{money.text(t.price)}" for t in self.tiers)
        since = "" if self.effective_from is None else self.effective_from.isoformat()
        until = "" if self.effective_to is None else self.effective_to.isoformat()
        said = (self.mode, tiers, since, until, self.dating, self.source.key)
        content = "\x1f".join((*self.key, *said, self.derived_from))
        return "price-" + hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def price(self) -> Decimal:
        """Price of `per` units in the first tier."""
        return self.tiers[0].price

    @property
    def observed_on(self) -> date:
        """First day on which it may have been read."""
        return first_day(self.observed)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A record as it stands at a moment, among the others of the same thing.

    Parameters
    ----------
    record
        The latest that began before the moment and has not ended.
    last_seen
        Last day on which this price was read, later readings of the same price included.
    next
        The next record with another price; None = none is known.
    """

    record: PriceRecord
    last_seen: date
    next: PriceRecord | None = None

    def age_days(self, at: datetime) -> int:
        """Days since the price was last read; 0 when it was read at that time or later."""
        return max(0, (at.date() - self.last_seen).days)

    def notes(self, at: datetime) -> tuple[str, ...]:
        """What a reader of the price should know: that it may be stale, or may have changed already."""
        limit = stale_after_days(self.record)
        found = []
        if self.next is not None and self.next.dating == "observed" and at.date() > self.last_seen:
            price = money.text(self.next.price)
            found.append(
                f"{price} {self.record.currency} was read on {self.next.observed}; the price changed on a day after"
                f" {self.last_seen}"
            )
        elif self.age_days(at) > limit:
            found.append(f"last read {self.age_days(at)} days ago, on {self.record.observed}; stale after {limit}")
        return (*found, *self.record.remarks)


def stale_after_days(record: PriceRecord) -> int:
    """Days after which a price that nobody has read again may have changed."""
    if record.source.licence == OWN:
        return _STALE_OWN_DAYS
    if record.category == "Dynamic":
        return _STALE_SPOT_DAYS
    return _STALE_DAYS[record.kind]


def holds_at(hours: str, at: datetime) -> bool:
    """Whether a moment lies in hours of the day such as `16:30-00:30` (UTC, the end excluded); empty = always."""
    if not hours:
        return True
    start, end = (time.fromisoformat(part) for part in hours.split("-"))
    now = at.astimezone(UTC).time()
    return start <= now < end if start < end else now >= start or now < end


def first_day(text: str) -> date:
    """First day of a date that may be a month or a year only.

    Raises
    ------
    BadPrice
        When it is none of these.
    """
    parts = text.split("-")
    try:
        if not _DAY.fullmatch(text):
            raise ValueError
        return date(int(parts[0]), *(int(part) for part in [*parts[1:], "1", "1"][:2]))
    except ValueError:
        raise BadPrice(f"{text!r} is no date", mend="write 2026-07-20, 2026-07 or 2026") from None


def midnight(day: date) -> datetime:
    """Beginning of a day, UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def flat(price: Decimal) -> tuple[Tier, ...]:
    """Tiers of a price that does not depend on the quantity."""
    return (Tier(over=money.ZERO, price=price),)


def _check_tiers(record: PriceRecord) -> None:
    overs = [tier.over for tier in record.tiers]
    if not overs or overs[0] != 0 or any(b <= a for a, b in pairwise(overs)):
        raise BadPrice("tiers begin at 0 and ascend", where=_place(record), mend="sort them and leave no one out")
    if any(not tier.price.is_finite() or tier.price < 0 for tier in record.tiers):
        raise BadPrice("a price is a number and not negative", where=_place(record), mend="correct the price")


def _check_dates(record: PriceRecord) -> None:
    first_day(record.observed)
    since, until = record.effective_from, record.effective_to
    if any(moment is not None and moment.utcoffset() is None for moment in (since, until)):
        raise BadPrice("a moment has no time zone", where=_place(record), mend="give dates in UTC")
    if since is not None and until is not None and until <= since:
        raise BadPrice(f"it ends {until} before it begins", where=_place(record), mend="`to` is exclusive and later")


def _place(record: PriceRecord) -> str:
    return " ".join(part for part in (record.provider, record.region, record.sku, record.meter) if part)
