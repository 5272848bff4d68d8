"""Unit costs through the command line."""

from __future__ import annotations

from tests.e2e.conftest import Desk

BILL = """BilledCost,EffectiveCost,BillingCurrency,project,experiment
60,60,USD,fraud,fraud-1
40,40,USD,fraud,fraud-2
10,10,EUR,mixed,
10,10,USD,mixed,
"""
OUTPUTS = """service,day,unit,quantity
fraud,2031-06-02,runs,2
fraud-1,2031-06-02,runs,1
mixed,2031-06-02,runs,5
nobody,2031-06-02,runs,5
"""


def test_each_cost_says_whose_charges_it_counts(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", BILL)), "--period", "2031-06")
    desk.load(str(desk.write("outputs.csv", OUTPUTS)))
    report = desk.report()
    costs = {cost["service"]: cost for cost in report["unit_costs"]}
    assert {name: (cost["cost_of"], cost["cost_per_unit"]) for name, cost in costs.items()} == {
        "fraud": ("project", "50"), "fraud-1": ("experiment", "60"), "mixed": ("project", None), "nobody": (None, None),
    }  # fmt: skip
    assert costs["mixed"]["reason"] == "billed in EUR and USD, and not all of it has a rate under [fx]"
    assert costs["nobody"]["reason"] == "no charge belongs to nobody"
    (part,) = [section for section in report["sections"] if section["key"] == "unit-costs"]
    assert any("overlap" in note for note in part["notes"])
    alone = desk.report("--currency", "EUR")
    assert alone["unit_costs"] == []
