"""`check` in words that answer its questions, and reports that say why an invoice or a currency is left over."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text
from unitcost.ledger import Ledger

BILL = [row(0, cost="10"), row(1, cost="5", month=7), row(2, cost="2", month=8, InvoiceId="")]


def answers(desk: Desk, *arguments: str, code: int = 0) -> dict[str, tuple[str, str]]:
    """Question -> verdict and answer."""
    result = desk.run("check", "--json", *arguments)
    assert result.exit_code == code, result.output
    return {c["question"]: (c["verdict"], c["answer"]) for c in json.loads(result.stdout)["checks"]}


def test_nothing_is_loaded(desk: Desk) -> None:
    Ledger.open(desk.folder / ".unitcost/ledger.duckdb").close()
    assert answers(desk) == {"Is anything loaded?": ("warn", "no: the ledger holds no charges")}
    assert answers(desk, "--min-owned", "0.5", code=3)["Is anything loaded?"][0] == "fail"
    desk.write("unitcost.toml", '[[invoice]]\nid = "INV-6"\ntotal = 1\n')
    assert "no charge is loaded" in answers(desk, code=3)["Does the ledger agree with the invoices?"][1]


def test_only_outputs_are_loaded(desk: Desk) -> None:
    outputs = desk.write("outputs.csv", "service,day,unit,quantity\nfraud,2031-06-01,predictions,1000\n")
    desk.load(str(outputs))
    found = answers(desk)
    assert found["Is anything loaded?"] == ("warn", "yes, but no charges: 1 row of outputs-csv")
    assert found["Was every row accepted?"] == ("ok", "yes: 1 row of 1 file")
    assert "No charges are loaded; what is: 1 row of outputs-csv." in desk.report()["messages"]


def test_the_range_holds_no_charges(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text(BILL))))
    verdict, answer = answers(desk, "--month", "2031-01")["Are there charges to check?"]
    assert verdict == "warn"
    assert answer.endswith("the ledger holds 2031-06 to 2031-08")
    assert "Are there charges to check?" not in answers(desk, "--month", "2031-06")


def test_rows_that_were_set_aside_are_shown_with_what_is_wrong(desk: Desk) -> None:
    bad = [row(0), row(1, cost=""), row(2, cost="ten"), row(3, BillingCurrency="")]
    desk.load(str(desk.write("bill.csv", text(bad) + "1,2,3\n")), code=3)
    said = desk.run("check").stdout
    assert "no: 4 of 5 rows are set aside, and count nowhere" in said
    assert "set aside  bill.csv, row 2: billed_cost (empty) has no cost\n" in said
    assert "set aside  bill.csv, row 3: BilledCost 'ten' is not a number" in said
    assert "set aside  bill.csv, row 4: has a cost but no currency\n" in said
    assert "set aside  bill.csv, row 5: has 3 cells where the header has 14\n" in said
    assert "''" not in said
    assert "--rejects 4" not in said
    assert "`--rejects 4` lists them all" in desk.run("check", "--rejects", "1").stdout


@pytest.mark.parametrize(
    ("invoice", "reason"),
    [
        ('id = "INV-66"\ntotal = 10', "no charge names this invoice; did you mean `INV-6` or `INV-7`?"),
        ('id = "9931"\ntotal = 10', "no charge names this invoice."),
        ('id = "INV-6"\ntotal = 10\ncurrency = "EUR"', "its charges are billed in USD, not in EUR."),
        ('id = "INV-6"\ntotal = 10\nperiod = "2031-07"', "its charges are of 2031-06, not of 2031-07."),
        ('id = "INV-6"\ntotal = 10\nprovider = "Other"', "its charges are of Cloud, not of Other."),
        ('id = "August"\ntotal = 2\nperiod = "2031-08"\ncurrency = "EUR"',
         "no charge names it; those without an invoice are billed in USD, not in EUR."),
        ('id = "May"\ntotal = 2\nperiod = "2031-05"',
         "no charge names it; those without an invoice are of 2031-08, not of 2031-05."),
    ],
)  # fmt: skip
def test_an_invoice_that_no_charge_meets_says_why(desk: Desk, invoice: str, reason: str) -> None:
    desk.load(str(desk.write("bill.csv", text(BILL))))
    desk.write("unitcost.toml", f"[[invoice]]\n{invoice}\n")
    (message,) = [m for m in desk.report(code=3)["messages"] if m.startswith("Invoice")]
    assert message.endswith(f"the ledger has nothing for it: {reason}")
    assert message in answers(desk, code=3)["Does the ledger agree with the invoices?"][1]


def test_an_invoice_whose_charges_are_partly_in_another_currency_says_so(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text([*BILL, row(3, BillingCurrency="EUR")]))))
    desk.write("unitcost.toml", '[[invoice]]\nid = "INV-6"\ntotal = 11\n')
    report = desk.report(code=3)
    assert any("it differs by -1 (other charges that name it are billed in EUR)." in m for m in report["messages"])


def test_a_rate_that_begins_too_late_is_told_from_none(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text([row(0), row(1, BillingCurrency="EUR"), row(2, BillingCurrency="CHF")]))))
    desk.write("unitcost.toml", "[fx]\nEUR = [ { from = 2031-07-01, usd = 1.1 }, { from = 2031-08-01, usd = 1.2 } ]\n")
    report = desk.report()
    why = "no rate for CHF, no rate for EUR before 2031-07-01"
    assert f"Amounts in CHF and EUR and USD are not added: there is {why} under [fx]." in report["messages"]
    assert report["not_added"] == {"CHF": "no rate for CHF", "EUR": "no rate for EUR before 2031-07-01"}
    assert answers(desk)["Can all amounts be added?"][1].startswith(f"no: there is {why}; ")


def test_what_one_useful_unit_costs_is_answered_with_the_cost(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text([row(0, cost="15")]))))
    question = "What does one useful unit cost?"
    assert answers(desk)[question][1] == "not known: nothing that is loaded says how many useful units were made"
    header = "service,day,unit,quantity\n"
    desk.load(str(desk.write("outputs.csv", f"{header}Compute,2031-06-01,predictions,10000\n")))
    assert answers(desk)[question] == ("ok", "Compute 1.500 USD per 1k predictions")
    desk.load(str(desk.write("more.csv", f"{header}Other,2031-06-01,predictions,10000\n")))
    verdict, answer = answers(desk)[question]
    assert verdict == "warn"
    assert answer == "Compute 1.500 USD per 1k predictions; not known for Other (no charge belongs to Other)"


def test_a_service_in_two_currencies_does_not_stop_the_report(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text([row(0), row(1, BillingCurrency="EUR")]))))
    desk.load(str(desk.write("outputs.csv", "service,day,unit,quantity\nCompute,2031-06-01,predictions,10000\n")))
    (cost,) = desk.report()["unit_costs"]
    assert cost["cost_per_unit"] is None
    assert cost["reason"] == "billed in EUR and USD, and not all of it has a rate under [fx]"


def test_names_that_nearly_match_are_listed(desk: Desk) -> None:
    desk.load(str(desk.write("bill.csv", text([row(0), row(1, Tags='{"team": "rsik"}')]))))
    desk.write("unitcost.toml", '[owners.team]\nfrom = ["tags.team"]\nknown = ["risk"]\n')
    answer = answers(desk)["Are names spelt in one way?"]
    assert answer == ("warn", "no: team value `rsik` looks like `risk`")


@pytest.mark.parametrize("column", ["usd_per_hour", "usd_per_accelerator_hour"])
def test_a_quote_per_gpu_is_named_beside_the_bill(desk: Desk, shared_cases: Path, column: str) -> None:
    """The quote becomes an own price without a region, the bill a charge of so many hours."""
    case = shared_cases / "24-per-gpu-price-on-an-8-gpu-machine"
    with (case / "input.csv").open(newline="", encoding="utf-8") as stream:
        quote, bill = csv.DictReader(stream)
    machine = quote["instance"]
    desk.write(
        "own.csv",
        f"instance_type,provider,accelerator,accelerator_count,{column}\n"
        f"{machine},rented,Q4000,{quote['gpus']},{quote['usd_per_hour']}\n",
    )
    desk.write("unitcost.toml", '[prices]\nfiles = ["own.csv"]\n')
    usage = {"SkuMeter": machine, "ConsumedQuantity": bill["hours"], "ConsumedUnit": "Hours"}
    desk.load(str(desk.write("bill.csv", text([row(0, cost=bill["usd"], **usage)]))))
    found = answers(desk)
    question = "Do your own prices of machines fit the bill?"
    if column == "usd_per_hour":
        assert found[question] == ("warn", f"no: {machine}: quote looks like a per-GPU price (ratio 8.00 for 8 GPUs)")
    else:
        assert question not in found
    assert desk.report()["total"] == {"USD": "30.72"}
