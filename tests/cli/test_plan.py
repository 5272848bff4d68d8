"""Plans through the command line: tables, JSON, one-file HTML, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from unitcost.cli import cli
from unitcost.cli.plan import PLANS

LINES = {
    "train": [
        "train",
        "--model",
        "7b",
        "--tokens",
        "140e9",
        "--accelerator",
        "H100",
        "--count",
        "64",
        "--deadline",
        "10d",
    ],
    "spot": ["spot", "--hours", "24h", "--deadline", "36h", "--mean-up", "6h", "--on-demand-usd", "3"],
    "serve": [
        "serve",
        "--model",
        "llama-3.1-8b",
        "--rps",
        "4",
        "--input",
        "1000",
        "--output",
        "100",
        "--duration",
        "60s",
        "--ttft-p95",
        "2s",
        "--tpot-p95",
        "60ms",
    ],
    "sweep": ["sweep", "--trials", "50", "--hours-per-trial", "4h", "--usd-per-gpu-hour", "3", "--acceptance", "0.2"],
    "cache": ["cache", "--on-the-fly", "1h", "--cached", "0.1h", "--one-off", "2h", "--epochs", "3"],
    "lifetime": ["lifetime", "--training-usd", "50000", "--predictions-per-day", "10e6", "--usd-per-1k", "0.5"],
}
every_plan = pytest.mark.parametrize("name", LINES)


def run(*arguments: str, folder: Path | None = None):
    with_folder = (
        ["--folder", str(folder)] if folder and arguments[0] in {"train", "serve", "cache", "lifetime"} else []
    )
    return CliRunner().invoke(cli, ["plan", *arguments, *with_folder])


def test_each_plan_is_tried_here() -> None:
    assert set(LINES) == set(PLANS)


@every_plan
def test_it_prints_a_table(name: str, tmp_path: Path) -> None:
    result = run(*LINES[name], folder=tmp_path)
    assert result.exit_code == 0, result.output
    assert "·" in result.stdout.splitlines()[0]


@every_plan
def test_it_answers_machines(name: str, tmp_path: Path) -> None:
    result = run(*LINES[name], "--json", folder=tmp_path)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["schema_version"] == 1
    assert data["kind"] == f"plan-{name}"


@every_plan
def test_it_writes_one_file_that_asks_nobody(name: str, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    result = run(*LINES[name], "--html", str(page), folder=tmp_path)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert 'data-chart="' in text
    assert "default-src &#x27;none&#x27;" in text
    assert "<script src" not in text
    assert "http://" not in text.split("<main>")[1].split("<script>")[0]
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))  # charts are found by the id of their data


@every_plan
def test_a_file_says_the_same_as_the_command_line(name: str, tmp_path: Path) -> None:
    words = LINES[name][1:]
    scenario = tmp_path / "scenario.toml"
    pairs = zip(words[::2], words[1::2], strict=True)
    scenario.write_text("".join(f'{option.lstrip("-")} = "{value}"\n' for option, value in pairs))
    said = run(*LINES[name], "--json", folder=tmp_path)
    read = run(name, "--scenario", str(scenario), "--json", folder=tmp_path)
    assert read.exit_code == 0, read.output
    assert read.stdout == said.stdout


def test_an_unknown_key_of_a_file_is_answered_with_near_names(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text('modell = "7b"\n')
    result = run("train", "--scenario", str(scenario), folder=tmp_path)
    assert result.exit_code == 2
    assert "`model`" in result.stderr


def test_the_day_is_ten_and_retraining_turns_it(tmp_path: Path) -> None:
    once = json.loads(run(*LINES["lifetime"], "--json", folder=tmp_path).stdout)
    again = json.loads(run(*LINES["lifetime"], "--retrain-every", "5d", "--json", folder=tmp_path).stdout)
    told = once["estimates"]
    assert {name: (e["low"], e["value"], e["high"], e["basis"]) for name, e in told.items() if e} == {
        "passing_day": (10, 10, 12, "assumed"),
        "training_usd": ("50000", "50000", "50000", "quoted"),
        "serving_usd": ("1642500", "1825000", "2007500", "assumed"),
        "tenth_of_training_usd": ("5000", "5000", "5000", "quoted"),
        "tenth_of_serving_usd": ("164250", "182500", "200750", "assumed"),
    }
    assert all(estimate["because"] for estimate in told.values() if estimate)
    assert again["estimates"]["passing_day"] is None
    assert (once["answer"]["passing_day"], once["answer"]["larger"]) == (10, "serving")
    assert (again["answer"]["passing_day"], again["answer"]["larger"]) == (None, "training")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trian"], "`train`"),
        (["spot", "--hours", "-5h", "--deadline", "3h"], "--hours is '-5h'"),
        (["spot", "--hours", "5h", "--deadline", "3h", "--mean-up", "1h", "--on-demand-usd", "1"], "even on demand"),
        (["spot", "--hours", "5h", "--deadline", "9h"], "nothing says"),
        (["train", "--model", "7x", "--tokens", "1e9"], "no model `7x`"),
        (["train", "--model", "7b", "--tokens", "-1"], "--tokens is '-1'"),
        (["train", "--model", "7b", "--tokens", "1e9", "--precision", "bf17"], "`bf16`"),
        (["train", "--model", "7b", "--tokens", "1e300"], "more than any run"),
        (["train", "--model", "7b", "--tokens", "1e9", "--count", "99999999999"], "one sequence for each"),
        (["train", "--model", "7b", "--tokens", "1e9", "--deadline", "0d"], "deadline has passed"),
        (["train", "--model", "7b", "--tokens", "1e9", "--usd-per-hour-of-time", "nan"], "worth nan USD"),
        (["sweep"], "nothing says"),
        (["cache", "--on-the-fly", "nan", "--cached", "1h", "--one-off", "1h"], "not a time"),
        (["cache", "--on-the-fly", "1h", "--cached", "0", "--one-off", "1h", "--data-gb", "-5"], "is negative"),
        (["lifetime", "--predictions-per-day", "10", "--usd-per-1k", "1"], "what training cost"),
        ([*LINES["lifetime"], "--growth", "5", "--life", "100y"], "traffic would grow to 1e9"),
        ([*LINES["lifetime"], "--growth", "x"], "not a share"),
        ([*LINES["lifetime"], "--training-usd", "1e400"], "an amount is above 1e18"),
        ([*LINES["spot"], "--mean-down", "0h"], "--mean-down must be above zero"),
        ([*LINES["lifetime"], "--retrain-every", "0d"], "less than a day"),
        ([*LINES["lifetime"], "--life", "900y"], "a life of 328500 days cannot be"),
        ([*LINES["lifetime"], "--growth", "-1.5"], "shrinks by all of it"),
        (["lifetime", "--training-usd", "1", "--predictions-per-day", "10", "--usd-per-1k", "-1"], "not an amount"),
    ],
)
def test_wrong_usage_is_answered_and_exits_2(words: list[str], message: str, tmp_path: Path) -> None:
    result = run(*words, folder=tmp_path)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_capacity_that_hardly_stays_leaves_on_demand(tmp_path: Path) -> None:
    result = run("spot", "--hours", "5h", "--deadline", "9h", "--mean-up", "1s", "--on-demand-usd", "3", "--json")
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert plan["best"] == "on-demand"
    assert plan["saving"]["growing_lost_share"] > 0.9


@pytest.mark.parametrize("times", [10, 100, 1e8])
def test_a_long_run_on_assumed_capacity_costs_its_parts(times: float) -> None:
    shares = []
    for hours, deadline in ((240.0, 300.0), (240 * times, 300 * times)):
        line = ["--mean-up", "6h", "--on-demand-usd", "3", "--spot-usd", "1", "--json"]
        result = run("spot", "--hours", f"{hours}h", "--deadline", f"{deadline}h", *line)
        assert result.exit_code == 0, result.output
        best = json.loads(result.stdout)["options"][0]
        assert best["name"] == "planner"
        shares.append(best["on_demand_share"]["value"])
    # the shorter one is itself cut where a step would be longer than capacity stays away; storage is free here
    assert shares[1] == pytest.approx(shares[0], rel=0.02)


def test_a_change_over_of_next_to_nothing_is_one() -> None:
    line = ["--mean-up", "6h", "--on-demand-usd", "3", "--spot-usd", "1", "--changeover", "0.000000001s"]
    assert run("spot", "--hours", "24h", "--deadline", "30h", *line).exit_code == 0


def test_a_recording_of_zero_prices_asks_for_one(tmp_path: Path) -> None:
    trace = tmp_path / "zone.json"
    told = {"data": [1] * 12, "prices": [0] * 12, "metadata": {"gap_seconds": 300, "convention": "available"}}
    trace.write_text(json.dumps(told))
    line = ["spot", "--hours", "0.3h", "--deadline", "0.6h", "--trace", str(trace)]
    result = run(*line)
    assert result.exit_code == 2, result.output
    assert "--on-demand-usd" in result.stderr
    assert run(*line, "--on-demand-usd", "3").exit_code == 0


def test_curves_without_time_are_refused(tmp_path: Path) -> None:
    curves = tmp_path / "curves.csv"
    curves.write_text("run,step,seconds,metric\na,1,0,1\nb,2,0,2\n")
    result = run("sweep", "--curves", str(curves))
    assert result.exit_code == 2
    assert "took no time" in result.stderr


def test_a_folder_of_several_metrics_asks_which(tmp_path: Path) -> None:
    metrics = tmp_path / "mlruns/0/r1/metrics"
    metrics.mkdir(parents=True)
    (metrics / "loss").write_text("1 0.5 1\n")
    result = run("sweep", "--curves", str(tmp_path / "mlruns"))
    assert result.exit_code == 2
    assert "--metric: loss" in result.stderr


def test_a_file_that_is_wrong_exits_1(tmp_path: Path) -> None:
    bad = tmp_path / "curves.csv"
    bad.write_text("run,step,seconds,metric\na,2,1,0.5\na,1,2,0.6\n")
    result = run("sweep", "--curves", str(bad))
    assert result.exit_code == 1
    assert "do not ascend" in result.stderr
