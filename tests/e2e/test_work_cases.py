"""Worked cases about work and outcomes, through the command line; the right answers stand beside each case's input."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from tests.e2e.conftest import Desk
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
