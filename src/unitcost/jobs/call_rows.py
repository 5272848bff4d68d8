"""The rows of calls behind a figure."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.call_sums import CallRow
from unitcost.facts.spend import LedgerRow
from unitcost.facts.token_account import PricedCalls, TokenGroup
from unitcost.figure import Rows
from unitcost.jobs.token_sums import MONEY, number
from unitcost.ledger import Ledger


def call_groups(priced: PricedCalls, rows: Rows) -> list[TokenGroup]:
    """Groups of calls that a leaf of a figure is made of."""
    return [
        group
        for group in priced.groups
        if all(group.dim(name) == value for name, value in rows.where)
        and (not rows.currency or group.sum.group.currency == rows.currency)
    ]


def call_rows(ledger: Ledger, priced: PricedCalls, many: Sequence[Rows], limit: int | None) -> list[list[LedgerRow]]:
    """Rows of calls behind each of some leaves, the dearest first, each with the price that it was multiplied with."""
    wanted = [[group.sum.group for group in call_groups(priced, rows)] for rows in many]
    found = ledger.work.calls.rows(priced.question, wanted, limit)
    return [[_row(priced, rows.column, row) for row in mine] for rows, mine in zip(many, found, strict=True)]


def _row(priced: PricedCalls, column: str, row: CallRow) -> LedgerRow:
    group, name = row.sum.group, priced.question.names[row.sum.group.name]
    rate = None if group.rate is None else priced.question.rates[group.rate]
    called = row.called_at.isoformat() if row.called_at else ""
    return LedgerRow(
        file=row.file, row_number=row.row_number, currency=group.currency if column in MONEY else column, cost=row.sum.cost,
        amount=number(column, [row.sum]), service="/".join(part for part in (name.provider, name.model) if part),
        resource=rate.price_id if rate else group.state, charge_period_start=called, charge_period_end=called,
        description=", ".join(rate.record_ids) if rate else "",
    )  # fmt: skip
