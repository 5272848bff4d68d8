"""Native exports through the ledger: what the engine makes of each row, and what must add up."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from interpret import Row
from native import SAMPLES, of_dicts

from unitcost.facts import mapping as m
from unitcost.facts.charges import COLUMN_BY_NAME, MONEY_COLUMNS
from unitcost.facts.source import LoadRecord, Plan, ReadOptions, Reject
from unitcost.ledger import Ledger
from unitcost.money import add, round_places
from unitcost.readers import aws_cur, core, read
from unitcost.units import LEDGER_PLACES

NOW = datetime(2026, 10, 5, tzinfo=UTC)
NATIVE = ("aws_", "azure_", "gcp_", "oci_", "nise_")
US_DATE = "%m/%d/%Y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A file in a ledger of its own: the plan, the record, the charges by row number."""

    plan: Plan
    record: LoadRecord
    charges: list[dict[str, Any]]
    rejects: list[Reject]

    def total(self, column: str) -> Decimal:
        """Sum of a column and of what rounding took away from it, over all currencies."""
        totals = [Decimal(sums.get(column, "0")) for sums in self.record.totals.values()]
        return add(totals + [Decimal(sums.get(column, "0")) for sums in self.record.residues.values()])

    def sum_of(self, column: str, **where: str | None) -> Decimal:
        rows = [c for c in self.charges if all(c[name] == value for name, value in where.items())]
        return add(c[column] for c in rows if c[column] is not None)


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Loaded]:
    """Load a file: `load(path or text, careful=..., **options)`."""
    count = iter(range(1_000))

    def loading(file: Path | str, *, careful: bool = False, **options: Any) -> Loaded:
        folder = tmp_path / str(next(count))
        folder.mkdir()
        path = file if isinstance(file, Path) else folder / "bill"
        if isinstance(file, str):
            path.write_text(file, encoding="utf-8")
        said = ReadOptions(**options)
        plan = read(path, said, workdir=folder, careful=careful)
        with Ledger.open(folder / "ledger.duckdb") as ledger:
            record = ledger.load(plan, file=path.name, sha256="0", source="test", options=said, now=NOW)
            rejects = [reject for _, reject in ledger.rejects()]
        with duckdb.connect(str(folder / "ledger.duckdb"), read_only=True) as con:
            found = con.execute("SELECT * FROM charges ORDER BY row_number")
            names = [column[0] for column in found.description or []]
            charges = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return Loaded(plan=plan, record=record, charges=charges, rejects=rejects)

    return loading


def scanned(plan: Plan) -> Iterator[tuple[int, Row]]:
    """Rows that the engine was given."""
    with plan.scan.path.open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    for number, *cells in rows:
        yield int(number), Row(plan.scan.columns, cells, plan.nulls)


def moment(row: Row, node: m.Expr) -> datetime | None:
    """Second opinion on a moment: UTC, no zone."""
    if isinstance(node, m.First):
        return next((found for inner in node.of if (found := moment(row, inner)) is not None), None)
    if isinstance(node, m.YearMonth):
        text = row.text(node.of)
        found = datetime.strptime(text, "%Y%m") if text else None
        return _next_month(found) if found and node.after else found
    if isinstance(node, m.Time):
        found = moment(row, node.of)
        if found is None:
            return None
        found += timedelta(days=node.shift_days)
        start = found.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return _next_month(start) if node.snap == "next-month-start" else start if node.snap else found
    return _read(row.text(node))


def _read(text: str | None) -> datetime | None:
    if text is None:
        return None
    if "/" in text:
        return datetime.strptime(text, US_DATE)
    found = datetime.fromisoformat(text.replace(" UTC", "Z"))
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _next_month(start: datetime) -> datetime:
    return (start + timedelta(days=31)).replace(day=1)


def expected(row: Row, target: str, node: m.Expr) -> object:
    kind = COLUMN_BY_NAME[target].kind
    if kind in ("money", "quantity"):
        amount = row.amount(node)
        return None if amount is None else round_places(amount, LEDGER_PLACES)
    if kind == "time":
        return moment(row, node)
    return _tags(row, node) if kind == "tags" else row.text(node)


def _tags(row: Row, node: m.Expr) -> dict[str, str]:
    try:
        return row.tags(node)
    except ValueError:
        return {}  # what is no JSON is no tag


def differences(loaded: Loaded, *, whole: int = 100, then_every: int = 9) -> list[str]:
    """Where ledger and second opinion differ, in the first rows of a long file and in some of the rest."""
    charges = {charge["row_number"]: charge for charge in loaded.charges}
    rejected = {reject.row for reject in loaded.rejects}
    found = []
    for number, row in scanned(loaded.plan):
        if number in rejected or (number > whole and number % then_every):
            continue
        for target, node in loaded.plan.mapping.items():
            wanted, got = expected(row, target, node), charges[number][target]
            if (got or None) != (wanted or None) if target == "tags" else got != wanted:
                found.append(f"row {number} {target}: {got!r} is not {wanted!r}")
    return found


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.name.startswith(NATIVE)))
def test_the_engine_agrees_with_the_second_opinion(load, sample):
    loaded = load(SAMPLES / sample, currency="USD")
    assert loaded.charges
    assert not differences(loaded)


#: Columns whose cells the cost of a file is the sum of, by reader; the first that a file has.
COSTS = {
    "aws-cur": ("lineitem/unblendedcost", "line_item_unblended_cost"), "oci": ("cost/mycost",), "gcp": ("cost",),
    "azure": ("costinbillingcurrency", "cost", "pretaxcost"),
}  # fmt: skip


def own_sum(path: Path, reader: str) -> Decimal:
    """Cost of a csv with its credits, worked out without the project's readers."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = [{str(name).casefold(): cell for name, cell in row.items()} for row in csv.DictReader(stream)]
    name = next(name for name in COSTS[reader] if name in rows[0])
    cells = [row[name] for row in rows if row[name]]
    for row in rows:
        cells += [str(credit["amount"]) for credit in json.loads(row.get("credits") or "[]", parse_float=str)]
    return add(map(Decimal, cells))


@pytest.mark.shared
def test_real_bills_keep_their_sums_and_the_engine_agrees_with_the_second_opinion(load, shared_bills):
    seen = 0
    for path in sorted(path for path in shared_bills.iterdir() if path.name.startswith(NATIVE)):
        loaded = load(path, currency="USD")
        assert differences(loaded)[:5] == [], path.name
        assert loaded.record.rows_read == len(loaded.charges) + len(loaded.rejects), path.name
        assert loaded.total(loaded.plan.cost_column) == own_sum(path, loaded.plan.reader), path.name
        seen += len(loaded.charges)
    assert seen > 3_000


@pytest.mark.parametrize("name", ["aws_cur_2.csv"])
def test_both_paths_give_the_same_charges(load, monkeypatch, name):
    careful = load(SAMPLES / name)
    monkeypatch.setattr(core, "FAST_FROM_BYTES", 0)
    fast = load(SAMPLES / name)
    assert fast.plan.fast
    assert not careful.plan.fast
    assert fast.charges == careful.charges


# --- AWS --------------------------------------------------------------------------------------------------------

CUR = (
    "bill/PayerAccountId,bill/BillingPeriodStartDate,bill/BillingPeriodEndDate,lineItem/LineItemType,"
    "lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/CurrencyCode,lineItem/UnblendedCost,lineItem/ProductCode,"
    "lineItem/UsageAmount,reservation/ReservationARN,reservation/EffectiveCost,"
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod,reservation/UnusedRecurringFee,savingsPlan/SavingsPlanARN,"
    "savingsPlan/SavingsPlanEffectiveCost,savingsPlan/TotalCommitmentToDate,savingsPlan/UsedCommitment,"
    "splitLineItem/ParentResourceId,splitLineItem/SplitCost\n"
)


def cur_row(kind: str, cost: str, reserved: str = ",,,", plan: str = ",,,", split: str = ",") -> str:
    times = "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z"
    return f"1,{times},{kind},{times},USD,{cost},AmazonEC2,1,{reserved},{plan},{split}\n"


def test_a_month_of_commitments_splits_and_lines_that_are_no_use(load):
    """A reservation and a plan wholly inside the month: what was billed for each is what its use and its rest cost."""
    rows = [
        cur_row("Usage", "10"),
        cur_row("Usage", "0", split="i-1,7.5"),
        cur_row("Usage", "0", split="i-1,2.5"),
        cur_row("Fee", "100", reserved="arn:r,,,"),
        cur_row("RIFee", "60", reserved="arn:r,,25,15"),
        cur_row("DiscountedUsage", "0", reserved="arn:r,90,,"),
        cur_row("DiscountedUsage", "0", reserved="arn:r,30,,"),
        cur_row("SavingsPlanCoveredUsage", "4", plan="arn:p,2.8,,"),
        cur_row("SavingsPlanNegation", "-4", plan="arn:p,,,"),
        cur_row("SavingsPlanRecurringFee", "3", plan="arn:p,,3,2.8"),
        cur_row("SavingsPlanUpfrontFee", "876", plan="arn:q,,,"),
        cur_row("Tax", "1.37"),
        cur_row("Credit", "-5"),
        cur_row("Refund", "-2"),
        cur_row("EdpDiscount", "-0.5"),
    ]
    loaded = load(CUR + "".join(rows))
    assert loaded.total("billed_cost") == Decimal("1042.87")
    assert loaded.total("effective_cost") == Decimal("1042.87") - 876  # nothing of it is used up yet
    for arn, spent in (("arn:r", 160), ("arn:p", 3)):
        for column in ("billed_cost", "effective_cost"):
            assert loaded.sum_of(column, commitment_discount_id=arn) == spent
    assert loaded.sum_of("effective_cost", commitment_discount_status="Unused") == Decimal("40.2")
    assert loaded.sum_of("billed_cost", charge_category="Usage") == 10
    assert loaded.sum_of("consumed_quantity", commitment_discount_id=None, charge_category="Usage") == 1


def test_a_report_of_2_0_says_the_same_as_parquet_on_both_paths(load, tmp_path):
    sample, made = SAMPLES / "aws_cur_2.csv", tmp_path / "cur.parquet"
    maps = ", ".join(f"CAST({name} AS JSON)::MAP(VARCHAR, VARCHAR) AS {name}"
                     for name in ("product", "resource_tags", "cost_category"))  # fmt: skip
    with duckdb.connect() as con:
        source = f"read_csv('{sample}', header=true, all_varchar=true)"
        con.execute(f"COPY (SELECT * REPLACE ({maps}) FROM {source}) TO '{made}' (FORMAT parquet)")
    text, fast, careful = load(sample), load(made), load(made, careful=True)
    assert fast.plan.fast
    assert fast.charges == careful.charges
    for column in (*MONEY_COLUMNS, "service_name", "region_id", "tags", "commitment_discount_id"):
        assert [c[column] for c in fast.charges] == [c[column] for c in text.charges], column


@pytest.mark.parametrize(("upfront", "hourly", "covered"), [("0", "3", "2.8"), ("8.76", "1", "0"), ("0", "2", "2")])
def test_an_hour_of_a_plan_costs_what_it_commits(upfront, hourly, covered):
    """The plan pays for the use that it covers and, as unused, for the rest; the negation takes the rest of the use."""
    kind, cost, plan = "lineItem/LineItemType", "lineItem/UnblendedCost", "savingsPlan/"
    arn = {plan + "SavingsPlanARN": "arn:p"}
    bill = of_dicts(
        aws_cur,
        arn | {kind: "SavingsPlanCoveredUsage", cost: "5", plan + "SavingsPlanEffectiveCost": covered},
        arn | {kind: "SavingsPlanNegation", cost: "-5"},
        arn
        | {kind: "SavingsPlanRecurringFee", cost: hourly, plan + "TotalCommitmentToDate": hourly}
        | {plan + "UsedCommitment": covered},
        arn | {kind: "SavingsPlanUpfrontFee", cost: upfront},
    )
    assert bill.total("billed_cost") == Decimal(hourly) + Decimal(upfront)
    assert bill.total("effective_cost") == Decimal(hourly)


# --- Google -----------------------------------------------------------------------------------------------------

GCP = (
    "billing_account_id,service.description,sku.description,usage_start_time,usage_end_time,project.id,labels,"
    "project.labels,cost,currency,credits,cost_type,invoice.month\n"
)


def gcp_row(cost: str, credits: str, labels: str = "[]", of_project: str = "[]", kind: str = "regular") -> str:
    times = "2026-09-30 23:00:00 UTC,2026-10-01 00:00:00 UTC"
    cells = [labels, of_project, cost, "USD", credits, kind, "202610"]
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    return f"b,Compute Engine,N2 core,{times},p,{quoted}\n"


def test_credits_are_added_to_the_cost_of_their_row_to_the_last_place(load):
    rows = [
        gcp_row("1.5", '[{"name": "CUD", "amount": -1.3899999999999999E-4}, {"amount": "-0.0000000000005"}]'),
        gcp_row("0.10", "[]", kind="tax"),
        gcp_row("2", ""),
        gcp_row("-0.01", "[]", kind="rounding_error"),
    ]
    loaded = load(GCP + "".join(rows))
    assert loaded.total("billed_cost") == Decimal("3.58986099999950000001")
    assert [c["charge_category"] for c in loaded.charges] == ["Usage", "Tax", "Usage", "Adjustment"]
    assert {c["billing_period_start"] for c in loaded.charges} == {datetime(2026, 10, 1)}
    assert {c["charge_period_start"] for c in loaded.charges} == {datetime(2026, 9, 30, 23)}


@pytest.mark.parametrize("credits", ['[{"amount": "abc"}]', '{"amount": -1}', "-1", "[-1]"])
def test_credits_that_are_no_list_of_amounts_set_the_row_aside(load, credits):
    loaded = load(GCP + gcp_row("1", credits) + gcp_row("2", "[]"))
    assert loaded.total("billed_cost") == 2
    assert [(reject.row, reject.column) for reject in loaded.rejects] == [(1, "credits")]


def test_labels_of_the_resource_win_and_a_key_twice_loses_no_tag(load):
    own = '[{"key": "team", "value": "risk"}, {"key": "team", "value": "ads"}, {"key": "env", "value": "o\'hara"}]'
    loaded = load(GCP + gcp_row("1", "[]", own, '[{"key": "team", "value": "all"}, {"key": "unit", "value": "x"}]'))
    assert loaded.charges[0]["tags"] == {"team": "risk", "env": "o'hara", "unit": "x"}


def test_lists_as_python_prints_them_say_the_same(load):
    python = "[{'key': 'team', 'value': \"o'hara\"}]"
    loaded = load(GCP + gcp_row("1", "[{'name': 'CUD', 'amount': -0.25}]", python))
    assert loaded.total("billed_cost") == Decimal("0.75")
    assert loaded.charges[0]["tags"] == {"team": "o'hara"}


def test_json_lines_and_csv_give_the_same_charges(load):
    item = {
        "billing_account_id": "b", "service": {"description": "Compute Engine"}, "sku": {"description": "N2 core"},
        "usage_start_time": "2026-09-30 23:00:00 UTC", "usage_end_time": "2026-10-01 00:00:00 UTC",
        "project": {"id": "p", "labels": []}, "labels": [{"key": "team", "value": "risk"}], "cost": 1.25,
        "currency": "USD", "credits": [{"name": "CUD", "amount": -0.25}], "cost_type": "regular",
        "invoice": {"month": "202610"},
    }  # fmt: skip
    lines = load(json.dumps(item) + "\n" + json.dumps(item | {"cost": 2}) + "\n")
    labels, credits = json.dumps(item["labels"]), json.dumps(item["credits"])
    table = load(GCP + gcp_row("1.25", credits, labels) + gcp_row("2", credits, labels))
    assert lines.total("billed_cost") == Decimal("2.75")
    for column in COLUMN_BY_NAME:
        assert [c[column] for c in lines.charges] == [c[column] for c in table.charges], column


# --- Azure and Oracle -------------------------------------------------------------------------------------------

AZURE = (
    "Date,BillingPeriodStartDate,BillingPeriodEndDate,SubscriptionId,MeterCategory,ChargeType,PricingModel,"
    "ReservationId,CostInBillingCurrency,BillingCurrency,Tags\n"
)


def azure_row(kind: str, model: str, cost: str, reservation: str = "") -> str:
    return f'09/30/2026,09/01/2026,09/30/2026,s,Virtual Machines,{kind},{model},{reservation},{cost},EUR,"""team"": ""risk"""\n'


def test_what_one_azure_export_bills_the_other_spreads(load):
    shared = [azure_row("Usage", "OnDemand", "5"), azure_row("Tax", "", "1")]
    actual = load(
        AZURE + azure_row("Purchase", "Reservation", "30", "r") + azure_row("Usage", "Reservation", "0", "r")
        + "".join(shared)
    )  # fmt: skip
    amortised = load(
        AZURE + azure_row("Usage", "Reservation", "22", "r") + azure_row("UnusedReservation", "Reservation", "8", "r")
        + "".join(shared)
    )  # fmt: skip
    assert actual.total("billed_cost") == amortised.total("effective_cost") == 36
    assert actual.total("effective_cost") == amortised.total("billed_cost") == 6
    assert amortised.sum_of("effective_cost", commitment_discount_status="Unused") == 8
    assert {c["charge_period_end"] for c in actual.charges} == {datetime(2026, 10, 1)}
    assert {c["billing_period_end"] for c in actual.charges} == {datetime(2026, 10, 1)}
    assert {tuple(c["tags"].items()) for c in actual.charges} == {(("team", "risk"),)}


def test_oracle_amounts_keep_eighteen_places_and_corrections_are_added(load):
    header = (
        "lineItem/tenantId,lineItem/intervalUsageStart,lineItem/intervalUsageEnd,product/service,"
        "product/compartmentId,cost/myCost,cost/currencyCode,lineItem/isCorrection,lineItem/backreferenceNo,tags/Org.team\n"
    )
    row = "t,2026-09-01T10:00Z,2026-09-01T11:00:00Z,COMPUTE,c,{},USD,{},{},risk\n"
    loaded = load(header + row.format("1.000000000000000001", "false", "") + row.format("-0.25E-3", "true", "a"))
    assert loaded.total("billed_cost") == Decimal("0.999750000000000001")
    assert [c["charge_class"] for c in loaded.charges] == [None, "Correction"]
    assert loaded.charges[0]["tags"] == {"Org.team": "risk"}
    assert loaded.charges[0]["charge_period_start"] == datetime(2026, 9, 1, 10)
