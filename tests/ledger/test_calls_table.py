"""Calls in the ledger: null stays null, zero stays zero, and each call counts once."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from unitcost.facts.source import ReadOptions
from unitcost.facts.tokens import COUNTED, TokenCounts
from unitcost.facts.work import WORK_COLUMNS, WorkPlan
from unitcost.ledger import Ledger
from unitcost.readers.work.sink import Sink

NOW = datetime(2031, 6, 1, tzinfo=UTC)


def stated(folder: Path, *files: list[dict[str, Any]]) -> Path:
    """A ledger with calls of several files."""
    path = folder / "ledger.duckdb"
    for number, rows in enumerate(files):
        scratch = folder / str(number)
        scratch.mkdir()
        with Sink(scratch) as sink:
            for row in rows:
                sink.add("calls", sink.read(), **{"status": "ok", **row})
        plan = WorkPlan(reader="test", dialect="", tables=sink.files(), rows_read=sink.rows_read, conventions=())
        with Ledger.open(path) as ledger:
            ledger.load(
                plan, file=f"f{number}", sha256=str(number), source="", options=ReadOptions(), now=NOW
            )  # fmt: skip
    return path


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as con:
        return con.execute(query).fetchall()


def test_the_table_has_the_classes_of_token_counts() -> None:
    names = [name for name, _ in WORK_COLUMNS["calls"]]
    assert {field.name for field in fields(TokenCounts)} == {*COUNTED, "requests"} <= set(names)


def test_null_zero_and_a_value_are_three_things(tmp_path: Path) -> None:
    rows = [
        {"input_tokens": 0, "reported_cost": Decimal(0), "cost_basis": "measured"},
        {"cache_read_tokens": 7, "variant": "batch", "reported_cost": Decimal("0.000000000001")},
    ]
    found = ask(
        stated(tmp_path, rows),
        "SELECT input_tokens, cache_read_tokens, reported_cost, variant FROM calls ORDER BY row_number",
    )
    assert found == [(0, None, Decimal(0), ""), (None, 7, Decimal("0.000000000001"), "batch")]


def test_a_call_in_two_exports_counts_once_in_either_convention(tmp_path: Path) -> None:
    gross = {"call_id": "a", "input_tokens": 40, "cache_read_tokens": 80_000, "cache_write_tokens": 2_000,
             "output_tokens": 300}  # fmt: skip
    unsplit = {"call_id": "a", "input_tokens": 82_040, "output_tokens": 300}
    path = stated(tmp_path, [unsplit], [gross, gross], [gross | {"reported_cost": Decimal(1)}])
    assert ask(path, "SELECT load_id, cache_read_tokens FROM counted_calls") == [(3, 80_000)]
    assert ask(path, "SELECT count(*) FROM calls") == [(4,)]


def test_attempts_and_rows_without_id_all_count(tmp_path: Path) -> None:
    one = {"call_id": "a", "attempt": 1, "input_tokens": 5}
    rows = [one, one | {"attempt": 2}, {"input_tokens": 5}, {"input_tokens": 5}]
    assert ask(stated(tmp_path, rows), "SELECT count(*) FROM counted_calls") == [(4,)]


BEGAN = datetime(2031, 5, 1, 10, tzinfo=UTC)


def during(seconds: float, length: float | None = 3) -> dict[str, Any]:
    """Times of a call, some seconds after the first one began."""
    began = BEGAN + timedelta(seconds=seconds)
    return {"called_at": began, "ended_at": None if length is None else began + timedelta(seconds=length)}


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ({"output_tokens": 9}, {"output_tokens": 5}, 9),  # nothing else tells: that with most tokens
        ({"output_tokens": 9, **during(0, 4)}, {"output_tokens": 5, **during(0, 2)}, 9),  # the one that ended last
        ({"output_tokens": 5, **during(0)}, {"output_tokens": 9, "notes": "output-lower-bound", **during(0, 9)}, 5),
        ({"output_tokens": 5, "reported_cost": Decimal(1), "cost_basis": "measured"}, {"output_tokens": 9}, 5),
        ({"output_tokens": 5, "reported_cost": Decimal(1), "cost_basis": "estimated"}, {"output_tokens": 9}, 9),
        ({"output_tokens": 5, **during(0)}, {"output_tokens": 9, **during(4.5)}, 9),  # clocks differ a little
    ],
)
def test_one_statement_of_a_call_counts(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], counts: int
) -> None:
    path = stated(tmp_path, [{"call_id": "a", **first}, {"call_id": "a", **second}])
    assert ask(path, "SELECT output_tokens FROM counted_calls") == [(counts,)]
    found = ask(path, "SELECT kind, by_row_number FROM call_statements WHERE kind IS NOT NULL")
    kept = 1 if counts == first["output_tokens"] else 2
    assert found == [("superseded", kept)]


def test_a_later_file_counts_where_nothing_else_tells(tmp_path: Path) -> None:
    rows = [[{"call_id": "a", "output_tokens": count, **during(0)}] for count in (9, 7)]
    assert ask(stated(tmp_path, *rows), "SELECT output_tokens FROM counted_calls") == [(7,)]


def test_calls_of_one_id_that_do_not_overlap_all_count(tmp_path: Path) -> None:
    rows = [{"call_id": "a", "output_tokens": count, **during(60 * count)} for count in (1, 2, 3)]
    partial = {"call_id": "a", "output_tokens": 2000, **during(121, 1)}
    path = stated(tmp_path, [*rows, partial])
    assert ask(path, "SELECT output_tokens FROM counted_calls ORDER BY 1") == [(1,), (2,), (3,)]
    kinds = ask(path, "SELECT kind, count(*) FROM call_statements GROUP BY kind ORDER BY kind")
    assert kinds == [("shared", 3), ("superseded", 1)]


def test_costs_that_differ_are_told_when_one_source_or_two_measures_say_so(tmp_path: Path) -> None:
    def rows(basis: str) -> list[dict[str, Any]]:
        one = {"call_id": basis, "input_tokens": 5, "cost_basis": basis}
        return [one | {"reported_cost": Decimal(1)}, one | {"reported_cost": Decimal(2)}]

    path = stated(tmp_path, rows("measured"), rows("estimated"))
    found = ask(path, "SELECT call_id, reported_cost FROM counted_calls ORDER BY call_id")
    assert found == [("estimated", 2), ("measured", 2)]
    assert ask(path, "SELECT count(*) FROM call_statements WHERE kind = 'superseded'") == [(2,)]


def test_a_span_that_repeats_its_children_does_not_count(tmp_path: Path) -> None:
    rows = [{"call_id": "p", "input_tokens": 5, "notes": "repeats-children"}, {"call_id": "c", "input_tokens": 5}]
    assert ask(stated(tmp_path, rows), "SELECT call_id FROM counted_calls") == [("c",)]
