"""Sums that are made out of sums per facet are those that are made out of charges."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from ledger_bills import load, row

from unitcost.facts.rules import OWNER_KINDS
from unitcost.facts.spend import Attribution, Selection
from unitcost.ledger import Ledger
from unitcost.ledger.facet_sums import DIMENSIONS
from unitcost.ledger.spend import Question, ask_spend

BILL = [
    row("1.5", "cpu", tags='{"team": "a"}'), row("2", "disk", month=7), row("-0.25", "disk", month=7, account="other"),
    row("1e-9", "cpu", month=8),
]  # fmt: skip


def ledger_of(folder: Path) -> Ledger:
    ledger = Ledger.open(folder / "ledger.duckdb")
    load(ledger, folder / "a.csv", BILL)
    ledger.write_attributions("rules", [
        Attribution(
            facet_id=facet.facet_id, driver="training", driver_rule="r", line="usage",
            owners={kind: (facet.tags.get(kind, ""), "tag", "") for kind in OWNER_KINDS},
        )
        for facet in ledger.facets()
    ])  # fmt: skip
    return ledger


@pytest.mark.parametrize("dimension", sorted(DIMENSIONS))
@pytest.mark.parametrize("months", [(None, None), (date(2031, 7, 1), date(2031, 8, 1))])
def test_each_dimension(tmp_path: Path, dimension: str, months: tuple[date | None, date | None]) -> None:
    selection = Selection(start=months[0], end=months[1])
    rates = (date(2031, 6, 1), date(2031, 8, 1))
    with ledger_of(tmp_path) as ledger:
        for cost in ("effective", "billed"):
            asked = Selection(start=months[0], end=months[1], cost=cost)
            direct = ask_spend(
                ledger._con, Question(selection=asked, dims=(dimension, "billing_account"), rates_since=rates)
            )
            assert ledger.spend(asked, (dimension, "billing_account"), rates_since=rates) == direct
        assert ledger.spend(selection, (dimension,), rates_since=rates)


def test_a_load_is_seen_by_the_next_question(tmp_path: Path) -> None:
    with ledger_of(tmp_path) as ledger:
        before = ledger.spend(Selection(), ("billing_account",))
        load(ledger, tmp_path / "b.csv", [row("5", "net", account="third")], part=True)
        after = ledger.spend(Selection(), ("billing_account",))
    assert [row for row in after if row.keys == ("third",)]
    assert [row for row in after if row.keys != ("third",)] == before
