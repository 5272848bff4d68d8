"""Our own tables of workloads, holdings and resources, and the worked cases that come as such."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import SAMPLES, Loaded, load, shown, take_text

from unitcost.facts.work import STATUSES

START = datetime.fromisoformat("2031-04-01T00:00:00+00:00")


def table(*rows: dict[str, Any]) -> str:
    """A csv whose header is that of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def loaded(tmp_path: Path, name: str, *rows: dict[str, Any]) -> Loaded:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "file.csv").write_text(table(*rows))
    result = load(folder / "file.csv", folder)
    assert result.plan.reader == name
    assert result.record.rows_accepted == len(rows)
    return result


def case_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_sample(tmp_path: Path, golden: Any) -> None:
    golden(SAMPLES / "workloads.golden", shown(load(SAMPLES / "workloads.csv", tmp_path), "workloads", "holdings"))


HOLDING = {"workload_id": "w", "accelerator": "h100", "quantity": "2", "started_at": "2031-04-01T00:00:00Z",
           "ended_at": "2031-04-01T03:00:00Z"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"quantity": "-1"}, "quantity", "negative"),
        ({"quantity": "NaN"}, "quantity", "not a number"),
        ({"quantity": "2,5"}, "quantity", "not a number"),
        ({"quantity": "1e15"}, "", "quantity"),
        ({"ended_at": "2031-03-01T00:00:00Z"}, "ended_at", "before the start"),
        ({"started_at": "1931-04-01T00:00:00Z"}, "started_at", "1990"),
        ({"ended_at": "9999-12-31T23:59:59-12:00"}, "ended_at", "2200"),
        ({"started_at": "yesterday"}, "started_at", "not a moment"),
        ({"started_at": ""}, "started_at", "missing"),
        ({"workload_id": " "}, "workload_id", "missing"),
        ({"attempt": "1.5"}, "attempt", "whole"),
        ({"attempt": "99999999999999999999"}, "", "attempt"),
        ({"startup_s": "-1"}, "startup_s", "negative"),
        ({"startup_s": "inf"}, "startup_s", "not a number"),
        ({"status": "odd"}, "status", "none of"),
        ({"start_step": "10", "end_step": "9"}, "end_step", "before start_step"),
    ],
)
def test_a_holding_that_cannot_be_is_set_aside(
    tmp_path: Path, changes: dict[str, str], column: str, reason: str
) -> None:
    good = {**HOLDING, **dict.fromkeys(changes, "")} | HOLDING
    taken = take_text(table(good, {**good, **changes}), tmp_path)
    [(row, where, why)] = taken.rejects
    assert (row, where) == (2, column)
    assert reason in why
    assert taken.held_hours() == {"H100": 6}
    assert taken.plan.rows_read == 2


def test_widths_headers_and_broken_rows_are_set_aside(tmp_path: Path) -> None:
    good = table(HOLDING)
    text = good + "w,h100,2\n" + good.splitlines()[0] + '\nw,h100,2,2031-04-01,2031-04-02,extra\nw,"open\n'
    taken = take_text(text, tmp_path)
    assert [row for row, _, _ in taken.rejects] == [2, 3, 4, 5]
    assert taken.plan.rows_read == 5


def test_what_is_not_known_stays_unknown(tmp_path: Path) -> None:
    taken = take_text(table({**HOLDING, "quantity": "", "ended_at": "", "accelerator": "", "colour": "red"}), tmp_path)
    assert taken.column("holdings", "quantity", "ended_at", "accelerator") == [(None, None, "gpu")]
    assert "left out: colour" in taken.flags


def test_times_are_utc_unless_a_zone_is_given(tmp_path: Path) -> None:
    text = table({**HOLDING, "started_at": "2031-04-01 00:00", "ended_at": "2031-04-01"})
    assert take_text(text, tmp_path).column("holdings", "started_at") == ["2031-04-01 00:00:00.000000"]
    assert take_text(text, tmp_path, timezone="Europe/Berlin").column("holdings", "started_at") == [
        "2031-03-31 22:00:00.000000"
    ]


@pytest.mark.parametrize("form", ["array", "lines"])
def test_json_rows(tmp_path: Path, form: str) -> None:
    row = {
        "workload_id": "w",
        "kind": "training",
        "tags": {"Team": "atlas"},
        "metrics": {"auc": 0.9},
        "accepted": "yes",
    }
    taken = take_text(json.dumps([row]) if form == "array" else json.dumps(row), tmp_path)
    assert taken.plan.reader == "workloads-csv"
    assert taken.labels("workloads", "tags") == [{"Team": "atlas"}]
    assert taken.labels("workloads", "metrics") == [{"auc": "0.9"}]


def test_a_resource_needs_a_name_and_a_quantity(tmp_path: Path) -> None:
    rows = [
        {"resource_id": "", "node": "n1", "accelerator": "h100", "quantity": 8, "replicas": 4, "tag.Rack": "r2"},
        {"resource_id": "", "node": "", "accelerator": "h100", "quantity": 8},
        {"resource_id": "c1", "node": "", "accelerator": "h100", "quantity": ""},
    ]
    taken = take_text(table(*rows), tmp_path)
    assert taken.column("resources", "resource_id", "node", "replicas") == [("n1", "n1", "4.000000000000")]
    assert taken.labels("resources", "tags") == [{"Rack": "r2"}]
    assert [row for row, _, _ in taken.rejects] == [2, 3]


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=10)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(HOLDING, WORDS)), max_size=5))
def test_no_cell_breaks_it_and_nothing_is_lost(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    taken = take_text(table(HOLDING, *rows), tmp_path)
    assert taken.plan.rows_read == len(rows) + 1
    assert taken.plan.rows_read == len(taken.rejects) + len(taken.tables["holdings"])


# --- worked cases, their layouts adapted --------------------------------------------------------------------------


def test_allocated_case_16(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "16-allocated-versus-used"
    expected = json.loads((case / "expected.json").read_text())
    [node] = case_rows(case / "node.csv")
    resources = loaded(
        tmp_path, "resources-csv",
        {"resource_id": node["node"], "node": node["node"], "accelerator": "gpu", "quantity": node["gpus"]},
    )  # fmt: skip
    work = loaded(
        tmp_path, "workloads-csv",
        *(
            {
                "workload_id": row["workload"], "kind": "service", "node": node["node"], "quantity": row["requested_gpus"],
                "started_at": START.isoformat(), "ended_at": (START + timedelta(hours=int(row["hours"]))).isoformat(),
            }
            for row in case_rows(case / "input.csv")
        ),
    )  # fmt: skip
    price = Fraction(node["usd_per_gpu_hour"])
    usd = {name: work.held_hours(f"workload_id = '{name}'")["gpu"] * price for name in ("serve-heron", "train-wren")}
    cards = resources.ask("SELECT quantity FROM resources WHERE node = 'n1'")[0][0]
    bill = Fraction(cards) * int(node["hours"]) * price
    assert bill == Fraction(expected["bill"])
    assert {**usd, "unallocated": bill - sum(usd.values())} == {
        k: Fraction(v) for k, v in expected["allocation"].items()
    }


def test_time_slices_case_18(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "18-timesliced-utilisation-duplicated"
    expected = json.loads((case / "expected.json").read_text())
    [card] = case_rows(case / "node.csv")
    resources = loaded(
        tmp_path, "resources-csv",
        {"resource_id": card["UUID"], "accelerator": "gpu", "quantity": 1, "replicas": card["replicas"]},
    )  # fmt: skip
    [(slices,)] = resources.ask("SELECT replicas FROM resources")
    pods = case_rows(case / "input.csv")
    work = loaded(
        tmp_path, "workloads-csv",
        *(
            {
                "workload_id": pod["pod"], "kind": "service", "team": pod["namespace"], "resource_id": pod["UUID"],
                "quantity": Decimal(1) / slices, "started_at": START.isoformat(),
                "ended_at": (START + timedelta(hours=1)).isoformat(),
            }
            for pod in pods
        ),
    )  # fmt: skip
    usd = {
        team: sum(work.held_hours(f"workload_id IN (SELECT workload_id FROM workloads WHERE team = '{team}')").values())
        * Fraction(card["usd_per_gpu_hour"])
        for team in ("atlas", "birch")
    }
    assert usd == {team: Fraction(amount) for team, amount in expected["usd_per_hour"].items()}
    assert work.held_hours() == {"gpu": 1}


def test_spot_chain_case_22(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "22-spot-recovery-chain"
    expected = json.loads((case / "expected.json").read_text())
    rows, kept = [], "0"
    for row in case_rows(case / "input.csv"):
        rows.append({
            "workload_id": "job", "accelerator": "machine", "quantity": 1, "attempt": row["attempt"],
            "started_at": f"2031-04-01T{row['start']}Z", "ended_at": f"2031-04-01T{row['end']}Z", "status": row["reason"],
            "pricing_category": "spot", "startup_s": int(row["provision_min"]) * 60, "start_step": kept,
            "end_step": row["end_step"], "kept_step": row["last_checkpoint_step"],
        })  # fmt: skip
        kept = row["last_checkpoint_step"]
    work = loaded(tmp_path, "holdings-csv", *rows)
    price = {row["kind"]: Fraction(row["usd_per_hour"]) for row in case_rows(case / "prices.csv")}
    hours = work.held_hours()["machine"]
    [(run, useful, startup_s)] = work.ask(
        "SELECT sum(end_step - start_step), max(end_step), sum(startup_s) FROM holdings"
    )
    assert hours * price["spot"] == Fraction(expected["usd"])
    assert (useful, run - useful) == (expected["useful_steps"], expected["repeated_steps"])
    [(one_start_s,)] = work.ask("SELECT max(startup_s) FROM holdings")
    training_hours = hours - Fraction(startup_s) / 3600
    on_demand_usd = (training_hours * useful / run + Fraction(one_start_s) / 3600) * price["on-demand"]
    assert f"{float(on_demand_usd):.2f}" == expected["on_demand_equivalent_usd"]
    assert f"{float(1 - hours * price['spot'] / on_demand_usd):.4f}" == expected["realised_saving"]
    assert work.ask("SELECT status FROM holdings ORDER BY attempt") == [("preempted",), ("preempted",), ("completed",)]


def test_sweep_case_39(tmp_path: Path, shared_cases: Path) -> None:
    case = shared_cases / "39-sweep-with-pruned-trials"
    expected = json.loads((case / "expected.json").read_text())
    trials = [
        {
            "workload_id": f"trial-{row['trial']}", "kind": "trial", "parent": "sweep", "status": row["state"],
            "accepted": row["accepted"], "config_key": row["duplicate_of"] or row["trial"], "quantity": row["gpus"],
            "started_at": START.isoformat(), "ended_at": (START + timedelta(hours=float(row["hours"]))).isoformat(),
            "metric.auc": row["metric"],
        }
        for row in case_rows(case / "input.csv")
    ]  # fmt: skip
    work = loaded(tmp_path, "workloads-csv", *trials)
    [prices] = case_rows(case / "prices.csv")
    price = Fraction(prices["usd_per_gpu_hour"])
    in_trials = "workload_id IN (SELECT workload_id FROM workloads WHERE {})"
    [(accepted,)] = work.ask("SELECT count(*) FROM workloads WHERE accepted")
    assert work.held_hours()["gpu"] * price == Fraction(expected["total_usd"])
    assert work.held_hours()["gpu"] * price / accepted == Fraction(expected["usd_per_accepted"])
    assert work.held_hours("status = 'failed'")["gpu"] * price == Fraction(expected["failed_usd"])
    later = "EXISTS (SELECT 1 FROM workloads o WHERE o.config_key = workloads.config_key AND o.row_number < workloads.row_number)"
    assert work.held_hours(in_trials.format(later))["gpu"] * price == Fraction(expected["duplicate_usd"])
    [(pruned,)] = work.ask("SELECT count(*) FROM workloads WHERE status = 'pruned'")
    saved_hours = pruned * Fraction(prices["full_trial_hours"]) - work.held_hours("status = 'pruned'")["gpu"]
    assert saved_hours * price == Fraction(expected["pruning_saved_usd"])
    assert work.ask("SELECT metrics['auc'] FROM workloads ORDER BY row_number")[:2] == [("0.90",), ("0.93",)]


@pytest.mark.parametrize(
    ("word", "status"), [("done", "completed"), ("Never_Started", "never started"), ("killed", "cancelled")]
)
def test_other_words_for_an_end(tmp_path: Path, word: str, status: str) -> None:
    taken = take_text(table({"workload_id": "w", "kind": "training", "status": word}), tmp_path)
    assert taken.column("workloads", "status") == [status]
    assert status in STATUSES
