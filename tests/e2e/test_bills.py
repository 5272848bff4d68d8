"""Real bills through the command line: every row counted, every cost column equal to an independent sum."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk

HERE = Path(__file__).parent
#: Files of the folder that are no bills.
NO_BILLS = (
    "slurm", "opencost", "focus_1.3_contract", "anthropic", "openai", "focus_validator", "INDEX",
)  # fmt: skip
#: Source column of the file -> column of the ledger, per family. What the file's own column adds up to, the ledger must hold.
FOCUS = {
    "BilledCost": "billed_cost",
    "EffectiveCost": "effective_cost",
    "ListCost": "list_cost",
    "ContractedCost": "contracted_cost",
}
AZURE = ("CostInBillingCurrency", "Cost", "PreTaxCost")


def bills(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith(NO_BILLS))


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows by the csv module alone: no blank lines, headers in lower case, missing trailing cells empty."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        header, *lines = [line for line in csv.reader(stream) if line]
    names = [name.strip().lower() for name in header]
    return [dict(zip(names, [*line, *[""] * (len(names) - len(line))], strict=True)) for line in lines]


def number(cell: str) -> Decimal | None:
    """Amount of a cell, None where it has none; `$10,000.00` is one."""
    bare = re.sub(r"[$,\s]", "", cell)
    return None if bare in ("", "NULL", "null", "None", "N/A") else Decimal(bare)


def independent(path: Path, skipped: set[int]) -> dict[str, Decimal]:
    """Ledger column -> exact sum of the file's own column over the rows that were accepted."""
    rows = [row for place, row in enumerate(rows_of(path), start=1) if place not in skipped]
    header = set(rows_of(path)[0])
    if "billedcost" in header or "effectivecost" in header:
        wanted = {name.lower(): target for name, target in FOCUS.items() if name.lower() in header}
        return {target: total(number(row[name]) for row in rows) for name, target in wanted.items()}
    for name in ("lineitem/unblendedcost", "line_item_unblended_cost", "cost/mycost"):
        if name in header:
            return {"billed_cost": total(number(row[name]) for row in rows)}
    if "usage_start_time" in header:
        return {"billed_cost": total(part for row in rows for part in (number(row["cost"]), *credits_of(row)))}
    name = next(name.lower() for name in AZURE if name.lower() in header)
    return {"file": total(number(row[name]) for row in rows)}


def credits_of(row: dict[str, str]) -> list[Decimal]:
    return [Decimal(str(credit["amount"])) for credit in json.loads(row["credits"] or "[]", parse_float=str)]


def total(amounts: Any) -> Decimal:
    with localcontext(prec=200):
        return sum((amount for amount in amounts if amount is not None), Decimal(0))


def load_bill(desk: Desk, path: Path) -> dict[str, Any]:
    """Load a copy of a bill in the workspace; what it leaves open (a currency) is said only when it asks."""
    path = Path(shutil.copy(path, desk.folder / path.name))
    result = desk.run("load", str(path), "--json")
    if result.exit_code == 1:
        assert "--currency" in result.stdout or "--currency" in result.stderr, result.output
        result = desk.run("load", str(path), "--json", "--currency", "USD")
    assert result.exit_code in (0, 3), result.output
    return dict(json.loads(result.stdout)["files"][0])


def test_every_bill_adds_up_to_its_file(desks: Callable[[str], Desk], shared_bills: Path, golden: Any) -> None:
    table = ["file | reader | read | set aside | sums"]
    paths = bills(shared_bills)
    assert len(paths) == 43
    for path in paths:
        desk = desks(path.stem)
        found = load_bill(desk, path)
        assert found["rows_read"] == found["rows_accepted"] + found["rows_rejected"] == len(rows_of(path)), path.name
        skipped = set()
        if found["rows_rejected"]:
            answer = json.loads(desk.run("check", "--json", "--rejects", "1000").stdout)
            skipped = {reject["row"] for reject in answer["rejects"]}
            assert len(skipped) == found["rows_rejected"]
        compare(path, found, independent(path, skipped))
        sums = ", ".join(f"{unit} {name} {value}" for unit, t in found["totals"].items() for name, value in t.items())
        table.append(
            f"{path.name} | {found['reader']} {found['dialect']} | {found['rows_read']} | {found['rows_rejected']} | {sums}"
        )
    golden(HERE / "bills.golden", "\n".join(table) + "\n")


def compare(path: Path, found: dict[str, Any], wanted: dict[str, Decimal]) -> None:
    if not found["rows_accepted"]:
        assert not found["totals"]
        return
    (unit,) = found["totals"]
    held, residue = found["totals"][unit], found["residues"].get(unit, {})

    def file_sum(column: str) -> Decimal:
        return total([Decimal(held.get(column, "0")), Decimal(residue.get(column, "0"))])

    for column, amount in wanted.items():
        if column == "file":  # Azure: billed in an actual export, effective in an amortised one
            column = "effective_cost" if "amortised" in found["dialect"] else "billed_cost"
        assert file_sum(column) == amount, (path.name, column)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("focus_sample_1.0.csv", ("servicename", "subaccountid", "regionid", "billingperiodstart", "billedcost")),
        (
            "aws_cur_focus_converters.csv",
            (
                "product/productname",
                "lineitem/usageaccountid",
                "product/regioncode",
                "bill/billingperiodstartdate",
                "lineitem/unblendedcost",
            ),
        ),
    ],
)
def test_a_report_of_a_real_bill_adds_up(
    desk: Desk, shared_bills: Path, golden: Any, name: str, columns: tuple[str, ...]
) -> None:
    load_bill(desk, shared_bills / name)
    report = desk.report("--cost", "billed")
    rows = rows_of(shared_bills / name)
    whole = total(number(row[columns[-1]]) for row in rows)
    assert Decimal(report["total"]["USD"]) == whole
    keys = ("services", "accounts", "regions", "billing_months")
    for key, column in zip(keys, columns, strict=False):
        wanted: dict[str, list[Decimal]] = {}
        for row in rows:
            group = row.get(column, "")
            group = "(none)" if group in ("", "NULL") else group[:7] if key == "billing_months" else group
            wanted.setdefault(group, []).append(number(row[columns[-1]]) or Decimal(0))
        sums = {group: total(amounts) for group, amounts in wanted.items()}
        found = {group: Decimal(value) for group, value in report[key]["USD"].items()}
        if key in ("services", "regions") and name.startswith("aws"):  # rows without a name show a code or a place
            assert total(found.values()) == whole
            continue
        assert found == sums, key
    for kind in ("team", "project", "experiment"):
        assert total(Decimal(o["amount"]) for o in report["owners"][kind]["USD"].values()) == whole
    assert total(Decimal(value) for value in report["drivers"]["USD"].values()) == whole
    golden(HERE / f"{name}.report.golden", "\n".join(without_names(report)) + "\n")
    page = desk.folder / "report.html"
    assert desk.run("report", "--cost", "billed", "--as-of", "2031-07-01", "--html", str(page)).exit_code == 0
    shown = re.findall(r'data-figure="([^"]*)"', page.read_text(encoding="utf-8"))
    cells = [cell for section in report["sections"] for table in section["tables"] for cell in cells_of(table)]
    figures = [tile["figure"] for tile in report["tiles"]] + [c["figure"] for c in cells if isinstance(c, dict)]
    assert sorted(map(unescape, shown)) == sorted(figures)


def cells_of(table: dict[str, Any]) -> Iterator[Any]:
    for row in (*table["rows"], *([table["total"]] if table["total"] else [])):
        yield from row


def without_names(report: dict[str, Any]) -> Iterator[str]:
    """A report as a golden file may hold it: numbers and counts, and of each name that is not ours only a hash."""
    for key in ("total", "owned_share", "directly_tagged_share", "largest_driver", "firm", "closes"):
        yield f"{key} {json.dumps(report[key])}"
    for section in report["sections"]:
        yield f"{section['key']}: {len(section['tables'])} tables, {len(section['charts'])} charts, {len(section['notes'])} notes"
        for table in section["tables"]:
            yield f"  {table['unit']} {len(table['rows'])} rows"
            for row in (*table["rows"], *([table["total"]] if table["total"] else [])):
                yield "    " + " ".join(map(without_name, row))


def without_name(cell: Any) -> str:
    if isinstance(cell, dict):
        return f"{cell['value']} {cell['unit']} {cell['basis']}"
    return "null" if cell is None else sha256(cell.encode()).hexdigest()[:8] if cell else "-"


def test_an_invoice_that_differs_by_a_cent_exits_3(desk: Desk) -> None:
    bill = "BilledCost,EffectiveCost,BillingCurrency,InvoiceId,ServiceName,BillingPeriodStart,BillingPeriodEnd\n"
    row = "10.00,10.00,USD,INV-1,Compute,2031-06-01T00:00:00Z,2031-07-01T00:00:00Z\n"
    desk.write("bill.csv", bill + row)
    desk.load(str(desk.folder / "bill.csv"))
    desk.write("unitcost.toml", '[[invoice]]\nid = "INV-1"\ntotal = 10.00\n')
    assert desk.report()["closes"] is True
    desk.write("unitcost.toml", '[[invoice]]\nid = "INV-1"\ntotal = 10.01\n')
    report = desk.report(code=3)
    assert report["closes"] is False
    assert any("differs by -0.01" in message for message in report["messages"])
    check = desk.run("check")
    assert check.exit_code == 3
    assert "INV-1 (2031-06): the invoice says 10.01 USD, the ledger has 10; it differs by -0.01." in check.stdout
    assert desk.run("check", "--warn-only").exit_code == 0


def test_the_same_file_again_changes_nothing(desk: Desk, shared_bills: Path) -> None:
    path = str(shared_bills / "focus_sample_1.0.csv")
    assert desk.load(path)["files"][0]["outcome"] == "loaded"
    before = desk.report()
    assert desk.load(path)["files"][0]["outcome"] == "unchanged"
    assert desk.report() == before
