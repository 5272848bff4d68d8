"""The forms of a report side by side: what goes where, and which sections are in it."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.e2e.conftest import Desk


@pytest.fixture
def loaded(desk: Desk) -> Desk:
    bill = "BilledCost,EffectiveCost,team\n10,10,search\n20,20,risk\n"
    desk.load(str(desk.write("bill.csv", bill)), "--currency", "USD", "--period", "2031-06")
    return desk


def sections(text: str) -> set[str]:
    return {row["section"] for row in csv.DictReader(io.StringIO(text, newline=""))}


def test_csv_holds_the_sections_that_were_asked_for(loaded: Desk) -> None:
    assert sections(loaded.run("report", "--csv", "-").stdout) > {"drivers", "owners-team", "services"}
    asked = loaded.run("report", "--csv", "-", "--section", "owners-team", "--section", "lines")
    assert sections(asked.stdout) == {"owners-team", "lines"}


def test_json_and_html_hold_them_too(loaded: Desk) -> None:
    page = loaded.folder / "r.html"
    result = loaded.run("report", "--json", "--html", str(page), "--section", "lines")
    assert [section["key"] for section in json.loads(result.stdout)["sections"]] == ["lines"]
    text = page.read_text(encoding="utf-8")
    assert '<section id="lines">' in text
    assert '<section id="drivers">' not in text


@pytest.mark.parametrize("form", [[], ["--csv", "-"], ["--json"]])
def test_a_section_that_is_none_names_near_ones(loaded: Desk, form: list[str]) -> None:
    result = loaded.run("report", "--section", "driver", *form)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean `drivers`?" in result.stderr


def test_two_answers_on_one_output_are_wrong_usage(loaded: Desk) -> None:
    result = loaded.run("report", "--json", "--csv", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--json and --csv - would both go to standard output" in result.stderr


def test_json_beside_a_csv_file(loaded: Desk) -> None:
    file = loaded.folder / "r.csv"
    result = loaded.run("report", "--json", "--csv", str(file))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["total"] == {"USD": "30"}
    assert "drivers" in sections(file.read_text(encoding="utf-8"))


def test_csv_on_the_output_still_says_why_it_exits_3(loaded: Desk) -> None:
    loaded.write("unitcost.toml", '[[invoice]]\nid = "I"\ntotal = 31\nperiod = "2031-06"\n')
    result = loaded.run("report", "--csv", "-")
    assert result.exit_code == 3
    assert "differs by -1" in result.stderr
