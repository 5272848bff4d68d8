"""Rows about work reach the ledger as they were given, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkPlan, WorkTable
from unitcost.ledger import Ledger
from unitcost.readers.work.sink import Sink, cells_of

NOW = datetime(2031, 6, 1, tzinfo=UTC)


def stored(folder: Path, rows: list[tuple[WorkTable, dict[str, Any]]], columns: str) -> list[tuple[Any, ...]]:
    """What the ledger holds of rows of one table, in their order."""
    folder.mkdir(exist_ok=True)
    with Sink(folder) as sink:
        for table, values in rows:
            sink.add(table, sink.read(), **values)
    plan = WorkPlan(reader="x", dialect="x", tables=sink.files(), rows_read=sink.rows_read, conventions=())
    file = folder / "ledger.duckdb"
    file.unlink(missing_ok=True)
    with Ledger.open(file) as ledger:
        record = ledger.load(plan, file="f", sha256="0", source="f", options=ReadOptions(), now=NOW)
    assert (record.rows_read, record.rows_accepted, record.dataset) == (len(rows), len(rows), "work")
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(f"SELECT {columns} FROM {rows[0][0]} ORDER BY row_number").fetchall()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(lambda t: "\x00" not in t)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(TEXTS, min_size=1, max_size=5), tags=st.dictionaries(TEXTS, TEXTS, max_size=3))
def test_any_text_comes_back(tmp_path: Path, names: list[str], tags: dict[str, str]) -> None:
    rows: list[tuple[WorkTable, dict[str, Any]]] = [
        ("workloads", {"source": "s", "workload_id": name, "tags": tags}) for name in names
    ]
    assert stored(tmp_path, rows, "workload_id, coalesce(tags, map())") == [(name, tags) for name in names]


def test_each_kind_of_value_comes_back(tmp_path: Path) -> None:
    start = datetime.fromisoformat("2031-04-01T02:00:00.5+02:00")
    values = {
        "source": "s", "workload_id": "w", "attempt": 2, "quantity": Decimal("0.25"), "started_at": start, "startup_s": 1.5
    }  # fmt: skip
    found = stored(tmp_path, [("holdings", values)], "attempt, quantity, started_at, ended_at, startup_s, status")
    assert found == [(2, Decimal("0.25"), datetime(2031, 4, 1, 0, 0, 0, 500_000), None, 1.5, None)]


def test_samples_keep_their_milliseconds(tmp_path: Path) -> None:
    rows: list[tuple[WorkTable, dict[str, Any]]] = [
        ("samples", {"series_key": 1, "sampled_at": "1917820800.123", "value": value}) for value in ("3", "NaN", "+Inf")
    ]
    found = stored(tmp_path, rows, "sampled_at, CAST(value AS VARCHAR)")
    moment = datetime(2030, 10, 10, 0, 0, 0, 123_000)
    assert found == [(moment, "3.0"), (moment, "nan"), (moment, "inf")]


@pytest.mark.parametrize(
    ("table", "values", "reason"),
    [
        ("holdings", {"quantity": "four"}, "quantity"),
        ("holdings", {"quantity": Decimal("NaN")}, "quantity"),
        ("holdings", {"quantity": Decimal(10) ** 30}, "quantity"),
        ("holdings", {"attempt": 2**70}, "attempt"),
        ("holdings", {"started_at": datetime(2031, 4, 1)}, "started_at"),
        ("holdings", {"started_at": datetime(1, 4, 1, tzinfo=UTC)}, "started_at"),
        ("series", {"series_key": "x"}, "series_key"),
        ("workloads", {"name": "x" * 5_000_000}, "longer than 4 MiB"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, table: WorkTable, values: dict[str, Any], reason: str
) -> None:
    with Sink(tmp_path) as sink, pytest.raises(ValueError, match=reason):
        sink.add_all(1, [("workloads", {"source": "s", "workload_id": "w"}), (table, values)])
    assert sink.files() == ()


def test_what_a_text_cannot_hold_is_replaced(tmp_path: Path) -> None:
    rows: list[tuple[WorkTable, dict[str, Any]]] = [
        ("workloads", {"source": "s", "workload_id": "a\ud800b\x00c", "tags": {"k\udfff": "v\x00"}})
    ]
    assert stored(tmp_path, rows, "workload_id, tags") == [("a?b\ufffdc", {"k?": "v\ufffd"})]


def test_a_column_that_does_not_exist_is_a_fault_of_the_reader() -> None:
    with pytest.raises(KeyError, match="colour"):
        cells_of("workloads", {"colour": "red"})
