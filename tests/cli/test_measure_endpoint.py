"""`unitcost measure endpoint` against servers of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.measure.load.stub_servers import Truth, failing, hanging, kserve, openai, running

from unitcost.cli import cli
from unitcost.economics.quality import loads

BRIEF = ("--rate", "20/s", "--duration", "1s", "--warm-up", "100ms", "--timeout", "2s")


def run(*arguments: str):
    return CliRunner().invoke(cli, ["measure", "endpoint", *arguments])


def test_tokens_of_a_stream_are_told_with_their_definitions():
    with running(openai(Truth(), first_s=0.02, between_s=0.002, tokens=10)) as base:
        done = run(f"{base}/v1/chat/completions", "--kind", "openai", "--model", "m", *BRIEF)
        answer = json.loads(
            run(f"{base}/v1/chat/completions", "--kind", "openai", "--model", "m", *BRIEF, "--json").stdout
        )
    assert "TTFT" in done.stdout
    assert "TPOT" in done.stdout
    [only] = answer["runs"]
    assert set(only["fates"]) == {"ok"}
    assert only["tokens"] == 10 * only["requests"]
    assert only["latency"]["p99"]["bound_s"] is None
    assert only["latency"]["p99"]["missing"] == 662 - only["requests"]


def test_the_body_for_kserve_comes_from_its_metadata_and_a_trace_sets_the_pace(tmp_path: Path):
    trace = tmp_path / "trace.csv"
    trace.write_text("t\n" + "".join(f"{n / 50}\n" for n in range(30)))
    metadata = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]}
    truth = Truth()
    with running(kserve(truth, service_s=0.0), metadata=metadata) as base:
        done = run(
            f"{base}/v2/models/m/infer",
            "--kind",
            "kserve-v2",
            "--trace",
            str(trace),
            "--warm-up",
            "1us",
            "--batch",
            "4",
            "--json",
        )
    assert truth.answered == 30
    assert json.loads(done.stdout)["runs"][0]["load"] == "trace trace.csv"


@pytest.mark.parametrize(("handler", "fate"), [(failing(), "refused"), (hanging, "timeout")])
def test_an_endpoint_that_answers_nothing_is_an_error_with_its_reason(handler, fate: str):
    with running(handler) as base:
        done = run(base, *BRIEF, "--json")
    assert done.exit_code == 1
    [only] = json.loads(done.stdout)["runs"]
    assert set(only["fates"]) == {fate}
    assert only["reasons"]


def test_a_search_without_time_for_a_run_says_so_beside_its_page(tmp_path: Path):
    page = tmp_path / "page.html"
    terms = ("--search", "--slo", "p99=2s", "--budget", "10s")
    with running(openai(Truth(), first_s=0.02, between_s=0.002, tokens=2)) as base:
        done = run(f"{base}/v1/chat/completions", "--kind", "openai", "--model", "m", *terms, "--html", str(page))
    assert done.exit_code == 1
    assert page.exists()
    assert done.stdout == ""
    assert "! no rate is known to keep the target: the next run, 20 s at 38.06/s, would pass the budget" in done.stderr


def test_nothing_answered_is_said_before_anything_of_the_generator():
    with running(failing()) as base:
        done = run(base, *BRIEF)
    assert done.exit_code == 1
    assert "! 20/s: nothing was answered: " in done.stderr


def test_a_target_that_is_missed_is_exit_code_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loads, "OWN_DELAY_SHARE", 1e9)  # however busy this machine is
    body = tmp_path / "body.json"
    body.write_text('{"inputs": [{"shape": [1]}]}')
    with running(kserve(Truth(), service_s=1.0)) as base:
        done = run(base, *BRIEF, "--slo", "p90=900ms", "--kind", "kserve-v2", "--body", str(body))
    assert done.exit_code == 3, done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("http://x",), "which load is meant"),
        (("http://x", "--search"), "needs a target"),
        (("http://x", "--search", "--slo", "p99=1s", "--concurrency", "2"), "chooses its own rates"),
        (("http://x", "--rate", "5/s", "--kind", "grpc"), "no kind of endpoint `grpc`"),
        (("http://x", "--rate", "5/s", "--slo", "fast"), "not a time"),
        (("x", "--rate", "5/s"), "no address"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], message: str):
    done = run(*arguments)
    assert done.exit_code in (1, 2)
    assert message in done.output


def test_an_unknown_measurement_is_answered_with_the_near_ones():
    done = CliRunner().invoke(cli, ["measure", "endpiont"])
    assert done.exit_code == 2
    assert "`endpoint`" in done.output
