"""Which accelerators, how many, laid out how: time and cost of a training run for each option, and why some are ruled out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate
from unitcost.facts.training_runs import MeasuredRate
from unitcost.machine.accelerators import Chip, Precision
from unitcost.machine.memory import TrainingLayout, largest_micro_batch, mends, training_memory
from unitcost.machine.shapes import ModelShape
from unitcost.training.throughput import Speed, SpeedModel, TrainingSetup
from unitcost.units import SECONDS_PER_HOUR

#: More tokens than this are a slip of the pen.
MOST_TOKENS = 1e18
#: Largest micro-batch that is looked for. [sequences]
_MOST_SEQUENCES = 32
_TENSOR_SIZES = (1, 2, 4, 8)
#: What a number of accelerators that was not measured may lose. [share]
_ASSUMED_SCALING_LOSS = 0.3
#: More tokens than this for a large batch are said. [share]
_WORTH_SAYING = 0.005
#: From here on hours are said without a fraction. [h]
_WHOLE_HOURS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAsk:
    """A run that is to be planned.

    Parameters
    ----------
    tokens
        Tokens to train on at a small batch.
    global_batch
        Sequences of a step; None = as many as fit.
    critical_batch
        Batch at which twice the tokens are needed, [sequences]; None = not counted.
    source
        Whose code it is, where measured rows are of the same.
    """

    shape: ModelShape
    tokens: float
    seq_len: int
    precision: Precision = "bf16"
    compiled: bool = False
    global_batch: int | None = None
    critical_batch: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        positive = (self.tokens, float(self.seq_len), float(self.global_batch or 1), self.critical_batch or 1.0)
        if not all(math.isfinite(value) and value > 0 for value in positive):
            raise BadSetting("tokens, sequence and batches must be above zero", mend="correct --tokens or the scenario")
        if self.tokens > MOST_TOKENS:
            raise BadSetting(f"{self.tokens:.3g} tokens are more than any run trains on", mend="correct --tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Accelerators that a run may hold.

    Parameters
    ----------
    usd_per_accelerator_hour
        On demand; None = no price is known. [USD / hour]
    spot_usd_per_accelerator_hour
        The same on spot.
    machine
        What they are rented as, and where.
    """

    chip: Chip
    accelerators: int
    usd_per_accelerator_hour: float | None = None
    spot_usd_per_accelerator_hour: float | None = None
    machine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOption:
    """A way to make the run.

    Parameters
    ----------
    layout, memory_gib
        How it is laid out and what an accelerator then holds, [GiB]; the layout is None when nothing fits.
    speed
        Tokens a second and accelerator.
    tokens
        Tokens that the batch needs.
    hours, usd
        Time, [h], and cost on demand, [USD]; None when ruled out, or without a price.
    ruled_out
        Why it is no answer; empty when it is.
    remarks
        What a reader should know.
    """

    capacity: Capacity
    layout: TrainingLayout | None = None
    memory_gib: float = math.nan
    speed: Speed | None = None
    tokens: float = math.nan
    hours: Estimate | None = None
    usd: Estimate | None = None
    ruled_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def plan_option(
    ask: TrainingAsk, capacity: Capacity, model: SpeedModel, deadline_hours: float | None = None
) -> RunOption:
    """Time and cost of a run on some accelerators.

    Parameters
    ----------
    deadline_hours
        An option that is expected to take longer is ruled out. [h]
    """
    missing = ask.precision not in capacity.chip.dense_tflop_per_s
    layout = layout_for(ask, capacity)
    if layout is None or missing:
        reason = f"{capacity.chip.name} has no {ask.precision}" if missing else _too_large(ask, capacity)
        return RunOption(capacity=capacity, ruled_out=(reason,))
    option = _timed(ask, capacity, layout, model)
    if option.hours is not None and option.hours.basis == "measured":
        smaller = [_timed(ask, capacity, tried, model) for tried in _smaller_batches(ask, layout)]
        option = min([option, *smaller], key=lambda o: o.hours.value if o.hours else math.inf)
    more = option.tokens / ask.tokens - 1
    remarks = (f"{more:.0%} more tokens for its batch",) if more >= _WORTH_SAYING else ()
    return _judged(replace(option, remarks=remarks), deadline_hours)


def _smaller_batches(ask: TrainingAsk, layout: TrainingLayout) -> list[TrainingLayout]:
    """Micro-batches below the largest that are worth a try: where a large batch needs more tokens.

    Only measured rows tell how much less busy a small batch leaves an accelerator.
    """
    if ask.critical_batch is None or ask.global_batch:
        return []
    below = (2**power for power in range((layout.micro_batch - 1).bit_length()))
    return [replace(layout, micro_batch=size) for size in below]


def _timed(ask: TrainingAsk, capacity: Capacity, layout: TrainingLayout, model: SpeedModel) -> RunOption:
    """Time, cost and memory of one layout."""
    speed = model.predict(_setup(ask, capacity, layout))
    tokens = ask.tokens * _growth(ask, layout)
    seconds = tokens / capacity.accelerators
    per_s = speed.tokens_per_s
    hours = Estimate(
        value=seconds / per_s.value / SECONDS_PER_HOUR, low=seconds / per_s.high / SECONDS_PER_HOUR,
        high=seconds / per_s.low / SECONDS_PER_HOUR, basis=per_s.basis, because=per_s.because,
    )  # fmt: skip
    price = capacity.usd_per_accelerator_hour
    return RunOption(
        capacity=capacity, layout=layout, memory_gib=training_memory(ask.shape, layout).total_gib, speed=speed,
        tokens=tokens, hours=hours, usd=None if price is None else hours.times(price * capacity.accelerators),
    )  # fmt: skip


def rated_option(
    units: float, capacity: Capacity, rate: MeasuredRate, deadline_hours: float | None = None
) -> RunOption:
    """Time and cost of work whose speed was measured on the accelerator itself.

    Parameters
    ----------
    units
        Samples, images, steps: whatever the rate counts.
    """
    measured = rate.accelerators == capacity.accelerators
    all_of_them = rate.units_per_s * capacity.accelerators
    value = units / all_of_them / SECONDS_PER_HOUR
    hours = Estimate(
        value=value, low=value, high=value if measured else value / (1 - _ASSUMED_SCALING_LOSS),
        basis="measured" if measured else "assumed",
        because=f"measured on {rate.accelerators} x {rate.chip} ({rate.row})"
        + ("" if measured else f"; up to {_ASSUMED_SCALING_LOSS:.0%} is assumed to be lost on another number"),
    )  # fmt: skip
    price = capacity.usd_per_accelerator_hour
    option = RunOption(
        capacity=capacity, tokens=units, hours=hours,
        usd=None if price is None else hours.times(price * capacity.accelerators),
    )  # fmt: skip
    return _judged(option, deadline_hours)


def _judged(option: RunOption, deadline_hours: float | None) -> RunOption:
    ruled_out, remarks = [], list(option.remarks)
    if option.usd is None:
        ruled_out.append("no price is known")
    if deadline_hours is not None and option.hours is not None:
        if option.hours.value > deadline_hours:
            ruled_out.append(f"expected to take {_hours(option.hours.value)}, the deadline is {_hours(deadline_hours)}")
        elif option.hours.high > deadline_hours:
            remarks.append(f"may be late: up to {_hours(option.hours.high)}")
    return replace(option, ruled_out=tuple(ruled_out), remarks=tuple(remarks))


def _hours(value: float) -> str:
    return f"{value:,.0f} h" if value >= _WHOLE_HOURS else f"{value:.2g} h"


def layout_for(ask: TrainingAsk, capacity: Capacity) -> TrainingLayout | None:
    """Layout that fits and keeps accelerators busiest: no recomputation first, then full, then tensor parallelism.

    Weights, gradients and optimiser states are sharded (ZeRO stage 3). None when nothing fits.
    """
    for tensor in _TENSOR_SIZES:
        if tensor > capacity.accelerators or capacity.accelerators % tensor:
            continue
        for recompute in ("selective", "full"):
            most = _MOST_SEQUENCES
            if ask.global_batch:
                most = max(1, min(most, ask.global_batch * tensor // capacity.accelerators))
            layout = TrainingLayout(
                accelerators=capacity.accelerators, seq_len=ask.seq_len, zero_stage=3, tensor_parallel=tensor,
                recompute=recompute,
            )  # fmt: skip
            size = largest_micro_batch(ask.shape, layout, capacity.chip.memory_gib, most=most)
            if size:
                return replace(layout, micro_batch=size)
    return None


def _setup(ask: TrainingAsk, capacity: Capacity, layout: TrainingLayout) -> TrainingSetup:
    return TrainingSetup(
        shape=ask.shape, chip=capacity.chip, accelerators=capacity.accelerators, seq_len=ask.seq_len,
        micro_batch=layout.micro_batch, precision=ask.precision, recompute=layout.recompute == "full",
        compiled=ask.compiled, source=ask.source,
    )  # fmt: skip


def _growth(ask: TrainingAsk, layout: TrainingLayout) -> float:
    """Tokens that the batch needs over those of a very small one."""
    if ask.critical_batch is None:
        return 1.0
    batch = ask.global_batch or layout.micro_batch * layout.accelerators / layout.tensor_parallel
    return 1 + batch / ask.critical_batch


def _too_large(ask: TrainingAsk, capacity: Capacity) -> str:
    """Why a model does not fit, and the nearest change that makes it."""
    layout = TrainingLayout(
        accelerators=capacity.accelerators, seq_len=ask.seq_len, zero_stage=3, recompute="full"
    )  # fmt: skip
    needed = training_memory(ask.shape, layout).total_gib
    changes = mends(ask.shape, layout, capacity.chip.memory_gib)
    nearest = f"; nearest change that fits: {changes[0].words}" if changes else "; no single change makes it fit"
    return f"does not fit: needs {needed:,.0f} GiB of {capacity.chip.memory_gib:.0f} on each{nearest}"


def rank(options: Iterable[RunOption]) -> list[RunOption]:
    """Options that are answers, cheapest first, then those that are ruled out."""
    return sorted(options, key=_order)


def _order(option: RunOption) -> tuple[bool, float, str, int]:
    usd = option.usd.value if option.usd else math.inf
    return (bool(option.ruled_out), usd, option.capacity.chip.name, option.capacity.accelerators)


def frontier(options: Sequence[RunOption]) -> list[RunOption]:
    """Options that none other beats in both time and cost, fastest first."""
    answers = [option for option in options if not option.ruled_out and option.hours and option.usd]
    kept: list[RunOption] = []
    for option in sorted(answers, key=lambda o: (o.hours.value if o.hours else 0.0, o.usd.value if o.usd else 0.0)):
        usd = option.usd.value if option.usd else math.inf
        if not kept or usd < (kept[-1].usd.value if kept[-1].usd else math.inf):
            kept.append(option)
    return kept


def cheapest(options: Iterable[RunOption], *, usd_per_hour_of_time: float = 0.0) -> RunOption | None:
    """Answer of the least cost, time counted at what it is worth; None when all are ruled out."""
    answers = [o for o in options if not o.ruled_out and o.hours and o.usd]
    return min(
        answers, key=lambda o: (o.usd.value if o.usd else 0.0) + usd_per_hour_of_time * (o.hours.value if o.hours else 0.0),
        default=None,
    )  # fmt: skip
