"""Plan a training run: time, cost, memory, batch, cheaper ways, spot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from unitcost.errors import BadSetting
from unitcost.facts.estimates import Estimate
from unitcost.facts.training_runs import MeasuredRun
from unitcost.jobs.plan_prices import WHOLE_MACHINE, Priced, Prices, chips_of
from unitcost.jobs.plan_spot import plan_spot
from unitcost.jobs.spot_answers import SpotAsk, SpotPlan
from unitcost.machine.accelerators import Chip, chip
from unitcost.machine.flops import flop_per_token
from unitcost.machine.memory import Mend, TrainingLayout, mends, training_memory
from unitcost.readers import training_runs
from unitcost.training.batch import BatchLaw, fit_batch_law
from unitcost.training.levers import LEVERS, SpeedUp, packing
from unitcost.training.rightsizing import (
    Capacity,
    RunOption,
    TrainingAsk,
    cheapest,
    frontier,
    plan_option,
    rank,
    rated_option,
)
from unitcost.training.throughput import SpeedModel, shipped_runs
from unitcost.units import GB, GIB, SECONDS_PER_HOUR

#: Numbers of accelerators that the frontier tries.
_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
#: Accelerators tried beside the one asked for.
_OTHERS = ("A100-80GB", "H100-80GB", "H200", "B200", "MI300X", "L40S")
_ASSUMED_UP_HOURS = 6.0
#: Without a deadline a run on spot may take so many times as long.
_SPOT_TIMES = 1.5
#: Bytes of a parameter in a checkpoint: weight in half precision; weight, momentum and variance in full.
_CHECKPOINT_BYTES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainScenario:
    """What is asked.

    Parameters
    ----------
    ask
        The run.
    accelerator, count
        `any` ranks all whose price is known. A count of None tries several.
    deadline_hours
        None = no deadline; then one accelerator is cheapest, and the frontier is the answer.
    usd_per_hour_of_time
        What an hour earlier is worth. [USD / hour]
    measured
        Table of own measured rows; they win near what was measured.
    spot
        What is known of spot capacity; hours, deadline, nodes and prices are filled in. None = no spot plan.
    padding_share
        Part of the tokens that is padding.
    rates
        Table of measured speeds by accelerator, for models that are not counted in tokens: `ask.tokens` are then its units.
    batches
        Table of runs of several batches to one target; the critical batch is fitted from them.
    """

    ask: TrainingAsk
    accelerator: str
    count: int | None = None
    deadline_hours: float | None = None
    usd_per_hour_of_time: float = 0.0
    measured: Path | None = None
    spot: SpotAsk | None = None
    padding_share: float = 0.0
    rates: Path | None = None
    batches: Path | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.usd_per_hour_of_time) and self.usd_per_hour_of_time >= 0):
            raise BadSetting(
                f"an hour of time cannot be worth {self.usd_per_hour_of_time:g} USD", mend="give zero or more"
            )
        if self.deadline_hours is not None and not self.deadline_hours > 0:
            raise BadSetting("the deadline has passed", mend="give the time from start to deadline, such as 10d")
        if self.count and self.rates is None and self.count * self.ask.seq_len > self.ask.tokens:
            raise BadSetting(
                f"{self.ask.tokens:g} tokens are not one sequence for each of {self.count} accelerators",
                mend="give fewer with --count",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainPlan:
    """Answer.

    Parameters
    ----------
    asked
        What was asked for, as it is.
    best
        Cheapest answer that meets the deadline, time counted at its value; None when there is none.
    options
        All that was tried, cheapest first, then those ruled out.
    frontier
        Options that none beats in both time and cost, fastest first.
    flop
        Operations of the whole run, attention counted causally. [FLOP]
    mends
        Changes that make the asked run fit, when it does not.
    spot
        The asked run on spot.
    batch_law
        Fitted from runs of several batches, where they were given.
    """

    scenario: TrainScenario
    asked: RunOption | None
    best: RunOption | None
    options: tuple[RunOption, ...]
    frontier: tuple[RunOption, ...]
    prices: tuple[Priced, ...]
    flop: float
    mends: tuple[Mend, ...]
    spot: SpotPlan | None
    spot_usd: Estimate | None
    levers: tuple[SpeedUp, ...]
    batch_law: BatchLaw | None
    messages: tuple[str, ...]


def plan_train(scenario: TrainScenario, prices: Prices) -> TrainPlan:
    """Plan of a training run.

    Raises
    ------
    UnknownName
        When an accelerator is not known.
    BadFile
        When the table of measured rows cannot be read.
    """
    own = training_runs.read(scenario.measured, source="own") if scenario.measured else []
    model = SpeedModel([*shipped_runs(), *own])
    law = fit_batch_law(training_runs.read_batches(scenario.batches)) if scenario.batches else None
    ask = replace(scenario.ask, source=_source_of(own)) if own else scenario.ask
    ask = replace(ask, critical_batch=law.critical) if law else ask
    scenario = replace(scenario, ask=ask)
    if scenario.rates is not None:
        capacities, found = rated_options(scenario, scenario.rates, prices)
    else:
        capacities = _capacities(scenario, prices)
        found = [plan_option(ask, capacity, model, scenario.deadline_hours) for capacity, _ in capacities]
    options = rank(found)
    asked = _asked(scenario, options)
    best = cheapest(options, usd_per_hour_of_time=scenario.usd_per_hour_of_time)
    spot = _spot(scenario, asked if asked and not asked.ruled_out else best)
    return TrainPlan(
        scenario=scenario, asked=asked, best=best, options=tuple(options), frontier=tuple(frontier(options)),
        prices=tuple({priced.chip.name: priced for _, priced in capacities}.values()),
        flop=ask.tokens * flop_per_token(ask.shape, ask.seq_len), mends=_mends(ask, asked), spot=spot,
        spot_usd=_spot_usd(spot), levers=_levers(scenario), batch_law=law,
        messages=tuple(_messages(scenario, asked, best, own)),
    )  # fmt: skip


def _source_of(own: Sequence[MeasuredRun]) -> str:
    """Code base that the user's rows are of: that of most of them."""
    sources = [run.source for run in own]
    return max(sorted(set(sources)), key=sources.count)


def _capacities(scenario: TrainScenario, prices: Prices) -> list[tuple[Capacity, Priced]]:
    wanted = chips_of(scenario.accelerator)
    others = [] if scenario.accelerator.casefold() == "any" else [chips_of(name)[0] for name in _OTHERS]
    chips = list({known.name: known for known in [*wanted, *others]}.values())
    asked = [scenario.count] if scenario.count else []
    return [
        capacity_of(known, count, prices)
        for known in chips
        for count in sorted({*asked, *(_COUNTS if known in wanted[:1] or not asked else asked)})
    ]


def capacity_of(known: Chip, count: int, prices: Prices) -> tuple[Capacity, Priced]:
    priced = prices.priced(known, count)
    rental = priced.on_demand

    def each(price: Decimal | None) -> float | None:
        return None if price is None else float(price)

    capacity = Capacity(
        chip=known, accelerators=count,
        usd_per_accelerator_hour=each(rental.usd_per_accelerator_hour) if rental else None,
        spot_usd_per_accelerator_hour=each(priced.spot.usd_per_accelerator_hour) if priced.spot else None,
        machine=f"{rental.machine}, {rental.region}" if rental else "",
    )  # fmt: skip
    return capacity, priced


def _asked(scenario: TrainScenario, options: Sequence[RunOption]) -> RunOption | None:
    """The option that was asked for: of several memory sizes the first that is not ruled out."""
    if scenario.count is None or scenario.accelerator.casefold() == "any":
        return None
    names = [known.name for known in chips_of(scenario.accelerator)]
    of = [o for o in options if o.capacity.chip.name in names and o.capacity.accelerators == scenario.count]
    return min(of, key=lambda o: (bool(o.ruled_out), names.index(o.capacity.chip.name)), default=None)


def _mends(ask: TrainingAsk, asked: RunOption | None) -> tuple[Mend, ...]:
    if asked is None or asked.layout is not None:
        return ()
    layout = TrainingLayout(accelerators=asked.capacity.accelerators, seq_len=ask.seq_len, recompute="full")
    return tuple(mends(ask.shape, layout, asked.capacity.chip.memory_gib)[:3])


def _spot(scenario: TrainScenario, option: RunOption | None) -> SpotPlan | None:
    """The run on spot: as long as it is expected to take, within its deadline or half as long again."""
    if scenario.spot is None or option is None or option.hours is None:
        return None
    capacity = option.capacity
    if capacity.spot_usd_per_accelerator_hour is None and not scenario.spot.traces:
        return None
    hours = option.hours.value
    deadline = scenario.deadline_hours or _SPOT_TIMES * hours
    if hours + scenario.spot.changeover_s / SECONDS_PER_HOUR > deadline:
        return None
    nodes = max(1, round(capacity.accelerators / WHOLE_MACHINE)) if scenario.spot.nodes == 1 else scenario.spot.nodes
    each = capacity.accelerators / nodes
    ask = replace(
        scenario.spot, hours=hours, deadline_hours=deadline, nodes=nodes,
        mean_up_hours=scenario.spot.mean_up_hours or _ASSUMED_UP_HOURS,
        on_demand_usd_per_hour=_price(capacity.usd_per_accelerator_hour, each),
        spot_usd_per_hour=_price(capacity.spot_usd_per_accelerator_hour, each),
        checkpoint_gb=scenario.spot.checkpoint_gb or checkpoint_gb(scenario.ask),
    )  # fmt: skip
    return plan_spot(ask)


def _price(each: float | None, times: float) -> Decimal | None:
    return None if each is None else Decimal(repr(round(each * times, 6)))


def checkpoint_gb(ask: TrainingAsk) -> float:
    """Size of a checkpoint: weights in half precision, weights and optimiser states in full. [GB]."""
    return ask.shape.params * _CHECKPOINT_BYTES / GB


def _spot_usd(spot: SpotPlan | None) -> Estimate | None:
    if spot is None:
        return None
    return next((option.usd for option in spot.options if option.name == spot.best), None)


def _levers(scenario: TrainScenario) -> tuple[SpeedUp, ...]:
    if not 0 <= scenario.padding_share < 1:
        raise BadSetting(
            f"a padding share of {scenario.padding_share} cannot be", mend="give a share from 0 to below 1"
        )
    return (*LEVERS, packing(scenario.padding_share)) if scenario.padding_share else LEVERS


def _messages(
    scenario: TrainScenario, asked: RunOption | None, best: RunOption | None, own: Sequence[MeasuredRun]
) -> list[str]:
    found = []
    if scenario.deadline_hours is None and not scenario.usd_per_hour_of_time:
        found.append(
            "Without a deadline or a value of time the fewest accelerators that fit are always near the cheapest; see the"
            " frontier."
        )
    if asked is not None and asked.ruled_out:
        found.append(f"What was asked for is ruled out: {'; '.join(asked.ruled_out)}.")
    if best is None:
        found.append("No option meets what was asked.")
    if scenario.ask.shape.inferred:
        found.append(f"Depth and width of a model of {scenario.ask.shape.params:.3g} parameters are guessed.")
    if not own:
        found.append(
            "No measured row of your own code: the interval covers other code bases. Give one with --measured, and it narrows."
        )
    return found


def memory_of(option: RunOption, ask: TrainingAsk) -> dict[str, float]:
    """What an accelerator holds, by part. [GiB]."""
    if option.layout is None:
        return {}
    use = training_memory(ask.shape, option.layout)
    return {
        "weights": use.weights_bytes / GIB, "gradients": use.gradients_bytes / GIB,
        "optimiser states": use.optimiser_bytes / GIB, "activations": use.activations_bytes / GIB,
        "logits": use.logits_bytes / GIB,
    }  # fmt: skip


def rated_options(
    scenario: TrainScenario, rates: Path, prices: Prices
) -> tuple[list[tuple[Capacity, Priced]], list[RunOption]]:
    """Options of a model whose speed was measured on each accelerator, in units a second of one of them.

    On a number of accelerators that was not measured the speed is that of the nearest row, scaled: as good as perfect, at
    worst with the loss that is assumed.
    """
    rows = [replace(row, chip=chip(row.chip).name) for row in training_runs.read_rates(rates)]
    wanted = {known.name for known in chips_of(scenario.accelerator)}
    found, options = [], []
    for known in sorted({row.chip for row in rows if row.chip in wanted}):
        mine = [row for row in rows if row.chip == known]
        counts = {scenario.count} if scenario.count else {row.accelerators for row in mine}
        for count in sorted(counts):
            near = min(mine, key=lambda row: (abs(row.accelerators - count), row.accelerators))
            capacity, priced = capacity_of(chips_of(known)[0], count, prices)
            found.append((capacity, priced))
            options.append(rated_option(scenario.ask.tokens, capacity, near, scenario.deadline_hours))
    if not options:
        raise BadSetting(
            f"no measured rate is of {scenario.accelerator}", where=rates.name, mend="give rows with its accelerators"
        )
    return found, options
