"""What the tests of readers of work share: a file is read, its rows are looked at, or loaded and the ledger asked."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from unitcost import readers
from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.facts.work import WORK_COLUMNS, WorkPlan
from unitcost.ledger import Ledger

NOW = datetime(2031, 6, 1, tzinfo=UTC)
SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A file as its reader gives it: plan, and rows of each table as text by column, empty cells left out."""

    plan: WorkPlan
    tables: dict[str, list[dict[str, str]]]

    @property
    def flags(self) -> str:
        return "\n".join(self.plan.flags)

    @property
    def rejects(self) -> list[tuple[int, str, str]]:
        """Row, column and reason of each record that was set aside."""
        return [(reject.row, reject.column, reject.reason) for reject in self.plan.rejects]

    def column(self, table: str, *names: str) -> list[Any]:
        """Cells of a column in the order of rows, or tuples of several; None where empty."""
        rows = [tuple(row.get(name) for name in names) for row in self.tables.get(table, [])]
        return [row[0] for row in rows] if len(names) == 1 else rows

    def labels(self, table: str, column: str) -> list[dict[str, str]]:
        return [json.loads(row.get(column, "{}")) for row in self.tables.get(table, [])]

    def held_hours(self) -> dict[str, Fraction]:
        """Accelerator -> quantity times hours of all holdings that have both."""
        total: dict[str, Fraction] = defaultdict(Fraction)
        for row in self.tables.get("holdings", []):
            if "quantity" in row and "ended_at" in row:
                lasted = datetime.fromisoformat(row["ended_at"]) - datetime.fromisoformat(row["started_at"])
                total[row["accelerator"]] += Fraction(row["quantity"]) * Fraction(
                    lasted // MICROSECOND, HOUR // MICROSECOND
                )
        return dict(total)


MICROSECOND, HOUR = timedelta(microseconds=1), timedelta(hours=1)


def take(path: Path, workdir: Path, **said: Any) -> Taken:
    """Read a file."""
    scratch = workdir / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    plan = readers.read(path, ReadOptions(**said), workdir=scratch)
    assert isinstance(plan, WorkPlan)
    tables = {}
    for file in plan.tables:
        names = ["row_number", *(name for name, _ in WORK_COLUMNS[file.table])]
        with file.path.open(encoding="utf-8", newline="") as stream:
            rows = [dict(zip(names, row, strict=True)) for row in csv.reader(stream, strict=True)]
        assert len(rows) == file.row_count
        tables[file.table] = [{name: cell for name, cell in row.items() if cell} for row in rows]
    assert len({reject.row for reject in plan.rejects}) == len(plan.rejects) <= plan.rows_read
    return Taken(plan=plan, tables=tables)


def take_text(text: str | bytes, workdir: Path, **said: Any) -> Taken:
    """Write a file and read it."""
    path = workdir / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return take(path, workdir, **said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A file in a ledger."""

    plan: WorkPlan
    record: LoadRecord
    ledger: Path

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.ledger), read_only=True) as con:
            return con.execute(query).fetchall()

    def held_hours(self, where: str = "TRUE") -> dict[str, Fraction]:
        """Accelerator -> quantity times hours, exact: SQL adds up whole numbers."""
        rows = self.ask(
            "SELECT accelerator, CAST(sum(CAST(quantity * 1000000000000 AS HUGEINT) * (epoch_us(ended_at) - "
            f"epoch_us(started_at))) AS VARCHAR) FROM holdings WHERE quantity IS NOT NULL AND ended_at IS NOT NULL AND {where} "
            "GROUP BY accelerator ORDER BY ALL"
        )
        return {name: Fraction(int(total), 10**12 * (HOUR // MICROSECOND)) for name, total in rows}


def load(path: Path, workdir: Path, **said: Any) -> Loaded:
    """Read a file and load it into a ledger of its own."""
    options = ReadOptions(**said)
    plan = take(path, workdir, **said).plan
    file = workdir / "ledger.duckdb"
    file.unlink(missing_ok=True)
    with Ledger.open(file) as ledger:
        record = ledger.load(plan, file=path.name, sha256="0", source=path.name, options=options, now=NOW)
    assert record.rows_read == record.rows_accepted + record.rows_rejected
    return Loaded(plan=plan, record=record, ledger=file)


def shown(loaded: Loaded, *tables: str) -> str:
    """Rows of these tables as readable text, empty columns left out, for golden files."""
    plan = loaded.plan
    lines = [f"{plan.reader}: {plan.dialect}", *(f"! {flag}" for flag in plan.flags)]
    lines += [f"- row {reject.row}, {reject.column or 'whole row'}: {reject.reason}" for reject in plan.rejects]
    for table in tables:
        with duckdb.connect(str(loaded.ledger), read_only=True) as con:
            found = con.execute(f"SELECT * EXCLUDE (load_id) FROM {table} ORDER BY ALL")
            names = [column[0] for column in found.description]
            for row in found.fetchall():
                cells = [
                    f"{name}={_plain(value)}" for name, value in zip(names, row, strict=True) if value not in (None, {})
                ]
                lines.append(f"{table} {' '.join(cells)}")
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text}" for key, text in value.items()) + "}"
    text = str(value)
    return text.rstrip("0").rstrip(".") if type(value).__name__ == "Decimal" else text
