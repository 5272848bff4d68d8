"""Observations of Langfuse: details beside or inside, told by their total."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.readers.calls.call_files import load_text

BASE = {
    "id": "o1", "traceId": "t1", "type": "GENERATION", "name": "answer", "startTime": "2031-05-01T10:00:00.000Z",
    "endTime": "2031-05-01T10:00:03.000Z", "model": "otter-mini", "level": "DEFAULT", "parentObservationId": None,
    "environment": "production", "metadata": {}, "usageDetails": {"input": 100, "output": 10, "total": 110},
    "costDetails": {"input": 0.1, "output": 0.2, "total": 0.3},
}  # fmt: skip


def made(**changes: Any) -> dict[str, Any]:
    return {**BASE, **changes}


def test_details_stand_beside_what_is_fresh(tmp_path: Path) -> None:
    details = {"input": 40, "cache_read_input_tokens": 80_000, "cache_creation_input_tokens": 2_000, "output": 300}
    (call,) = load_text([made(usageDetails=details)], tmp_path).calls()
    assert {name: count for name, count in call.items() if name.endswith("_tokens")} == {
        "input_tokens": 40, "cache_read_tokens": 80_000, "cache_write_tokens": 2_000, "output_tokens": 300,
    }  # fmt: skip
    assert (call["reported_cost"], call["cost_basis"]) == (Decimal("0.3"), "estimated")
    assert call["tags"] == {"trace": "t1", "name": "answer", "environment": "production"}


def test_the_total_tells_which_details_are_inside(tmp_path: Path) -> None:
    details = {"input": 100, "input_cached_tokens": 60, "output": 30, "output_reasoning_tokens": 20}
    totals = {"beside": 210, "inside": 130, "input inside": 150, "output inside": 190, "unclear": 999}
    rows = [made(id=name, usageDetails={**details, "total": total}) for name, total in totals.items()]
    loaded = load_text(rows, tmp_path)
    found = loaded.calls("call_id", "input_tokens AS fresh", "output_tokens AS out")
    assert [(row["call_id"], row["fresh"], row["out"]) for row in found] == [
        ("beside", 100, 50), ("inside", 40, 30), ("input inside", 40, 50), ("output inside", 100, 30), ("unclear", 100, 50),
    ]  # fmt: skip
    assert any("total is none of the sums" in flag for flag in loaded.record.flags)


def test_measured_estimated_missing_and_cached(tmp_path: Path) -> None:
    rows = [
        made(id="measured", providedCostDetails={"total": 0}),
        made(id="estimated"),
        made(id="missing", costDetails={}),
        made(id="cached", metadata={"cache_hit": True}),
        made(id="failed", level="ERROR", usageDetails={}, costDetails=None),
    ]
    found = load_text(rows, tmp_path).calls(
        "call_id", "status", "reported_cost AS cost", "cost_basis AS basis", "avoided_cost"
    )
    assert found == [
        {"call_id": "measured", "status": "ok", "cost": 0, "basis": "measured"},
        {"call_id": "estimated", "status": "ok", "cost": Decimal("0.3"), "basis": "estimated"},
        {"call_id": "missing", "status": "ok"},
        {"call_id": "cached", "status": "cached", "cost": 0, "basis": "measured", "avoided_cost": Decimal("0.3")},
        {"call_id": "failed", "status": "failed"},
    ]


def test_parents_repeat_and_others_are_left_out(tmp_path: Path) -> None:
    rows = [
        made(id="agent", type="AGENT"),
        made(id="call", parentObservationId="agent"),
        made(id="tool", type="TOOL", usageDetails={}),
    ]
    loaded = load_text(rows, tmp_path)
    assert loaded.ask("SELECT call_id FROM counted_calls") == [("call",)]
    assert loaded.ask("SELECT count(*) FROM calls") == [(2,)]


def test_table_lines_and_answer_say_the_same(tmp_path: Path) -> None:
    rows = [made(), made(id="o2", parentObservationId="o1", usageDetails={"input": 7})]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(BASE))
    writer.writeheader()
    for row in rows:
        writer.writerow({k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()})
    forms = {
        "csv": text.getvalue(), "lines": "\n".join(map(json.dumps, rows)), "list": json.dumps(rows),
        "answer": json.dumps({"data": rows, "meta": {"page": 1}}),
    }  # fmt: skip
    found = {}
    for name, form in forms.items():
        (tmp_path / name).mkdir()
        found[name] = load_text(form, tmp_path / name).calls()
    assert found["csv"] == found["lines"] == found["list"] == found["answer"]
    assert len(found["csv"]) == 2


def test_bad_observations_are_set_aside(tmp_path: Path) -> None:
    rows: list[Any] = [
        made(usageDetails="{cut"), made(usageDetails={"input": -1}), made(usageDetails={"input": "x"}), made(startTime="?"), 5,
        made(usageDetails={"input": float("nan")}), made(costDetails={"total": -1}),
        made(usageDetails={"input": 5, "cache_read_input_tokens": 9, "total": 5}), made(),
    ]  # fmt: skip
    loaded = load_text(json.dumps(rows), tmp_path)
    assert loaded.record.rows_rejected == 8
    assert len(loaded.calls()) == 1
