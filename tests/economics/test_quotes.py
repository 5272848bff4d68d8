"""A quote against the bill: per accelerator or per machine."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost import money
from unitcost.economics.quotes import check_quote


def test_case_24_a_price_per_gpu_shown_as_that_of_the_machine(shared_cases: Path) -> None:
    folder = shared_cases / "24-per-gpu-price-on-an-8-gpu-machine"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "input.csv").open(newline="") as file:
        quote, bill = csv.DictReader(file)
    billed = money.divide(Decimal(bill["usd"]), Decimal(bill["hours"]))
    found = check_quote(Decimal(quote["usd_per_hour"]), billed, Decimal(quote["gpus"]))
    assert found.finding == expected["finding"]
    assert found.ratio == Decimal(expected["ratio"])
    assert money.multiply(billed, Decimal(bill["hours"])) == Decimal(expected["usd"])
    assert found.sentence == "quote looks like a per-GPU price (ratio 8.00 for 8 GPUs)"


@pytest.mark.parametrize(
    ("quoted", "billed", "gpus", "finding"),
    [
        ("10.24", "10.24", "8", "agrees"),
        ("10.24", "10.30", "8", "agrees"),
        ("10.24", "1.28", "8", "per_machine_price"),
        ("1.28", "5.00", "8", "differs"),
        ("1.28", "1.50", "1", "differs"),
        ("1.28", "1.28", "1", "agrees"),
    ],
)
def test_the_ratio_names_the_case(quoted: str, billed: str, gpus: str, finding: str) -> None:
    assert check_quote(Decimal(quoted), Decimal(billed), Decimal(gpus)).finding == finding
