"""`unitcost compare` with measured qualities, caches, and tables that somebody made carelessly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unitcost.cli import cli

PRICES = "option,usd_per_hour\nlarge,2.50\nsmall,0.60\n"
ASKED = ("--traffic", "1e6/day", "--reference", "large", "--margin", "0.01")


def run(folder: Path, table: str, *arguments: str, command: str = "compare") -> str:
    file = folder / "table.csv"
    file.write_text(table)
    done = CliRunner().invoke(cli, [command, str(file), *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def answer(folder: Path, table: str, *arguments: str) -> dict:
    return json.loads(run(folder, table, *arguments, "--json"))


def refused(folder: Path, table: str, *arguments: str) -> str:
    file = folder / "table.csv"
    file.write_text(table)
    done = CliRunner().invoke(cli, ["compare", str(file), *arguments])
    assert done.exit_code in (1, 2), done.output
    assert "Mend:" in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.output


def qualities(folder: Path, *rows: str) -> str:
    file = folder / "qualities.csv"
    file.write_text("\n".join(["subject,metric,value,n", *rows]))
    return str(file)


def test_qualities_of_a_table_give_an_unpaired_verdict_that_says_so(tmp_path: Path):
    file = qualities(tmp_path, "large,accuracy,0.95,30000", "small,accuracy,0.948,30000")
    found = answer(tmp_path, PRICES, *ASKED, "--qualities", file)
    assert found["cheapest"] == "small"
    assert found["options"][0]["verdict"]["method"].startswith("unpaired")
    few = qualities(tmp_path, "large,accuracy,0.95,300", "small,accuracy,0.948,300")
    found = answer(tmp_path, PRICES, *ASKED, "--qualities", few)
    assert found["cheapest"] == "large"
    small = next(option for option in found["options"] if option["option"] == "small")
    assert small["verdict"]["outcome"] == "undecided"
    assert small["verdict"]["needs_more"] > 1000


def test_qualities_of_the_ledger_are_found_by_the_name_of_the_option(tmp_path: Path):
    file = qualities(tmp_path, "large,accuracy,0.95,30000", "small,accuracy,0.93,30000", "small,f1,0.9,30000")
    done = CliRunner().invoke(cli, ["load", file, "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    asked = (*ASKED, "--qualities", "ledger", "--folder", str(tmp_path))
    assert "more than one metric: accuracy, f1" in refused(tmp_path, PRICES, *asked)
    found = answer(tmp_path, PRICES, *asked, "--metric", "accuracy")
    assert found["cheapest"] == "large"
    assert {o["option"]: (o["quality"], o["items"]) for o in found["options"]} == {
        "large": (0.95, 30000), "small": (0.93, 30000)
    }  # fmt: skip


def mlflow_run(number: int, name: str, accuracy: float) -> dict:
    return {
        "info": {"run_id": f"r{number}", "run_name": name, "experiment_id": "7", "status": "FINISHED",
                 "start_time": 1_900_000_000_000, "end_time": 1_900_000_060_000},
        "data": {"metrics": [{"key": "accuracy", "value": accuracy, "timestamp": 1_900_000_050_000, "step": 0}]},
        "inputs": {"dataset_inputs": [{"tags": [{"key": "mlflow.data.context", "value": "evaluation"}],
                                       "dataset": {"name": "held-out", "digest": "d1", "profile": '{"num_rows": 50000}'}}]},
    }  # fmt: skip


def test_an_answer_of_mlflow_is_read_directly(tmp_path: Path):
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"runs": [mlflow_run(1, "large", 0.95), mlflow_run(2, "small", 0.949)]}))
    found = answer(tmp_path, PRICES, *ASKED, "--qualities", str(file))
    assert found["cheapest"] == "small"
    assert {o["items"] for o in found["options"]} == {50000}


def test_a_column_of_scores_decides_pairwise(tmp_path: Path):
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.5, 1, 2000)
    for name, said in (("large", scores), ("small", scores + rng.normal(0, 0.01, 2000))):
        rows = [[str(n), "text", value] for n, value in enumerate(said.tolist())]
        data = {"columns": ["request_id", "outputs", "correctness/v1/score"], "data": rows}
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    items = [part for name in ("large", "small") for part in ("--items", f"{name}={tmp_path / name}.json")]
    found = answer(tmp_path, PRICES, *ASKED, *items, "--metric", "correctness/v1/score")
    assert found["cheapest"] == "small"
    assert "bootstrap" in found["options"][0]["verdict"]["method"]


@pytest.mark.parametrize(("metric", "best"), [("rmse", "large"), ("accuracy", "small")])
def test_a_bar_is_read_in_the_sense_of_the_metric(metric: str, best: str, tmp_path: Path):
    table = f"option,usd_per_hour,{metric}\nlarge,2.50,0.20\nsmall,0.60,0.40\n"
    assert answer(tmp_path, table, "--traffic", "1e6/day", "--bar", "0.3")["cheapest"] == best


def cache_file(folder: Path, **changes: int) -> str:
    near = {"threshold": 0.9, "requests": 10_000, "hits": 2_000, "changed": 10, "judged": 2_000, "wrong": 30, **changes}
    file = folder / "cache.json"
    exact = [{"size": None, "age_s": None, "hit_share": 0.05, "mean_age_s": None}]
    file.write_text(json.dumps({"kind": "measure-cache", "requests": 10_000, "near": [near], "exact": exact}))
    return str(file)


def test_an_option_behind_a_cache_stands_beside_its_model(tmp_path: Path):
    table = "option,usd_per_request,quality,items\nlarge,0.001,0.95,5000\nsmall,0.0002,0.90,5000\n"
    asked = ("--reference", "large", "--margin", "0.01", "--cache", f"large={cache_file(tmp_path)}")
    found = answer(tmp_path, table, *asked, "--lookup-usd-per-1k", "0.1")
    options = {option["option"]: option for option in found["options"]}
    near, equal = options["large + cache 0.9"], options["large + cache, equal"]
    assert near["infra_usd"] == "0.9"  # 0.8 of 1 USD, and the lookups
    assert equal["infra_usd"] == "1.05"
    assert near["quality"] == pytest.approx(0.949)
    assert near["verdict"]["loss"] == pytest.approx(0.001)
    assert near["verdict"]["outcome"] == "not worse"
    assert near["cache"]["wrong_interval"][0] < 0.015 < near["cache"]["wrong_interval"][1]
    assert found["cheapest"] == near["option"]
    text = run(tmp_path, table, *asked)
    assert "20.0% of 10,000" in text
    assert "1.5% (1.1% to 2.1%)" in text


def test_what_measure_cache_prints_is_taken_as_it_is(tmp_path: Path):
    log = tmp_path / "log.csv"
    rows = [f"{n},how do I pay number {n % 40} of my bills please,yes,yes" for n in range(100)]
    log.write_text("\n".join(["t,text,prediction,label", *rows]))
    asked = ["measure", "cache", str(log), "--answer", "prediction", "--truth", "label", "--near", "0.9", "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    (tmp_path / "cache.json").write_text(done.stdout)
    table = "option,usd_per_request,quality\nlarge,0.001,0.95\n"
    found = answer(tmp_path, table, "--bar", "0.9", "--cache", f"large={tmp_path / 'cache.json'}")
    equal = next(option for option in found["options"] if option["option"] == "large + cache, equal")
    assert equal["cache"]["hits"] == 60
    assert equal["infra_usd"] == "0.4"
    assert "large + cache 0.9" in {option["option"] for option in found["options"]}


def test_a_cache_that_changes_too_much_is_ruled_out(tmp_path: Path):
    table = "option,usd_per_request,quality,items\nlarge,0.001,0.95,5000\n"
    cache = cache_file(tmp_path, changed=300)
    found = answer(tmp_path, table, "--reference", "large", "--margin", "0.01", "--cache", f"large={cache}")
    near = next(option for option in found["options"] if option["option"] == "large + cache 0.9")
    assert near["ruled_out"][0]["by"] == "quality"


@pytest.mark.parametrize("changes", [{"hits": 10_000}, {"changed": 3_000}, {"wrong": 2_001}, {"requests": 0}])
def test_counts_of_a_cache_that_cannot_be_are_refused(changes: dict[str, int], tmp_path: Path):
    cache = cache_file(tmp_path, **changes)
    assert "cannot be" in refused(tmp_path, PRICES, "--cache", f"large={cache}")


def test_settings_tell_options_of_one_name_apart(tmp_path: Path):
    table = "config,batch,usd_per_hour,per_s,quality\na,1,1,10,0.9\na,8,1,40,0.9\nb,8,1,20,0.9\n"
    found = answer(tmp_path, table, "--bar", "0.8")
    assert found["cheapest"] == "a@batch=8"
    assert {option["label"] for option in found["options"]} == {"a@batch=1", "a@batch=8", "b@batch=8"}


def test_the_day_stands_beside_the_unit(tmp_path: Path):
    table = "option,usd_per_hour,quality\nlarge,2.50,0.95\nsmall,0.60,0.93\n"
    found = answer(tmp_path, table, "--traffic", "40e6/day")
    assert {o["option"]: o["infra_usd_per_day"] for o in found["options"]} == {"large": "60", "small": "14.4"}
    assert {o["option"]: o["wrong_per_day"] for o in found["options"]} == {"large": 2_000_000, "small": 2_800_000}
    assert any("800,000 more wrong answers a day" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "has no rows"),
        ("option,usd_per_hour\na,1\na,2\n", "two options are called 'a'"),
        ("option,usd_per_hour\na,-1\n", "below zero"),
        ("option,usd_per_hour,per_s\na,1,0\n", "per_s is 0"),
        ("option,usd_per_hour,per_s\na,1,-5\n", "per_s is -5"),
        ("option,usd_per_hour,quality\na,1,nan\n", "not a number"),
        ("option,usd_per_hour,p99_ms\na,1,-3\n", "p99_ms is -3"),
        ("option,usd_per_hour\n,1\n", "an option has no name"),
        ("option,quality,quality\na,1,2\n", "two columns are called 'quality'"),
        ("option,accuracy,f1\na,1,1\n", "more than one column"),
    ],
)
def test_careless_tables_are_refused(table: str, message: str, tmp_path: Path):
    assert message in refused(tmp_path, table, "--traffic", "1/s")


@pytest.mark.parametrize("bar", ["nan", "inf"])
def test_a_bar_is_a_number(bar: str, tmp_path: Path):
    assert "is no quality" in refused(tmp_path, PRICES, "--bar", bar)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("item,option,answer,truth\n1,large,x,x\n2,large,y,y\n1,small,x,x\n3,small,y,y\n", "other items"),
        ("item,truth,large,small\n1,x,x,\n", "an answer is empty"),
        ("item,truth,large,small\n1,x,x,y\n1,x,x,y\n", "answered twice"),
        ("item,option,answer,truth\n1,large,x,x\n1,small,x,z\n", "two labels"),
        ("item,large,small\n1,0.5,nan\n", "not a finite number"),
        ("item,truth,other,third\n1,x,x,x\n", "no option with answers per item `large`"),
    ],
)
def test_careless_answers_are_refused(items: str, message: str, tmp_path: Path):
    file = tmp_path / "items.csv"
    file.write_text(items)
    assert message in refused(tmp_path, PRICES, *ASKED, "--items", str(file))


def test_numbers_and_texts_are_compared_as_texts(tmp_path: Path):
    file = tmp_path / "items.csv"
    file.write_text("item,truth,large,small\n1,1,1,1\n2,other,other,2\n3,2,2,2\n")
    found = answer(tmp_path, PRICES, *ASKED, "--items", str(file))
    assert {o["option"]: o["quality"] for o in found["options"]} == {"large": 1.0, "small": pytest.approx(2 / 3)}


def test_one_item_that_both_have_right_proves_nothing(tmp_path: Path):
    file = tmp_path / "items.csv"
    file.write_text("item,truth,large,small\n1,x,x,x\n")
    found = answer(tmp_path, PRICES, *ASKED, "--items", str(file))
    assert found["cheapest"] == "large"
    small = next(option for option in found["options"] if option["option"] == "small")
    assert small["verdict"]["needs_more"] == 267  # 2.706 * (1 - 0.01) / 0.01, and one, less the one there is


def test_names_are_shown_and_never_run(tmp_path: Path):
    table = (
        'option,usd_per_hour,quality\n=cmd|calc!A0,1,0.9\n<script>alert(1)</script>,2,0.95\n"\x1b[31mred\x07",3,0.97\n'
    )
    text = run(tmp_path, table, "--traffic", "1/s", "--bar", "0.8")
    assert "\x1b" not in text
    assert "=cmd|calc!A0" in text
    page = tmp_path / "page.html"
    run(tmp_path, table, "--traffic", "1/s", "--bar", "0.8", "--html", str(page))
    assert "<script>alert" not in page.read_text()


@pytest.mark.parametrize("margin", ["0.01", "1%", "1pt", "1 point"])
def test_a_margin_is_a_share_or_points(margin: str, tmp_path: Path):
    table = "option,usd_per_hour,accuracy,items\nlarge,2.50,0.95,30000\nsmall,0.60,0.948,30000\n"
    asked = ("--traffic", "1e6/day", "--reference", "large", "--margin", margin)
    found = answer(tmp_path, table, *asked)
    assert found["options"][0]["verdict"]["margin"] == 0.01


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ("option,usd_per_hour,accuracy\na,1,95\nb,2,0.93\n", ("--bar", "0.9"), "in points"),
        ("option,usd_per_hour,quality\na,1,95\nb,2,93\n", ("--bar", "0.94"), "in points"),
        ("option,usd_per_hour,accuracy,n\na,1,0.9,9\nb,2,0.9,9\n", ("--reference", "b", "--margin", "1"), "every loss"),
        ("option,usd_per_hour\na,1\n", ("--margin", "much"), "1pt"),
    ],
)
def test_points_and_shares_are_not_mixed(table: str, arguments: tuple[str, ...], message: str, tmp_path: Path):
    file = tmp_path / "table.csv"
    file.write_text(table)
    done = CliRunner().invoke(cli, ["compare", str(file), "--traffic", "1/s", *arguments])
    assert done.exit_code in (1, 2)
    assert message in done.output


def test_points_alone_are_compared_as_they_stand(tmp_path: Path):
    table = "option,usd_per_hour,quality\na,1,95\nb,2,97\n"
    assert answer(tmp_path, table, "--traffic", "1/s", "--bar", "96")["cheapest"] == "b"


def test_of_equal_costs_the_better_one_is_chosen(tmp_path: Path):
    table = "option,usd_per_hour,quality\na,1,0.90\nb,1,0.95\nc,1,\n"
    found = answer(tmp_path, table, "--traffic", "1/s", "--bar", "0.8")
    assert (found["cheapest"], found["reason"]) == ("b", "as cheap as a")
