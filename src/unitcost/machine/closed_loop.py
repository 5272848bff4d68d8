"""What a benchmark with a fixed number of requests in flight measures, worked out step by step.

The load generator sends `concurrency` requests at once and a new one whenever one is answered. One replica, no prefix
cache. Compiled by numba: some ten million steps a second.

The simulator of fleets (`serving.simulate`) plays traces whose arrivals are known before; here a request is sent when another
ends. Fitting plays thousands of such runs, so that this one keeps no blocks, no fleet and no record of what happened. Played
with the arrivals of a closed loop the simulator gives the same times: `tests/laws/test_closed_loops.py`. The policy `whole
prompts` (TensorRT-LLM: prompts unsplit beside decode) stands here only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitcost.machine.compiled_tables import compiled, place, read, read2
from unitcost.machine.steps import Array, StepGrid

Ints = NDArray[np.int64]
#: Order of work: decode first and prefill in what is left of the budget; prefill alone before decode; whole prompts
#: beside decode.
Policy = Literal["decode first", "prefill first", "whole prompts"]
_POLICIES: tuple[Policy, ...] = ("decode first", "prefill first", "whole prompts")
_DECODE_FIRST, _PREFILL_FIRST, _WHOLE = range(3)
#: What each engine does unless told otherwise.
POLICY_OF_BACKEND: dict[str, Policy] = {"vllm": "decode first", "sglang": "prefill first", "trtllm": "whole prompts"}
#: Tokens that an engine puts into one step by default.
STEP_TOKENS = 8192
#: Requests that the load generator sends for each one in flight.
_ROUNDS = 10
_SHORTEST_SHARE = 0.8


class _Tables(NamedTuple):
    tokens: Array
    shared_s: Array
    chunk: Array
    past: Array
    chunk_s: Array
    batch: Array
    context: Array
    beside_s: Array
    decode_s: Array
    fixed: Array


class _State(NamedTuple):
    """Requests by number: `filled` prompt tokens of `due`, `made` output tokens; lists of numbers; counters."""

    inputs: Ints
    outputs: Ints
    filled: Ints
    due: Ints
    made: Ints
    arrived_s: Array
    first_s: Array
    ended_s: Array
    running: Ints
    filling: Ints
    queue: Ints
    counts: Ints
    held: Array


_RUNNING, _FILLING, _HEAD, _TAIL, _ENDED, _SENT, _STEPS = range(7)
_KV, _CONTEXT = range(2)
_SCALE, _PER_STEP, _PER_PREFILL, _PER_SEQUENCE = range(4)


@compiled
def _send(state: _State, now_s: float) -> None:
    """Send the next request, if one is left."""
    count = state.counts
    if count[_SENT] < len(state.inputs):
        state.arrived_s[count[_SENT]] = now_s
        state.queue[count[_TAIL]] = count[_SENT]
        count[_TAIL] += 1
        count[_SENT] += 1


@compiled
def _preempt(state: _State, kv_tokens: float) -> None:
    """Put the last admitted sequences back, to be computed again, until the next step's tokens fit."""
    count, held = state.counts, state.held
    while count[_RUNNING] > 1 and held[_KV] + count[_RUNNING] > kv_tokens:
        count[_RUNNING] -= 1
        last = state.running[count[_RUNNING]]
        length = state.inputs[last] + state.made[last]
        held[_KV] -= length
        held[_CONTEXT] -= length
        state.due[last], state.filled[last] = length, 0
        count[_HEAD] -= 1
        state.queue[count[_HEAD]] = last


@compiled
def _next_filling(
    state: _State, index: int, whole: bool, left: int, chunks: int, max_batch: int, kv_tokens: float
) -> int:
    """Request that gets the next chunk: one that has begun, or the head of the queue; -1 when none may."""
    count, held = state.counts, state.held
    if index < count[_FILLING]:
        return int(state.filling[index])
    busy = count[_RUNNING] + count[_FILLING]
    if count[_HEAD] >= count[_TAIL] or busy >= max_batch:
        return -1
    head = int(state.queue[count[_HEAD]])
    if busy > 0 and held[_KV] + state.due[head] + count[_RUNNING] + 1 > kv_tokens:
        return -1
    if whole and chunks > 0 and state.due[head] > left:
        return -1
    count[_HEAD] += 1
    state.filling[count[_FILLING]] = head
    count[_FILLING] += 1
    held[_KV] += state.due[head]
    return head


@compiled
def _prefill(
    tables: _Tables, state: _State, policy: int, budget: int, max_batch: int, kv_tokens: float
) -> tuple[int, int, float]:
    """Give out the chunks of one step; their tokens, number and attention time."""
    left = budget - (state.counts[_RUNNING] if policy == _DECODE_FIRST else 0)
    tokens, chunks, attention_s, index = 0, 0, 0.0, 0
    whole = policy == _WHOLE
    while left > 0:
        request = _next_filling(state, index, whole, left, chunks, max_batch, kv_tokens)
        if request < 0:
            break
        size = state.due[request] - state.filled[request]
        if not whole and size > left:
            size = left
        attention_s += read2(tables.chunk, tables.past, tables.chunk_s, float(size), float(state.filled[request]))
        state.filled[request] += size
        left, tokens, chunks, index = left - size, tokens + size, chunks + 1, index + 1
    return tokens, chunks, attention_s


@compiled
def _time_s(tables: _Tables, state: _State, tokens: int, chunks: int, attention_s: float, decoding: int) -> float:
    fixed, running = tables.fixed, state.counts[_RUNNING]
    context = state.held[_CONTEXT] / max(running, 1)
    if tokens == 0:
        kernels_s = read2(tables.batch, tables.context, tables.decode_s, float(running), context)
        return float(fixed[_SCALE] * kernels_s + fixed[_PER_STEP] + fixed[_PER_SEQUENCE] * running)
    kernels_s = read(tables.tokens, tables.shared_s, float(tokens + decoding)) + attention_s
    if decoding > 0:
        kernels_s += read2(tables.batch, tables.context, tables.beside_s, float(decoding), context)
    constant_s = fixed[_PER_STEP] + fixed[_PER_PREFILL] + fixed[_PER_SEQUENCE] * (decoding + chunks)
    return float(fixed[_SCALE] * kernels_s + constant_s)


@compiled
def _end(state: _State, request: int, now_s: float) -> None:
    length = state.inputs[request] + state.made[request]
    state.held[_KV] -= length
    state.held[_CONTEXT] -= length
    state.ended_s[request] = now_s
    state.counts[_ENDED] += 1
    _send(state, now_s)


@compiled
def _decode(state: _State, now_s: float) -> None:
    """One more token for each running sequence."""
    kept = 0
    running = state.counts[_RUNNING]
    state.held[_KV] += running
    state.held[_CONTEXT] += running
    for index in range(running):
        request = state.running[index]
        state.made[request] += 1
        if state.made[request] >= state.outputs[request]:
            _end(state, request, now_s)
        else:
            state.running[kept] = request
            kept += 1
    state.counts[_RUNNING] = kept


@compiled
def _decode_only_s(
    batch_axis: Array, context_axis: Array, decode_s: Array, running: int, held_tokens: float, steps: int
) -> float:
    """Kernel time of so many steps in a row that only decode, with the same sequences. [s]."""
    low, share = place(batch_axis, float(running))
    high = min(low + 1, len(batch_axis) - 1)
    row = decode_s[low] + share * (decode_s[high] - decode_s[low])
    total_s = 0.0
    for step in range(steps):
        total_s += read(context_axis, row, held_tokens / running + step)
    return total_s


@compiled
def _skip_s(tables: _Tables, state: _State, kv_tokens: float) -> float:
    """Decode, while nobody waits, up to the step before the next sequence ends; the time that takes. [s]."""
    count, held = state.counts, state.held
    running = int(count[_RUNNING])
    if running == 0 or count[_FILLING] > 0 or count[_HEAD] < count[_TAIL]:
        return 0.0
    requests = state.running[:running]
    room = int((kv_tokens - held[_KV]) / running)
    steps = min(int((state.outputs[requests] - state.made[requests]).min()) - 1, room)
    if steps < 1:
        return 0.0
    kernels_s = _decode_only_s(tables.batch, tables.context, tables.decode_s, running, held[_CONTEXT], steps)
    state.made[requests] += steps
    held[_KV] += steps * running
    held[_CONTEXT] += steps * running
    count[_STEPS] += steps
    fixed = tables.fixed
    return float(fixed[_SCALE] * kernels_s + steps * (fixed[_PER_STEP] + fixed[_PER_SEQUENCE] * running))


@compiled
def _start_filled(state: _State, now_s: float) -> None:
    """Prompts that are whole have their first token and run from now on."""
    kept = 0
    for index in range(state.counts[_FILLING]):
        request = state.filling[index]
        if state.filled[request] < state.due[request]:
            state.filling[kept] = request
            kept += 1
            continue
        if state.made[request] == 0:
            state.first_s[request] = now_s
            state.made[request] = 1
            state.held[_KV] += 1
        state.held[_CONTEXT] += state.inputs[request] + state.made[request]
        if state.made[request] >= state.outputs[request]:
            _end(state, request, now_s)
        else:
            state.running[state.counts[_RUNNING]] = request
            state.counts[_RUNNING] += 1
    state.counts[_FILLING] = kept


@compiled
def _run(
    tables: _Tables, state: _State, concurrency: int, policy: int, budget: int, max_batch: int, kv_tokens: float
) -> float:
    now_s = 0.0
    for _ in range(concurrency):
        _send(state, now_s)
    while state.counts[_ENDED] < len(state.inputs):
        now_s += _skip_s(tables, state, kv_tokens)
        _preempt(state, kv_tokens)
        tokens, chunks, attention_s = _prefill(tables, state, policy, budget, max_batch, kv_tokens)
        decoding = 0 if policy == _PREFILL_FIRST and tokens > 0 else state.counts[_RUNNING]
        now_s += _time_s(tables, state, tokens, chunks, attention_s, decoding)
        state.counts[_STEPS] += 1
        if decoding > 0:
            _decode(state, now_s)
        _start_filled(state, now_s)
    return now_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop:
    """What the run measured: means over requests, as benchmarks report them.

    Parameters
    ----------
    ttft_s, tpot_s
        Time to the first token; time per output token after it, (end - first token) / (output - 1). [s]
    seconds
        Length of the run. [s]
    steps
        Iterations of the engine.
    """

    ttft_s: float
    tpot_s: float
    seconds: float
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """The requests of a run in the order in which they were sent, without the time outside the engine.

    Parameters
    ----------
    arrived_s, first_s, ended_s
        When each was sent, had its first token and its last. [s]
    seconds, steps
        Length of the run, iterations of the engine. [s]
    """

    input_tokens: Ints
    output_tokens: Ints
    arrived_s: Array
    first_s: Array
    ended_s: Array
    seconds: float
    steps: int


def closed_loop(
    grid: StepGrid,
    concurrency: int,
    input_tokens: int,
    output_tokens: int,
    *,
    policy: Policy = "decode first",
    step_tokens: int = STEP_TOKENS,
    seed: int = 7,
) -> ClosedLoop:
    """Means that a load generator with so many requests in flight would measure on one replica.

    Notes
    -----
    Lengths are uniform between 0.8 and 1.0 of the nominal ones, ten requests are sent for each one in flight, all begin at
    once: the usual benchmark. When the KV cache is full the sequence that came last is computed again.
    """
    seen = requests_of(
        grid, concurrency, input_tokens, output_tokens, policy=policy, step_tokens=step_tokens, seed=seed
    )
    constants = grid.constants
    outside_s = constants.per_request_s + constants.per_input_token_s * seen.input_tokens
    return ClosedLoop(
        ttft_s=float((seen.first_s - seen.arrived_s + outside_s).mean()),
        tpot_s=float(((seen.ended_s - seen.first_s) / np.maximum(seen.output_tokens - 1, 1)).mean()),
        seconds=seen.seconds, steps=seen.steps,
    )  # fmt: skip


def requests_of(
    grid: StepGrid,
    concurrency: int,
    input_tokens: int,
    output_tokens: int,
    *,
    policy: Policy = "decode first",
    step_tokens: int = STEP_TOKENS,
    seed: int = 7,
) -> Requests:
    """Each request of the same run, inside the engine."""
    count = _ROUNDS * concurrency
    random = np.random.default_rng(seed)
    inputs = random.integers(max(1, int(_SHORTEST_SHARE * input_tokens)), input_tokens + 1, count)
    outputs = random.integers(max(1, int(_SHORTEST_SHARE * output_tokens)), output_tokens + 1, count)
    state = _empty_state(inputs, outputs, min(grid.max_batch, count))
    at_most = min(grid.max_batch, count)
    kv_tokens = float(grid.kv_tokens_per_replica)
    budget, order = int(step_tokens), _POLICIES.index(policy)
    seconds = _run(_tables(grid), state, int(concurrency), order, budget, at_most, kv_tokens)
    return Requests(
        input_tokens=inputs, output_tokens=outputs, arrived_s=state.arrived_s, first_s=state.first_s,
        ended_s=state.ended_s, seconds=float(seconds), steps=int(state.counts[_STEPS]),
    )  # fmt: skip


def _tables(grid: StepGrid) -> _Tables:
    c = grid.constants
    return _Tables(
        grid.tokens_axis, grid.shared_s, grid.chunk_axis, grid.past_axis, grid.chunk_attention_s, grid.batch_axis,
        grid.context_axis, grid.decode_attention_s, grid.decode_step_s,
        np.array([c.scale, c.per_step_s, c.per_prefill_step_s, c.per_sequence_s]),
    )  # fmt: skip


def _empty_state(inputs: Ints, outputs: Ints, at_most: int) -> _State:
    n = len(inputs)
    counts = np.zeros(7, np.int64)
    counts[_HEAD] = counts[_TAIL] = n  # the queue grows both ways: sequences put back stand at its head
    whole, real = np.zeros((2, n), np.int64), np.zeros((3, n))
    lists = np.zeros((2, at_most), np.int64)
    return _State(
        inputs, outputs, whole[0], inputs.copy(), whole[1], real[0], real[1], real[2], lists[0], lists[1],
        np.zeros(2 * n, np.int64), counts, np.zeros(2),
    )  # fmt: skip
