"""What is asked of the ledger and what comes back, as a few thousand typed rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal, get_args

from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.charges import CostKind
from unitcost.figure import part_of_id

#: What kind of line of the bill a charge is.
Line = Literal["usage", "unused commitment", "purchase", "tax", "credit", "refund", "adjustment", "marketplace"]
#: Lines that say by themselves what the money is for.
USAGE_LINES: tuple[Line, ...] = ("usage", "marketplace")
#: The others stand beside owners and drivers under their own names, unless somebody owns them.
BESIDE_LINES = frozenset(get_args(Line)) - set(USAGE_LINES)

#: What a report can be grouped by.
DIMENSIONS: tuple[str, ...] = (
    "team", "team_how", "project", "project_how", "experiment", "experiment_how", "driver", "driver_rule", "line",
    "provider", "service", "category", "account", "billing_account", "region", "resource", "resource_type",
    "charge_category", "commitment", "commitment_status", "invoice", "publisher", "currency",
    "billing_month", "month", "day", "file", "bridge_step", "throughput", "hourly_rate", "rate_since",
)  # fmt: skip


#: What stands before the one currency of a selection in its tag.
ONLY = "only="


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which charges a report is about, and which of their costs it adds up.

    Parameters
    ----------
    cost
        The one cost that is added up.
    start, end
        Half-open range of days in `timezone`, always whole months here; None = open.
    place
        What puts a charge into the range: its `billing` period (books close on it) or its `charge` period
        (when the usage happened; a row that spans more than one bucket is apportioned by overlap).
    timezone
        Zone of months and days: an IANA name or a fixed offset `-05:00`.
    currency
        The only billing currency that counts; empty = all.
    """

    cost: CostKind = "effective"
    start: date | None = None
    end: date | None = None
    place: Literal["billing", "charge"] = "billing"
    timezone: str = "UTC"
    currency: str = ""

    @property
    def tag(self) -> str:
        """The selection as the last part of a figure id, such as `2026-09..2026-11,effective`, last month included."""
        first = self.start.strftime("%Y-%m") if self.start else ""
        last = (self.end - timedelta(days=1)).strftime("%Y-%m") if self.end else ""
        parts = [f"{first}..{last}" if first or last else "all", self.cost]
        if self.place != "billing":
            parts.append(self.place)
        if self.timezone != "UTC":
            parts.append(self.timezone.replace("/", "."))
        if self.currency:
            parts.append(ONLY + part_of_id(self.currency))
        return ",".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Share of a charge period that falls into one bucket (a month or a day of the report's time zone).

    A period inside one bucket has one placement with `overlap_us == total_us`; one that crosses has several,
    whose overlaps add up to the total. A period of no length lies in the bucket of its start.
    """

    start: datetime  # charge period, UTC
    end: datetime
    bucket: str  # `2026-09` or `2026-09-14`
    overlap_us: int  # [microseconds]
    total_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """A charge as `explain` shows it: where it came from and what it adds to the figure.

    `amount` is the part that counts here: the whole cost, or its share of the bucket.
    """

    file: str
    row_number: int
    currency: str
    cost: Decimal
    amount: Decimal
    service: str
    resource: str
    charge_period_start: str
    charge_period_end: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingPart:
    """Charges that an invoice is made of: (dimension, value) pairs that find them, and their billed cost."""

    where: tuple[tuple[str, str | None], ...]
    billed: Decimal
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingRow:
    """Billed cost of one invoice (or of a billing period without invoice ids), beside what the invoice says.

    `invoice_total` is None where none was given. `steps` is the bridge from effective to billed: signed amounts
    that lead from the one to the other (purchases, amortisation, charges without effective cost ...). `reason` says
    why an invoice that differs is met by no charge, or not by all that name it; empty where that is not known.
    """

    provider: str
    billing_account: str
    invoice_id: str
    currency: str
    billing_month: str
    billed: Decimal
    effective: Decimal
    steps: tuple[tuple[str, Decimal], ...]
    invoice_total: Decimal | None
    row_count: int
    parts: tuple[ClosingPart, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentRow:
    """A commitment discount in the selected range: bought, used and unused, in one currency."""

    commitment_id: str
    currency: str
    purchased_billed: Decimal
    used_effective: Decimal
    unused_effective: Decimal
    used_list: Decimal
    term_start: str
    term_end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRow:
    """How many useful units a service made in one day.

    `named_by` says what names the service where a counter does not: a label, the owner of the pod, the model.
    """

    service: str
    day: date
    unit: str
    quantity: Decimal
    attempts: Decimal | None = None
    named_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendRow:
    """Sum of one cost over the charges that agree in the asked dimensions.

    Parameters
    ----------
    keys
        Values of the asked dimensions, in order; None = null.
    currency
        Billing currency of the amount.
    rate_since
        Day from which the exchange rate in force applies, None where none is known.
    amount
        Exact sum; charges whose cost is null count as nothing and are counted in `unknown_rows`.
    """

    keys: tuple[str | None, ...]
    currency: str
    rate_since: date | None
    amount: Decimal
    row_count: int
    unknown_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Who and what for, decided once for all charges of a facet.

    For each owner kind: the name (None = nobody), how it was found (`tag`, `rule`, `inherited`, `unknown value`,
    `untagged`) and the source or rule. `line` says what kind of line of the bill it is.
    """

    facet_id: int
    owners: dict[str, tuple[str | None, str, str]]
    driver: str
    driver_rule: str
    line: Line


def check_dimensions(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names when all are dimensions, each named once.

    Raises
    ------
    BadSetting
        When a name is empty, or stands twice.
    UnknownName
        When one is no dimension; names the near ones.
    """
    for place, name in enumerate(names):
        if not name:
            raise BadSetting(
                f"name {place + 1} of the dimensions `{','.join(names)}` is empty",
                mend=f"write them as team,month; there are {', '.join(DIMENSIONS)}",
            )
        if name in names[:place]:
            raise BadSetting(f"the dimension `{name}` is named twice", mend="name it once")
        if name not in DIMENSIONS:
            raise UnknownName("dimension", name, DIMENSIONS)
    return names
