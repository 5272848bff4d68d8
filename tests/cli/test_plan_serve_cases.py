"""Worked cases of serving through the command line: cooldowns, quantised models at two loads, classic models."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from unitcost.cli import cli

TABLE = "option,batch,latency_ms,usd_per_hour\nL4,1,4,2.50\nL4,8,8,2.50\nL4,32,20,2.50\n"


def run(*words: str, code: int = 0) -> str:
    found = CliRunner().invoke(cli, ["plan", "serve", *words])
    assert found.exit_code == code, found.output
    return found.stdout if not code else found.stderr


def answer(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json"))
    return found


def test_the_cheapest_cooldown_from_gaps(shared_cases: Path, tmp_path: Path) -> None:
    case = shared_cases / "34-scale-to-zero-cooldown"
    given, expected = (json.loads((case / f"{part}.json").read_text()) for part in ("input", "expected"))
    table = tmp_path / "gaps.csv"
    table.write_text("gap_minutes\n" + "".join(f"{gap}\n" for gap in given["gaps_minutes"]))
    words = [
        "--cooldowns", ",".join(c if c == "never" else f"{c}m" for c in given["cooldowns_to_try_minutes"]),
        "--usd-per-hour", given["usd_per_hour_ready"], "--cold-start", f"{given['cold_start_minutes']}m",
        "--slow-answer-usd", given["usd_per_slow_request"],
    ]  # fmt: skip
    listed = ",".join(f"{gap}m" for gap in given["gaps_minutes"])
    for source in (["--trace", str(table)], ["--trace", str(case / "input.json")], ["--gaps", listed]):
        found = answer(*source, *words)
        minutes = {None if row["cooldown_s"] is None else int(row["cooldown_s"]) // 60: row for row in found["rows"]}
        costs = {"never" if m is None else str(m): Decimal(row["usd"]) for m, row in minutes.items()}
        assert costs == {name: Decimal(usd) for name, usd in expected["usd"].items()}
        assert found["best"] == minutes[expected["best"]]["name"]
        assert Decimal(found["break_even_gap_minutes"]) == expected["break_even_gap_minutes"]
    text = run("--trace", str(table), *words)
    assert "stop after: 10m (8.30 USD over 7 gaps)" in text
    assert "break-even gap, min: 13 " in text


def test_a_start_that_is_not_billed_and_requests_in_place_of_gaps(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("timestamp,input_tokens,output_tokens\n0,1,1\n60,1,1\n1260,1,1\n")
    words = ["--trace", str(trace), "--usd-per-hour", "6", "--cold-start", "10m", "--cooldowns", "0,2m,never"]
    paid = answer(*words)
    # gaps of 1 and 20 minutes at 0.10 a minute; a start is 1.00
    assert {row["name"]: row["usd"] for row in paid["rows"]} == {"0": "2", "2m": "1.3", "never": "2.1"}
    assert (paid["best"], paid["break_even_gap_minutes"], paid["least_usd"]) == ("2m", "10", "1.1")
    free = answer(*words, "--free-start", "--slow-answer-usd", "0.05")
    assert {row["name"]: row["usd"] for row in free["rows"]} == {"0": "0.1", "2m": "0.35", "never": "2.1"}
    assert free["break_even_gap_minutes"] == "0.5"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--gaps", "2m", "--cooldowns", "0"], "no price"),
        (["--cooldowns", "0", "--usd-per-hour", "1"], "from one place"),
        (["--gaps", "2m", "--cooldowns", "10", "--usd-per-hour", "1"], "not a time"),
        (["--gaps", "2m", "--cooldowns", "0", "--usd-per-hour", "1", "--rps", "3"], "does not go with"),
    ],
)
def test_what_a_cooldown_needs_is_said(words: list[str], what: str) -> None:
    assert what in run(*words, code=2)


def test_a_quantised_model_is_chosen_by_load_at_fixed_quality(shared_cases: Path) -> None:
    case = shared_cases / "37-quantised-is-not-always-cheaper"
    rules, expected = (json.loads((case / f"{part}.json").read_text()) for part in ("rules", "expected"))
    words = [
        "--profile", str(case / "input.csv"), "--usd-per-hour", rules["usd_per_gpu_hour"],
        "--quality-bar", rules["quality_at_least"], "--e2e-p95", f"{rules['p95_ms_at_most']}ms",
    ]  # fmt: skip
    found = answer(*words)
    assert {f"at_{one['concurrency']}": one["chosen"] for one in found["at"]} == {
        name: expected[name] for name in ("at_4", "at_64")
    }
    rows = {f"{row['option']}@{row['concurrency']}": row for row in found["rows"]}
    assert {name: round(Decimal(row["usd_per_unit"]), 4) for name, row in rows.items()} == {
        name: Decimal(usd) for name, usd in expected["usd_per_mtok"].items()
    }
    out = {name: row["ruled_out_by"] for name, row in rows.items() if row["ruled_out_by"]}
    assert out == expected["ruled_out"]
    text = " ".join(run(*words).split())
    assert "int3 at 64, by quality: quality 0.861 is below the bar 0.9." in text
    assert "int4 at 64, by p95: p95 3.1 s is above 2 s." in text
    for load in ("4", "64"):
        (one,) = answer(*words, "--concurrency", load)["at"]
        assert one["chosen"] == expected[f"at_{load}"]


@pytest.mark.parametrize(("volume", "taken"), [("1m", (1, "int4")), ("100m", (1, "fp16")), ("1000m", (5, "fp16"))])
def test_the_volume_decides_where_no_load_is_named(shared_cases: Path, volume: str, taken: tuple[int, str]) -> None:
    case = shared_cases / "37-quantised-is-not-always-cheaper"
    found = answer(
        "--profile", str(case / "input.csv"), "--usd-per-hour", "3.60", "--quality-bar", "0.90", "--e2e-p95", "2s",
        "--predictions-per-day", volume,
    )  # fmt: skip
    assert (found["chosen"]["replicas"], found["chosen"]["option"]) == taken


def test_rows_of_one_name_at_one_load_are_told_apart_or_refused(tmp_path: Path) -> None:
    table = tmp_path / "loads.csv"
    table.write_text(
        "option,machine,concurrency,per_s,p95_ms,usd_per_hour\na,L4,1,10,50,1\na,H100,1,20,500,1\nb,L4,1,9,50,1\n"
    )
    found = answer("--profile", str(table), "--e2e-p95", "100ms")
    assert found["at"][0]["chosen"] == "a (L4)"
    assert {row["option"]: row["ruled_out_by"] for row in found["rows"]} == {"a (L4)": "", "a (H100)": "p95", "b": ""}
    table.write_text("option,concurrency,per_s,p95_ms,usd_per_hour\na,1,10,5,1\na,1,20,5,1\n")
    assert "a stands twice at the same load" in run("--profile", str(table), code=1)


def test_unlike_qualities_without_a_bar_are_not_compared(tmp_path: Path) -> None:
    table = tmp_path / "loads.csv"
    table.write_text("option,concurrency,per_s,p95_ms,usd_per_hour,quality\na,1,10,5,1,0.9\nb,1,20,5,1,0.8\n")
    found = answer("--profile", str(table))
    assert found["at"][0]["chosen"] == ""
    assert "not comparable" in found["at"][0]["reason"]
    same = answer("--profile", str(table), "--quality", "b=0.9")
    assert same["at"][0]["chosen"] == "b"
    assert round(Decimal(same["rows"][1]["usd_per_unit"]), 9) == Decimal("0.013888889")  # 1 USD / 72,000 an hour
    assert "did you mean" in run("--profile", str(table), "--concurrency", "11", code=2)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.csv"
    path.write_text(TABLE)
    return path


def test_forty_million_predictions_a_day(bench: Path) -> None:
    other = "T4,1,12,1.20\nT4,8,40,1.20\nT4,32,150,1.20\n"
    bench.write_text(TABLE + other)
    words = ["--profile", str(bench), "--predictions-per-day", "40m", "--e2e-p95", "200ms"]
    found = answer(*words)
    assert (found["chosen"]["replicas"], found["chosen"]["usd_per_day"]) == (1, "60")
    assert found["chosen"]["usd_per_1k"] == "0.0015"
    assert found["chosen"]["name"].startswith("L4")
    ways = {(row["name"].partition(",")[0], row["way"]) for row in found["rows"]}
    assert {("L4", "always ready"), ("T4", "always ready"), ("L4", "scale to zero")} <= ways
    cheap = [row for row in found["rows"] if row["name"].startswith("T4") and row["way"] == "always ready"]
    assert all(Decimal(row["usd_per_1k"]) > Decimal("0.0015") for row in cheap)
    sizes = {row["name"] for row in found["rows"] if row["way"] == "always ready" and row["name"].startswith("L4")}
    assert sizes == {f"L4, batches of {size}" for size in (1, 2, 4, 8, 16, 32)}
    assert "1,000 predictions, USD: 0.0015" in run(*words)


def test_the_limit_decides_how_it_sleeps_and_a_tie_is_said(bench: Path, tmp_path: Path) -> None:
    rare = tmp_path / "rare.csv"
    rare.write_text("timestamp,input_tokens,output_tokens\n" + "".join(f"{i * 1800},1,1\n" for i in range(48)))
    words = ["--profile", str(bench), "--trace", str(rare), "--cold-start", "20s"]
    patient = answer(*words, "--e2e-p95", "30s")
    assert patient["chosen"]["way"] == "scale to zero"
    assert patient["break_even_gap_s"] == "20"
    assert patient["cooldowns"]["best"] == "0"
    assert answer(*words, "--e2e-p95", "2s", "--standby-usd-per-hour", "0.25")["chosen"]["way"] == "warm pool of 1"
    full = CliRunner().invoke(cli, ["plan", "serve", *words, "--e2e-p95", "2s"])
    assert "always ready costs the same as warm pool of 1" in full.stderr
    assert "--standby-usd-per-hour" in full.stderr
    assert "(always ready)" in full.stdout
    dear = answer(*words, "--e2e-p95", "30s", "--slow-answer-usd", "5", "--cooldowns", "0,never")
    assert dear["chosen"]["way"] == "always ready"  # 47 slow answers cost more than being ready
    assert dear["cooldowns"]["best"] == "never"


def test_a_profile_with_qualities_is_compared_at_fixed_quality(tmp_path: Path) -> None:
    table = tmp_path / "bench.csv"
    rows = ["fp32,1,8,2.50,0.93", "fp32,8,16,2.50,0.93", "int8,1,4,1.20,0.91", "int4,1,3,0.60,0.80"]
    table.write_text("option,batch,latency_ms,usd_per_hour,quality\n" + "\n".join(rows) + "\n")
    words = ["--profile", str(table), "--predictions-per-day", "1m", "--e2e-p95", "100ms"]
    strict = answer(*words)  # the best that is stated is the bar
    assert strict["chosen"]["name"].startswith("fp32")
    assert {out["name"]: out["stage"] for out in strict["ruled_out"]} == {"int8": "quality", "int4": "quality"}
    found = answer(*words, "--quality-bar", "0.90")
    assert found["chosen"]["name"].startswith("int8")
    assert [out["reason"] for out in found["ruled_out"]] == ["quality 0.8 is below the bar 0.9"]
    better = answer(*words, "--quality-bar", "0.90", "--quality", "int4=0.92")
    assert better["chosen"]["name"].startswith("int4")
    assert "int4" in run(*words, "--quality", "int5=0.92", code=2)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--warm-pool", "3"], "--warm-pool is of no use without --fleets"),
        (["--predictions-per-day", "1m"], "--predictions-per-day is of no use without --profile"),
        (["--cooldowns", "0,1m"], "--cooldowns is of no use without --profile"),
        (["--requests-per-day", "1m"], "--requests-per-day is of no use without --curve"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(words: list[str], what: str) -> None:
    assert what in run("--model", "llama-3.1-8b", "--rps", "1", "--input", "9", "--output", "9", *words, code=2)
