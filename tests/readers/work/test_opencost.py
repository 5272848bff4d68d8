"""OpenCost's allocations: hours come out as stated, costs stay what OpenCost says."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import Taken, load, take_text

WINDOW = {"start": "2031-04-01T00:00:00Z", "end": "2031-04-02T00:00:00Z"}


def allocation(**changes: Any) -> dict[str, Any]:
    return {
        "properties": {"cluster": "one", "namespace": "atlas", "node": "n1", "providerID": "i-1", "labels": {"team": "atlas"}},
        "window": WINDOW, "start": WINDOW["start"], "end": "2031-04-01T10:00:00Z", "minutes": 600, "cpuCoreHours": 20,
        "gpuHours": 15, "gpuCost": 30.5, "totalCost": 31.75, **changes,
    }  # fmt: skip


def answer(tmp_path: Path, *sets: dict[str, Any] | None) -> Taken:
    return take_text(json.dumps({"code": 200, "status": "success", "data": list(sets)}, indent=1), tmp_path)


def test_the_example_adds_up(tmp_path: Path, shared_bills: Path) -> None:
    path = shared_bills / "opencost_allocation_example.json"
    loaded = load(path, tmp_path)
    [stated] = json.loads(path.read_text(), parse_float=Fraction)["data"]
    assert loaded.record.rows_read == len(stated) == 3
    # A quantity keeps twelve places and is held for 168 hours.
    assert loaded.held_hours()["cpu"] == pytest.approx(sum(a["cpuCoreHours"] for a in stated.values()), abs=168e-12 * 3)
    said = loaded.ask("SELECT sum(CAST(metrics['opencost.totalCost'] AS DECIMAL(38, 12))) FROM workloads")[0][0]
    assert Fraction(said) == sum(a["totalCost"] for a in stated.values())
    assert loaded.ask("SELECT count(*) FROM charges") == [(0,)]


def test_averages_over_a_window(tmp_path: Path) -> None:
    taken = answer(tmp_path, {"atlas/train": allocation()})
    found = taken.column("holdings", "accelerator", "quantity", "node", "resource_id")
    assert found == [("gpu", "1.500000000000", "n1", "i-1"), ("cpu", "2.000000000000", "n1", "i-1")]
    assert taken.column("workloads", "workload_id", "account", "started_at") == [("atlas/train", "atlas", None)]
    assert taken.labels("workloads", "tags")[0]["team"] == "atlas"


def test_windows_of_one_name_are_one_workload(tmp_path: Path) -> None:
    later = {"start": "2031-04-02T00:00:00Z", "end": "2031-04-02T10:00:00Z"}
    taken = answer(tmp_path, {"a": allocation()}, None, {"a": allocation(**later, totalCost=0.25)})
    assert taken.column("workloads", "workload_id") == ["a"]
    assert taken.labels("workloads", "metrics") == [{"opencost.totalCost": "32.00", "opencost.gpuCost": "61.0"}]
    assert taken.held_hours() == {"gpu": 30, "cpu": 40}


@pytest.mark.parametrize("name", ["__idle__", "cluster/node/__idle__", "__unmounted__"])
def test_what_is_no_work_is_left_out_and_said(tmp_path: Path, name: str) -> None:
    taken = answer(tmp_path, {name: allocation(), "__unallocated__": allocation(gpuHours=0)})
    assert taken.column("workloads", "workload_id") == ["__unallocated__"]
    assert taken.plan.rows_read == 2
    assert not taken.rejects
    assert (
        f"{name.rpartition('/')[2]} is left out: cpuCoreHours 20, gpuCost 30.5, gpuHours 15, totalCost 31.75."
        in taken.flags
    )


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"gpuHours": -1}, "gpuHours"), ({"gpuHours": "many"}, "gpuHours"), ({"cpuCoreHours": True}, "cpuCoreHours"),
        ({"end": "2031-03-01T00:00:00Z"}, "end"), ({"start": "soon"}, "start"), ({"end": WINDOW["start"]}, "gpuHours"),
        ({"start": None, "window": None}, "window"), ({"start": "0001-01-01T00:00:00Z"}, "start"),
    ],
)  # fmt: skip
def test_an_allocation_that_cannot_be_is_set_aside(tmp_path: Path, changes: dict[str, Any], column: str) -> None:
    taken = answer(tmp_path, {"bad": allocation(**changes), "good": allocation()})
    assert [(row, where) for row, where, _ in taken.rejects] == [(1, column)]
    assert taken.column("workloads", "workload_id") == ["good"]


def test_minutes_that_do_not_fit_are_said(tmp_path: Path) -> None:
    assert "other minutes" in answer(tmp_path, {"a": allocation(minutes=1440)}).flags
    assert "other minutes" not in answer(tmp_path, {"a": allocation(minutes=599.2)}).flags


@given(hours=st.decimals(0, 10_000, places=5), seconds=st.integers(1, 10**7))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_quantity_times_hours_is_what_was_stated(tmp_path: Path, hours: Decimal, seconds: int) -> None:
    end = datetime.fromisoformat(WINDOW["start"]) + timedelta(seconds=seconds)
    text = json.dumps({"data": [{"a": {"start": WINDOW["start"], "end": end.isoformat(), "cpuCoreHours": "@"}}]})
    taken = take_text(text.replace('"@"', str(hours)), tmp_path)
    held = taken.held_hours().get("cpu", Fraction(0))
    assert abs(held - Fraction(hours)) <= Fraction(seconds, 3600) / 10**12


ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(st.sampled_from(list(allocation())), ANYTHING))
def test_no_member_breaks_it_and_nothing_is_lost(tmp_path: Path, changes: dict[str, Any]) -> None:
    taken = answer(tmp_path, {"a": allocation(**changes), "b": allocation(), "c": None, "d": []})
    assert taken.plan.rows_read == 4
    assert taken.column("workloads", "workload_id")[-1] == "b"
    assert [row for row, _, _ in taken.rejects][-2:] == [3, 4]
