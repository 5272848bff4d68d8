"""The adapter to measured kernels: tables that hold together, refusals that say what to do."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from unitcost.errors import DoesNotFit, NotMeasured, UnknownName
from unitcost.machine.steps import Served, mixed_step_s
from unitcost.measure import aiconfigurator
from unitcost.measure.aiconfigurator import measured_grid

pytest.importorskip("aiconfigurator_core", reason="the extra `llm` is not installed")


def served(**changed):
    usual = {"model": "llama-3.1-8b", "gpu": "H100-80GB", "precision": "fp8", "backend": "vllm"}
    return Served(**usual | changed)


def test_a_grid_is_the_package_put_into_tables_and_keeps_silent(capfd, caplog):
    grid = measured_grid(served())
    handle = aiconfigurator._compile(
        "meta-llama/Meta-Llama-3.1-8B", served(), aiconfigurator._options(served(), ("fp8", "fp8"))
    )
    # On points of the table the package's own answers, but for falls that were raised (below 10 %).
    for batch, context in ((1, 1024), (32, 4096), (256, 1024)):
        told_s = handle.decode_step_latency(batch, context, 2) / 1e3
        assert mixed_step_s(grid, (), batch, context) == pytest.approx(told_s, rel=0.10)
    whole_s = handle.mixed_step_breakdown(2048, 0, 2048, 2, 0)[0] / 1e3
    assert mixed_step_s(grid, ((2048, 0),), 0, 0.0) == pytest.approx(whole_s, rel=0.10)
    assert (np.diff(grid.decode_step_s, axis=0) >= 0).all()
    assert (grid.origin, grid.version) == ("aiconfigurator", "0.12.0")
    assert capfd.readouterr().err == ""
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_two_chunks_attend_to_as_much_as_one_prompt():
    grid = measured_grid(served())
    one_s = grid.chunk_attention_s[grid.chunk_axis.tolist().index(8192), 0]
    row = grid.chunk_attention_s[grid.chunk_axis.tolist().index(4096)]
    two_s = row[0] + row[grid.past_axis.tolist().index(4096)]
    assert two_s == pytest.approx(one_s, rel=0.35)  # measured apart; kernels differ with the shape


def test_models_that_count_attention_in_the_shared_part_have_it_taken_out():
    grid = measured_grid(served(model="moonshotai/Kimi-K2.5", gpu="B200", precision="int4", tensor_parallel=8))
    assert grid.chunk_attention_s[-1, -1] > grid.chunk_attention_s[-1, 0] > 0
    assert grid.decode_attention_s[-1, -1] > grid.decode_attention_s[-1, 0]


def test_a_quantised_grid_that_is_much_slower_than_bf16_gives_way_to_another_way_to_compute_it():
    grid = measured_grid(served(model="Qwen/Qwen3-235B-A22B-FP8", gpu="H200", tensor_parallel=4))
    assert "fp8_block" in grid.source


def test_a_grid_whose_smallest_batch_is_the_slowest_gives_way_to_another_way_to_compute_it():
    grid = measured_grid(served(model="MiniMaxAI/MiniMax-M2.5", gpu="B300", tensor_parallel=4))
    assert "gemm fp8, experts fp8_block" in grid.source
    bf16 = measured_grid(served(model="MiniMaxAI/MiniMax-M2.5", gpu="B200", precision="bf16", tensor_parallel=4))
    assert mixed_step_s(grid, (), 4, 1024) < 1.25 * mixed_step_s(bf16, (), 4, 1024)


def test_what_does_not_fit_or_is_not_known_is_said():
    with pytest.raises(DoesNotFit, match="KV cache"):
        measured_grid(served(model="llama-3.1-70b", precision="bf16"))
    with pytest.raises(UnknownName, match="H100"):
        measured_grid(served(gpu="H1000"))
    with pytest.raises(NotMeasured):
        measured_grid(served(gpu="A100-80GB", precision="nvfp4"))


def test_without_the_package_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(aiconfigurator, "PACKAGE", "no-such-package-at-all")
    with pytest.raises(NotMeasured, match="not installed") as found:
        measured_grid(served())
    assert "unitcost[llm]" in found.value.mend
