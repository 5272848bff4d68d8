"""The closed loop that constants are fitted with and the simulator that plans are played with are the same engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machine.test_steps import small_grid

from unitcost.machine.closed_loop import requests_of
from unitcost.machine.steps import Constants
from unitcost.serving.fleet import Engine, Fleet
from unitcost.serving.simulate import run
from unitcost.serving.traces import Trace

CONSTANTS = Constants(scale=1.2, per_step_s=0.002, per_prefill_step_s=0.001, per_sequence_s=0.0001)
#: A request is sent when a step ends. Times drift apart by some microseconds, steps take eight milliseconds: it is sent one before. [s]
JUST_BEFORE_S = 1e-3


def both(policy, concurrency, inputs, outputs, step_tokens):
    """Times to the first token and per output token of each request, by either."""
    grid = small_grid(constants=CONSTANTS)
    loop = requests_of(grid, concurrency, inputs, outputs, policy=policy, step_tokens=step_tokens)
    at = np.maximum(loop.arrived_s - JUST_BEFORE_S, 0.0)
    trace = Trace(
        arrival_s=at, input_tokens=loop.input_tokens, output_tokens=loop.output_tokens, duration_s=float(at[-1]) + 1,
        name="closed loop",
    )  # fmt: skip
    engine = Engine(scheduler=policy, max_step_tokens=step_tokens, block_tokens=1, prefix_caching=False)
    played = run(trace, Fleet(grid=grid, places={"on-demand": 1}, engine=engine))
    gaps = np.maximum(loop.output_tokens - 1, 1)
    return (
        (loop.first_s - loop.arrived_s, (loop.ended_s - loop.first_s) / gaps),
        (played.first_s - loop.arrived_s, (played.last_s - played.first_s) / gaps),
    )


@settings(deadline=None, max_examples=10)
@given(
    policy=st.sampled_from(["decode first", "prefill first"]), concurrency=st.integers(1, 24),
    inputs=st.integers(20, 1500), outputs=st.integers(2, 120), step_tokens=st.sampled_from([256, 2048, 8192]),
)  # fmt: skip
def test_the_simulator_gives_the_times_of_a_closed_loop(policy, concurrency, inputs, outputs, step_tokens):
    (ttft_s, tpot_s), (played_ttft_s, played_tpot_s) = both(policy, concurrency, inputs, outputs, step_tokens)
    # Means, as benchmarks report them, within 0.5 %: the simulator takes stretches of pure decode at once.
    assert played_ttft_s.mean() == pytest.approx(ttft_s.mean(), rel=5e-3)
    assert played_tpot_s.mean() == pytest.approx(tpot_s.mean(), rel=5e-3)
