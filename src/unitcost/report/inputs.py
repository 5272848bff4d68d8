"""What a report is made from: sums of the ledger, decisions of the pure rooms, and what was loaded."""

from __future__ import annotations

from dataclasses import dataclass, field

from unitcost.facts.answers import (
    Comparison,
    EndpointAnswer,
    Firmness,
    NearMiss,
    Owned,
    OwnerShare,
    SplitNote,
    UnitCost,
)
from unitcost.facts.capacity import WorkAnswers
from unitcost.facts.naming import spelt, spelt_owner
from unitcost.facts.rules import UNKNOWN_DRIVER, OwnerKind, Settings
from unitcost.facts.source import LoadRecord
from unitcost.facts.spend import BESIDE_LINES, ClosingRow, Selection, SpendRow
from unitcost.facts.stored import StoredPart
from unitcost.facts.token_answers import TokenAccount
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.charts import FlowColours
from unitcost.report.palette import colours

#: Dimensions of each group of sums, in the order of the keys.
DIMS: dict[str, tuple[str, ...]] = {
    "driver": ("driver", "driver_rule", "line"),
    "team": ("team", "team_how", "line", "driver"),
    "project": ("project", "project_how", "line", "driver"),
    "experiment": ("experiment", "experiment_how", "line", "driver"),
    "line": ("line",),
    "provider": ("provider",),
    "service": ("service",),
    "account": ("account",),
    "region": ("region",),
    "month": ("month",),
    "billing_month": ("billing_month",),
    "untagged": ("resource", "service", "team_how", "line"),
    "movers_driver": ("billing_month", "driver", "line"),
    "movers_team": ("billing_month", "team", "team_how", "line"),
    "flow": ("provider", "driver", "team", "team_how", "line"),
    "trend_driver": ("day", "driver", "line"),
    "trend_team": ("day", "team", "team_how", "line"),
}


#: Dimensions that tell what is bought, used and left unused of each commitment.
COMMITMENTS = ("commitment", "commitment_status", "charge_category")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInput:
    """Everything that `build` needs.

    Parameters
    ----------
    amounts
        Makes the figures; carries selection and rates.
    spend
        Group (key of `DIMS`) -> sums, asked with the dimensions that stand there.
    owners
        Kind -> unit -> owners after the splits.
    owner_direct
        Kind -> unit -> (owner, how) -> figure of their own charges.
    owned
        Kind -> unit -> shares of the spend that have an owner.
    bridge_billed, bridge_effective
        Sums of billed and effective cost by `bridge_step`.
    commitments_billed, commitments_effective
        Sums by `COMMITMENTS`.
    dividing
        Names of the splits that divided something.
    movers
        Makes the figures of the movers, which may look one month back.
    by
        The extra grouping that was asked for: its dimensions and sums.
    work
        What is known about work; None when nothing is.
    endpoints
        Unit -> endpoints that are paid for, the dearest first.
    stored
        Unit -> parts of the charges of stores by what they hold.
    tokens
        What calls of models cost; None when none are loaded.
    currency
        The only currency whose charges were asked for; empty = all.
    """

    selection: Selection
    settings: Settings
    as_of: str
    amounts: Amounts
    movers: Amounts
    spend: dict[str, list[SpendRow]]
    owners: dict[OwnerKind, dict[str, list[OwnerShare]]]
    owner_direct: dict[OwnerKind, ByUnit]
    owned: dict[OwnerKind, dict[str, Owned]]
    closing: list[ClosingRow]
    billed: Amounts
    effective: Amounts
    bridge_billed: list[SpendRow]
    bridge_effective: list[SpendRow]
    commitments_billed: list[SpendRow]
    commitments_effective: list[SpendRow]
    unit_costs: list[UnitCost]
    comparisons: list[Comparison]
    firmness: dict[str, dict[str, Firmness]]
    near_misses: list[NearMiss]
    dividing: frozenset[str]
    split_notes: list[SplitNote]
    loads: list[LoadRecord]
    by: tuple[tuple[str, ...], list[SpendRow]] | None = None
    work: WorkAnswers | None = None
    endpoints: dict[str, list[EndpointAnswer]] = field(default_factory=dict)
    stored: dict[str, list[StoredPart]] = field(default_factory=dict)
    tokens: TokenAccount | None = None
    currency: str = ""

    @property
    def divides(self) -> bool:
        """Whether owners have something else in the end than their own charges."""
        return bool(self.settings.splits) or any(
            share.listed for by_unit in self.owners.values() for shares in by_unit.values() for share in shares
        )


def shown_driver(driver: str | None, line: str | None) -> str:
    """Name under which a charge stands in the table of drivers: a line that is no usage and has no rule is its own."""
    if driver in (None, UNKNOWN_DRIVER) and line in BESIDE_LINES:
        return str(line)
    return spelt(driver or UNKNOWN_DRIVER)


def shown_owner(owner: str | None, line: str | None) -> str:
    """Name under which a charge stands in a table of owners: what nobody owns and is no usage stands for itself."""
    return str(line) if owner is None and line in BESIDE_LINES else spelt_owner(owner)


def colours_of(given: ReportInput) -> FlowColours:
    """Colours of all providers, drivers and teams: name -> colour on a light page."""
    providers = {spelt(row.keys[0]) for row in given.spend["flow"]}
    drivers = {shown_driver(row.keys[1], row.keys[4]) for row in given.spend["flow"]}
    drivers |= {shown_driver(row.keys[0], row.keys[2]) for row in given.spend["driver"]}
    teams = {shown_owner(row.keys[2], row.keys[4]) for row in given.spend["flow"]}
    return colours(providers), colours(drivers), colours(teams)
