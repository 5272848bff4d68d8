"""Sums of a cost per facet, kept while a ledger is open: a report asks for them by a dozen combinations of dimensions.

What the charges of a facet have in common is what most dimensions are made of. A question about these goes to
thousands of sums, not to millions of charges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import duckdb

from unitcost.facts.charges import FACET_COLUMNS

#: Dimensions in which the charges of one sum agree.
DIMENSIONS = frozenset({
    "provider", "service", "category", "account", "billing_account", "region", "resource", "resource_type",
    "charge_category", "commitment", "commitment_status", "publisher", "currency", "billing_month", "throughput",
    "team", "team_how", "project", "project_how", "experiment", "experiment_how", "driver", "driver_rule", "line",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which sums: of which cost column, over which charges, parted by which beginnings of exchange rates.

    `billing_range` is a condition on a charge, `rate_since` an expression over one.
    """

    cost: str
    billing_range: str
    rate_since: str


@dataclass(slots=True)
class FacetSums:
    """Tables of sums, each made when it is first asked for, and whether all facets are known to have an attribution."""

    tables: dict[Wanted, str] = field(default_factory=dict)
    attributed: bool = False

    def forget(self) -> None:
        """Charges or attributions may have changed."""
        self.tables.clear()
        self.attributed = False

    def placed(self, con: duckdb.DuckDBPyConnection, wanted: Wanted, owners: str) -> str:
        """Query of sums: columns of the facet, `amount`, `row_count`, `unknown_rows` and what tells sums apart.

        Parameters
        ----------
        owners
            Columns of an attribution `a`; empty = attributions are not needed.
        """
        if wanted not in self.tables:
            name = f"facet_sums_{len(self.tables)}"
            con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {_sums(wanted)}")
            self.tables[wanted] = name
        columns = ", ".join(
            [*(f"f.{name}" for name in FACET_COLUMNS), "s.* EXCLUDE (facet_id)", *filter(None, [owners])]
        )
        joined = "JOIN attributions a USING (facet_id)" if owners else ""
        return f"SELECT {columns} FROM {self.tables[wanted]} s JOIN facets f USING (facet_id) {joined}"


def _sums(wanted: Wanted) -> str:
    return (
        "SELECT facet_id, billing_currency, billing_period_start, invoice_issuer_name, "
        f"{wanted.rate_since} AS rate_since, sum({wanted.cost}) AS amount, count(*) AS row_count, "
        f"count(*) - count({wanted.cost}) AS unknown_rows FROM charges WHERE {wanted.billing_range} GROUP BY ALL"
    )
