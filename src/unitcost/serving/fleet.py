"""What serves: the engine of a replica, how many replicas there are, and how they come and go."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from unitcost.errors import BadSetting
from unitcost.machine.steps import StepGrid

Scheduler = Literal["decode first", "prefill first", "whole prompt", "static"]
Routing = Literal["round robin", "least loaded", "prefix affinity"]
Category = Literal["reserved", "spot", "on-demand"]
State = Literal["off", "provisioning", "loading", "standby", "ready", "draining"]
Change = Literal["notice", "kill", "back"]
#: Attention that keeps a state for the whole prompt instead of a block per so many tokens.
_NO_BLOCKS = ("mamba", "hybrid", "linear", "rwkv", "ssm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How a replica batches.

    Parameters
    ----------
    scheduler
        `decode first`: each step takes one token of every running sequence, then prefill chunks up to `max_step_tokens`
        (vLLM). `prefill first`: steps of prefill chunks alone as long as any can be admitted, decode otherwise (SGLang).
        `whole prompt`: the same without splitting prompts. `static`: a batch enters and leaves together.
    max_batch
        Sequences that run at once; None takes that of the grid.
    max_step_tokens
        Tokens of a step.
    block_tokens
        Size of a block of the KV cache.
    prefix_caching
        Whether full blocks of prompts are kept for later ones.
    max_delay_s
        How long a batch waits to fill, with `static`. [s]
    """

    scheduler: Scheduler = "decode first"
    max_batch: int | None = None
    max_step_tokens: int = 8192
    block_tokens: int = 16
    prefix_caching: bool = True
    max_delay_s: float = 0.0

    def __post_init__(self) -> None:
        if self.max_batch is not None and self.max_batch < 1:
            raise BadSetting("max_batch is below 1", mend="a replica runs at least one sequence")
        if min(self.max_step_tokens, self.block_tokens) < 1 or not 0 <= self.max_delay_s < math.inf:
            raise BadSetting(
                "a step or a block without a token, or a negative delay", mend="give numbers of at least 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStart:
    """What passes before a replica answers.

    Parameters
    ----------
    provision_s
        Until the machine is there. [s]
    image_s, warm_up_s
        Fetching the image; compiling and capturing graphs. [s]
    weights_bytes, bandwidth_bytes_per_s
        What is loaded, and how fast.
    wake_s
        From the warm pool to ready. [s]
    """

    provision_s: float = 0.0
    image_s: float = 0.0
    weights_bytes: float = 0.0
    bandwidth_bytes_per_s: float = 1.0
    warm_up_s: float = 0.0
    wake_s: float = 0.0

    def __post_init__(self) -> None:
        spans = (self.provision_s, self.image_s, self.weights_bytes, self.warm_up_s, self.wake_s)
        if not all(0 <= span < math.inf for span in spans) or not 0 < self.bandwidth_bytes_per_s < math.inf:
            raise BadSetting("a part of the cold start is negative or without end", mend="give seconds from 0 up")

    @property
    def loading_s(self) -> float:
        """``image + weights / bandwidth + warm-up``. [s]."""
        return self.image_s + self.weights_bytes / self.bandwidth_bytes_per_s + self.warm_up_s

    @property
    def total_s(self) -> float:
        """From nothing to ready. [s]."""
        return self.provision_s + self.loading_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """Replicas by load: ``ceil(unanswered requests / target_in_flight)``.

    Parameters
    ----------
    target_in_flight
        Unanswered requests that one replica should have.
    interval_s
        How often it looks. [s]
    stabilisation_s
        It stops only what was not wanted at any look within this time. [s]
    surge
        Most replicas it starts at one look.
    cooldown_s
        Least time between two looks that stop something. [s]
    """

    target_in_flight: float
    interval_s: float = 15.0
    stabilisation_s: float = 300.0
    surge: int = 4
    cooldown_s: float = 0.0

    def __post_init__(self) -> None:
        if not (self.target_in_flight > 0 and 0 < self.interval_s < math.inf and self.surge >= 1):
            raise BadSetting("an autoscaler needs a target, an interval and a surge above zero")
        if not (0 <= self.stabilisation_s < math.inf and 0 <= self.cooldown_s < math.inf):
            raise BadSetting("a window of the autoscaler is negative or without end")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleToZero:
    """No replica while nobody asks.

    Parameters
    ----------
    idle_timeout_s
        After how long without a request the last replicas stop. [s]
    max_wait_s
        How long the gateway holds a request; one that waits longer counts as a missed target. [s]
    """

    idle_timeout_s: float
    max_wait_s: float = math.inf

    def __post_init__(self) -> None:
        if self.idle_timeout_s < 0 or self.max_wait_s < 0:
            raise BadSetting("a timeout is below zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityEvent:
    """What happens to the capacity of one place: a notice, its loss, its return.

    Parameters
    ----------
    at_s
        Time since the beginning of the trace. [s]
    replica
        Number of the place, from 0; see `Fleet.categories`.
    """

    at_s: float
    replica: int
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRate:
    """How often a spot replica is lost.

    Parameters
    ----------
    per_hour
        Losses of one replica. [1 / hour]
    notice_s
        Warning before a loss. [s]
    return_s
        Mean time until its capacity can be had again. [s]
    """

    per_hour: float
    notice_s: float = 120.0
    return_s: float = 600.0

    def __post_init__(self) -> None:
        if not (0 <= self.per_hour < float("inf") and self.notice_s >= 0 and self.return_s > 0):
            raise BadSetting("a loss rate or a notice below zero, or capacity that is back at once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Replicas of one model on one kind of machine.

    Parameters
    ----------
    grid
        Step times and memory of a replica.
    places
        How many replicas of each category there may be. Reserved ones are preferred, then spot, then on-demand, so that
        on-demand places are the fallback for lost spot capacity.
    minimum, initial
        Replicas kept at least, and there at the beginning; None: all places, the minimum.
    spare
        Replicas on top of what the load asks for.
    spare_on_spot
        Whether only spot places hold them: on-demand places then stand in for spot below what the load asks for, and no further.
    warm_pool
        Replicas kept in standby.
    affinity_slack
        Prefix affinity leaves a replica out that has this many more unanswered requests than the least loaded one.
    losses
        Rate at which spot places are lost; drawn with the seed of the simulation.
    events
        Losses and returns of capacity, in any order.
    """

    grid: StepGrid
    places: Mapping[Category, int]
    engine: Engine = field(default_factory=Engine)
    routing: Routing = "least loaded"
    affinity_slack: int = 4
    minimum: int | None = None
    initial: int | None = None
    spare: int = 0
    spare_on_spot: bool = False
    warm_pool: int = 0
    cold_start: ColdStart = field(default_factory=ColdStart)
    autoscaler: Autoscaler | None = None
    scale_to_zero: ScaleToZero | None = None
    losses: LossRate | None = None
    events: tuple[CapacityEvent, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.categories)
        if count < 1 or min(self.places.values()) < 0:
            raise BadSetting("a fleet without a place for a replica", mend="give places, such as {'on-demand': 1}")
        if not 0 <= self.least <= count or not 0 <= self.first <= count - self.warm_pool or self.warm_pool < 0:
            raise BadSetting(f"minimum, initial and warm pool do not fit into {count} places", mend="give more places")
        if min(self.spare, self.affinity_slack) < 0 or any(not 0 <= e.replica < count for e in self.events):
            raise BadSetting("a negative spare or slack, or an event of a place that is not there")

    @property
    def categories(self) -> tuple[Category, ...]:
        """Category of each place, the preferred ones first."""
        order: tuple[Category, ...] = ("reserved", "spot", "on-demand")
        return tuple(category for category in order for _ in range(self.places.get(category, 0)))

    @property
    def least(self) -> int:
        """Replicas kept at least."""
        if self.minimum is not None:
            return self.minimum
        return 0 if self.scale_to_zero else len(self.categories) - self.warm_pool

    @property
    def first(self) -> int:
        """Replicas at the beginning."""
        return self.least if self.initial is None else self.initial


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What an answer must keep to count. None: no target. [s].

    Parameters
    ----------
    ttft_s, tpot_s, e2e_s
        Time to the first token, time per further token, time to the last token.
    """

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None


def prefix_caching_works(attention: str) -> tuple[bool, str]:
    """Whether an engine can share the prefix of prompts for a kind of attention, and why not.

    Models with a recurrent state (Mamba, linear attention, and hybrids of these) keep one state per sequence: there is no
    block per so many tokens to share, and engines switch the cache off for them.
    """
    known = attention.casefold()
    if any(word in known for word in _NO_BLOCKS):
        return False, f"prefix caching is off: {attention} keeps a state per sequence, not a block per so many tokens"
    return True, ""
