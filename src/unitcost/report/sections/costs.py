"""What each team pays for."""

from __future__ import annotations

from unitcost.report.figures import Made
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Section
from unitcost.report.sections.tables import amount_tables

_TOP = 30
_KEPT = (
    "Charges of a store are told apart by what its listing says is kept there; `storage` is what no listing tells of. "
    "A store whose charges have no team counts for the teams that the listing, or the run that it names, tells of."
)


def costs(given: ReportInput, made: Made) -> Section:
    """Teams by what the money is for; the amounts of a team add up to its row in the table of teams."""
    tables = amount_tables("costs-team", made.owner_costs["team"], given.amounts, names=("team", "for"), top=_TOP)
    return Section(
        key="costs-team", title="What teams pay for", question="What does each team spend its money on?", tables=tables,
        notes=(_KEPT,) if any(given.stored.values()) else (),
    )  # fmt: skip
