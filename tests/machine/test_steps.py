"""Step times: read off the table, bounded, and refused when they cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost.errors import BadSetting
from unitcost.machine.steps import Constants, Served, StepGrid, between, between2, front_s, mixed_step_s


def small_grid(**changed: object) -> StepGrid:
    batch, context = np.array([1.0, 8.0, 64.0]), np.array([100.0, 1_000.0, 10_000.0])
    attention_s = 1e-8 * np.outer(batch, context)
    grid = StepGrid(
        tokens_axis=np.array([1.0, 256.0, 8192.0]), shared_s=np.array([0.005, 0.006, 0.100]),
        chunk_axis=np.array([1.0, 512.0, 8192.0]), past_axis=np.array([0.0, 8192.0]),
        chunk_attention_s=1e-6 * np.outer([1.0, 512.0, 8192.0], [1.0, 2.0]),
        batch_axis=batch, context_axis=context, decode_attention_s=attention_s, decode_step_s=0.005 + attention_s,
        kv_tokens_per_replica=400_000, max_batch=256, origin="roofline", source="by hand", version="1",
        served=Served(model="toy", gpu="H100-80GB", precision="bf16", backend="vllm"),
    )  # fmt: skip
    return replace(grid, **changed)


def test_a_step_that_only_decodes_is_read_off_its_own_table():
    assert mixed_step_s(small_grid(), (), 8, 1_000.0) == pytest.approx(0.005 + 1e-8 * 8_000)
    assert mixed_step_s(small_grid(), (), 0, 0.0) == 0.0


def test_a_mixed_step_adds_shared_chunk_and_decode_attention():
    constants = Constants(scale=2.0, per_step_s=0.001, per_prefill_step_s=0.002, per_sequence_s=1e-5)
    grid = small_grid(constants=constants)
    kernels_s = between(grid.tokens_axis, grid.shared_s, 520) + 512e-6 + 1e-8 * 8_000
    assert mixed_step_s(grid, ((512, 0),), 8, 1_000.0) == pytest.approx(2 * kernels_s + 0.003 + 9e-5)


def test_a_request_waits_outside_the_engine_by_its_length():
    assert front_s(Constants(per_request_s=0.01, per_input_token_s=1e-6), 2_000) == pytest.approx(0.012)


@given(st.floats(1, 300), st.floats(50, 50_000))
def test_a_bilinear_table_is_read_exactly_within_and_beyond_its_points(batch, context):
    grid = small_grid()
    held = max(context, 100.0)  # below the first point a table is constant
    read_s = between2(grid.batch_axis, grid.context_axis, grid.decode_attention_s, batch, context)
    assert read_s == pytest.approx(1e-8 * batch * held, rel=1e-9)


@pytest.mark.parametrize(
    "changed",
    [
        {"shared_s": np.array([0.1, 0.2])},
        {"shared_s": np.array([0.1, -0.2, 0.3])},
        {"tokens_axis": np.array([1.0, 1.0, 2.0])},
        {"shared_s": np.array([0.1, np.nan, 0.3])},
        {"max_batch": 0},
    ],
)
def test_tables_that_cannot_be_are_refused(changed):
    with pytest.raises(BadSetting):
        small_grid(**changed)


def test_constants_that_cannot_be_are_refused():
    with pytest.raises(BadSetting):
        Constants(scale=0.0)
    with pytest.raises(BadSetting):
        Constants(per_step_s=-0.001)
