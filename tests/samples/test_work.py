"""The work of the sample, through the whole tool: what the report says of it is what its generator wrote down."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.sample_reports import Told

from unitcost import money, samples
from unitcost.cli import cli
from unitcost.jobs.explain import explain
from unitcost.jobs.ingest import load
from unitcost.jobs.review import review
from unitcost.jobs.selecting import select
from unitcost.jobs.workspace import open_workspace
from unitcost.report.json_form import as_data

#: A sum of some hundred parts, each rounded to 10^-12, is the same to the cent.
CENT = Decimal("0.01")


def is_cent(found: object, expected: Decimal) -> bool:
    return abs(money.subtract(Decimal(str(found)), expected)) < CENT


def test_what_became_of_capacity_is_the_truth(told: Told) -> None:
    states = told.report["capacity"]["USD"]["states"]
    expected = {name: amount for name, amount in told.truth.work.states.items() if name in states}
    assert set(expected) == {"used", "allocated idle", "use unknown", "unallocated"}
    assert all(amount > 1_000 and is_cent(states[name], amount) for name, amount in expected.items())


def test_who_held_what_is_the_truth(told: Told) -> None:
    found = told.report["capacity"]["USD"]["workload"]
    assert set(found) == set(told.truth.work.held)
    for holder, parts in told.truth.work.held.items():
        for state, amount in parts.items():
            assert is_cent(found[holder].get(state, 0), amount), (holder, state)
    assert len(found) > 150


def test_the_report_closes_with_capacity_in_it(told: Told) -> None:
    assert told.report["closes"]
    (section,) = (section for section in told.report["sections"] if section["key"] == "capacity")
    assert section["tables"][0]["total"][1]["value"] == told.report["total"]["USD"]


def test_runs_cost_what_they_held_and_end_as_they_did(told: Told) -> None:
    found = {row["name"]: row for row in told.report["runs"]["runs"]}
    for run in told.truth.work.runs:
        row = found.pop(run.name)
        assert (row["outcome"], row["accepted"], row["from_bill"]) == (run.outcome, run.accepted, True), run.name
        assert is_cent(row["cost"], run.cost), run.name
    assert set(found) == {"fraud-sweep-3"}
    outcomes = Counter(run.outcome for run in told.truth.work.runs)
    assert set(outcomes) == {"completed", "failed", "cancelled", "pruned", "duplicate"}


def test_an_accepted_result_bears_all_that_failed(told: Told) -> None:
    found = {row["experiment"]: row for row in told.report["runs"]["experiments"]}
    assert set(found) == set(told.truth.work.experiments)
    for name, (cost, accepted) in told.truth.work.experiments.items():
        assert is_cent(found[name]["cost"], cost)
        assert found[name]["accepted"] == accepted
        if accepted:
            assert is_cent(found[name]["per_accepted"], money.divide(cost, Decimal(accepted)))
        else:
            assert (found[name]["per_accepted"], found[name]["reason"]) == (None, "no accepted unit")
    assert {bool(accepted) for _, accepted in told.truth.work.experiments.values()} == {True, False}


@pytest.mark.parametrize(("table", "part"), [("accounts", "accounts"), ("statuses", "endings")])
def test_hours_and_their_price_are_the_truth(told: Told, table: str, part: str) -> None:
    found = {name: row for name, row in told.report["work"][table].items() if name not in ("serving", "running")}
    expected: dict[str, tuple[Decimal, Decimal]] = getattr(told.truth.work, part)
    assert set(found) == set(expected)
    for name, (hours, usd) in expected.items():
        assert Decimal(found[name]["accelerator_hours"]) == hours
        assert is_cent(found[name]["usd"], usd)


def test_what_is_open_or_never_started_is_said(told: Told) -> None:
    (section,) = (section for section in told.report["sections"] if section["key"] == "work")
    notes = " ".join(section["notes"])
    assert "1 lives have no end" in notes
    assert "1 workloads never started" in notes


def test_useful_units_are_those_that_were_made(told: Told) -> None:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in told.report["unit_costs"]:
        found[row["service"]][row["unit"]] = row["quantity"]
    units = {
        "requests": "1k requests",
        "input tokens": "million input tokens",
        "output tokens": "million output tokens",
    }
    for service, made in told.truth.work.outputs.items():
        for unit, count in made.items():
            assert Decimal(found[service][units[unit]]) == count, (service, unit)


def test_endpoints_are_in_use_idle_or_unknown(told: Told) -> None:
    found = {name.rpartition("/")[2]: row for name, row in told.report["endpoints"]["USD"].items()}
    idle = {row["cost"] for row in found.values() if row["traffic"] == "no requests"}
    canary = found["ranking-canary"]["cost"]
    assert idle == {canary, money.text(money.add(told.truth.work.held[holder("summariser")].values()))}
    assert found["embed-endpoint"]["traffic"] == "in use"
    assert found["embed-gpu"]["traffic"] == "traffic unknown"
    costs = {(row["service"], row["unit"]): row for row in told.report["unit_costs"]}
    assert costs["fraud-scorer", "1k requests"]["cost"] == found["fraud-scorer"]["cost"]


def holder(deployment: str) -> str:
    return f"kubernetes:serving/{deployment}-7c9d5b8f64-x2k8q"


def test_what_stores_keep_is_the_truth(told: Told) -> None:
    found = told.report["stored"]["USD"]["kind"]
    assert set(found) == set(told.truth.work.stored) == {"checkpoint", "data set", "embedding", "feature table", "log"}
    assert all(is_cent(found[kind], amount) for kind, amount in told.truth.work.stored.items())


@pytest.mark.parametrize(
    ("table", "name", "state"),
    [
        ("By workload", "embed-build", "used"), ("By workload", "embed-build", "allocated idle"),
        ("By workload", "summariser", "use unknown"), ("By resource", "//example/embed-gpu", "allocated idle"),
        ("By resource", "i-", "unallocated"),
    ],
)  # fmt: skip
def test_each_state_unfolds_to_rows_of_the_bill(told: Told, table: str, name: str, state: str) -> None:
    (section,) = (section for section in told.report["sections"] if section["key"] == "capacity")
    [found] = [one for one in section["tables"] if one["caption"] == table]
    place = [column["name"] for column in found["columns"]].index(state)
    cells = [row[place] for row in found["rows"] if row[0].startswith(name) and row[place]]
    check_unfolds(told, cells[0])


@pytest.mark.parametrize(
    ("section", "name"),
    [("runs", "failed"), ("runs", "pruned"), ("endpoints", "i-"), ("stored", "embedding"), ("unit-costs", "serving/")],
)
def test_one_of_each_unfolds_to_rows_of_the_bill(told: Told, section: str, name: str) -> None:
    (found,) = (part for part in told.report["sections"] if part["key"] == section)
    rows = [row for table in found["tables"] for row in table["rows"] if str(row[0]).startswith(name)]
    check_unfolds(told, next(cell for cell in rows[0][1:] if isinstance(cell, dict) and cell["unit"].startswith("USD")))


def check_unfolds(told: Told, cell: dict[str, Any]) -> None:
    """Rows of bills stand at the leaves, and a part is no more than they are."""
    explanation = explain(told.workspace, cell["figure"], limit=None)
    rows = [row for found, _ in explanation.rows.values() for row in found]
    assert rows
    assert all(row.file.startswith("bills/") for row in rows)
    assert explanation.figure.value == Decimal(cell["value"])
    assert 0 < explanation.figure.value <= money.add(row.amount for row in rows)


def test_explain_prints_a_run_down_to_its_bill(told: Told) -> None:
    priced = [run for run in told.report["runs"]["runs"] if run["cost"]]
    run = min(priced, key=lambda run: Decimal(run["cost"]))
    result = CliRunner().invoke(cli, ["explain", run["figure"], "-C", str(told.workspace.folder)])
    assert result.exit_code == 0, result.output
    assert "bills/aws-cur/2026-08.csv:" in result.stdout
    assert "in proportion to accelerator-seconds held" in result.stdout


def test_truth_is_written_beside_the_files(told: Told) -> None:
    written = json.loads((Path(told.workspace.folder) / "truth.json").read_text(encoding="utf-8"))
    assert {name: Decimal(amount) for name, amount in written["work"]["states"].items()} == told.truth.work.states


@pytest.mark.parametrize("months", [("2026-02",), ("2026-12", "2027-01")])
def test_fewer_months_have_their_truth_too(tmp_path: Path, months: tuple[str, ...]) -> None:
    truth = samples.write(tmp_path, months=months, rows=8_000).work
    workspace = open_workspace(tmp_path, as_of="2027-02-05")
    assert load(workspace).exit_code() == 0
    report = as_data(review(workspace, select(workspace.settings)))
    states = report["capacity"]["USD"]["states"]
    assert all(is_cent(states.get(name, 0), amount) for name, amount in truth.states.items())
    assert report["closes"]
