"""Calls of models put into a ledger as a reader would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unitcost.facts.source import LoadRecord, ReadOptions
from unitcost.facts.work import WorkPlan
from unitcost.ledger import Ledger
from unitcost.readers.work.sink import Sink

NOW = datetime(2031, 7, 1, tzinfo=UTC)
AT = datetime(2031, 6, 10, 12, tzinfo=UTC)


def load_calls(ledger: Ledger, folder: Path, rows: Iterable[Mapping[str, Any]], *, name: str = "calls") -> LoadRecord:
    """Load rows of the table `calls`; a call is well, and made on the day `AT`, unless a row says otherwise."""
    workdir = folder / name
    workdir.mkdir()
    with Sink(workdir) as sink:
        for row in rows:
            sink.add("calls", sink.read(), **{"status": "ok", "called_at": AT, **row})
    plan = WorkPlan(
        reader="test", dialect="test", tables=sink.files(), rows_read=sink.rows_read, conventions=(), rejects=()
    )
    return ledger.load(plan, file=f"{name}.csv", sha256=name, source=name, options=ReadOptions(), now=NOW)
