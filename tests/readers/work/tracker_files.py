"""What the tests of trackers and endpoints share: a file read by content, and the rows that it gives."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from unitcost import readers
from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.facts.work import WORK_COLUMNS, WorkPlan, WorkTable
from unitcost.ledger import Ledger

SAMPLES = Path(__file__).parent / "samples"
NOW = datetime(2031, 7, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A plan, and what is written in its tables."""

    plan: WorkPlan

    def rows(self, table: WorkTable) -> list[dict[str, Any]]:
        """Rows of a table: column -> text, labels as a dict; empty cells left out."""
        found = [file.path for file in self.plan.tables if file.table == table]
        kinds = dict(WORK_COLUMNS[table])
        made = []
        for path in found:
            with path.open(encoding="utf-8", newline="") as stream:
                for _, *cells in csv.reader(stream):
                    row = {name: cell for name, cell in zip(kinds, cells, strict=True) if cell}
                    made.append({name: json.loads(v) if kinds[name] == "labels" else v for name, v in row.items()})
        return made

    def by(self, table: WorkTable, column: str) -> dict[str, dict[str, Any]]:
        """Rows of a table by a column that tells them apart."""
        rows = self.rows(table)
        found = {row[column]: row for row in rows}
        assert len(found) == len(rows)
        return found

    @property
    def flags(self) -> str:
        return " ".join(self.plan.flags)

    @property
    def reasons(self) -> list[str]:
        return [reject.reason for reject in self.plan.rejects]


def read(path: Path, workdir: Path, **options: Any) -> Told:
    """Read a file by its content."""
    workdir.mkdir(parents=True, exist_ok=True)
    plan = readers.read(path, ReadOptions(**options), workdir=workdir)
    assert isinstance(plan, WorkPlan)
    return Told(plan=plan)


def read_text(text: str | bytes, folder: Path, **options: Any) -> Told:
    """Write a file of no telling name, and read it."""
    path = folder / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, folder / "work", **options)


def into_ledger(told: Told, file: Path) -> LoadRecord:
    """Load a plan into a new ledger."""
    file.unlink(missing_ok=True)
    with Ledger.open(file) as ledger:
        return ledger.load(told.plan, file="f", sha256="0", source="f", options=ReadOptions(), now=NOW)


def ask(file: Path, sql: str) -> list[tuple[Any, ...]]:
    """What the ledger holds."""
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(sql).fetchall()
