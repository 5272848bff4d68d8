"""What tests of metrics share: answers made on the spot, loaded through the real reader."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.jobs.ingest import LoadOutcome, load
from unitcost.jobs.workspace import open_workspace
from unitcost.ledger import Ledger

#: 2031-09-01T00:00:00Z [s since 1970].
START_S = 1_945_987_200
Points = Sequence[tuple[float, float | str]]


def at(seconds: float) -> datetime:
    """Moment so many seconds after the start."""
    return datetime.fromtimestamp(START_S + seconds, UTC)


def series(name: str, points: Points, **labels: str) -> dict[str, Any]:
    """One series of a matrix; times are seconds after the start."""
    named = {"__name__": name, **labels}
    return {"metric": named, "values": [[START_S + time, str(value)] for time, value in points]}


def answer(*found: Mapping[str, Any], kind: str = "matrix") -> dict[str, Any]:
    """Answer of `query_range`."""
    return {"status": "success", "data": {"resultType": kind, "result": list(found)}}


def write(path: Path, *documents: object) -> Path:
    """File of documents, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(document, separators=(",", ":")) + "\n" for document in documents))
    return path


class Desk:
    """A workspace that files are loaded into."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.workspace = open_workspace(folder, as_of="2031-10-01")

    def load(self, *paths: Path, **options: Any) -> LoadOutcome:
        """Load files; the outcome."""
        return load(self.workspace, [str(path) for path in paths], options=ReadOptions(**options))

    def take(self, *documents: object, name: str = "answers.json", **options: Any) -> LoadRecord:
        """Load documents as one file; its record."""
        outcome = self.load(write(self.folder / name, *documents), **options)
        assert not outcome.failures, outcome.failures
        return outcome.records[0]

    def take_text(self, text: str | bytes, *, name: str = "scrape.prom", **options: Any) -> LoadRecord:
        """Load a text; its record."""
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        outcome = self.load(path, **options)
        assert not outcome.failures, outcome.failures
        return outcome.records[0]

    def ledger(self) -> Ledger:
        """The ledger, open."""
        return self.workspace.open_ledger()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query of the ledger's tables gives."""
        with duckdb.connect(str(self.workspace.ledger_path), read_only=True) as con:
            return con.execute(sql).fetchall()

    def rejects(self) -> list[tuple[int, str, str, str]]:
        """Row, column, value and reason of what was set aside."""
        with self.ledger() as ledger:
            return [(r.row, r.column, r.value, r.reason) for _, r in ledger.rejects()]


def steady(value: float, count: int, step_s: int = 60, first_s: int = 0) -> list[tuple[float, float]]:
    """The same value again and again."""
    return [(first_s + step_s * place, value) for place in range(count)]
