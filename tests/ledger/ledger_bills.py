"""Small bills for tests of the ledger, loaded without a reader."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unitcost.facts.mapping import Expr, Field, JsonTags
from unitcost.facts.source import LoadRecord, Plan, ReadOptions, Scan
from unitcost.ledger import Claim, Ledger

NOW = datetime(2031, 11, 1, tzinfo=UTC)
HEADER = ("Cost", "Currency", "Start", "End", "Account", "What", "Tags")
MAPPING: dict[str, Expr] = {
    "billed_cost": Field("Cost"), "effective_cost": Field("Cost"), "billing_currency": Field("Currency"),
    "billing_period_start": Field("Start"), "billing_period_end": Field("End"), "charge_period_start": Field("Start"),
    "charge_period_end": Field("End"), "billing_account_id": Field("Account"), "charge_description": Field("What"),
    "tags": JsonTags(Field("Tags")),
}  # fmt: skip


def row(cost: str, what: str, *, month: int = 6, account: str = "main", tags: str = "") -> tuple[str, ...]:
    """Row of a bill of one month of 2031."""
    start, end = (f"2031-{number:02}-01T00:00:00Z" for number in (month, month + 1))
    return (cost, "USD", start, end, account, what, tags)


def plan_of(path: Path, **changes: Any) -> Plan:
    """What a reader would say about such a bill."""
    scan = Scan(path=path, format="csv", columns=HEADER)
    said: dict[str, Any] = {"mapping": MAPPING, "conventions": (), "fast": True} | changes
    return Plan(reader="test", dialect="test", scan=scan, **said)


def load(
    ledger: Ledger, path: Path, rows: Sequence[Sequence[str]], changes: dict[str, Any] | None = None, *,
    source: str = "bills", said: str = "", claim: Claim | None = None, **options: Any,
) -> LoadRecord:  # fmt: skip
    """Write a bill and load it, with changes of its plan."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([HEADER, *rows])
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    plan = plan_of(path, **(changes or {}))
    return ledger.load(
        plan, file=path.name, sha256=sha256, source=source, options=ReadOptions(**options), now=NOW, said=said,
        claim=claim,
    )  # fmt: skip


def content(path: Path) -> tuple[list[tuple[str, str]], int]:
    """Descriptions and costs of the charges that count, and the number of rows in history; the ledger is closed."""
    import duckdb

    with duckdb.connect(str(path), read_only=True) as con:
        charges = con.execute(
            "SELECT charge_description, CAST(billed_cost AS DOUBLE)::VARCHAR FROM charges ORDER BY ALL"
        )
        rows = charges.fetchall()
        return rows, con.execute("SELECT count(*) FROM charges_history").fetchall()[0][0]
