"""What the tests of readers of calls share: a file is loaded, and the ledger asked for its calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from unitcost import readers
from unitcost.facts.source import LoadRecord, Plan, ReadOptions
from unitcost.ledger import Ledger

NOW = datetime(2031, 6, 1, tzinfo=UTC)
TOKENS = (
    "input_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens", "cache_write_tokens",
    "output_tokens", "reasoning_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A ledger with the calls of one or several files."""

    plan: Plan
    record: LoadRecord
    ledger: Path

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.ledger), read_only=True) as con:
            return con.execute(query).fetchall()

    def calls(self, *names: str, table: str = "calls") -> list[dict[str, Any]]:
        """Rows by column in the order of their file, nulls left out; all columns unless some are named."""
        with duckdb.connect(str(self.ledger), read_only=True) as con:
            found = con.execute(f"SELECT {', '.join(names) or '*'} FROM {table} ORDER BY load_id, row_number")
            columns = [column[0] for column in found.description or []]
            return [
                {
                    k: v
                    for k, v in zip(columns, row, strict=True)
                    if v is not None and k not in ("load_id", "row_number")
                }
                for row in found.fetchall()
            ]

    def tokens(self) -> list[dict[str, int]]:
        """Counts of each row, those that are not known left out."""
        return self.calls(*TOKENS)

    @property
    def rejects(self) -> list[tuple[int, str, str]]:
        return self.ask("SELECT row_number, column_name, reason FROM rejects ORDER BY ALL")


def load(path: Path, workdir: Path, *, careful: bool = False, **said: Any) -> Loaded:
    """Read a file and load it into the ledger of a folder."""
    options = ReadOptions(**said)
    scratch = workdir / "scratch"
    scratch.mkdir(exist_ok=True)
    plan = readers.read(path, options, workdir=scratch, careful=careful)
    assert isinstance(plan, Plan)
    file = workdir / "ledger.duckdb"
    with Ledger.open(file) as ledger:
        record = ledger.load(plan, file=path.name, sha256=path.name, source=path.name, options=options, now=NOW)
    assert record.rows_read == record.rows_accepted + record.rows_rejected
    return Loaded(plan=plan, record=record, ledger=file)


def load_text(content: Any, workdir: Path, *, name: str = "file", **said: Any) -> Loaded:
    """Write a file (anything but text as JSON) and load it."""
    path = workdir / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
    return load(path, workdir, **said)
