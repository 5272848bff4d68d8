"""The report as data: what it adds up to, what it says, and that every figure folds again from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given as for_any
from hypothesis import settings as trials
from hypothesis import strategies as st

from tests.report.company import SELECTION, Charge, bill, charge, closing_row, given, leaf, report, spend, unit_cost
from unitcost import money
from unitcost.facts.answers import Firmness, OwnerShare
from unitcost.facts.rules import FxRate, Settings, SplitRule
from unitcost.facts.spend import SpendRow
from unitcost.figure import Figure, recompute, total, walk
from unitcost.report.amounts import Amounts, ByUnit
from unitcost.report.build import build
from unitcost.report.inputs import colours_of
from unitcost.report.model import Report, Section, Table
from unitcost.report.printed import context, printed

BILLED = replace(SELECTION, cost="billed")
SUMMED = ("drivers", "owners-team", "owners-project", "owners-experiment", "lines", "providers", "services", "accounts",
          "regions", "months", "untagged", "movers", "by")  # fmt: skip


def section(made: Report, key: str) -> Section:
    return next(found for found in made.sections if found.key == key)


def printed_names(made: Report, key: str) -> set[str]:
    _, rows, _ = printed(section(made, key).tables[0])
    return {row[0] for row in rows}


def summed_columns(table: Table) -> list[tuple[str, list[Decimal], Decimal]]:
    found = []
    for place, column in enumerate(table.columns):
        end = table.total[place] if table.total else None
        if column.kind == "money" and isinstance(end, Figure):
            values = [row[place] for row in table.rows]
            assert end.value is not None
            found.append(
                (column.name, [c.value for c in values if isinstance(c, Figure) and c.value is not None], end.value)
            )
    return found


def assert_columns_add_up(made: Report) -> None:
    for part in made.sections:
        for table in part.tables if part.key in SUMMED else ():
            for name, values, end in summed_columns(table):
                assert money.add(values) == end, (part.key, name)


def test_every_money_column_adds_up_exactly() -> None:
    made = report(by=(("team", "service"), given().spend["untagged"][:0]))
    assert_columns_add_up(made)
    checked = [table for part in made.sections for table in part.tables if table.total]
    assert len(checked) >= 12


def test_printed_cents_add_up_to_the_printed_total() -> None:
    table = section(report(), "drivers").tables[0]
    _, rows, has_total = printed(table)
    assert has_total
    cents = [Decimal(row[1].replace(",", "")) for row in rows]
    assert sum(cents[:-1]) == cents[-1] == Decimal("2303.20")


def test_every_figure_folds_again_from_the_charges() -> None:
    charges = bill()
    figures = report(charges).figures()
    assert len(figures) > 150
    for figure in figures.values():
        assert recompute(figure, lambda rows: leaf(charges, rows)) == figure.value, figure.id


def test_an_id_names_one_figure() -> None:
    made = report()
    seen: dict[str, Figure] = {}
    for part in made.sections:
        for table in part.tables:
            for figure in table.figures():
                assert seen.setdefault(figure.id, figure).value == figure.value, figure.id


def test_ids_end_with_the_selection_and_do_not_depend_on_the_order_of_rows() -> None:
    first, second = report(bill()), report(bill()[::-1])
    ids = {identity: figure.value for identity, figure in first.figures().items()}
    assert ids == {identity: figure.value for identity, figure in second.figures().items()}
    own = [identity for identity in ids if identity.startswith(("driver/", "rows/"))]
    assert own
    assert all(identity.endswith((f"@{SELECTION.tag}", f"@{BILLED.tag}")) for identity in own)


def test_untagged_and_unknown_are_always_shown() -> None:
    made = report()
    assert printed_names(made, "owners-team") >= {"untagged", "tax", "credit"}
    assert None in [row[0] for row in section(made, "owners-team").tables[0].rows]
    assert "unknown" in [row[0] for row in section(made, "drivers").tables[0].rows]
    assert [row[0] for row in section(made, "untagged").tables[0].rows] == ["i-1", "i-2"]


def test_direct_and_shared_add_up_to_what_an_owner_has() -> None:
    made = report(owners=given().owners | {"team": {"USD": shared_out()}})
    table = section(made, "owners-team").tables[0]
    assert [column.name for column in table.columns[1:4]] == ["direct", "shared", "USD"]
    for row in (*table.rows, *((table.total,) if table.total else ())):
        direct, shared, amount = (cell.value if isinstance(cell, Figure) else None for cell in row[1:4])
        assert money.add([direct or money.ZERO, shared or money.ZERO]) == amount, row[0]
    for figure in (cell for row in table.rows for cell in row if isinstance(cell, Figure) and cell.op != "none"):
        assert recompute(figure, lambda rows: money.ZERO) == figure.value, figure.id


def test_what_owners_have_is_direct_and_received_less_given() -> None:
    made = report(owners=given().owners | {"team": {"USD": shared_out()}})
    owners = made.answers["owners"]["team"]["USD"]
    assert (owners["platform"]["received"], owners["platform"]["given"], owners["platform"]["shared"]) == (
        "0",
        "30",
        "-30",
    )
    assert (owners["search"]["received"], owners["search"]["given"], owners["search"]["shared"]) == ("20", "0", "20")
    for name, owner in owners.items():
        direct, received, gave, shared, amount = (
            Decimal(owner[part]) for part in ("direct", "received", "given", "shared", "amount")
        )
        assert direct + received - gave == direct + shared == amount, name


def test_shares_of_owners_say_that_they_are_before_splits() -> None:
    rule = SplitRule(name="split[0]", of={"project": "fraud"}, how="even", by="team")
    plain, split = report(), report(settings=Settings(splits=(rule,)))
    assert "before" not in section(plain, "owners-team").notes[0] + plain.tiles[1].beside
    assert section(split, "owners-team").notes[0].endswith("Both are before shared cost is divided.")
    assert split.tiles[1].beside.endswith(", before splits")


def test_no_figures_are_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    before = Amounts.by_unit

    def noting(self: Amounts, path: str, dims: tuple[str, ...], rows: Sequence[SpendRow]) -> ByUnit:
        asked.append((path, self.selection.tag))
        return before(self, path, dims, rows)

    made = given()
    monkeypatch.setattr(Amounts, "by_unit", noting)
    build(made)
    assert len(asked) > 12
    assert len(set(asked)) == len(asked), asked


def shared_out() -> list[OwnerShare]:
    """The platform's 30 given to search (20) and risk (10)."""
    own = {name: stated(name, value) for name, value in (("platform", "30"), ("search", "5"), ("risk", "7"))}
    parts = {name: stated(f"part of {name}", value) for name, value in (("search", "20"), ("risk", "10"))}
    shares = [
        OwnerShare(
            owner=name, direct=own[name], shared=(part,), amount=total(f"has/{name}@x", (own[name], part), unit="USD")
        )
        for name, part in parts.items()
    ]  # fmt: skip
    nothing = Figure(
        id="has/platform@x", value=money.ZERO, unit="USD", basis="derived", op="difference", formula="own - given",
        inputs=(own["platform"], own["platform"]),
    )  # fmt: skip
    gave = OwnerShare(owner="platform", direct=own["platform"], shared=(), amount=nothing, given=(own["platform"],))
    return [gave, *shares]


def stated(name: str, value: str) -> Figure:
    return Figure(
        id=f"stated/{name}@x",
        value=Decimal(value),
        unit="USD",
        basis="billed",
        op="given",
        formula="stated",
        label=name,
    )


def test_tax_and_credits_stand_for_themselves() -> None:
    lines = {row[0]: row[1] for row in section(report(), "lines").tables[0].rows}
    assert isinstance(lines["tax"], Figure)
    assert isinstance(lines["credit"], Figure)
    assert lines["tax"].value == Decimal("45.5")
    assert lines["credit"].value == Decimal("-20.25")


def test_a_long_tail_becomes_one_row_that_says_how_many_it_holds() -> None:
    made = report([charge(str(n), service=f"service-{n:02}") for n in range(1, 31)])
    table = section(made, "services").tables[0]
    assert len(table.rows) == 13
    assert table.rows[-1][0] == "other (18)"
    assert_columns_add_up(made)


def test_many_owners_share_a_row_and_what_nobody_owns_does_not() -> None:
    made = report(
        [charge("0.1"), charge("0.1", line="tax"), *(charge(str(99 - n), team=f"t-{n:02}") for n in range(50))]
    )
    table = section(made, "owners-team").tables[0]
    assert {"untagged", "tax", "other (20)"} <= printed_names(made, "owners-team")
    assert len(table.rows) == 33
    assert_columns_add_up(made)
    assert len(made.answers["owners"]["team"]["USD"]) == 52


def test_a_tail_of_one_is_shown_by_name() -> None:
    table = section(report([charge(str(n), service=f"s-{n:02}") for n in range(1, 14)]), "services").tables[0]
    assert len(table.rows) == 13
    assert not any(str(row[0]).startswith("other") for row in table.rows)


def test_currencies_without_a_rate_are_not_added() -> None:
    made = report([charge("10"), charge("20", currency="EUR")])
    assert made.currencies == ("EUR", "USD")
    assert made.answers["total"] == {"EUR": "20", "USD": "10"}
    assert any("are not added" in message for message in made.messages)
    assert {table.unit for table in section(made, "drivers").tables} == {"EUR", "USD"}


def test_currencies_with_dated_rates_are_converted_and_the_rates_named() -> None:
    rates = Settings(fx=(FxRate(currency="EUR", since=date(2026, 9, 1), rate=Decimal("1.10")),
                         FxRate(currency="EUR", since=date(2026, 10, 1), rate=Decimal("1.20"))))  # fmt: skip
    charges = [charge("10"), charge("20", currency="EUR"), charge("20", "2026-10-05", currency="EUR")]
    made = report(charges, rates)
    assert made.answers["total"] == {"USD": "56"}
    assert {rate["from"]: rate["rate"] for rate in made.answers["rates_used"]} == {
        "2026-09-01": "1.1",
        "2026-10-01": "1.2",
    }
    assert context(made).endswith("EUR at 1.10 of 2026-09-01, EUR at 1.20 of 2026-10-01")
    assert not any("are not added" in message for message in made.messages)


def test_many_rates_are_counted_after_the_first() -> None:
    days = [date(2026, 9, day) for day in range(1, 8)]
    rates = Settings(fx=tuple(FxRate(currency="EUR", since=day, rate=Decimal("1.125")) for day in days))
    made = report([charge("20", str(day), currency="EUR") for day in days], rates)
    assert len(made.answers["rates_used"]) == 7
    assert "EUR at 1.125 of 2026-09-04 and 3 more rates" in context(made)
    assert "2026-09-05" not in context(made)


def test_an_invoice_that_differs_by_a_cent_is_said() -> None:
    charges = bill()
    billed = closing_row(charges).billed
    made = report(charges, closing=[closing_row(charges, str(billed - Decimal("0.01")))])
    assert not made.closes
    assert any("differs by 0.01" in message for message in made.messages)
    assert section(made, "closing").tables[0].rows[0][-1] == "differs by 0.01"
    assert made.answers["closing"][0]["difference"] == "0.01"


def test_an_invoice_that_agrees_closes() -> None:
    made = report()
    assert made.closes
    gap = section(made, "closing").tables[0].rows[0][-1]
    assert isinstance(gap, Figure)
    assert gap.value == 0


def test_the_bridge_leads_from_effective_to_billed() -> None:
    table = section(report(), "closing").tables[1]
    steps = {str(row[0]): row[1].value for row in table.rows if isinstance(row[1], Figure)}
    assert steps["purchase"] == 100
    assert steps["amortisation"] == -100
    end = table.total[1] if table.total else None
    assert isinstance(end, Figure)
    assert money.add(value for value in steps.values() if value is not None) == end.value


def test_a_commitment_shows_what_was_used_of_it() -> None:
    answer = report().answers["commitments"]
    assert answer == [
        {"commitment": "plan-1", "currency": "USD", "bought": "100", "used": "60", "unused": "40", "utilisation": "0.6000",
         "difference": "0"}
    ]  # fmt: skip


def test_movers_compare_the_last_two_months() -> None:
    by_driver, by_team = section(report(), "movers").tables
    assert [column.name for column in by_driver.columns[1:3]] == ["2026-09", "2026-10"]
    rows = {str(row[0]): row for row in by_team.rows}
    assert rows["ads"][-1] == "new"
    assert rows["risk"][-1] == "gone"
    change = rows["search"][3]
    assert isinstance(change, Figure)
    assert change.value == Decimal("910.10") - Decimal("880.009")


def test_one_month_alone_has_no_movers() -> None:
    movers = section(report(bill()[:4]), "movers")
    assert movers.tables == ()
    assert movers.notes


def test_a_ranking_that_is_not_firm_says_what_could_overtake() -> None:
    shaky = {"driver": {"USD": Firmness(largest="training", firm=False, overtaking=("serving",))}, "team": {}}
    notes = section(report(firmness=shaky), "drivers").notes
    assert any("not firmly" in note and "serving" in note for note in notes)


def test_no_useful_unit_is_an_answer() -> None:
    row = section(report(), "unit-costs").tables[0].rows[0]
    assert "no useful unit" in row
    assert report().answers["unit_costs"][0]["cost_per_unit"] is None


def test_an_empty_bill_still_gives_a_report() -> None:
    made = build(given([]))
    assert made.currencies == ()
    assert made.messages
    assert made.closes


def test_nothing_is_divided_by_a_total_of_zero() -> None:
    made = report([charge("5", team="search"), charge("-5", team="risk")])
    shares = [row[2] for row in section(made, "owners-team").tables[0].rows]
    assert all(isinstance(cell, Figure) and cell.value is None and cell.note for cell in shares)


AMOUNTS = st.decimals(min_value=-(10**6), max_value=10**6, places=12, allow_nan=False, allow_infinity=False)
NAMES = st.sampled_from(["search", "risk", "ads", "=cmd", "</script>"])
CHARGES = st.builds(
    lambda amount, day, team, line, currency: charge(f"{amount:f}", day, team=team, line=line, currency=currency),
    AMOUNTS, st.sampled_from(["2026-09-01", "2026-09-30", "2026-10-02"]), NAMES,
    st.sampled_from(["usage", "tax", "credit", "refund", "marketplace"]), st.sampled_from(["USD", "EUR"]),
)  # fmt: skip


@trials(max_examples=40, deadline=None)
@for_any(st.lists(CHARGES, min_size=1, max_size=20))
def test_any_bill_adds_up_in_every_table(charges: list[Charge]) -> None:
    made = report(charges)
    assert_columns_add_up(made)
    for unit, sum_of in made.answers["total"].items():
        assert Decimal(sum_of) == money.add(c.effective for c in charges if c.currency == unit)
        for name in ("drivers", "lines", "providers", "services", "accounts", "regions", "months"):
            assert money.add(Decimal(v) for v in made.answers[name][unit].values()) == Decimal(sum_of), name


@pytest.mark.parametrize("key", ["drivers", "owners-team", "movers", "services"])
def test_cells_fit_their_columns(key: str) -> None:
    for table in section(report(), key).tables:
        assert all(len(row) == len(table.columns) for row in (*table.rows, *((table.total,) if table.total else ())))


WORDS = ["untagged", "unknown", "(none)", "tax", "total", "other (2)", '"untagged"']


def test_a_name_that_is_a_word_of_the_report_stays_apart() -> None:
    charges = [charge("0.5"), charge("0.25", line="tax"), charge("3", service=None)]
    charges += [charge(f"{10 + n}", team=word, project=word, service=word) for n, word in enumerate(WORDS)]
    made = report(charges)
    assert_columns_add_up(made)
    owners = made.answers["owners"]["team"]["USD"]
    assert {name: entry["owner"] for name, entry in owners.items()} == {
        "untagged": None, "tax": None, **{f'"{word}"': word for word in WORDS},
    }  # fmt: skip
    assert owners["untagged"]["amount"] == "3.5"
    assert owners['"untagged"']["amount"] == "10"
    services = made.answers["services"]["USD"]
    assert {services[name] for name in ("(none)", '"(none)"', '"total"')} == {"3", "12", "14"}
    assert sum(Decimal(amount) for amount in services.values()) == Decimal(made.answers["total"]["USD"])


def test_who_is_nobody_is_null_in_json_and_a_text_is_a_text() -> None:
    made = report([charge("1"), charge("2", team="untagged"), charge("3", line="tax")])
    (table,) = section(made, "owners-team").tables
    assert [row[0] for row in table.rows] == ["tax", '"untagged"', None]
    assert [row[0] for row in printed(table)[1]] == ["tax", '"untagged"', "untagged", "total"]


def test_every_id_is_of_one_figure_whatever_names_are_called() -> None:
    charges = [charge(f"{10 + n}", team=word, service=word, account=word) for n, word in enumerate(WORDS)]
    charges += [charge("1", service=None, account=None), charge("5", line="tax")]
    charges += [charge("1", service=f"s-{n}", account=f"a-{n}") for n in range(20)]
    dims = ("team", "service")
    made = report(charges, by=(dims, spend(charges, dims, "effective")))
    seen: dict[str, Figure] = {}
    for part in made.sections:
        for table in part.tables:
            for top in table.figures():
                for figure in walk(top):
                    assert seen.setdefault(figure.id, figure).value == figure.value, figure.id


def test_a_literal_name_has_a_colour_of_its_own() -> None:
    made = given([charge("1"), charge("2", team="untagged"), charge("3", line="tax"), charge("4", team="tax")])
    teams = colours_of(made)[2]
    assert len({teams[name] for name in ("untagged", '"untagged"', "tax", '"tax"')}) == 4


def test_costs_of_runs_and_of_projects_are_said_to_overlap() -> None:
    alone = replace(unit_cost("4", "100"), of="project")
    both = [alone, replace(unit_cost("2", "50"), service="ranker-1", of="experiment")]
    assert not any("overlap" in note for note in section(report(unit_costs=[alone]), "unit-costs").notes)
    part = section(report(unit_costs=both), "unit-costs")
    assert [row[:2] for row in part.tables[0].rows] == [("ranking", "project"), ("ranker-1", "experiment")]
    assert any("experiment or project" in note and "overlap" in note for note in part.notes)
    assert [cost["cost_of"] for cost in report(unit_costs=both).answers["unit_costs"]] == ["project", "experiment"]


def test_unit_costs_by_billed_cost_say_what_commitments_cover() -> None:
    made = given()
    billed = replace(made, selection=BILLED, amounts=replace(made.amounts, selection=BILLED))
    (note,) = [note for note in section(build(billed), "unit-costs").notes if "commitments" in note]
    assert "60.00 USD" in note
    assert not [note for note in section(build(made), "unit-costs").notes if "commitments" in note]


def test_unit_costs_stand_apart_by_unit_and_currency() -> None:
    costs = [unit_cost("4", "100"), replace(unit_cost("2", "9"), unit="1k predictions", service="search")]
    tables = section(report(unit_costs=costs), "unit-costs").tables
    assert [table.caption for table in tables] == ["Per 1k predictions, USD", "Per run, USD"]


def test_one_currency_alone_has_no_unit_costs_and_says_why() -> None:
    (note,) = section(report(unit_costs=[], comparisons=[], currency="EUR"), "unit-costs").notes
    assert "EUR alone" in note


def test_a_rule_for_a_line_of_the_bill_is_obeyed() -> None:
    charges = [charge("10", driver="training"), charge("3", line="tax", driver="overhead"), charge("2", line="credit")]
    assert report(charges).answers["drivers"]["USD"] == {"credit": "2", "overhead": "3", "training": "10"}
