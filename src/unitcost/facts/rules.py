"""What the user decided: owners, drivers, splits, rates, invoices. Made from `unitcost.toml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from unitcost.facts.charges import CostKind
from unitcost.facts.measured import GAP_INTERVALS
from unitcost.facts.source import ReadOptions
from unitcost.facts.when import When

OwnerKind = Literal["team", "project", "experiment"]
OWNER_KINDS: tuple[OwnerKind, ...] = ("team", "project", "experiment")
#: How a report calls what nobody claims; such charges have no owner.
UNTAGGED = "untagged"
UNKNOWN_DRIVER = "unknown"
#: Provider of charges that only the settings state; their owners and driver stand in tags.
STATED_PROVIDER = "stated in settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRule:
    """Charges that match `when` belong to `owner`, whatever their tags say."""

    when: When
    owner: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRules:
    """How one kind of owner is found.

    Parameters
    ----------
    sources
        Places to look, in order: `tags.KEY` or a facet column.
    rules
        Looked at before the sources; first match wins.
    known
        Names that exist. With a list, any other value is kept apart as "unknown value" with the near names.
    inherit
        Facet columns (`account` = sub_account_id, `resource_group`) from whose other charges an owner may be
        inherited when it is the only one there.
    lineage
        Resource -> resource it was made from; the owner is inherited from there.
    ignore_case
        Whether a value that differs from a known one only in case counts as that.
    """

    kind: OwnerKind
    sources: tuple[str, ...]
    rules: tuple[OwnerRule, ...] = ()
    known: tuple[str, ...] = ()
    inherit: tuple[str, ...] = ()
    lineage: dict[str, str] = field(default_factory=dict)
    ignore_case: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverRule:
    """Charges that match `when` are for `driver`."""

    when: When
    driver: str
    name: str  # shown beside each row that it placed


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """A shared cost that is divided among owners.

    `of` selects the pool by owner or driver: {"project": "platform"}. `shares` are for `fixed` and `metric`.
    """

    name: str
    of: dict[str, str]
    how: Literal["even", "proportional", "fixed", "metric"]
    by: OwnerKind
    shares: dict[str, Decimal] = field(default_factory=dict)
    metric: str = ""  # unit in `outputs`, for how = "metric"
    among: tuple[str, ...] = ()  # receivers; empty = all owners with direct cost, untagged apart
    places: int = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FxRate:
    """From `since` on one unit of `currency` is `rate` units of the report currency."""

    currency: str
    since: date
    rate: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceTotal:
    """What an invoice says is owed."""

    invoice_id: str
    total: Decimal
    currency: str
    period: str = ""  # YYYY-MM, when the bill names no invoice
    provider: str = ""  # part of the provider's name, when several bills name no invoice


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCharge:
    """A cost that no bill shows (`[[charge]]`)."""

    what: str
    amount: Decimal
    currency: str
    on: date
    owner: dict[str, str]
    driver: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEntry:
    """One `[[load]]`: files and what is said about them."""

    path: str
    options: ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityBar:
    """What counts as good enough for one service (`[quality.NAME]`)."""

    service: str
    metric: str
    bar: Decimal
    margin: Decimal
    error_cost_usd: Decimal | None = None


#: What a job of a scheduler is charged for: its accelerators, or its cores when it has none; the weights that the
#: scheduler itself bills by; or the larger of accelerators and cores.
WorkBilling = Literal["accelerators", "weights", "larger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPrice:
    """What an hour of something costs where no bill says.

    `accelerator` is a glob; `cpu` is a core, `weight` a unit of what the scheduler bills by. An empty
    `pricing_category` holds for any.
    """

    accelerator: str
    usd_per_hour: Decimal
    pricing_category: str = ""
    since: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRules:
    """What the user says about work: what is charged for, at which prices, which results count, which kind it is.

    A gap of more than `gap_intervals` usual intervals in a measurement is a time of which nothing is known.
    """

    billing: WorkBilling = "accelerators"
    accepted: str = ""
    prices: tuple[WorkPrice, ...] = ()
    kinds: tuple[DriverRule, ...] = ()
    gap_intervals: int = GAP_INTERVALS


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRules:
    """What the user says about prices (`[prices]`).

    Parameters
    ----------
    files
        The user's own price files, csv.
    litellm
        Price files in litellm's JSON form.
    aliases
        Name of a model in the calls -> `provider/model` or `model` of a price list.
    same_as
        Provider -> providers whose model prices hold for it too.
    self_hosted
        Globs of models that run on own machines.
    """

    files: tuple[str, ...] = ()
    litellm: tuple[str, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    same_as: dict[str, tuple[str, ...]] = field(default_factory=dict)
    self_hosted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """What the user says about calls of models (`[calls]`).

    Parameters
    ----------
    counts
        Reader whose calls count where others tell of the same model on the same day; empty = all count.
    """

    counts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole of `unitcost.toml`, checked."""

    ledger_path: str = ".unitcost/ledger.duckdb"
    cost: CostKind = "effective"
    currency: str = "USD"
    timezone: str = "UTC"
    loads: tuple[LoadEntry, ...] = ()
    owners: dict[OwnerKind, OwnerRules] = field(default_factory=dict)
    drivers: tuple[DriverRule, ...] = ()
    splits: tuple[SplitRule, ...] = ()
    fx: tuple[FxRate, ...] = ()
    invoices: tuple[InvoiceTotal, ...] = ()
    charges: tuple[StatedCharge, ...] = ()
    qualities: tuple[QualityBar, ...] = ()
    work: WorkRules = field(default_factory=WorkRules)
    prices: PriceRules = field(default_factory=PriceRules)
    calls: CallRules = field(default_factory=CallRules)
    file: str = ""  # where it was read from; empty = defaults
