"""Bands of open loops: what was measured lies inside them, and knowing less never makes them narrower."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.serving_replay import fleet_of, grid_of, ratios, read

from tests.machine.test_steps import small_grid
from unitcost.machine.steps import Constants, Served
from unitcost.measure.open_loops import open_loop_bands
from unitcost.measure.serving_defaults import shipped
from unitcost.serving.simulate import run

KNOWN = Served(
    model="meta-llama/Meta-Llama-3.1-70B", gpu="H200", precision="fp8", backend="vllm", tensor_parallel=4
)  # fmt: skip
ELSEWHERE = replace(KNOWN, gpu="RTX-PRO-6000")


def test_a_gpu_that_the_fit_has_not_seen_has_a_wider_band_that_says_what_it_stands_on():
    known, other = (open_loop_bands(small_grid(served=one)) for one in (KNOWN, ELSEWHERE))
    assert (known.known, other.known) == ("deployment", "backend")
    assert other.steps[0] <= known.steps[0]
    assert other.steps[-1] > known.steps[-1]
    assert list(other.steps) == sorted(other.steps)
    assert "open loops" in other.measured_on
    assert "open loops" not in known.measured_on


def test_a_calibrated_deployment_has_the_band_of_a_measured_one():
    calibrated = open_loop_bands(small_grid(served=ELSEWHERE, origin="calibration"))
    assert calibrated.known == "deployment"
    assert calibrated.steps == shipped().tpot.bands["deployment"]
    assert "calibrated" in calibrated.measured_on


@pytest.mark.parametrize("name", ["RTXPRO6000_Llama-3.1-8B", "RTXPRO6000_Qwen3-30B-A3B-Instruct-2507"])
def test_measured_open_loops_lie_in_the_band_with_default_constants(shared_traces, name):
    measured = read(shared_traces / "vllm_measured", name)
    grid = grid_of(measured)
    found = run(measured.trace, fleet_of(measured, replace(grid, constants=shipped().constants(grid.served))))
    shown = ratios(measured, found, grid)
    band = open_loop_bands(grid).steps
    # The median of a run lies inside; requests scatter about it.
    assert band[0] <= shown["tpot_ratio"] <= band[-1]
    # Steps as long as the band allows make the queue that was measured, or a longer one.
    constants = shipped().constants(grid.served)
    longest = Constants(scale=constants.scale * band[-1], per_step_s=constants.per_step_s * band[-1])
    slow = run(measured.trace, fleet_of(measured, replace(grid, constants=longest)))
    assert ratios(measured, slow, grid)["ttft_p95_ratio"] <= 1.05
