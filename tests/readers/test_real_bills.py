"""Real bills: each is known by its content, and no row of it is lost."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from unitcost.errors import NeedsAnswer

pytestmark = pytest.mark.shared

FOCUS = ("focus_1.3_aws_synthetic_fdt", "focus_ai_cached_tokens_marketplace", "focus_correction_partial_reallocation",
         "focus_sample_1.0", "spec12_")  # fmt: skip
SIGNED = ("simple_saas_agreements",)
US_DATES = ("saas_", "simple_saas_", "virtual_currency_")


def rows_of(path: Path) -> list[list[str]]:
    """Header and rows, blank lines left out."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return [row for row in csv.reader(stream) if row and any(cell.strip() for cell in row)]


def test_each_focus_bill_is_known_and_no_cell_of_it_is_lost(shared_bills, take_file):
    bills = sorted(path for path in shared_bills.iterdir() if path.name.startswith(FOCUS))
    assert len(bills) > 20
    for path in bills:
        taken = take_file(path, currency="USD")
        header, *rows = rows_of(path)
        assert taken.plan.reader == "focus", path.name
        assert taken.plan.scan.columns == tuple(name.strip() for name in header), path.name
        assert taken.rows == rows, path.name
        assert not taken.plan.rejects, path.name
        assert (taken.plan.date_order == "mdy") == path.name.startswith(tuple(f"spec12_{p}" for p in US_DATES))
        assert bool(taken.plan.currency_signs) == any(name in path.name for name in SIGNED), path.name


def test_the_bills_that_name_no_currency_ask_for_it(shared_bills, take_file):
    asked = []
    for path in sorted(shared_bills.glob("spec12_*.csv")):
        try:
            take_file(path)
        except NeedsAnswer as error:
            asked.append((path.name, error.what))
        else:
            assert "BillingCurrency" in rows_of(path)[0]
    assert len(asked) == 8
    assert all("commitment" in name and "currency" in what for name, what in asked)


@pytest.mark.parametrize(
    ("prefix", "reader"),
    [("aws_", "aws-cur"), ("nise_aws", "aws-cur"), ("azure_", "azure"), ("nise_azure", "azure"), ("gcp_", "gcp"),
     ("nise_gcp", "gcp"), ("oci_", "oci")],
)  # fmt: skip
def test_native_bills_are_left_to_their_readers(shared_bills, take_file, prefix, reader):
    for path in sorted(shared_bills.glob(f"{prefix}*.csv")):
        taken = take_file(path, currency="USD")
        assert taken.plan.reader == reader, path.name
        assert len(taken.rows) + len(taken.plan.rejects) == len(rows_of(path)) - 1, path.name


def test_cases_are_read(shared_cases, take_file):
    for case, rows in (("26", 6), ("28", 2), ("29", 1), ("31", 7), ("44", 7)):
        (folder,) = shared_cases.glob(f"{case}-*")
        taken = take_file(folder / "input.csv", currency="USD", period="2031-01")
        assert len(taken.rows) == rows, case
        assert taken.plan.reader == ("rate-card" if case == "29" else "focus"), case
