"""Worked cases through the command line's JSON; the right answers stand beside the input of each case."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import AS_OF, Desk

CURRENCY = ("--currency", "USD", "--period", "2031-06")


def expected(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "expected.json").read_text()))


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def owners(report: dict[str, Any], kind: str = "team", unit: str = "USD") -> dict[str, Decimal]:
    return {name: Decimal(found["amount"]) for name, found in report["owners"][kind][unit].items()}


def decimals(found: dict[str, str]) -> dict[str, Decimal]:
    return {name: Decimal(value) for name, value in found.items()}


def test_a_commitment_paid_up_front(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "26-commitment-effective-versus-billed"
    answer = expected(case)
    desk.load(str(case / "input.csv"), *CURRENCY)
    effective = desk.report("--cost", "effective")
    billed = desk.report("--cost", "billed")
    found = owners(effective)
    wanted = decimals(answer["effective"])
    assert found["atlas"] == wanted["atlas"]
    assert found["birch"] == wanted["birch"]
    assert found["unused commitment"] == wanted["unused_commitment"]
    assert found["tax"] == wanted["tax"]
    assert Decimal(effective["total"]["USD"]) == Decimal(billed["total"]["USD"]) == Decimal(answer["total"])
    (commitment,) = effective["commitments"]
    assert commitment["utilisation"] == answer["commitment_utilisation"]
    assert Decimal(commitment["difference"]) == 0


def test_two_currencies_in_one_file(desks: Callable[[str], Desk], shared_cases: Path) -> None:
    case = shared_cases / "28-two-currencies"
    answer = expected(case)
    without = desks("without")
    without.load(str(case / "input.csv"), "--period", "2031-06")
    report = without.report()
    assert decimals(report["total"]) == decimals(answer["without_rates"])
    assert any("not added" in message for message in report["messages"])

    (rate,) = cells(case / "rates.csv")
    with_rates = desks("with")
    with_rates.write("unitcost.toml", f"[fx]\n{rate['from']} = [ {{ from = {rate['date']}, usd = {rate['rate']} }} ]\n")
    with_rates.load(str(case / "input.csv"), "--period", "2031-06")
    report = with_rates.report()
    assert decimals(report["total"]) == {"USD": Decimal(answer["with_rates_usd"])}
    assert report["rates_used"] == [{"currency": "EUR", "from": "2031-06-01", "rate": "1.2", "to": "USD"}]
    page = with_rates.folder / "report.html"
    printed = with_rates.run("report", "--as-of", AS_OF).stdout
    assert with_rates.run("report", "--html", str(page), "--as-of", AS_OF).exit_code == 0
    for shown in (" ".join(printed.split()), page.read_text(encoding="utf-8")):
        assert "EUR at 1.20 of 2031-06-01" in shown
    assert "EUR at" not in without.run("report", "--as-of", AS_OF).stdout


@pytest.mark.parametrize(("zone", "key"), [("UTC", "utc"), ("-05:00", "-05:00")])
def test_a_run_across_the_month_end(desk: Desk, shared_cases: Path, zone: str, key: str) -> None:
    case = shared_cases / "29-utc-month-boundary"
    wanted = {month: Decimal(value) for month, value in expected(case)[key].items() if Decimal(value)}
    desk.load(str(case / "input.csv"))
    report = desk.report("--timezone", zone)
    assert decimals(report["months"]["USD"]) == wanted
    assert report["timezone"] == zone
    for month, amount in expected(case)[key].items():
        part = desk.report("--timezone", zone, "--month", month, "--place", "charge")
        assert Decimal(part["total"].get("USD", "0")) == Decimal(amount)


def test_tags_that_almost_match(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "31-tags-that-almost-match"
    answer = expected(case)
    said = json.loads((case / "owners.json").read_text())
    keys = json.dumps([f"tags.{key}" for key in said["keys"]])
    lineage = "\n".join(f'"{made}" = "{source}"' for made, source in said["inherit"].items())
    desk.write(
        "unitcost.toml",
        f"[owners.team]\nfrom = {keys}\nknown = {json.dumps(said['known_teams'])}\n[owners.lineage]\n{lineage}\n",
    )
    desk.load(str(case / "input.csv"), *CURRENCY)
    report = desk.report()
    found = owners(report)
    for name in ("atlas", "birch", "untagged"):
        assert found[name] == Decimal(answer[name])
    assert decimals(report["unknown_values"]["team"]["USD"]) == decimals(answer["unknown_value"])
    assert sum(found.values()) == Decimal(answer["total"]) == Decimal(report["total"]["USD"])
    assert report["owned_share"]["team"]["USD"] == answer["owned_share"]
    assert report["directly_tagged_share"]["team"]["USD"] == "0.5556"
    near = [miss for miss in report["near_misses"] if miss["found"] == "atals"]
    assert near
    assert near[0]["near"] == ["atlas"]


@pytest.mark.parametrize("how", ["proportional", "even"])
def test_a_shared_cost_is_split(desk: Desk, shared_cases: Path, how: str) -> None:
    case = shared_cases / "32-shared-cost-split"
    answer = expected(case)
    rows = cells(case / "input.csv")
    lines = ["BilledCost,EffectiveCost,team", *(f"{r['direct']},{r['direct']},{r['owner']}" for r in rows)]
    bill = desk.write("bill.csv", "\n".join(lines) + "\n")
    pool = "shared:monitoring"
    desk.write("unitcost.toml", f'[[split]]\nof = {{ team = "{pool}" }}\nhow = "{how}"\nby = "team"\n')
    desk.load(str(bill), *CURRENCY)
    report = desk.report()
    found = {name: value for name, value in report["owners"]["team"]["USD"].items() if name != pool}
    total = sum(Decimal(value["amount"]) for value in found.values())
    assert total == Decimal(answer["equal_sum"])
    if how == "proportional":
        assert {name: Decimal(value["amount"]) for name, value in found.items()} == decimals(answer["proportional"])
    else:
        rounded = {name: value["amount_rounded"] for name, value in found.items()}
        assert rounded == {"atlas": "633.33", "birch": "333.33", "cobalt": "133.34"}
    assert report["splits"]


def test_the_driver_of_the_bill(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "44-driver-of-the-bill"
    answer = expected(case)
    said = json.loads((case / "rules.json").read_text())
    columns = {"ServiceCategory": "service_category"}
    rules = []
    for rule in said["rules"]:
        (column, value), *_ = rule["if"].items()
        name = columns.get(column, column.replace("Tags.", "tags."))
        rules.append(f'[[drivers]]\nwhen = "{name} = \'{value}\'"\nis = "{rule["driver"]}"\n')
    desk.write("unitcost.toml", "\n".join(rules))
    desk.load(str(case / "input.csv"), *CURRENCY)
    report = desk.report()
    drivers = decimals(report["drivers"]["USD"])
    for name in ("serving", "training", "storage", "unknown", "development", "network"):
        assert drivers[name] == Decimal(answer[name]), name
    assert sum(drivers.values()) == Decimal(answer["total"])
    assert report["largest_driver"]["USD"] == answer["largest"]
    assert report["firm"]["USD"] is answer["firm"]


def test_cost_per_accepted_result(desk: Desk, shared_cases: Path) -> None:
    case = shared_cases / "11-cost-per-accepted-result"
    answer = expected(case)
    bill, outputs = ["BilledCost,EffectiveCost,project"], ["service,day,unit,quantity,attempts"]
    for row in cells(case / "input.csv"):
        cost = int(row["attempts"]) * Decimal(row["usd_per_attempt"])
        bill.append(f"{cost},{cost},{row['config']}")
        outputs.append(f"{row['config']},2031-06-01,accepted results,{row['accepted']},{row['attempts']}")
    desk.load(str(desk.write("bill.csv", "\n".join(bill) + "\n")), *CURRENCY)
    desk.load(str(desk.write("outputs.csv", "\n".join(outputs) + "\n")))
    report = desk.report()
    for cost in report["unit_costs"]:
        wanted = answer[cost["service"]]
        assert Decimal(cost["cost_per_unit"]) == Decimal(wanted["usd_per_accepted"])
        assert Decimal(cost["wasted"]) == Decimal(wanted["wasted_usd"])
    assert report["comparisons"][0]["cheapest"] == answer["cheapest"]


def test_without_an_accepted_result_there_is_no_unit_cost(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", "BilledCost,EffectiveCost,project\n5,5,A\n")), *CURRENCY)
    rows = "service,day,unit,quantity,attempts\nA,2031-06-01,accepted results,0,7\n"
    desk.load(str(desk.write("outputs.csv", rows)))
    (cost,) = desk.report()["unit_costs"]
    assert cost["cost_per_unit"] is None
    assert cost["reason"] == "no accepted unit"
    assert Decimal(cost["cost"]) == 5
