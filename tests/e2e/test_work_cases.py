"""Worked cases about work and outcomes, through the command line; the right answers stand beside each case's input."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from tests.e2e.conftest import AS_OF, Desk
from tests.e2e.test_cases import cells, expected


def test_an_endpoint_that_nobody_calls(desk: Desk, shared_cases: Path) -> None:
    """The week of 168 hours becomes a FOCUS bill; the requests become outputs of one day."""
    case = shared_cases / "33-endpoint-nobody-calls"
    answer = expected(case)
    head = "BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,"
    bill = head + "BillingPeriodEnd,ChargeCategory,ProviderName,ServiceName,ServiceCategory,ResourceId,Tags\n"
    for row in cells(case / "input.csv"):
        assert row["hours"] == "168"
        cost = row["EffectiveCost"]
        bill += f"{cost},{cost},USD,2031-06-02T00:00:00Z,2031-06-09T00:00:00Z,2031-06-01T00:00:00Z,"
        bill += f"2031-07-01T00:00:00Z,Usage,Rented,Endpoints,AI and Machine Learning,{row['ResourceId']},\n"
    outputs = "service,day,unit,quantity\n" + "".join(
        f"{row['ResourceId']},2031-06-03,predictions,{row['requests']}\n" for row in cells(case / "requests.csv")
    )
    desk.write("unitcost.toml", '[[drivers]]\nwhen = "resource_id ~ \'ep/*\'"\nis = "serving"\n')
    desk.load(str(desk.write("bill.csv", bill)), str(desk.write("outputs.csv", outputs)))
    report = desk.report()
    found = report["endpoints"]["USD"]
    assert {name.removeprefix("ep/"): row["idle"] for name, row in found.items()} == {
        "demo": answer["demo"]["idle"], "prod": False, "nometrics": answer["nometrics"]["idle"],
    }  # fmt: skip
    assert found["ep/demo"]["monthly_saving"] == answer["demo"]["monthly_saving_usd"]
    costs = {row["service"]: row for row in report["unit_costs"]}
    assert round(Decimal(costs["ep/prod"]["cost_per_unit"]), 4) == Decimal(answer["prod"]["usd_per_1k"])
    assert costs["ep/demo"]["cost_per_unit"] is None
    assert "no useful unit" in costs["ep/demo"]["reason"]


def test_slurm_steps_and_requeues(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "30-slurm-steps-and-requeues"
    answer = expected(case)
    names = {"gres/gpu": "*", "cpu": "cpu"}
    prices = [
        f"{{ accelerator = '{names[row['resource']]}', usd_per_hour = {row['usd_per_hour']} }}"
        for row in cells(case / "prices.csv")
    ]
    desk.write("unitcost.toml", f"[work]\nprices = [ {', '.join(prices)} ]\n")
    desk.load(str(case / "input.psv"), "--source-timezone", "UTC")
    found = desk.report()["work"]
    assert {name: Decimal(row["usd"]) for name, row in found["accounts"].items()} == {
        "atlas": Decimal(answer["atlas"]), "birch": Decimal(answer["birch"]),
    }  # fmt: skip
    assert sum(Decimal(row["accelerator_hours"]) for row in found["accounts"].values()) == answer["gpu_hours"]
    lost = sum(Decimal(found["statuses"][status]["usd"]) for status in ("preempted", "failed"))
    assert lost == Decimal(answer["failed_or_preempted_usd"])
    assert found["billing"] == "accelerators"


def test_work_without_a_price_has_no_cost_and_a_page_names_the_months_asked_for(desk: Desk) -> None:
    dump = "JobID|Account|State|Start|End|AllocTRES\n1|lab|COMPLETED|2031-06-30T12:00:00|2031-07-01T12:00:00|gres/gpu:a100=2\n"
    desk.load(str(desk.write("sacct.psv", dump)), "--source-timezone", "UTC")
    bill = "Cost,From,To\n24,2031-06-30T12:00:00Z,2031-07-01T12:00:00Z\n"
    desk.write(
        "unitcost.toml",
        '[[load]]\npath = "bill.csv"\ncurrency = "USD"\nperiod = "2031-06"\n'
        'columns = { billed_cost = "Cost", charge_period_start = "From", charge_period_end = "To" }\n',
    )
    desk.write("bill.csv", bill)
    desk.load()
    (account,) = desk.report()["work"]["accounts"].values()
    assert (account["usd"], account["unpriced_hours"]) == (None, "48")
    shown = desk.run("report", "--section", "work", "--place", "charge", "--month", "2031-07").output
    assert shown.startswith("Effective cost, 2031-07 ")
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith(("lab", "total"))] == ["–", "–", "–"]


def csv_text(rows: list[dict[str, object]]) -> str:
    return "\n".join([",".join(rows[0]), *(",".join(str(cell) for cell in row.values()) for row in rows)]) + "\n"


def test_what_a_sweep_cost(desk: Desk, shared_cases: Path) -> None:
    """Each trial becomes a row of the own table of workloads, begun at the same moment; a duplicate has the same key."""
    case = shared_cases / "39-sweep-with-pruned-trials"
    answer = expected(case)
    start = datetime(2031, 6, 2, tzinfo=UTC)
    trials: list[dict[str, object]] = [
        {
            "workload_id": f"trial-{row['trial']}", "kind": "trial", "parent": "sweep", "experiment": "prune",
            "status": row["state"], "accepted": row["accepted"], "config_key": row["duplicate_of"] or row["trial"],
            "quantity": row["gpus"], "started_at": (start + timedelta(minutes=int(row["trial"]))).isoformat(),
            "ended_at": (start + timedelta(hours=float(row["hours"]), minutes=int(row["trial"]))).isoformat(),
        }
        for row in cells(case / "input.csv")
    ]  # fmt: skip
    (price,) = cells(case / "prices.csv")
    desk.write(
        "unitcost.toml", f"[work]\nprices = [ {{ accelerator = '*', usd_per_hour = {price['usd_per_gpu_hour']} }} ]\n"
    )
    desk.load(str(desk.write("trials.csv", csv_text(trials))))
    runs = desk.report()["runs"]
    (experiment,) = runs["experiments"]
    assert Decimal(experiment["cost"]) == Decimal(answer["total_usd"])
    assert Decimal(experiment["per_accepted"]) == Decimal(answer["usd_per_accepted"])
    by_outcome: dict[str, Decimal] = {}
    for run in runs["runs"]:
        by_outcome[run["outcome"]] = by_outcome.get(run["outcome"], Decimal(0)) + Decimal(run["cost"])
    assert by_outcome["failed"] == Decimal(answer["failed_usd"])
    assert by_outcome["duplicate"] == Decimal(answer["duplicate_usd"])
    assert Decimal(experiment["pruning_saved"]) == Decimal(answer["pruning_saved_usd"])
    printed = " ".join(desk.run("report", "--section", "runs", "--as-of", AS_OF).stdout.split())
    assert "pruned 2 USD 4.50 19.50" in printed
    assert "failed 1 USD 6.00" in printed
    assert "duplicate 1 USD 12.00" in printed


def test_used_idle_and_unallocated_are_the_bill(desk: Desk, shared_cases: Path) -> None:
    """The node becomes a day of hourly charges, what was held a table of holdings, its use an answer of Prometheus."""
    case = shared_cases / "16-allocated-versus-used"
    answer = expected(case)
    (node,) = cells(case / "node.csv")
    start = datetime(2031, 6, 2, tzinfo=UTC)
    end = start + timedelta(hours=int(node["hours"]))
    usd = Decimal(node["gpus"]) * Decimal(node["usd_per_gpu_hour"])
    head = "BilledCost,EffectiveCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,"
    bill = head + "BillingPeriodEnd,ChargeCategory,ProviderName,ServiceName,ServiceCategory,ResourceId,Tags\n"
    for hour in range(int(node["hours"])):
        span = f"{(start + timedelta(hours=hour)).isoformat()},{(start + timedelta(hours=hour + 1)).isoformat()}"
        bill += f"{usd},{usd},USD,{span},2031-06-01T00:00:00Z,2031-07-01T00:00:00Z,Usage,Rented,GPU,Compute,n1,\n"
    held: list[dict[str, object]] = []
    series = []
    card = 0
    for row in cells(case / "input.csv"):
        held.append({
            "source": "kubernetes", "workload_id": f"lab/{row['workload']}", "node": node["node"], "accelerator": "gpu",
            "quantity": row["requested_gpus"], "started_at": start.isoformat(), "ended_at": end.isoformat(),
        })  # fmt: skip
        for _ in range(int(row["requested_gpus"])):
            labels = {
                "__name__": "DCGM_FI_PROF_SM_ACTIVE", "UUID": f"GPU-{card}", "Hostname": node["node"], "namespace": "lab",
                "pod": row["workload"],
            }  # fmt: skip
            moments = range(int(start.timestamp()), int(end.timestamp()) + 1, 60)
            series.append({"metric": labels, "values": [[moment, row["mean_sm_active"]] for moment in moments]})
            card += 1
    metrics = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    resources: list[dict[str, object]] = [{"node": node["node"], "accelerator": "gpu", "quantity": node["gpus"]}]
    desk.load(
        str(desk.write("bill.csv", bill)), str(desk.write("held.csv", csv_text(held))),
        str(desk.write("metrics.json", json.dumps(metrics))), str(desk.write("nodes.csv", csv_text(resources))),
    )  # fmt: skip
    found = desk.report()["capacity"]["USD"]
    states = {name.rpartition("/")[2]: amounts for name, amounts in found["workload"].items()}
    assert Decimal(states[""]["unallocated"]) == Decimal(answer["allocation"]["unallocated"])
    for name in ("serve-heron", "train-wren"):
        assert round(Decimal(states[name]["used"]), 6) == Decimal(answer["used"][name])
        assert round(Decimal(states[name]["allocated idle"]), 6) == Decimal(answer["allocated_idle"][name])
        assert sum(Decimal(part) for part in states[name].values()) == Decimal(answer["allocation"][name])
    assert sum(Decimal(part) for part in found["states"].values()) == Decimal(answer["bill"])
