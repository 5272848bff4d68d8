"""Runs through the command line: what their time and money went into, what spot saved, which jobs are runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import AS_OF, Desk
from tests.e2e.test_capacity import HEADER, _sum
from tests.e2e.test_cases import cells, expected
from tests.e2e.test_work_cases import csv_text
from unitcost.figure import recompute
from unitcost.jobs.explain import RowReader, explain
from unitcost.jobs.review import review
from unitcost.jobs.selecting import parse_tag
from unitcost.jobs.workspace import open_workspace
from unitcost.prices import bundled

CASE = "22-spot-recovery-chain"


def chain(desk: Desk, case: Path, *, nodes: int = 1) -> list[str]:
    """Input of the case as our own table of holdings, with the run that they are of, and its prices as settings."""
    held: list[dict[str, object]] = []
    kept = "0"
    for row in cells(case / "input.csv"):
        held += [
            {
                "source": "csv", "workload_id": "job", "accelerator": "machine", "quantity": str(Decimal(1) / nodes),
                "attempt": row["attempt"], "node": f"n{node}", "started_at": f"2031-04-01T{row['start']}Z",
                "ended_at": f"2031-04-01T{row['end']}Z", "status": row["reason"], "pricing_category": "spot",
                "startup_s": int(row["provision_min"]) * 60, "start_step": kept, "end_step": row["end_step"],
                "kept_step": row["last_checkpoint_step"],
            }
            for node in range(nodes)
        ]  # fmt: skip
        kept = row["last_checkpoint_step"]
    run: list[dict[str, object]] = [{
        "workload_id": "job", "kind": "training", "status": "completed", "accepted": "yes", "experiment": "chain",
        "started_at": "2031-04-01T00:00:00Z", "ended_at": "2031-04-01T12:40:00Z",
    }]  # fmt: skip
    prices = ", ".join(
        f"{{ accelerator = 'machine', usd_per_hour = {row['usd_per_hour']}, pricing_category = '{row['kind']}' }}"
        for row in cells(case / "prices.csv")
    )
    desk.write("unitcost.toml", f"[work]\nprices = [ {prices} ]\n")
    return [str(desk.write("held.csv", csv_text(held))), str(desk.write("run.csv", csv_text(run)))]


def check_case(run: dict[str, Any], answer: dict[str, Any]) -> None:
    effort = run["effort"]
    assert Decimal(run["cost"]) == Decimal(answer["usd"])
    assert (effort["useful_steps"], effort["repeated_steps"]) == (answer["useful_steps"], answer["repeated_steps"])
    assert round(Decimal(effort["cost_per_1k_useful_steps"]), 2) == Decimal(answer["usd_per_1000_useful_steps"])
    assert (effort["hours"]["start-up"], effort["cost"]["start-up"]) == ("0.5", "5")
    assert sum(map(Decimal, effort["cost"].values())) == Decimal(run["cost"])
    assert round(Decimal(run["spot"]["on_demand"]), 2) == Decimal(answer["on_demand_equivalent_usd"])
    assert round(Decimal(run["spot"]["realised_saving"]), 4) == Decimal(answer["realised_saving"])


@pytest.mark.parametrize("nodes", [1, 2])
def test_one_job_three_machines_and_work_done_twice(desk: Desk, shared_cases: Path, nodes: int) -> None:
    case = shared_cases / CASE
    desk.load(*chain(desk, case, nodes=nodes))
    report = desk.report()
    (run,) = report["runs"]["runs"]
    check_case(run, expected(case))
    section = next(found for found in report["sections"] if found["key"] == "runs")
    captions = [table["caption"] for table in section["tables"]]
    assert "Spot against on demand at the same useful steps" in captions
    # Each attempt at its own speed: (290 min / 4600 x 600 + 230 min / 3300 x 300) x 10 USD/h = 9.79 USD repeated.
    shown = next(t for t in section["tables"] if t["caption"].startswith("Cost of runs"))
    assert [round(Decimal(cell["value"]), 2) for cell in shown["total"][1:5]] == [
        Decimal("105.21"),
        Decimal("9.79"),
        0,
        5,
    ]


def test_the_figures_of_a_run_unfold(desk: Desk, shared_cases: Path) -> None:
    desk.load(*chain(desk, shared_cases / CASE))
    workspace = open_workspace(desk.folder, as_of="2031-07-01")
    figures = review(workspace, parse_tag("all,effective")).figures()
    mine = [figure for figure in figures.values() if figure.id.startswith("run")]
    assert len(mine) > 20
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, ())
        for figure in mine:
            assert recompute(figure, lambda rows: _sum(reader, rows)) == figure.value, figure.id
    (run,) = desk.report()["runs"]["runs"]
    found = explain(workspace, run["spot"]["figure"]).figure
    assert [inner.label for inner in found.inputs] == ["csv:job, saved", "csv:job on demand"]


def test_the_bill_is_divided_by_what_the_time_went_into(desk: Desk, shared_cases: Path) -> None:
    files = chain(desk, shared_cases / CASE)
    desk.write("unitcost.toml", "")
    span = "2031-04-01T00:00:00Z,2031-04-01T13:00:00Z,2031-04-01T00:00:00Z,2031-05-01T00:00:00Z"
    bill = f"{HEADER}26,26,26,26,USD,{span},Usage,Cloud,GPU,Compute,n0,,\n"
    desk.load(*files, str(desk.write("bill.csv", bill)))
    (run,) = desk.report()["runs"]["runs"]
    assert (run["from_bill"], Decimal(run["cost"])) == (True, 24)
    assert Decimal(run["effort"]["cost"]["start-up"]) == 1
    assert sum(map(Decimal, run["effort"]["cost"].values())) == 24
    assert run["spot"] is None


def test_without_a_price_on_demand_nothing_is_said_of_spot(desk: Desk, shared_cases: Path) -> None:
    files = chain(desk, shared_cases / CASE)
    desk.write("unitcost.toml", "[work]\nprices = [ { accelerator = 'machine', usd_per_hour = 10 } ]\n")
    desk.load(*files)
    (run,) = desk.report()["runs"]["runs"]
    assert (run["spot"], run["cost"]) == (None, "120")


def spot_bill(region: str, category: str = "Dynamic") -> str:
    """A bill that names the machine of the case, its region and how it was priced."""
    span = "2031-04-01T00:00:00Z,2031-04-01T13:00:00Z,2031-04-01T00:00:00Z,2031-05-01T00:00:00Z"
    header = HEADER.replace("Tags", "Tags,SkuMeter,RegionId,PricingCategory")
    return f"{header}26,26,26,26,USD,{span},Usage,AWS,EC2,Compute,n0,,,SpotUsage:p4d.24xlarge,{region},{category}\n"


def test_the_price_book_says_what_spot_would_have_cost_on_demand(desk: Desk, shared_cases: Path) -> None:
    files = chain(desk, shared_cases / CASE)
    answer = expected(shared_cases / CASE)
    desk.write("unitcost.toml", "")
    desk.load(*files, str(desk.write("bill.csv", spot_bill("us-east-1"))))
    (run,) = desk.report()["runs"]["runs"]
    at = datetime(2031, 4, 1, tzinfo=UTC)
    book = bundled().price("p4d.24xlarge", region="us-east-1", provider="aws", at=at).record.price / 8
    (own,) = [
        Decimal(row["usd_per_hour"]) for row in cells(shared_cases / CASE / "prices.csv") if row["kind"] == "on-demand"
    ]
    # The hours on demand are those of the case; it states what they come to to the cent.
    hours = Decimal(answer["on_demand_equivalent_usd"]) / own
    assert abs(Decimal(run["spot"]["on_demand"]) - hours * book) < Decimal("0.01")
    workspace = open_workspace(desk.folder, as_of="2031-07-01")
    saved = explain(workspace, run["spot"]["figure"]).figure.inputs[0]
    price = saved.inputs[0].inputs[1]
    assert (price.basis, run["spot"]["price_basis"], price.value) == ("estimated", "estimated", book)
    assert price.formula == run["spot"]["price_source"]
    assert price.formula.startswith("price book: aws p4d.24xlarge in us-east-1, on demand")
    assert "For 1 of 1 runs the price on demand is an estimate" in " ".join(
        desk.run("report", "--section", "runs", "--as-of", AS_OF).stdout.split()
    )


@pytest.mark.parametrize(
    ("region", "meter"), [("", "p4d.24xlarge"), ("us-east-1", "own-machine"), ("mars-1", "p4d.24xlarge")]
)
def test_where_the_book_knows_no_such_machine_nothing_is_said_of_spot(
    desk: Desk, shared_cases: Path, region: str, meter: str
) -> None:
    files = chain(desk, shared_cases / CASE)
    desk.write("unitcost.toml", "")
    bill = spot_bill(region).replace("p4d.24xlarge", meter)
    desk.load(*files, str(desk.write("bill.csv", bill)))
    (run,) = desk.report()["runs"]["runs"]
    assert (run["from_bill"], run["spot"]) == (True, None)


SLURM = """JobID|JobName|Account|State|Start|End|AllocTRES|NodeList
1|train-a|lab|COMPLETED|2031-06-03T00:00:00|2031-06-03T02:00:00|cpu=8,gres/gpu=4|n1
2|train-b|lab|NODE_FAIL|2031-06-03T00:00:00|2031-06-03T01:00:00|cpu=8,gres/gpu=4|n1
3|shell|lab|COMPLETED|2031-06-03T00:00:00|2031-06-03T01:00:00|cpu=8,gres/gpu=1|n1
"""
KINDS = """[work]
prices = [ { accelerator = 'gpu', usd_per_hour = 2 } ]
kinds = [ { when = "resource_name ~ 'train-*'", is = "training" } ]
"""


def test_a_rule_says_which_jobs_are_runs(desk: Desk) -> None:
    desk.load(str(desk.write("sacct.psv", SLURM)), "--source-timezone", "UTC")
    assert desk.report()["runs"] == {}
    desk.write("unitcost.toml", KINDS)
    found = {run["name"]: (run["kind"], run["outcome"], run["cost"]) for run in desk.report()["runs"]["runs"]}
    assert found == {"train-a": ("training", "completed", "16"), "train-b": ("training", "crashed", "8")}


def mlflow_runs(*runs: dict[str, object]) -> str:
    """Table of runs that name the job in which they were made."""
    return csv_text([
        {"source": "tracker", "kind": "training", "status": "completed", "tag.scheduler_job": "slurm:1", **run} for run in runs
    ])  # fmt: skip


def test_a_job_of_a_run_is_no_second_run(desk: Desk) -> None:
    desk.write("unitcost.toml", KINDS)
    run = {"workload_id": "r", "started_at": "2031-06-03T00:05:00Z", "ended_at": "2031-06-03T01:00:00Z"}
    desk.load(
        str(desk.write("sacct.psv", SLURM)), str(desk.write("runs.csv", mlflow_runs(run))), "--source-timezone", "UTC"
    )
    found = {found["run"]: found["cost"] for found in desk.report()["runs"]["runs"]}
    assert found == {"tracker:r": "16", "slurm:2": "8"}


def test_runs_that_share_a_job_share_its_cost(desk: Desk) -> None:
    desk.write("unitcost.toml", KINDS)
    day = "2031-06-03T0"
    runs = mlflow_runs(
        {"workload_id": "sweep", "parent": "", "started_at": f"{day}0:00:00Z", "ended_at": f"{day}2:00:00Z"},
        {"workload_id": "t1", "parent": "sweep", "started_at": f"{day}0:00:00Z", "ended_at": f"{day}0:30:00Z"},
        {"workload_id": "t2", "parent": "sweep", "started_at": f"{day}0:30:00Z", "ended_at": f"{day}2:00:00Z"},
    )
    desk.load(str(desk.write("sacct.psv", SLURM)), str(desk.write("runs.csv", runs)), "--source-timezone", "UTC")
    report = desk.report()
    found = {found["run"]: found["cost"] for found in report["runs"]["runs"]}
    assert found == {"tracker:sweep": "0", "tracker:t1": "4", "tracker:t2": "12", "slurm:2": "8"}


def recorded(job: str, *launches: tuple[str, str, int, int, int]) -> str:
    """Lines of `unitcost.track` of one run in a job: start, end, first, last and kept step of each launch."""
    lines: list[dict[str, object]] = []
    for number, (start, end, first, last, kept) in enumerate(launches):
        who = {"unitcost_track": 1, "run_id": "r", "launch": f"l{number}", "process": f"p{number}"}
        begun = {"event": "start", "at": f"2031-06-03T{start}Z", "host": "n1", "rank": 0, "ranks": 1, "job": job}
        steps = {"start_step": first, "end_step": last, "kept_step": kept, "startup_s": 240}
        ended = {"event": "end", "at": f"2031-06-03T{end}Z", "status": "completed", "accepted": True, **steps}
        lines += [{**who, **begun, "experiment": "ctr"}, {**who, **ended}]
    return "\n".join(map(json.dumps, lines)) + "\n"


def test_steps_of_a_recorded_run_stand_on_the_life_of_its_job(desk: Desk) -> None:
    desk.write("unitcost.toml", KINDS)
    track = desk.write("unitcost-runs/n1.jsonl", recorded("slurm:1", ("00:06:00", "01:59:59", 0, 1_100, 1_000)))
    desk.load(str(desk.write("sacct.psv", SLURM)), str(track), "--source-timezone", "UTC")
    runs = {run["run"]: run for run in desk.report()["runs"]["runs"]}
    assert set(runs) == {"track:r", "slurm:2"}  # the job is no second run
    run = runs["track:r"]
    assert (run["cost"], run["accepted"], run["outcome"]) == ("16", True, "completed")
    assert run["effort"]["useful_steps"] == 1_100
    # Six minutes before the run began and four until its first step, on four cards.
    assert Decimal(run["effort"]["hours"]["start-up"]) * 60 == 10 * 4
    assert sum(map(Decimal, run["effort"]["hours"].values())) == 8
    assert sum(map(Decimal, run["effort"]["cost"].values())) == 16


def test_a_run_that_began_twice_in_one_job_made_some_steps_twice(desk: Desk) -> None:
    desk.write("unitcost.toml", KINDS)
    launches = (("00:00:00", "00:59:00", 0, 600, 500), ("01:00:00", "02:00:00", 500, 1_000, 1_000))
    track = desk.write("unitcost-runs/n1.jsonl", recorded("slurm:1", *launches))
    desk.load(str(desk.write("sacct.psv", SLURM)), str(track), "--source-timezone", "UTC")
    (run,) = [run for run in desk.report()["runs"]["runs"] if run["run"] == "track:r"]
    assert run["cost"] == "16"
    assert (run["effort"]["useful_steps"], run["effort"]["repeated_steps"]) == (1_000, 100)
    assert sum(map(Decimal, run["effort"]["cost"].values())) == 16


def node_bill(node: str) -> str:
    span = "2031-06-03T00:00:00Z,2031-06-04T00:00:00Z,2031-06-01T00:00:00Z,2031-07-01T00:00:00Z"
    return f"{HEADER}240,240,240,240,USD,{span},Usage,Cloud,GPU,Compute,{node},,\n"


def test_a_run_and_its_job_hold_a_machine_once(desk: Desk) -> None:
    """The tracker says what the run held, the scheduler what its job did: it is the same."""
    run = {
        "workload_id": "r", "started_at": "2031-06-03T00:05:00Z", "ended_at": "2031-06-03T01:00:00Z", "quantity": 4,
        "node": "n1", "accelerator": "gpu",
    }  # fmt: skip
    nodes = "resource_id,node,accelerator,quantity\n,n1,gpu,8\n"
    desk.write("unitcost.toml", KINDS)
    desk.load(
        str(desk.write("bill.csv", node_bill("n1"))), str(desk.write("nodes.csv", nodes)),
        str(desk.write("sacct.psv", SLURM)), str(desk.write("runs.csv", mlflow_runs(run))), "--source-timezone", "UTC",
    )  # fmt: skip
    report = desk.report()
    assert "tracker:r" not in report["capacity"]["USD"]["workload"]
    # 240 USD for 192 card-hours: the job held eight of them, or what is left of nine where more was promised.
    assert {run["run"]: run["from_bill"] for run in report["runs"]["runs"]} == {"tracker:r": True, "slurm:2": True}
    assert sum(Decimal(row["accelerator_hours"]) for row in report["work"]["accounts"].values()) == 13


def test_a_run_whose_job_nothing_else_tells_of_keeps_what_it_says(desk: Desk) -> None:
    desk.write("unitcost.toml", KINDS)
    run = {
        "workload_id": "r", "started_at": "2031-06-03T00:00:00Z", "ended_at": "2031-06-03T01:00:00Z", "quantity": 4,
        "accelerator": "gpu",
    }  # fmt: skip
    desk.load(str(desk.write("runs.csv", mlflow_runs(run))))
    assert [found["cost"] for found in desk.report()["runs"]["runs"]] == ["8"]


PODS = """namespace,pod,node,started_at,ended_at,requests
web,heron,n1,2031-06-03T00:00:00Z,2031-06-03T12:00:00Z,"{{""nvidia.com/gpu"": ""4""}}"
"""
SEEN = """source,workload_id,accelerator,quantity,node,started_at,ended_at
kubernetes,web/heron,H100,4,n1,2031-06-03T00:00:40Z,2031-06-03T11:59:40Z
"""


@pytest.mark.parametrize("turned", [False, True])
def test_two_exports_of_one_pod_hold_a_machine_once(desk: Desk, *, turned: bool) -> None:
    files = [str(desk.write("pods.csv", PODS.format())), str(desk.write("seen.csv", SEEN))]
    nodes = "resource_id,node,accelerator,quantity\n,n1,gpu,8\n"
    desk.load(str(desk.write("bill.csv", node_bill("n1"))), str(desk.write("nodes.csv", nodes)))
    for file in reversed(files) if turned else files:
        desk.load(file)
    found = desk.report()["capacity"]["USD"]
    assert found["workload"] == {"": {"unallocated": "180"}, "kubernetes:web/heron": {"use unknown": "60"}}
    assert not found["notes"]


@pytest.mark.parametrize(("count", "said"), [(1, "1 run has no cost: "), (2, "2 runs have no cost: ")])
def test_runs_without_a_cost_are_counted_in_words(desk: Desk, count: int, said: str) -> None:
    rows = "".join(f"r{number},training,2031-06-03T00:00:00Z,2031-06-03T01:00:00Z\n" for number in range(count))
    desk.load(str(desk.write("runs.csv", f"workload_id,kind,started_at,ended_at\n{rows}")))
    section = next(section for section in desk.report()["sections"] if section["key"] == "runs")
    assert any(note.startswith(said) for note in section["notes"])
