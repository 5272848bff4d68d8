"""Loading what is not a charge: useful units, and invoice totals stated by the provider."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import duckdb

from unitcost.facts.source import Plan, Reject
from unitcost.ledger.compile import Compiler
from unitcost.ledger.statement import layers

#: Columns of the mapping of an `outputs` plan: (target, kind, needed).
OUTPUT_TARGETS = (
    ("service", "text", True), ("day", "time", True), ("unit", "text", True),
    ("quantity", "decimal", True), ("attempts", "decimal", False),
)  # fmt: skip
_INVOICE_TARGETS = (
    ("invoice_id", "text", True), ("billing_currency", "text", True),
    ("billing_period_start", "time", True), ("billed_cost", "decimal", True),
)  # fmt: skip


def load_outputs(con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int) -> tuple[list[Reject], int, int]:
    """Fill `outputs`; returns rejects, rows read and rows accepted."""
    rows, rejects = _read(con, plan, OUTPUT_TARGETS)
    kept = []
    for number, (service, day, unit, quantity, attempts) in rows:
        if quantity < 0 or (attempts is not None and attempts < 0):
            rejects.append(
                Reject(row=number, column="quantity", value=str(quantity), reason="is negative", raw=service)
            )
        else:
            kept.append([load_id, number, service, day, day, unit, quantity, attempts])
    if kept:
        con.executemany(
            "INSERT INTO outputs VALUES (?, ?, ?, ?, CAST(? AS TIMESTAMP) + INTERVAL 1 DAY, ?, ?, ?, 'measured')", kept
        )
    return rejects, len(kept) + len(rejects), len(kept)


def load_invoices(con: duckdb.DuckDBPyConnection, plan: Plan, load_id: int) -> tuple[list[Reject], int, int]:
    """Fill `invoices` from a FOCUS invoice detail file, one row per detail line."""
    rows, rejects = _read(con, plan, _INVOICE_TARGETS)
    kept = [
        [load_id, number, invoice, currency, start.strftime("%Y-%m"), total]
        for number, (invoice, currency, start, total) in rows
    ]
    if kept:
        con.executemany("INSERT INTO invoices VALUES (?, ?, ?, ?, ?, '', ?)", kept)
    return rejects, len(rows) + len(rejects), len(kept)


def _read(
    con: duckdb.DuckDBPyConnection, plan: Plan, targets: Sequence[tuple[str, str, bool]]
) -> tuple[list[tuple[int, tuple[Any, ...]]], list[Reject]]:
    """Typed rows of a small file, and the rows in which a needed cell is missing or cannot be read."""
    columns = plan.scan.columns
    compiler = Compiler(plan=plan, types=["VARCHAR"] * len(columns))
    ways = {"text": compiler.text, "time": compiler.moment, "decimal": compiler.decimal}
    values = [ways[kind](plan.mapping[name]) if name in plan.mapping else "NULL" for name, kind, _ in targets]
    checks = list(compiler.checks.values())
    reads = layers(compiler, plan, keep_cells=True)
    bads = ", ".join(f"coalesce({check.bad}, false)" for check in checks) or "false"
    texts = ", ".join(f"CAST({check.cell} AS VARCHAR)" for check in checks) or "NULL"
    cells = ", ".join(f"c{i}" for i in range(len(columns)))
    query = f"SELECT row_number, [{bads}], [{texts}], [{cells}], {', '.join(values)} FROM ({reads}) ORDER BY 1"
    good: list[tuple[int, tuple[Any, ...]]] = []
    rejects: list[Reject] = []
    for number, bad, shown, raw, *found in con.execute(query).fetchall():
        text = json.dumps(dict(zip(columns, raw, strict=True)), ensure_ascii=False)
        wrong = next((i for i, is_bad in enumerate(bad) if is_bad), None) if checks else None
        missing = next((n for (n, _, needed), v in zip(targets, found, strict=True) if needed and v is None), None)
        if wrong is not None:
            check = checks[wrong]
            rejects.append(
                Reject(row=number, column=check.column, value=str(shown[wrong]), reason=check.reason, raw=text)
            )
        elif missing is not None:
            rejects.append(Reject(row=number, column=missing, value="", reason=f"has no {missing}", raw=text))
        else:
            good.append((number, tuple(found)))
    return good, rejects
