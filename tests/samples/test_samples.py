"""The sample workspace: the same bytes, the size asked for, and a truth that the bills themselves bear out."""

from __future__ import annotations

import csv
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost import samples
from unitcost.errors import UnitcostError
from unitcost.samples import aws_work
from unitcost.samples.truth import Truth
from unitcost.samples.world import csv_rows

CENT = Decimal("0.01")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """Sample workspace of the usual size."""
    folder = tmp_path_factory.mktemp("sample")
    return folder, samples.write(folder)


def csv_of(folder: Path, pattern: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of several csv files, each with the name of its file; every row is as wide as its header."""
    for file in sorted(folder.glob(pattern)):
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream)
            header = next(reader)
            for row in reader:
                assert len(row) == len(header)
                yield file.stem, dict(zip(header, row, strict=True))


def billed_by_hand(folder: Path) -> dict[tuple[str, str, str], tuple[Decimal, int]]:
    """Billed cost and rows per provider, currency and billing month, added up from the files alone."""
    sums: dict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
    rows: Counter[tuple[str, str, str]] = Counter()

    def add(provider: str, currency: str, month: str, amount: Decimal) -> None:
        sums[provider, currency, month] += amount
        rows[provider, currency, month] += 1

    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        month = row["bill_billing_period_start_date"][:7]
        add("AWS", row["line_item_currency_code"], month, Decimal(row["line_item_unblended_cost"]))
    for _, row in csv_of(folder, "bills/azure/*.csv"):
        start = row["BillingPeriodStartDate"]
        assert Decimal(row["CostInBillingCurrency"]) == Decimal(row["Quantity"]) * Decimal(row["EffectivePrice"])
        add("Microsoft", row["BillingCurrency"], f"{start[6:]}-{start[:2]}", Decimal(row["CostInBillingCurrency"]))
    for _, row in csv_of(folder, "bills/focus/*.csv"):
        add("Token API", row["BillingCurrency"], row["BillingPeriodStart"][:7], Decimal(row["BilledCost"]))
    for file in sorted(folder.glob("bills/gcp/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line, parse_float=Decimal, parse_int=Decimal)
            month = record["invoice"]["month"]
            amount = record["cost"] + sum(credit["amount"] for credit in record["credits"])
            add("Google Cloud", record["currency"], f"{month[:4]}-{month[4:]}", amount)
    rates = [row for _, row in csv_of(folder, "bills/neocloud/rates.csv")]
    for _, row in csv_of(folder, "bills/neocloud/usage.csv"):
        day = row["start"][:10]
        [rate] = [r for r in rates if r["sku"] == row["sku"] and r["from"] <= day and (not r["to"] or day < r["to"])]
        add("neocloud", rate["currency"], row["start"][:7], Decimal(row["quantity"]) * Decimal(rate["price"]))
    return {key: (amount, rows[key]) for key, amount in sums.items()}


def test_about_as_many_rows_as_asked_for(made: tuple[Path, Truth]) -> None:
    _, truth = made
    assert 67_000 <= truth.rows <= 70_500


def test_the_totals_are_those_of_the_files(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    assert {(t.provider, t.currency, t.billing_month): (t.billed, t.rows) for t in truth.totals} == billed_by_hand(
        folder
    )


def test_each_split_of_the_truth_adds_up_to_the_same(made: tuple[Path, Truth]) -> None:
    _, truth = made
    whole: dict[str, Decimal] = defaultdict(Decimal)
    for total in truth.totals:
        whole[total.currency] += total.effective
    for part in (truth.owners, truth.projects, truth.drivers, truth.lines):
        sums: dict[str, Decimal] = defaultdict(Decimal)
        for amounts in part.values():
            for currency, amount in amounts.items():
                sums[currency] += amount
        assert sums == whole


def test_invoices_end_on_a_whole_cent_and_are_those_of_the_bill(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        sums[row["bill_invoice_id"]] += Decimal(row["line_item_unblended_cost"])
    for _, row in csv_of(folder, "bills/azure/*.csv"):
        sums[row["invoiceId"]] += Decimal(row["CostInBillingCurrency"])
    for _, row in csv_of(folder, "bills/focus/*.csv"):
        sums[row["InvoiceId"]] += Decimal(row["BilledCost"])
    assert {i.number: i.total for i in truth.invoices if i.named} == sums
    by_month = {(t.provider, t.billing_month): t.billed for t in truth.totals}
    unnamed = [invoice for invoice in truth.invoices if not invoice.named]
    assert {i.provider for i in unnamed} == {"Google Cloud", "neocloud"}
    assert all(invoice.total == by_month[invoice.provider, invoice.billing_month] for invoice in unnamed)
    assert all(invoice.total % CENT == 0 for invoice in truth.invoices)


def test_the_effective_cost_of_aws_follows_from_its_columns(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        match row["line_item_line_item_type"]:
            case "SavingsPlanCoveredUsage":
                amount = Decimal(row["savings_plan_savings_plan_effective_cost"])
            case "SavingsPlanRecurringFee":
                amount = Decimal(row["savings_plan_total_commitment_to_date"])
                amount -= Decimal(row["savings_plan_used_commitment"])
            case "DiscountedUsage":
                amount = Decimal(row["reservation_effective_cost"])
            case "SavingsPlanNegation" | "Fee" | "RIFee":
                amount = Decimal(0)
            case _:
                amount = Decimal(row["line_item_unblended_cost"])
        sums[row["bill_billing_period_start_date"][:7]] += amount
    assert sums == {t.billing_month: t.effective for t in truth.totals if t.provider == "AWS"}


def test_every_kind_of_line_is_on_the_aws_bill(made: tuple[Path, Truth]) -> None:
    folder, _ = made
    kinds = {row["line_item_line_item_type"] for _, row in csv_of(folder, "bills/aws-cur/*.csv")}
    assert kinds == {
        "Usage", "Tax", "Credit", "Fee", "RIFee", "DiscountedUsage", "SavingsPlanCoveredUsage", "SavingsPlanNegation",
        "SavingsPlanRecurringFee",
    }  # fmt: skip


def test_spot_machines_are_lost_and_replaced(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    instances: dict[str, set[str]] = defaultdict(set)
    short = 0
    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        if row["line_item_usage_type"].startswith("SpotUsage"):
            run = json.loads(row["resource_tags"])["user_run"]
            instances[run].add(row["line_item_resource_id"])
            short += Decimal(row["line_item_usage_amount"]) < 1
            assert Decimal(row["line_item_unblended_cost"]) < Decimal(row["pricing_public_on_demand_cost"])
    assert set(instances) == set(aws_work.RUNS)
    for run, (_, nodes, *_) in aws_work.RUNS.items():
        assert len(instances[run]) == nodes + truth.preemptions[run] > nodes
    assert short > sum(truth.preemptions.values())


def test_each_kind_of_waste_is_planted_and_stands_in_a_bill(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    assert {waste.kind for waste in truth.wastes} == {
        "idle endpoint", "notebook on at night", "forgotten checkpoints", "unused commitment",
        "over-provisioned replicas", "traffic between zones", "untagged GPU", "late charge", "correction",
    }  # fmt: skip
    cost: dict[str, Decimal] = defaultdict(Decimal)
    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        cost[row["line_item_resource_id"]] += Decimal(row["line_item_unblended_cost"])
    by_name = {waste.name: waste for waste in truth.wastes}
    for name in ("ranking-canary", "on demand nobody", "bucket ml-checkpoints-2025", "late"):
        assert by_name[name].amount == cost[by_name[name].resource] > 0
    assert by_name["search-ranker"].amount * 3 == cost[by_name["search-ranker"].resource]
    assert 0 < by_name["notebook research-1"].amount < cost[by_name["notebook research-1"].resource]


def test_controls_stand_beside_the_waste(made: tuple[Path, Truth]) -> None:
    _, truth = made
    assert len(truth.controls) >= 10
    assert not {waste.resource for waste in truth.wastes} & {c.resource for c in truth.controls if c.resource} - {
        "workspace/assistant"
    }
    assert all(control.amount > 0 and control.why for control in truth.controls)


def test_the_idle_endpoint_measured_zero_and_the_controls_did_not(made: tuple[Path, Truth]) -> None:
    folder, _ = made
    made_by: dict[str, list[Decimal]] = defaultdict(list)
    for _, row in csv_of(folder, "outputs.csv"):
        made_by[row["service"]].append(Decimal(row["quantity"]))
        assert not row["attempts"] or Decimal(row["attempts"]) >= Decimal(row["quantity"])
    assert made_by["ranking-canary"] == [0] * 92
    assert min(made_by["fraud"]) > 0


def test_a_late_charge_and_a_correction_keep_their_old_period(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    late = [
        row
        for _, row in csv_of(folder, "bills/aws-cur/2026-09.csv")
        if row["line_item_usage_start_date"][:7] == "2026-08" and row["line_item_line_item_type"] == "Usage"
    ]
    assert len(late) == 48
    [correction] = [row for _, row in csv_of(folder, "bills/focus/*.csv") if row["ChargeClass"] == "Correction"]
    assert correction["BillingPeriodStart"] == "2026-10-01T00:00:00Z"
    assert correction["ChargePeriodStart"] == "2026-08-01T00:00:00Z"
    assert Decimal(correction["BilledCost"]) == next(w.amount for w in truth.wastes if w.kind == "correction") < 0


def test_a_commitment_is_used_up_to_what_was_paid(made: tuple[Path, Truth]) -> None:
    folder, _ = made
    used = paid = unused = Decimal(0)
    for _, row in csv_of(folder, "bills/aws-cur/*.csv"):
        used += Decimal(row["savings_plan_savings_plan_effective_cost"] or 0)
        if row["line_item_line_item_type"] == "SavingsPlanRecurringFee":
            paid += Decimal(row["line_item_unblended_cost"])
            unused += Decimal(row["savings_plan_total_commitment_to_date"]) - Decimal(
                row["savings_plan_used_commitment"]
            )
            assert Decimal(row["savings_plan_used_commitment"]) <= Decimal(row["line_item_unblended_cost"])
    assert used + unused == paid
    assert unused > 0


def test_settings_and_truth_are_readable(made: tuple[Path, Truth]) -> None:
    folder, truth = made
    settings = tomllib.loads((folder / "unitcost.toml").read_text(encoding="utf-8"), parse_float=Decimal)
    assert {i["id"]: Decimal(i["total"]) for i in settings["invoice"]} == {i.number: i.total for i in truth.invoices}
    written = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert written["seed"] == truth.seed
    assert Decimal(written["wastes"][0]["amount"]) == truth.wastes[0].amount


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    for folder, seed in ((first, 3), (again, 3), (other, 4)):
        samples.write(folder, seed=seed, months=("2026-08", "2026-09"), rows=5_000)
    names = sorted(f.relative_to(first) for f in first.rglob("*") if f.is_file())
    assert names == sorted(f.relative_to(again) for f in again.rglob("*") if f.is_file())
    assert all((first / name).read_bytes() == (again / name).read_bytes() for name in names)
    assert any((first / name).read_bytes() != (other / name).read_bytes() for name in names)


@pytest.mark.parametrize("months", [("2026-02",), ("2026-12", "2027-01"), samples.MONTHS])
def test_a_small_sample_closes_too(tmp_path: Path, months: tuple[str, ...]) -> None:
    truth = samples.write(tmp_path, months=months, rows=8_000)
    assert truth.rows < 12_000
    by_hand = billed_by_hand(tmp_path)
    assert {(t.provider, t.currency, t.billing_month): (t.billed, t.rows) for t in truth.totals if t.rows} == by_hand
    assert all(invoice.total % CENT == 0 for invoice in truth.invoices)


def test_daily_rows_carry_the_same_money_as_hourly_rows(made: tuple[Path, Truth], tmp_path: Path) -> None:
    _, hourly = made
    daily = samples.write(tmp_path, rows=8_000)
    kinds = {waste.name: waste.amount for waste in hourly.wastes}
    assert {waste.name: waste.amount for waste in daily.wastes} == kinds
    assert daily.owners["support"]["EUR"] == hourly.owners["support"]["EUR"]


@pytest.mark.parametrize("months", [(), ("2026-08", "2026-10"), ("2026-13",), ("August",)])
def test_months_that_do_not_follow_each_other_are_refused(tmp_path: Path, months: tuple[str, ...]) -> None:
    with pytest.raises(UnitcostError):
        samples.write(tmp_path, months=months)


def test_a_constant_cell_is_quoted_as_csv_asks() -> None:
    cell = 'a "quoted", 100 %s sure\ncell'
    [line] = csv_rows(["x", "n"], {"x": cell}, {"n": ["1"]})
    assert next(csv.reader([*line.splitlines(keepends=True)])) == [cell, "1"]
