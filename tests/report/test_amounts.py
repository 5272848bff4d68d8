"""From sums to figures: what is converted, what stays apart, and what a leaf says of its rows."""

from __future__ import annotations

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from unitcost.attribution.fx import rate_in_force
from unitcost.facts.rules import FxRate
from unitcost.facts.spend import Selection, SpendRow
from unitcost.figure import Figure, recompute, walk
from unitcost.report.amounts import Amounts

SPRING, AUTUMN = date(2026, 3, 1), date(2026, 9, 1)


def row(
    amount: str, currency: str = "USD", since: date | None = None, count: int = 1, team: str = "search"
) -> SpendRow:
    return SpendRow(keys=(team,), currency=currency, rate_since=since, amount=Decimal(amount), row_count=count)


def amounts(*rates: FxRate) -> Amounts:
    return Amounts(selection=Selection(), currency="USD", rate_of=lambda unit, day: rate_in_force(rates, unit, day))


def leaves(figure: Figure) -> dict[str, Figure]:
    return {found.id: found for found in walk(figure) if found.rows is not None}


def test_what_is_not_converted_is_one_leaf_whatever_rates_there_are() -> None:
    rates = (
        FxRate(currency="EUR", since=SPRING, rate=Decimal("1.1")),
        FxRate(currency="EUR", since=AUTUMN, rate=Decimal("1.2")),
    )
    made = amounts(*rates)
    rows = [row("1", since=None, count=2), row("2", since=SPRING, count=3), row("4", since=AUTUMN)]
    rows += [row("8", "GBP", SPRING), row("16", "GBP", AUTUMN)]
    found = made.by_unit("team", ("team",), rows)
    for unit, amount, count in (("USD", 7, 6), ("GBP", 24, 2)):
        figure = found[unit][("search",)]
        (leaf,) = leaves(figure).values()
        assert leaf.rows is not None
        assert (figure.value, leaf.rows.row_count, leaf.rows.where) == (amount, count, (("team", "search"),))
        assert leaf.formula == f"sum of effective_cost over {count} charges"
    assert not made.used


def test_a_converted_currency_is_apart_by_the_day_of_its_rate_and_before_the_first() -> None:
    made = amounts(
        FxRate(currency="EUR", since=AUTUMN, rate=Decimal("1.2")), FxRate(currency="GBP", since=SPRING, rate=Decimal(2))
    )
    rows = [row("10", "EUR", AUTUMN, 2), row("5", "EUR", SPRING), row("3", "EUR", None)]
    found = made.by_unit("team", ("team",), rows)
    assert found["USD"][("search",)].value == Decimal("12.0")
    assert found["EUR"][("search",)].value == 8
    wheres = {leaf.rows.where[1:] for unit in found for leaf in leaves(found[unit][("search",)]).values() if leaf.rows}
    assert wheres == {(("rate_since", "2026-09-01"),), (("rate_since", "2026-03-01"),), (("rate_since", None),)}
    (converted,) = found["USD"][("search",)].inputs
    assert converted.label == "EUR since 2026-09-01"
    assert converted.inputs[0].label == "2 charges in EUR"


@pytest.mark.parametrize("with_rate", [True, False])
def test_28_two_currencies(shared_cases: Path, with_rate: bool) -> None:
    folder = shared_cases / "28-two-currencies"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with (folder / "input.csv").open(encoding="utf-8", newline="") as stream:
        bill = list(csv.DictReader(stream))
    with (folder / "rates.csv").open(encoding="utf-8") as stream:
        [stated] = csv.DictReader(stream)
    rate = FxRate(currency=stated["from"], since=date.fromisoformat(stated["date"]), rate=Decimal(stated["rate"]))
    made = amounts(*([rate] if with_rate else []))
    rows = [row(line["EffectiveCost"], line["BillingCurrency"], rate.since) for line in bill]
    found = {
        unit: made.total("all", unit, list(keys.values())) for unit, keys in made.by_unit("t", ("team",), rows).items()
    }
    wanted = {"USD": expected["with_rates_usd"]} if with_rate else expected["without_rates"]
    assert {unit: figure.value for unit, figure in found.items()} == {u: Decimal(v) for u, v in wanted.items()}
    assert list(made.used.values()) == ([rate] if with_rate else [])
    for figure in found.values():
        sums = {leaf.rows: leaf.value or Decimal(0) for leaf in leaves(figure).values()}
        assert recompute(figure, sums.__getitem__) == figure.value
