"""What `load` does with content that is in the ledger already, and what it says about it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text

OLD = text([row(number, cost="10") for number in range(4)])
NEW = text([row(number, cost="20") for number in range(4)])
OTHER = text([row(number, cost="5") for number in range(10, 14)])


def total(desk: Desk) -> Decimal:
    return Decimal(desk.report()["total"]["USD"])


def only(answer: dict[str, Any]) -> dict[str, Any]:
    (found,) = answer["files"]
    return dict(found)


def test_the_question_that_load_asks_is_answered_by_replace(desk: Desk) -> None:
    old, new = str(desk.write("a.csv", OLD)), str(desk.write("b.csv", NEW))
    desk.load(old)
    desk.load(new, code=1)
    assert only(desk.load(new, "--replace", "period"))["notes"] == [
        "It restates 2031-06: 4 rows of a.csv are history now."
    ]
    assert total(desk) == 80
    assert only(desk.load(old))["outcome"] == "unchanged"
    assert total(desk) == 80


def test_replace_is_heard_for_a_file_that_is_loaded(desk: Desk) -> None:
    desk.load(str(desk.write("a.csv", OLD)))
    other = str(desk.write("b.csv", OTHER))
    desk.load(other)
    assert total(desk) == 60
    again = only(desk.load(other, "--replace", "period"))
    assert again["outcome"] == "replaced"
    assert again["notes"] == ["It restates 2031-06: 4 rows of a.csv are history now."]
    assert total(desk) == 20
    printed = desk.run("load", other, "--replace", "period")
    assert "It was loaded before. Nothing else states its billing periods" in printed.stderr


def test_parts_in_one_folder_do_not_replace_each_other(desk: Desk) -> None:
    desk.write("export/1.csv", OLD)
    desk.write("export/2.csv", OTHER)
    folder = str(desk.folder / "export")
    assert "parts of one statement" in desk.load(folder, "--replace", "period", code=1)["failures"][0]["what"]
    desk.load(folder, "--replace", "period", "--export-version", "1")
    assert total(desk) == 60


def test_what_is_said_about_a_loaded_file_is_used(desk: Desk) -> None:
    without = text([row(0, BillingCurrency="")])
    bill = str(desk.write("bill.csv", without))
    desk.load(bill, "--currency", "USD")
    again = only(desk.load(bill, "--currency", "EUR"))
    assert again["outcome"] == "replaced"
    assert again["notes"][0].startswith("What is said about reading it has changed")
    assert desk.report()["total"] == {"EUR": "1"}
    desk.write("unitcost.toml", '[[load]]\npath = "bill.csv"\ncurrency = "CHF"\n')
    assert only(desk.load())["outcome"] == "replaced"
    assert only(desk.load())["outcome"] == "unchanged"
    assert desk.report()["total"] == {"CHF": "1"}


def test_a_corrected_rate_card_prices_the_same_usage_anew(desk: Desk) -> None:
    usage = "resource,start,end,quantity,sku\nnode,2031-06-01T00:00:00Z,2031-06-01T10:00:00Z,1,gpu\n"
    bill = str(desk.write("usage.csv", usage))
    card = "sku,unit,price,currency\ngpu,hour,{},USD\n"
    rates = str(desk.write("rates.csv", card.format("2")))
    desk.load(bill, "--rates", rates)
    assert total(desk) == 20
    desk.write("rates.csv", card.format("3"))
    desk.load(bill, "--rates", rates)
    assert total(desk) == 30
