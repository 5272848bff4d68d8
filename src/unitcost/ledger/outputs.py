"""Loading what is not a charge: useful units, and invoice totals stated by the provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import duckdb

from unitcost.facts import mapping as m
from unitcost.facts.source import Plan, Reject
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.cells import Cells
from unitcost.ledger.compile import decimal, text
from unitcost.ledger.moments import moment
from unitcost.ledger.statement import diagnosis, layers, raw_row

_WAYS: dict[str, Callable[[Cells, m.Expr], str]] = {"text": text, "time": moment, "decimal": decimal}
#: Columns of the mapping of an `outputs` plan: (target, kind, needed).
OUTPUT_TARGETS = (
    ("service", "text", True), ("day", "time", True), ("unit", "text", True),
    ("quantity", "decimal", True), ("attempts", "decimal", False),
)  # fmt: skip
_INVOICE_TARGETS = (
    ("invoice_id", "text", True), ("billing_currency", "text", True),
    ("billing_period_start", "time", True), ("billed_cost", "decimal", True),
)  # fmt: skip
_Rows = list[tuple[int, tuple[Any, ...]]]


def load_outputs(con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int) -> tuple[list[Reject], int]:
    """Fill `outputs`; returns the rejects and the number of rows read."""
    rows, rejects = _read(con, plan, OUTPUT_TARGETS)
    kept: _Rows = []
    for number, values in rows:
        negative = next((v for v in values[3:] if v is not None and v < 0), None)
        if negative is None:
            kept.append((number, values))
        else:
            rejects.append(
                Reject(row=number, column="quantity", value=str(negative), reason="is negative", raw=values[0])
            )
    _insert(
        con, load_id, kept,
        "INSERT INTO outputs SELECT load_id, row_number, v0, CAST(v1 AS TIMESTAMP), CAST(v5 AS TIMESTAMP), v2, "
        "CAST(v3 AS DECIMAL(38, 12)), CAST(v4 AS DECIMAL(38, 12)), 'measured' FROM given",
        [*(lambda v, i=i: v[i] for i in range(5)), lambda v: v[1] + timedelta(days=1)],
    )  # fmt: skip
    return rejects, len(rows) + len(rejects) - (len(rows) - len(kept))


def load_invoices(con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int) -> tuple[list[Reject], int]:
    """Fill `invoices` from a FOCUS invoice detail file, one row per detail line."""
    rows, rejects = _read(con, plan, _INVOICE_TARGETS)
    _insert(
        con, load_id, rows,
        "INSERT INTO invoices SELECT load_id, row_number, v0, v1, v2, '', CAST(v3 AS DECIMAL(38, 12)) FROM given",
        [lambda v: v[0], lambda v: v[1], lambda v: v[2].strftime("%Y-%m"), lambda v: v[3]],
    )  # fmt: skip
    return rejects, len(rows) + len(rejects)


def _insert(
    con: duckdb.DuckDBPyConnection, load_id: int, rows: _Rows, sql: str, cells: Sequence[Callable[[Any], Any]]
) -> None:
    given = {"load_id": [load_id] * len(rows), "row_number": [number for number, _ in rows]}
    insert_columns(con, sql, given | {f"v{i}": [cell(values) for _, values in rows] for i, cell in enumerate(cells)})


def _read(
    con: duckdb.DuckDBPyConnection, plan: Plan, targets: Sequence[tuple[str, str, bool]]
) -> tuple[_Rows, list[Reject]]:
    """Typed rows of a small file, and the rows in which a needed cell is missing or cannot be read."""
    cells = Cells(plan=plan, types=["VARCHAR"] * len(plan.scan.columns))
    values = [_WAYS[kind](cells, plan.mapping[name]) if name in plan.mapping else "NULL" for name, kind, _ in targets]
    chosen = ", ".join([*diagnosis(cells).values(), raw_row(cells), *values])
    query = f"SELECT row_number, {chosen} FROM ({layers(cells, keep_all=True)}) ORDER BY row_number"
    good: _Rows = []
    rejects: list[Reject] = []
    for number, column, value, reason, raw, *found in con.execute(query).fetchall():
        missing = next((n for (n, _, needed), v in zip(targets, found, strict=True) if needed and v is None), None)
        if reason:
            rejects.append(Reject(row=number, column=column, value=value, reason=reason, raw=raw))
        elif missing is not None:
            rejects.append(Reject(row=number, column=missing, value="", reason=f"has no {missing}", raw=raw))
        else:
            good.append((number, tuple(found)))
    return good, rejects
