"""The Google Cloud export: credits count, labels in either writing, and the month of the invoice."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native import NO_OPTIONS, SAMPLES, column_sum, of_dicts, of_file, reader_of

from unitcost.facts.mapping import Field, LabelTags
from unitcost.money import add, parse_amount
from unitcost.readers import gcp
from unitcost.readers.head import Head
from unitcost.readers.python_text import json_of

REAL = ("gcp_billing_vertex_tokenbill_excerpt.csv", "gcp_export_koku_2022-08.csv", "nise_gcp_billing.csv")


def usage(cost: str, credits: str = "[]", **cells: str) -> dict[str, str]:
    row = {"service.description": "Compute Engine", "usage_start_time": "2026-09-01 00:00:00 UTC", "currency": "USD"}
    return row | {"cost": cost, "credits": credits} | cells


@pytest.mark.parametrize(
    ("credits", "billed"),
    [
        ("[]", "10"),
        ("", "10"),
        ('[{"name": "CUD", "amount": -2.5}, {"name": "SUD", "amount": "-0.000000000001"}]', "7.499999999999"),
        ("[{'name': 'Sustained use', 'full_name': None, 'amount': -1e-05}]", "9.99999"),
        ("[{'name': 'x', 'amount': -0.10000000000000000000001}]", "9.89999999999999999999999"),
        ("[{'name': 'x', 'amount': Decimal('-10')}]", "0"),
    ],
)
def test_credits_are_added(credits, billed):
    bill = of_dicts(gcp, usage("10", credits))
    assert bill.amount(0, "billed_cost") == bill.amount(0, "effective_cost") == Decimal(billed)


def test_credits_without_a_cost_are_no_charge():
    assert of_dicts(gcp, usage("", '[{"amount": -1}]')).amount(0, "billed_cost") is None
    without = {name: cell for name, cell in usage("3").items() if name != "credits"}
    assert of_dicts(gcp, without).amount(0, "billed_cost") == 3


@pytest.mark.parametrize(
    ("kind", "sku", "category"),
    [
        ("regular", "N2 Instance Core", "Usage"),
        ("", "N2 Instance Core", "Usage"),
        ("tax", "Sales tax", "Tax"),
        ("adjustment", "Correction", "Adjustment"),
        ("rounding_error", "Rounding error", "Adjustment"),
        ("regular", "Commitment v1: N2 Cpu in Iowa for 1 Year", "Purchase"),
    ],
)
def test_kinds_of_cost(kind, sku, category):
    bill = of_dicts(gcp, usage("1", cost_type=kind, **{"sku.description": sku}))
    assert bill.text(0, "charge_category") == category


@pytest.mark.parametrize(
    "written", ['[{"key": "team", "value": "risk"}]', "[{'key': 'team', 'value': 'risk'}]"], ids=["json", "python"]
)
def test_labels_win_over_those_of_the_project(written):
    project = '[{"key": "team", "value": "all"}, {"key": "env", "value": "prod"}]'
    bill = of_dicts(gcp, usage("1", labels=written, **{"project.labels": project, "system_labels": "[]"}))
    assert bill.tags(0) == {"team": "risk", "env": "prod"}
    assert bool(bill.reading.flags) == ("'" in written)


def test_a_clean_export_needs_no_repair():
    bill = of_dicts(gcp, usage("1", '[{"amount": -1}]', labels='[{"key": "team", "value": "risk"}]'))
    assert not bill.reading.repairs
    assert bill.reading.mapping["tags"] == LabelTags(Field("labels"))
    open_still = gcp.describe(bill.columns, [list(usage("1", labels="[]").values())], NO_OPTIONS)
    assert set(open_still.repairs) == {"credits", "labels"}
    by_its_neighbour = of_dicts(gcp, usage("1", "[]", labels='[{"key": "team", "value": "risk"}]'))
    assert not by_its_neighbour.reading.repairs
    python = of_dicts(gcp, usage("1", "[]", labels="[{'key': 'team', 'value': 'risk'}]"))
    assert set(python.reading.repairs) == {"credits", "labels"}


def test_list_cost_is_only_what_the_export_says():
    assert of_dicts(gcp, usage("1", cost_at_list="1.5")).amount(0, "list_cost") == Decimal("1.5")
    assert "list_cost" not in of_dicts(gcp, usage("1")).reading.mapping


def test_sellers():
    bill = of_dicts(gcp, usage("1", seller_name="Vector Store Ltd"), usage("1", seller_name="Google"), usage("1"))
    assert [bill.text(row, "publisher_name") for row in range(3)] == [
        "Vector Store Ltd via Google Cloud Marketplace", "Google Cloud", "Google Cloud",
    ]  # fmt: skip


def test_json_lines_are_read_by_their_dotted_names(take_file):
    taken = take_file(SAMPLES / "gcp_export.jsonl")
    assert (taken.plan.reader, taken.plan.dialect) == ("gcp", "detailed export")
    rows = of_dicts(gcp, *[dict(zip(taken.plan.scan.columns, row, strict=True)) for row in taken.rows])
    lines = [json.loads(line, parse_float=Decimal) for line in (SAMPLES / "gcp_export.jsonl").read_text().splitlines()]
    amounts = [line["cost"] for line in lines] + [credit["amount"] for line in lines for credit in line["credits"]]
    assert rows.total("billed_cost") == add(map(Decimal, amounts)) == Decimal("3.1")
    assert rows.tags(0) == {"team": "risk", "env": "prod"}
    assert rows.text(0, "sub_account_id") == "risk-1"


def test_a_cost_per_service_is_no_export():
    columns = ("cost", "service.description")
    assert gcp.sniff(Head(file="a.csv", format="csv", columns=columns, delimiter=",")) == 0


@pytest.mark.parametrize("name", REAL)
def test_real_exports_keep_their_sum(shared_bills, name):
    path = shared_bills / name
    bill = of_file(gcp, path)
    assert reader_of(bill.columns) == "gcp"
    written = (json.loads(row.cells.get("credits", "[]"), parse_float=str) for row in bill.rows)
    credited = add(parse_amount(credit["amount"]) for credits in written for credit in credits)
    assert bill.total("billed_cost") == add([column_sum(path, "cost"), credited])
    assert bill.total("effective_cost") == bill.total("billed_cost")
    assert (credited < 0) == ("vertex" in name)


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(values, max_size=3))
def test_what_python_prints_comes_back(value):
    assert json.loads(json_of(repr(value))) == value


@pytest.mark.parametrize("text", ["[1, 2", "open('x')()", "[x]", "{1: 2}", "[1_000]", "(", "[" * 5000, "f()"])
def test_what_is_neither_json_nor_python_is_refused(text):
    with pytest.raises(ValueError, match="neither JSON nor a list"):
        json_of(text)
