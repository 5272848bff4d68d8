"""`unitcost prices` for models and with the user's own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from unitcost.cli import cli


@pytest.fixture
def run(tmp_path: Path):
    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["prices", *arguments, "--folder", str(tmp_path), "--as-of", "2026-11-30"])

    return call


def test_show_prints_classes_tiers_and_the_rule_that_matched(run) -> None:
    result = run("show", "gpt-5.5", "--provider", "openai")
    assert result.exit_code == 0
    assert "name matched: exact" in result.stdout
    assert "5 / 10 over 272,000" in result.stdout
    assert "genai-prices@" in result.stdout
    assert "--variant batch" in result.stderr


def test_show_prices_a_call_and_warns_of_the_next_tier(run) -> None:
    result = run("show", "gpt-5.5", "--tokens", "input=20000,cache_read=240000,output=1000,reasoning=300")
    assert "300 reasoning as output x 30 = 0.009" in result.stdout
    assert "total 0.25 USD" in result.stdout
    assert "a prompt 5 % larger passes 272,000 tokens and costs 2.03 times as much" in result.stderr


def test_show_a_call_as_json(run) -> None:
    result = run("show", "claude-sonnet-4-5-20250929", "--tokens", "input=1000,cache_write=1000,output=10", "--json")
    model = json.loads(result.stdout)["model"]
    assert model["rule"] == "snapshot of claude-sonnet-4-5"
    call = model["call"]
    assert (call["low"], call["amount"], call["high"]) == ("0.0069", "0.0069", "0.00915")
    assert {part["class"] for part in call["parts"]} == {"input", "cache_write", "output"}


def test_a_variant_must_match(run) -> None:
    assert "batch names no price for: web_search" in run("show", "gpt-5.5", "--variant", "batch").stderr
    refused = run("show", "gpt-5.5", "--variant", "bulk")
    assert refused.exit_code == 1
    assert "lists no `bulk` price" in refused.stderr
    early = run("show", "gpt-5.5", "--variant", "batch", "--at", "2026-01-01")
    assert "the first is from 2026-10-14" in early.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "gpt-5.55", "--kind", "model", "--provider", "openai"), 2, "did you mean `gpt-5.5`"),
        (("show", "lab-special-v3"), 2, "in the price book `lab-special-v3`"),
        (("show", "whisper-1"), 1, "it charges by audio_hours"),
        (("show", "gpt-5.5", "--tokens", "inptu=5"), 2, "did you mean `input`"),
        (("show", "gpt-5.5", "--tokens", "input=many"), 2, "no whole number"),
    ],
)
def test_wrong_questions_about_models(run, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr


def test_prices_of_models_are_stale_after_30_days(run) -> None:
    assert "stale" not in run("show", "gpt-5.5", "--at", "2026-12-01").stderr
    assert "stale after 30" in run("show", "gpt-5.5", "--at", "2027-01-15").stderr


def test_list_and_diff_of_models(run) -> None:
    listed = json.loads(run("list", "--kind", "model", "--name", "gpt-5.5", "--provider", "openai", "--json").stdout)
    assert {price["meter"] for price in listed["prices"]} == {"input", "cache_read", "output", "web_search"}
    changed = json.loads(
        run("diff", "--kind", "model", "--provider", "openai", "--name", "gpt-5.6-luna", "--from", "2026-06-01", "--json").stdout
    )  # fmt: skip
    assert changed["changes"]
    assert all(c["before"]["price"] != c["after"]["price"] for c in changed["changes"])


def own(folder: Path, prices: str) -> None:
    (folder / "ours.csv").write_text(prices, encoding="utf-8")
    (folder / "unitcost.toml").write_text('[prices]\nfiles = ["ours.csv"]\n', encoding="utf-8")


def test_the_users_own_price_of_a_machine_wins(run, tmp_path: Path) -> None:
    own(tmp_path, "instance_type,provider,region,usd_per_hour\np5.48xlarge,aws,us-east-1,50\n")
    result = run("show", "p5.48xlarge", "--region", "us-east-1", "--category", "standard")
    assert "50 USD/h per machine, 6.25 per accelerator" in result.stdout
    assert "ours.csv (own)" in result.stdout
    assert result.stderr == ""
    found = json.loads(run("find", "--accelerator", "H100", "--count", "8", "--region", "us-east-1", "--json").stdout)
    [p5] = [item for item in found["capacity"] if item["name"] == "p5.48xlarge"]
    assert p5["on_demand"]["usd_per_hour"] == "50"


def test_an_own_price_that_looks_like_one_per_gpu_is_told(run, tmp_path: Path) -> None:
    own(tmp_path, "instance_type,provider,region,usd_per_hour\np5.48xlarge,aws,us-east-1,6.88\n")
    told = run("show", "p5.48xlarge", "--region", "us-east-1", "--category", "standard").stderr
    assert "quote looks like a per-GPU price (ratio 8.00 for 8 GPUs)" in told
    own(tmp_path, "instance_type,provider,region,usd_per_accelerator_hour\np5.48xlarge,aws,us-east-1,6.88\n")
    right = run("show", "p5.48xlarge", "--region", "us-east-1", "--category", "standard")
    assert right.stderr == ""
    assert "6.88 USD/h per accelerator, 55.04 per machine" in right.stdout


def test_own_hardware_that_the_book_does_not_know(run, tmp_path: Path) -> None:
    own(
        tmp_path,
        "instance_type,provider,region,usd_per_accelerator_hour,accelerator,accelerator_count\n"
        "lab-node,lab,home,1.10,H100-80GB,4\n",
    )
    found = json.loads(run("find", "--accelerator", "H100-80GB", "--count", "4", "--region", "home", "--json").stdout)
    assert found["capacity"][0]["on_demand"]["usd_per_hour"] == "4.4"


def test_a_bad_own_file_is_answered_with_its_row(run, tmp_path: Path) -> None:
    own(tmp_path, "instance_type,usd_per_hour\nm,dear\n")
    result = run("show", "p5.48xlarge")
    assert result.exit_code == 1
    assert "ours.csv:2: `usd_per_hour` is 'dear', not a number. Mend:" in result.stderr
