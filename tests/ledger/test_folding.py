"""A column that a file lacks counts like one that is empty in each row, though its SQL is left out."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from ledger_bills import HEADER, MAPPING, NOW, row

from unitcost.facts import mapping as m
from unitcost.facts.source import Plan, ReadOptions, Scan
from unitcost.ledger import Ledger, folding

LACKS, HAS = m.Field("Lacking"), m.Field("Cost")
LACKS_OR_HAS = m.First((LACKS, HAS))
TEXT = m.Field("What")
#: Nodes that name the lacking column, by the kind of value they make.
AMOUNTS: list[m.Expr] = [
    LACKS,
    LACKS_OR_HAS,
    m.Total((LACKS, HAS)),
    m.Total((LACKS, m.Negative(LACKS))),
    m.Negative(LACKS_OR_HAS),
    m.Product(LACKS, HAS),
    m.Choose(((m.Equals(LACKS, ("a",)), m.Const("1")), (m.IsNull(LACKS), HAS)), m.Const("3")),
    m.Choose(((m.Not(m.IsNull(LACKS)), m.Const("1")),), m.Const("3")),
    m.Choose(((m.IsZero(LACKS), m.Const("1")), (m.Matches(LACKS, "*"), m.Const("2"))), LACKS),
    m.Choose(((m.Every((m.IsNull(LACKS), m.Equals(TEXT, ("disk",)))), m.Const("1")),), HAS),
    m.Choose(((m.Any((m.Not(m.IsNull(LACKS)), m.Equals(TEXT, ("disk",)))), m.Const("1")),), HAS),
]
TEXTS: list[m.Expr] = [
    LACKS,
    m.First((LACKS, TEXT)),
    m.JoinText((LACKS, TEXT), "-"),
    m.JoinText((LACKS, LACKS), "-"),
    m.Between(LACKS, "a", "b"),
    m.Choose(((m.IsNull(LACKS), LACKS),), TEXT),
]
TAGS: list[m.Expr] = [
    m.JsonTags(LACKS),
    m.LabelTags(LACKS),
    m.MergedTags((m.JsonTags(LACKS), m.JsonTags(m.Field("Tags")))),
    m.MergedTags((m.JsonTags(m.Field("Tags")), m.JsonTags(LACKS))),
    m.MergedTags((m.JsonTags(LACKS), m.LabelTags(LACKS))),
]
ROWS = [
    row("1.5", "cpu", tags='{"team": "a"}'), row("2", "disk"), row("0.1234567890123456", "net"), row("oops", "bad"),
]  # fmt: skip


def charges(folder: Path, mapping: dict[str, m.Expr], *, lacking: bool) -> list[tuple[Any, ...]]:
    """Charges and rejects of the bill, with the column empty in each row or not there."""
    header = (*HEADER, "Note") if lacking else (*HEADER, "Note", "Lacking")
    path = folder / f"{lacking}.csv"
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in cells) for cells in ROWS]
    path.write_text("\n".join([",".join(header), *(line + ("," if lacking else ",,") for line in quoted), ""]))
    scan = Scan(path=path, format="csv", columns=header)
    plan = Plan(reader="test", dialect="test", scan=scan, mapping=MAPPING | mapping, conventions=(), fast=True)
    ledger_path = folder / f"{lacking}.duckdb"
    with Ledger.open(ledger_path) as ledger:
        ledger.load(plan, file="bill.csv", sha256="0", source="bills", options=ReadOptions(), now=NOW)
    with duckdb.connect(str(ledger_path), read_only=True) as con:
        kept = con.execute("SELECT * EXCLUDE (load_id) FROM charges ORDER BY row_number").fetchall()
        aside = con.execute("SELECT row_number, column_name, value, reason FROM rejects ORDER BY ALL").fetchall()
    return [*kept, *aside]


@pytest.mark.parametrize("node", AMOUNTS, ids=range(len(AMOUNTS)))
def test_an_amount(tmp_path: Path, node: m.Expr) -> None:
    mapping = {"effective_cost": node, "consumed_quantity": node}
    assert charges(tmp_path, mapping, lacking=True) == charges(tmp_path, mapping, lacking=False)


@pytest.mark.parametrize("node", TEXTS, ids=range(len(TEXTS)))
def test_a_text(tmp_path: Path, node: m.Expr) -> None:
    mapping = {"service_name": node}
    assert charges(tmp_path, mapping, lacking=True) == charges(tmp_path, mapping, lacking=False)


@pytest.mark.parametrize("node", TAGS, ids=range(len(TAGS)))
def test_tags(tmp_path: Path, node: m.Expr) -> None:
    assert charges(tmp_path, {"tags": node}, lacking=True) == charges(tmp_path, {"tags": node}, lacking=False)


def test_a_moment(tmp_path: Path) -> None:
    node = m.First((m.Time(LACKS, shift_days=1), m.Time(m.Field("End"), snap="month-start")))
    mapping: dict[str, m.Expr] = {"charge_period_end": node}
    assert charges(tmp_path, mapping, lacking=True) == charges(tmp_path, mapping, lacking=False)


def test_a_cell_in_a_branch_that_is_left_out_is_checked(tmp_path: Path) -> None:
    node = m.Choose(((m.Equals(LACKS, ("a",)), HAS),), m.Const("7"))
    found = charges(tmp_path, {"billed_cost": m.Const("1"), "effective_cost": node}, lacking=True)
    assert found[-1][:3] == (4, "Cost", "oops")
    assert [cells for cells in found if Decimal(7) in cells] == found[:-1]


def test_what_is_known_is_left_out() -> None:
    nothing = folding.null("DECIMAL(38,12)")
    assert folding.first([nothing, "a"]) == "a"
    assert folding.first([nothing, nothing]) == nothing
    assert folding.every(["true", "x"]) == "(x)"
    assert folding.some(["x", "true"]) == "true"
    assert folding.choice([("false", "a"), ("true", "b"), ("x", "c")], "d") == "b"
