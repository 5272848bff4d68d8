"""A benchmark made with known constants gives them back, through the command."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from unitcost.cli import cli
from unitcost.machine.closed_loop import closed_loop
from unitcost.machine.steps import Constants, Served
from unitcost.measure import step_times
from unitcost.measure.step_times import read_calibration

LLAMA = Served(model="llama-3.1-8b", gpu="L4", precision="fp8", backend="vllm")
TRUE = Constants(scale=1.4, per_step_s=0.004, per_request_s=0.05)


@pytest.fixture
def bench(tmp_path):
    """GuideLLM's answer for four rates, from the closed loop with known constants."""

    def mean(value):
        return {"successful": {"mean": value}}

    grid = replace(step_times.step_times(LLAMA), constants=TRUE)
    runs = []
    for concurrency in (1, 4, 16, 32):
        loop = closed_loop(grid, concurrency, 1000, 200)
        runs.append({
            "request_concurrency": mean(concurrency), "prompt_token_count": mean(900), "output_token_count": mean(180),
            "time_to_first_token_ms": mean(loop.ttft_s * 1e3), "inter_token_latency_ms": mean(loop.tpot_s * 1e3),
        })  # fmt: skip
    file = tmp_path / "guidellm.json"
    file.write_text(json.dumps({"benchmarks": [{"metrics": run} for run in runs]}))
    return file


def test_constants_are_found_again_and_kept(bench, tmp_path):
    kept = tmp_path / "own.json"
    said = ["calibrate", "serve", str(bench), "--model", "llama-3.1-8b", "--gpu", "L4", "--precision", "fp8"]
    result = CliRunner().invoke(cli, [*said, "--save", str(kept), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["constants"]["scale"] == pytest.approx(TRUE.scale, rel=0.05)
    assert found["constants"]["per_request_s"] == pytest.approx(TRUE.per_request_s, abs=0.02)
    assert found["error_after"]["tpot_share"] < 0.05 < found["error_before"]["tpot_share"]
    (own,) = read_calibration(kept).values()
    assert own.scale == pytest.approx(found["constants"]["scale"])
    assert step_times.step_times(LLAMA, calibration=kept).origin == "calibration"


def test_the_table_says_the_error_before_and_after(bench):
    result = CliRunner().invoke(
        cli, ["calibrate", "serve", str(bench), "--model", "llama-3.1-8b", "--gpu", "L4", "--precision", "fp8"]
    )
    assert result.exit_code == 0, result.output
    assert "Error before" in result.stdout
    assert "per step" in result.stdout


def test_a_file_of_nobody_is_refused(tmp_path):
    file = tmp_path / "x.json"
    file.write_text("{}")
    result = CliRunner().invoke(cli, ["calibrate", "serve", str(file), "--model", "llama-3.1-8b", "--gpu", "L4"])
    assert result.exit_code == 1
    assert "no known load generator" in result.stderr
