"""What the settings state: charges that no bill shows, and what invoices say."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import duckdb

from unitcost.facts.charges import FACET_COLUMNS
from unitcost.facts.rules import STATED_PROVIDER, InvoiceTotal, StatedCharge
from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.totals import sums_of
from unitcost.ledger.transaction import transaction

#: Name of the settings in the list of loads.
_FILE = "[[charge]] of the settings"
_COLUMNS = (
    "billed_cost", "effective_cost", "list_cost", "contracted_cost", "billing_currency", "billing_period_start",
    "billing_period_end", "charge_period_start", "charge_period_end", "service_provider_name", "charge_category",
    "charge_description", "service_name", "tags",
)  # fmt: skip


def state_charges(con: duckdb.DuckDBPyConnection, charges: Sequence[StatedCharge], *, now: datetime) -> None:
    """Replace the charges stated before, unless they are the same."""
    sha256 = hashlib.sha256(repr(tuple(charges)).encode()).hexdigest()
    old = con.execute("SELECT sha256 FROM loads WHERE file = ? AND replaced_by IS NULL", [_FILE]).fetchall()
    if (old and old[0][0] == sha256) or (not old and not charges):
        return
    with transaction(con):
        con.execute("DELETE FROM charges WHERE load_id IN (SELECT load_id FROM loads WHERE file = ?)", [_FILE])
        con.execute("DELETE FROM loads WHERE file = ?", [_FILE])
        if charges:
            _insert(con, charges, sha256, now)


def _insert(con: duckdb.DuckDBPyConnection, charges: Sequence[StatedCharge], sha256: str, now: datetime) -> None:
    from unitcost.ledger.load import Arrival, add_facets, write_record

    load_id = int(con.execute("SELECT nextval('load_ids')").fetchall()[0][0])
    facet = ", ".join(name if name in _COLUMNS else "NULL" for name in FACET_COLUMNS)
    values = ", ".join("CAST(? AS MAP(VARCHAR, VARCHAR))" if name == "tags" else "?" for name in _COLUMNS)
    for number, charge in enumerate(charges, start=1):
        con.execute(
            f"INSERT INTO charges (load_id, row_number, facet_id, row_hash, {', '.join(_COLUMNS)}) "
            f"SELECT ?, ?, 0, 0, {values}",
            [load_id, number, *_cells(charge)],
        )
    con.execute(f"UPDATE charges SET facet_id = greatest(hash({facet}), 1) WHERE load_id = ?", [load_id])
    add_facets(con, load_id)
    totals, _ = sums_of(con, load_id)
    record = LoadRecord(
        load_id=load_id, file=_FILE, sha256=sha256, reader="settings", dialect="[[charge]]", dataset="charges",
        conventions=("Stated amounts are billed and effective cost alike, on one day.",), flags=(),
        rows_read=len(charges), rows_accepted=len(charges), rows_rejected=0, totals=totals, residues={},
        outcome="loaded", loaded_at="",
    )  # fmt: skip
    write_record(con, record, Arrival(file=_FILE, sha256=sha256, source=_FILE, options=ReadOptions(), now=now))


def _cells(charge: StatedCharge) -> list[object]:
    start = datetime(charge.on.year, charge.on.month, charge.on.day, tzinfo=UTC).replace(tzinfo=None)
    month = start.replace(day=1)
    after = (month + timedelta(days=32)).replace(day=1)
    tags = charge.owner | ({"driver": charge.driver} if charge.driver else {})
    return [
        charge.amount, charge.amount, charge.amount, charge.amount, charge.currency, month, after, start,
        start + timedelta(days=1), STATED_PROVIDER, "Usage", charge.what, charge.what, tags,
    ]  # fmt: skip


def state_invoices(con: duckdb.DuckDBPyConnection, invoices: Sequence[InvoiceTotal]) -> None:
    """Replace the invoice totals stated before."""
    with transaction(con):
        con.execute("DELETE FROM invoices WHERE load_id = 0")
        insert_columns(
            con,
            "INSERT INTO invoices SELECT 0, number, id, currency, month, provider, CAST(total AS DECIMAL(38, 12)) FROM given",
            {
                "number": range(1, len(invoices) + 1), "id": [i.invoice_id for i in invoices],
                "currency": [i.currency for i in invoices], "month": [i.period for i in invoices],
                "provider": [i.provider for i in invoices], "total": [i.total for i in invoices],
            },
        )  # fmt: skip
