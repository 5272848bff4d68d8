"""Charts are data: what they draw is what the tables say, and a name keeps its colour."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.report.company import bill, charge, given, report
from unitcost.figure import Figure
from unitcost.report import charts, palette
from unitcost.report.model import Chart, Report
from unitcost.report.plan_page import line_chart

#: No colours: what is drawn does not depend on them.
PLAIN: charts.FlowColours = ({}, {}, {})


def chart(made: Report, name: str) -> Chart:
    return next(c for section in made.sections for c in section.charts if c.name == name)


def figure(value: str | None) -> Figure:
    amount = None if value is None else Decimal(value)
    return Figure(id="x", value=amount, unit="USD", basis="billed", op="given", formula="stated")


def test_colours_do_not_depend_on_the_order_of_names() -> None:
    names = [f"team-{n}" for n in range(10)]
    assert palette.colours(names) == palette.colours(reversed(names))


def test_names_have_colours_of_their_own_while_there_are_enough() -> None:
    names = [f"team-{n}" for n in range(10)]
    assert len(set(palette.colours(names).values())) == len(names)


def test_more_names_than_colours_still_each_have_one() -> None:
    names = [f"team-{n}" for n in range(100)]
    assert set(palette.colours(names)) == set(names)


def test_a_new_name_leaves_most_colours_as_they_were() -> None:
    before = palette.colours(["search", "risk", "ads", "support"])
    after = palette.colours(["search", "risk", "ads", "support", "vision"])
    assert sum(before[name] != after[name] for name in before) <= 1


def test_lines_of_the_bill_look_the_same_in_every_report() -> None:
    assert palette.colours(["tax"])["tax"] == palette.colours(["tax", "search", "risk"])["tax"]


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_stand_out_from_light_and_dark_pages() -> None:
    for light, dark in palette.on_dark().items():
        assert contrast(light, "#ffffff") >= 3, light
        assert contrast(dark, "#1a1d23") >= 3, dark


def test_what_is_unknown_looks_like_nothing_else() -> None:
    found = palette.colours(["untagged", "unknown", *(f"team-{n}" for n in range(10))])
    others = [colour for name, colour in found.items() if name.startswith("team")]
    assert found["untagged"] not in others
    assert found["unknown"] not in others


def test_every_chart_is_json_and_says_in_words_what_it_shows() -> None:
    made = report()
    found = [c for section in made.sections for c in section.charts]
    assert {c.name for c in found} == {"drivers-USD", "trend-driver-USD", "trend-team-USD", "flow-USD"}
    for each in found:
        json.dumps(each.option, allow_nan=False)
        assert each.text
        assert each.title


def test_bars_draw_the_drivers_in_the_order_of_the_table() -> None:
    made = report()
    table = next(section for section in made.sections if section.key == "drivers").tables[0]
    option = chart(made, "drivers-USD").option
    names = option["yAxis"]["data"]
    assert names[0] == "training"
    drawn = {name: bar["value"] for name, bar in zip(names, option["series"][0]["data"], strict=True)}
    told = {str(row[0]): float(charts.number(row[1].value)) for row in table.rows if isinstance(row[1], Figure)}
    assert drawn == {name: told[name] for name in drawn}


def test_a_trend_draws_every_day_and_all_of_the_spend() -> None:
    made = report()
    option = chart(made, "trend-team-USD").option
    days = option["xAxis"]["data"]
    assert (days[0], days[-1], len(days)) == ("2026-09-01", "2026-10-04", 34)
    assert {str(c.places["day"]) for c in bill()} < set(days)
    drawn = sum(sum(series["data"]) for series in option["series"])
    assert drawn == pytest.approx(float(made.answers["total"]["USD"]), abs=0.1)


def test_a_trend_of_many_names_keeps_the_rest_in_one() -> None:
    made = report([charge(str(100 - n), team=f"team-{n:02}") for n in range(12)])
    series: list[dict[str, Any]] = chart(made, "trend-team-USD").option["series"]
    assert series[-1]["name"] == "other (6)"
    assert sum(sum(each["data"]) for each in series) == sum(100 - n for n in range(12))


def test_a_sankey_joins_providers_drivers_and_teams() -> None:
    option = charts.sankey({("AWS", "training", "search"): Decimal(5), ("AWS", "serving", "search"): Decimal(3)}, PLAIN)
    links = option["series"][0]["links"]
    assert sorted(link["value"] for link in links) == [3.0, 3.0, 5.0, 5.0]
    depths = {node["name"].strip(): node["depth"] for node in option["series"][0]["data"]}
    assert depths == {"AWS": 0, "training": 1, "serving": 1, "search": 2}


def test_a_sankey_with_one_name_in_two_columns_has_no_loop() -> None:
    option = charts.sankey({("tax", "tax", "tax"): Decimal(5)}, PLAIN)
    nodes = [node["name"] for node in option["series"][0]["data"]]
    assert len(set(nodes)) == 3
    assert all(link["source"] != link["target"] for link in option["series"][0]["links"])


def test_a_flow_of_many_names_keeps_the_rest_in_one() -> None:
    flows = {("AWS", "training", f"team-{n:02}"): Decimal(100 - n) for n in range(20)}
    few = charts.fewer(flows)
    assert {team for _, _, team in few} == {"other (6)", *(f"team-{n:02}" for n in range(14))}
    assert sum(few.values()) == sum(flows.values())


def test_a_team_has_one_colour_in_every_chart() -> None:
    made = report()
    trend = {each["name"]: each["color"] for each in chart(made, "trend-team-USD").option["series"]}
    nodes = chart(made, "flow-USD").option["series"][0]["data"]
    teams = {node["name"].strip(): node["itemStyle"]["color"] for node in nodes if node["depth"] == 2}
    assert trend["search"] == teams["search"]
    drivers = {node["name"]: node["itemStyle"]["color"] for node in nodes if node["depth"] == 1}
    bars = chart(made, "drivers-USD").option
    drawn = dict(
        zip(bars["yAxis"]["data"], (bar["itemStyle"]["color"] for bar in bars["series"][0]["data"]), strict=True)
    )
    assert drawn["training"] == drivers["training"]


def test_a_trend_always_shows_what_is_untagged() -> None:
    made = report([charge("0.5"), *(charge(str(100 - n), team=f"team-{n:02}") for n in range(12))])
    names = [each["name"] for each in chart(made, "trend-team-USD").option["series"]]
    assert "untagged" in names


def test_a_sankey_leaves_credits_to_the_tables_and_the_words_say_so() -> None:
    assert charts.sankey({("AWS", "credit", "credit"): Decimal(-5)}, PLAIN)["series"][0]["links"] == []
    assert "20.25 USD are not drawn" in chart(report(), "flow-USD").text


@pytest.mark.parametrize(
    ("value", "text"), [("0.5", "50.0 %"), ("-0.0000001", "0.0 %"), ("0.12349", "12.3 %"), ("12.5", "1250.0 %")]
)
def test_shares_are_printed_as_percentages(value: str, text: str) -> None:
    assert charts.percent(Decimal(value)) == text


def test_no_value_is_drawn_as_nothing_and_printed_as_a_dash() -> None:
    assert charts.number(None) == 0.0
    assert charts.grouped(None) == "–"


def test_words_name_the_largest_and_count_the_rest() -> None:
    ranked = [((f"d{n}",), figure(str(10 - n))) for n in range(8)]
    assert charts.in_words(ranked, "USD", most=2) == "d0 10.00 USD; d1 9.00 USD; and 6 more"


def test_an_input_without_charges_draws_nothing() -> None:
    assert not any(section.charts for section in report([]).sections)
    assert given([]).spend["line"] == []


def test_the_end_of_a_logarithmic_scale_is_a_short_number():
    found = line_chart("n", "t", {"a": [(39.8761776949296, 1.0), (80.0, 2.0)]}, across="x", up="y", logarithmic=True)
    assert found.option["xAxis"]["min"] == 39.8
