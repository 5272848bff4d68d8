"""Exact sums of what a load holds, and what rounding to twelve places took away."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from unitcost import money
from unitcost.facts.charges import MONEY_COLUMNS

#: Currency -> money column -> exact decimal string.
Sums = dict[str, dict[str, str]]


def sums_of(con: duckdb.DuckDBPyConnection, load_id: int, fine_columns: Sequence[str] = ()) -> tuple[Sums, Sums]:
    """Exact sums of a load, and its residues, so that file = ledger + residue.

    Parameters
    ----------
    fine_columns
        Money columns of which some amounts may stand in `unrounded`.
    """
    sums = ", ".join(f"sum({name})" for name in MONEY_COLUMNS)
    query = f"SELECT billing_currency, count(unrounded), {sums} FROM charges WHERE load_id = ? GROUP BY ALL ORDER BY 1"
    totals: Sums = {}
    any_fine = False
    for currency, fine, *values in con.execute(query, [load_id]).fetchall():
        any_fine = any_fine or fine > 0
        named = zip(MONEY_COLUMNS, values, strict=True)
        totals[currency] = {name: money.text(value) for name, value in named if value is not None}
    residues: Sums = {currency: {} for currency in totals}
    for name in fine_columns if any_fine else ():
        for currency, residue in _residues(con, load_id, name).items():
            if residue:
                residues[currency][name] = money.text(residue)
    return totals, residues


def _residues(con: duckdb.DuckDBPyConnection, load_id: int, name: str) -> dict[str, Decimal]:
    """Residue per currency: in the engine where thirty places hold it exactly, otherwise number by number."""
    rows = (
        f"SELECT billing_currency, unrounded['{name}'] AS terms, {name} AS kept, "
        f"residue_of(unrounded['{name}'], {name}) AS residue FROM charges "
        f"WHERE load_id = ? AND unrounded IS NOT NULL AND unrounded['{name}'] IS NOT NULL"
    )
    query = f"SELECT billing_currency, sum(residue), count(*) - count(residue) FROM ({rows}) GROUP BY ALL"
    found: dict[str, Decimal] = {}
    left = 0
    for currency, residue, not_exact in con.execute(query, [load_id]).fetchall():
        found[currency] = residue or money.ZERO
        left += not_exact
    if left:
        query = f"SELECT billing_currency, terms, kept FROM ({rows}) WHERE residue IS NULL"
        for currency, terms, kept in con.execute(query, [load_id]).fetchall():
            found[currency] = money.add([found[currency], exact(terms), money.negate(kept)])
    return found


def exact(terms: str) -> Decimal:
    """Exact sum of numbers as they were written, parted by spaces; one that begins with `~` is subtracted."""
    return money.add(
        money.negate(money.parse_amount(term[1:])) if term.startswith("~") else money.parse_amount(term)
        for term in terms.split()
    )
