"""Where step times come from, and what a calibration changes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.machine.test_steps import small_grid
from unitcost.errors import BadFile, DoesNotFit, NotMeasured, UnknownName
from unitcost.machine.steps import Constants, Served
from unitcost.measure import step_grids, step_times
from unitcost.measure.serving_defaults import shipped
from unitcost.measure.step_times import read_calibration, write_calibration

LLAMA = Served(
    model="meta-llama/Meta-Llama-3.1-70B", gpu="H100-80GB", precision="fp8", backend="vllm", tensor_parallel=4
)


@pytest.fixture
def without_package(monkeypatch):
    monkeypatch.setattr(step_times, "installed", lambda: False)


def test_grids_survive_being_packed_to_a_tenth_of_a_microsecond(tmp_path, monkeypatch):
    grids = [small_grid(), small_grid(served=LLAMA, flags=("odd",))]
    (tmp_path / "step_data").mkdir()
    (tmp_path / "step_data" / step_grids.FILE).write_bytes(step_grids.packed(grids))
    monkeypatch.setattr(step_grids, "files", lambda _: tmp_path)
    kept = step_grids.bundled.__wrapped__()
    for grid, again in zip(grids, kept, strict=True):
        assert again.served == grid.served
        assert again.flags == grid.flags
        assert again.origin == "bundled grid"
        assert again.decode_step_s == pytest.approx(grid.decode_step_s, abs=1e-7)
        assert (again.tokens_axis == grid.tokens_axis).all()


def test_about_fifty_grids_ship_with_source_and_version():
    grids = step_grids.bundled()
    assert len(grids) >= 45
    assert all("aiconfigurator-core" in grid.source and grid.version == "0.12.0" for grid in grids)


def test_without_the_package_bundled_grids_answer_with_the_shipped_constants(without_package):
    grid = step_times.step_times(replace(LLAMA, model="llama-3.1-70b"))
    assert grid.origin == "bundled grid"
    assert grid.constants == shipped().constants(LLAMA)
    assert grid.constants.scale != 1.0


def test_without_package_and_bundle_it_says_what_would_help(without_package):
    with pytest.raises(NotMeasured, match="no bundled step times") as found:
        step_times.step_times(replace(LLAMA, tensor_parallel=16))
    assert "unitcost[llm]" in found.value.mend


def test_a_gpu_that_nobody_measured_has_a_labelled_roofline_and_a_model_too_large_is_refused():
    small = Served(model="llama-3.1-8b", gpu="L4", precision="fp8", backend="vllm")
    grid = step_times.step_times(small)
    assert grid.origin == "roofline"
    assert "nobody measured" in grid.source
    with pytest.raises(DoesNotFit, match="2 GPUs"):
        step_times.step_times(replace(small, precision="bf16", gpu="T4"))
    with pytest.raises(UnknownName, match="L4"):
        step_times.step_times(replace(small, gpu="L5"))


def test_a_calibrated_roofline_does_not_ask_for_a_calibration(tmp_path, without_package):
    bare = replace(LLAMA, model="llama-3.1-8b", gpu="L4", tensor_parallel=1)
    assert any("calibrate before you decide" in flag for flag in step_times.step_times(bare).flags)
    file = tmp_path / "calibration.json"
    write_calibration(file, bare, Constants(scale=0.7, source="by hand"))
    grid = step_times.step_times(bare, calibration=file)
    assert grid.origin == "calibration"
    assert not any("calibrate" in flag for flag in grid.flags)


def test_a_calibration_counts_for_its_deployment_only(tmp_path, without_package):
    file = tmp_path / "calibration.json"
    write_calibration(file, LLAMA, Constants(scale=1.7, source="by hand"))
    write_calibration(file, replace(LLAMA, tensor_parallel=8), Constants(scale=1.9, source="by hand"))
    assert len(read_calibration(file)) == 2
    grid = step_times.step_times(LLAMA, calibration=file)
    assert (grid.origin, grid.constants.scale) == ("calibration", 1.7)
    other = step_times.step_times(replace(LLAMA, tensor_parallel=2), calibration=file)
    assert other.origin == "bundled grid"


def test_what_is_no_calibration_is_refused(tmp_path):
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps({"form": "something else"}))
    with pytest.raises(BadFile, match="not a calibration"):
        read_calibration(file)


def test_a_folder_with_a_config_gives_a_roofline(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps(
            {
                "num_hidden_layers": 24,
                "hidden_size": 2048,
                "num_attention_heads": 16,
                "intermediate_size": 8192,
                "vocab_size": 50_000,
            }
        )
    )
    grid = step_times.step_times(Served(model=str(tmp_path), gpu="L4", precision="bf16", backend="vllm"))
    assert grid.kv_tokens_per_replica > 10_000
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BadFile, match="not JSON"):
        step_times.step_times(Served(model=str(tmp_path), gpu="L4", precision="bf16", backend="vllm"))
