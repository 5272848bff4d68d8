"""Asking an open ledger with one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from unitcost.attribution.fx import rate_days, rate_in_force
from unitcost.attribution.periods import Granularity, place, selection_bounds
from unitcost.facts.rules import FxRate, Settings
from unitcost.facts.spend import OutputRow, Placement, Selection, SpendRow
from unitcost.jobs.workspace import Workspace
from unitcost.ledger import Ledger
from unitcost.report.amounts import Amounts

#: Above this many days a trend is drawn by month.
_MOST_DAYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks an open ledger with one selection, the placements and exchange rates that belong to it."""

    ledger: Ledger
    workspace: Workspace
    settings: Settings
    as_of: str
    selection: Selection
    currency: str
    days: list[Placement]
    months: list[Placement]
    rates_since: tuple[date, ...]
    outputs: list[OutputRow]

    @classmethod
    def of(cls, ledger: Ledger, workspace: Workspace, selection: Selection, currency: str) -> Asking:
        """Prepare the questions of a report."""
        periods = ledger.charge_periods()
        span = (periods[-1][1] - periods[0][0]).days if periods else 0
        fine: Granularity = "day" if span <= _MOST_DAYS else "month"
        return cls(
            ledger=ledger, workspace=workspace, settings=workspace.settings, as_of=workspace.now.date().isoformat(), selection=selection,
            currency=currency, days=place(periods, fine, selection.timezone),
            months=place(periods, "month", selection.timezone), rates_since=rate_days(workspace.settings.fx),
            outputs=all_outputs(ledger.outputs(selection), ledger.metered_outputs(selection)),
        )  # fmt: skip

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """First moment of the selection, and the first after it, in UTC; None = open."""
        return selection_bounds(self.selection)

    def spend(self, dims: tuple[str, ...], selection: Selection | None = None) -> list[SpendRow]:
        """Sums of the selected cost."""
        placements = self.days if "day" in dims else self.months
        rows = self.ledger.spend(selection or self.selection, dims, placements=placements, rates_since=self.rates_since)
        return [row for row in rows if not self.currency or row.currency == self.currency]

    def tag_keys(self) -> list[tuple[str, ...]]:
        """Sets of tag keys on the selected charges."""
        return self.ledger.tag_keys(self.selection, placements=self.months, currency=self.currency)

    def amounts(self, selection: Selection | None = None) -> Amounts:
        """Maker of figures for a selection."""

        def rate_of(currency: str, since: date | None) -> FxRate | None:
            return rate_in_force(self.settings.fx, currency, since)

        return Amounts(
            selection=selection or self.selection, currency=self.currency or self.settings.currency, rate_of=rate_of
        )


def all_outputs(stated: Sequence[OutputRow], metered: Sequence[OutputRow]) -> list[OutputRow]:
    """Useful units from tables and from counters; what a table states of a service and unit is not counted again."""
    told = {(row.service, row.unit) for row in stated}
    return [*stated, *(row for row in metered if (row.service, row.unit) not in told)]
