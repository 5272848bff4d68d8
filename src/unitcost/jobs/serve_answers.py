"""What the serving planner is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from unitcost.facts.estimates import Estimate
from unitcost.jobs.fleet_answers import FleetPlan
from unitcost.jobs.plan_serve_cold import ColdAsk
from unitcost.jobs.serve_cache import CacheTerms
from unitcost.jobs.serve_prompt_cache import PromptCache
from unitcost.serving.outcome import Latency
from unitcost.serving.search import Limits, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeAsk:
    """What is asked.

    Parameters
    ----------
    model
        Any usual spelling, or the folder of its `config.json`.
    limits
        Targets of the 95th percentiles.
    trace, more_traces, hash_tokens
        File of requests or log of calls, further ones of the same time, and the tokens of a hashed block where none says.
    calls
        Instead of files: calls of this model in the ledger, or `all`; empty: not asked.
    requests
        Only the first so many; 0: all.
    curve, lengths, lengths_group, per_day
        Instead of a trace: a rate over time, quantiles of lengths, the clients that count, and the requests of a mean day that the
        curve is scaled to; 0: as it is. Of a curve the first `duration_s` count; 0: all.
    per_s, input_tokens, output_tokens, duration_s
        Instead of a trace: a rate, [1 / s], lengths, and for how long, [s].
    gpus, precisions, backend
        Only these; empty: all that step times ship for.
    qualities, quality_bar
        Measured quality by precision or model, and the least that will do.
    calibration
        What `unitcost calibrate serve` wrote.
    cold
        What a cold start is made of.
    cache
        Prediction cache that is tried as a lever.
    """

    model: str
    limits: Limits
    trace: Path | None = None
    more_traces: tuple[Path, ...] = ()
    calls: str = ""
    hash_tokens: int = 0
    requests: int = 0
    curve: Path | None = None
    lengths: Path | None = None
    lengths_group: str = ""
    per_day: float = 0.0
    per_s: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    duration_s: float = 0.0
    gpus: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    backend: str = "vllm"
    qualities: Mapping[str, Decimal] = field(default_factory=dict)
    quality_bar: Decimal | None = None
    calibration: Path | None = None
    most_replicas: int = 64
    cold: ColdAsk = field(default_factory=ColdAsk)
    cache: CacheTerms = field(default_factory=CacheTerms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What was played. [1 / s], [tokens], [s]."""

    name: str
    requests: int
    duration_s: float
    per_s: float
    input_tokens: int
    output_tokens: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOption:
    """An option as it was played and priced.

    Parameters
    ----------
    usd_per_gpu_hour, price_source
        On-demand price, and whose.
    usd_per_mtok_input, usd_per_mtok_output, usd_per_mtok_total
        The whole cost over the input tokens, the output tokens, and both: three views of one cost. [USD / million tokens]
    busy_share, batch_mean
        Time in steps over ready time, and sequences in a step.
    step_times
        What they stand on, and what looks implausible about them.
    """

    name: str
    gpu: str
    precision: str
    gpus_per_replica: int
    replicas: int
    usd_per_gpu_hour: Decimal
    price_source: str
    usd_per_hour: Decimal
    usd_per_month: Decimal | None
    usd_per_mtok_input: Decimal | None
    usd_per_mtok_output: Decimal | None
    usd_per_mtok_total: Decimal | None
    usd_per_1k_requests: Decimal | None
    latencies: Mapping[str, Latency]
    busy_share: float
    idle_usd_share: float
    batch_mean: float
    good_share: float
    misses: tuple[str, ...]
    needs_check: str
    step_times: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """How far measured runs were from what step times say, for what is known of the chosen deployment.

    Parameters
    ----------
    known
        How much is known of it.
    ttft_p95_s, tpot_p95_s
        With the 5 and 95 % quantiles of measured over predicted. [s]
    usd_per_month
        With the fewest replicas were each step as much faster or slower. [USD / month]
    replicas
        The same replicas: (fewest, as planned, most); None where no number keeps the targets.
    """

    known: str
    ttft_p95_s: Estimate | None
    tpot_p95_s: Estimate | None
    usd_per_month: Estimate
    replicas: tuple[int, int, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paying:
    """Another way to pay for the chosen fleet.

    Parameters
    ----------
    machine
        Provider, machine and region.
    on_demand_usd_per_gpu_hour
        Of the same machine in the same region, on demand; None: no such price is known. [USD / hour]
    where
        Whether it is the machine of the plan, and whether it is dearer than the plan.
    """

    category: str
    machine: str
    usd_per_gpu_hour: Decimal
    on_demand_usd_per_gpu_hour: Decimal | None
    usd_per_month: Decimal
    source: str
    remark: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOffer:
    """The same traffic bought from an API.

    Parameters
    ----------
    flips
        (tokens a month, who is cheaper from there on), own replicas against this API at this mix of input and output.
    """

    provider: str
    model: str
    usd_per_month: Decimal
    usd_per_mtok_total: Decimal
    usd_per_mtok_input: Decimal
    usd_per_mtok_output: Decimal
    needs_check: str
    flips: tuple[tuple[Decimal, str], ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """A lever and what the plan then is.

    Parameters
    ----------
    option, replicas
        What is then run; empty, 0 for an API.
    usd_change_share
        Cost per million tokens over that of the plan, less one.
    ttft_p95_s, tpot_p95_s
        [s]; None where nothing is known of them.
    quality
        Whether the answers are still the same.
    remark
        What to know about it: targets that are missed, "don't".
    """

    lever: str
    option: str
    replicas: int
    usd_per_mtok_total: Decimal | None
    usd_per_mtok_output: Decimal | None
    usd_per_month: Decimal | None
    usd_change_share: float | None
    ttft_p95_s: float | None
    tpot_p95_s: float | None
    quality: str
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPoint:
    """What the cheapest option costs when all targets are so many times as loose; None: nothing keeps them."""

    times: float
    usd_per_mtok_total: Decimal | None
    option: str
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Levers:
    """Answer: the rows, and the curve of the targets."""

    rows: tuple[Lever, ...]
    curve: tuple[TargetPoint, ...]
    cold_start_s: float
    cold_start: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServePlan:
    """Answer.

    Parameters
    ----------
    chosen
        Cheapest that keeps the targets and whose quality is not in doubt; None: none does.
    after_check
        Cheaper still, were its quality found to do; None: nothing is.
    options
        Each finalist with the fewest replicas, the cheapest first.
    frontier
        Than which nothing that was played is both cheaper and faster to the first token.
    prompt_cache
        Where its hits went; None: the trace has no hashes of prompts, or nothing keeps the targets.
    off_reason
        Why engines keep no prefixes of prompts for this model; empty: they do.
    """

    ask: ServeAsk
    traffic: Traffic
    chosen: ServeOption | None
    after_check: ServeOption | None
    options: tuple[ServeOption, ...]
    frontier: tuple[ServeOption, ...]
    played: tuple[ServeOption, ...]
    bands: Bands | None
    paying: tuple[Paying, ...]
    api: tuple[ApiOffer, ...]
    ruled_out: tuple[Refused, ...]
    runs: int
    sampled_requests: int
    messages: tuple[str, ...]
    levers: Levers | None = None
    fleets: FleetPlan | None = None
    prompt_cache: PromptCache | None = None
    off_reason: str = ""
