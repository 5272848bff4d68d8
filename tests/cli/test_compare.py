"""`unitcost compare`: the worked numbers, a case, and answers per item."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unitcost.cli import cli


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, ["compare", *arguments])
    assert done.exit_code == code, done.output
    return done.output if code else done.stdout


def answer(*arguments: str) -> dict:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture
def two(tmp_path: Path) -> str:
    file = tmp_path / "two.csv"
    file.write_text("option,usd_per_hour,quality\nlarge,2.50,0.95\nsmall,0.60,0.93\n")
    return str(file)


def test_the_worked_numbers_as_text_json_and_chart(two: str, tmp_path: Path):
    text = run(two, "--traffic", "40e6/day")
    assert "0.00036" in text
    assert "0.0015" in text
    assert "no answer" in text
    found = answer(two, "--traffic", "40e6/day")
    assert found["cheapest"] is None
    assert {o["option"]: o["infra_usd"] for o in found["options"]} == {"large": "0.0015", "small": "0.00036"}
    assert found["options"][0]["break_even_error_usd"] == "0.000057"
    page = tmp_path / "page.html"
    run(two, "--traffic", "40e6/day", "--error-cost", "0.00005", "--html", str(page))
    html = page.read_text()
    assert 'data-chart="costs"' in html
    assert 'data-chart="front"' in html


@pytest.mark.parametrize("concurrency", ["4", "64"])
def test_a_quantised_model_is_not_always_cheaper(concurrency: str, shared_cases: Path):
    case = shared_cases / "37-quantised-is-not-always-cheaper"
    expected = json.loads((case / "expected.json").read_text())
    found = answer(
        str(case / "input.csv"), "--usd-per-hour", "3.60", "--at", f"concurrency={concurrency}", "--bar", "0.90",
        "--slo", "p95=2s", "--unit", "tokens",
    )  # fmt: skip
    assert found["cheapest"] == expected[f"at_{concurrency}"]
    for option in found["options"]:
        name = f"{option['option']}@{concurrency}"
        assert float(option["infra_usd"]) == pytest.approx(float(expected["usd_per_mtok"][name]), abs=5e-5)
        assert [out["by"] for out in option["ruled_out"]] == [
            by for key, by in expected["ruled_out"].items() if key == name
        ]


def items_file(folder: Path, wrong: dict[str, float], items: int = 3000) -> str:
    """Wide table: label, and one column per option that is wrong on a share of the items of its own."""
    rng = np.random.default_rng(4)
    columns = {name: rng.random(items) >= share for name, share in wrong.items()}
    lines = [",".join(["item", "truth", *columns])]
    lines += [
        ",".join([str(n), "yes", *("yes" if said[n] else "no" for said in columns.values())]) for n in range(items)
    ]
    path = folder / "items.csv"
    path.write_text("\n".join(lines))
    return str(path)


def test_columns_stand_under_their_names(two: str, tmp_path: Path):
    lines = run(two, "--traffic", "40e6/day").splitlines()
    [head] = [line.split() for line in lines if line.startswith("option")]
    [row] = [line.split() for line in lines if line.startswith("small")]
    assert head == [
        "option",
        "predictions",
        "USD/day",
        "quality",
        "USD/error",
    ]  # the last lines of names that are broken
    assert row == ["small", "0.00036", "14.4", "0.93", "0.000057"]
    table = tmp_path / "more.csv"
    table.write_text(
        "option,machine,precision,usd_per_hour,per_s,p95_ms,quality\na,m1,int8,1,10,1900,0.9\nb,m2,fp32,2,10,20,0.9\n"
    )
    lines = run(str(table), "--bar", "0.8").splitlines()
    [row] = [line.split() for line in lines if line.startswith("a ")]
    assert row == ["a", "m1", "int8", "0.02778", "1,900", "0.9", "cheapest"]


def test_answers_per_item_decide_against_the_reference(two: str, tmp_path: Path):
    items = items_file(tmp_path, {"large": 0.001, "small": 0.002})
    found = answer(two, "--traffic", "40e6/day", "--items", items, "--reference", "large", "--margin", "0.01")
    assert found["cheapest"] == "small"
    assert found["options"][0]["verdict"]["outcome"] == "not worse"
    bad = items_file(tmp_path, {"large": 0.01, "small": 0.05})
    found = answer(two, "--traffic", "40e6/day", "--items", bad, "--reference", "large", "--margin", "0.01")
    assert found["cheapest"] == "large"
    assert found["options"][1]["ruled_out"][0]["by"] == "quality"


def test_choose_and_confirm_judges_only_the_one_that_was_chosen(tmp_path: Path):
    table = tmp_path / "three.csv"
    table.write_text("option,usd_per_hour\nlarge,3\nmiddle,2\nsmall,1\n")
    items = items_file(tmp_path, {"large": 0.001, "middle": 0.001, "small": 0.001})
    asked = ("--traffic", "1e6/day", "--items", items, "--reference", "large", "--margin", "0.01")
    found = answer(str(table), *asked, "--several", "confirm")
    assert found["cheapest"] == "small"
    assert {o["option"]: (o["verdict"] or {}).get("outcome") for o in found["options"]}["middle"] == "undecided"


def test_a_mean_score_is_no_share_of_wrong_answers(two: str, tmp_path: Path):
    items = tmp_path / "scores.csv"
    items.write_text("item,large,small\n1,0.3,0.4\n2,0.5,0.6\n")
    found = answer(two, "--traffic", "40e6/day", "--items", str(items), "--error-cost", "0.01")
    assert found["cheapest"] is None
    assert {o["ruled_out"][0]["by"] for o in found["options"]} == {"quality"}


def test_tables_of_mlflow_and_a_function_of_the_user(two: str, tmp_path: Path):
    for name, said in (("large", ["a", "b"]), ("small", ["a", "c"])):
        data = {
            "columns": ["outputs", "targets"],
            "data": [[answer_, right] for answer_, right in zip(said, ["a", "b"], strict=True)],
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    own = tmp_path / "own.py"
    own.write_text("def half(answers, truth):\n    return float((answers == truth).mean()) / 2\n")
    items = [part for name in ("large", "small") for part in ("--items", f"{name}={tmp_path / name}.json")]
    found = answer(two, "--traffic", "1e6/day", *items, "--metric", f"{own}:half", "--bar", "0.3")
    assert {o["option"]: o["quality"] for o in found["options"]} == {"large": 0.5, "small": 0.25}
    assert found["cheapest"] == "large"


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ("a,b\n1,2\n", (), "no column with the names of options"),
        ("option,per_s\nx,fast\n", (), "per_s is 'fast', not a number"),
        ("option,usd_per_hour\nx,1,2\n", (), "another number of cells"),
        ("option\n", (), "has no rows"),
        ("option,usd_per_hour\nx,1\n", ("--slo", "soon"), "not a time"),
        ("option,usd_per_hour\nx,1\n", ("--at", "size=2"), "no column `size`"),
        ("option,usd_per_hour\nx,1\n", ("--margin", "0.01"), "needs a reference"),
        ("option,usd_per_hour\nx,1\n", ("--traffic", "many"), "not a rate"),
        ("option,usd_per_hour\nx,1\n", ("--traffic", "40e6/day", "--peak", "1/s"), "below the mean of 463/s"),
    ],
)
def test_what_is_wrong_is_said(table: str, arguments: tuple[str, ...], message: str, tmp_path: Path):
    file = tmp_path / "table.csv"
    file.write_text(table)
    done = CliRunner().invoke(cli, ["compare", str(file), *arguments])
    assert done.exit_code in (1, 2)
    assert message in done.output
    assert "Mend:" in done.output
