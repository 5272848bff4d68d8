"""Ways to serve the same predictions, what is asked of them, and the answer which of them is cheapest."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost.facts.qualities import CacheHits
from unitcost.facts.verdicts import Verdict
from unitcost.money import ZERO
from unitcost.units import PER_THOUSAND

#: What a speed stands on; an estimate is never recommended.
OptionBasis = Literal["measured", "stated", "estimated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to serve: a model in a form, on a machine, at a setting.

    Parameters
    ----------
    machine
        Where it runs; empty when that is not told.
    usd_per_hour
        Price of one replica, or None. [USD/h]
    usd_per_unit
        Price of one prediction or token of an API, or None; it takes the place of an hourly price. [USD]
    per_s
        Units that one replica makes at the latency target, or None. [1/s]
    latencies_s
        Measured percentiles: ("p99", 0.015). [s]
    memory_bytes
        Largest resident memory of a replica, or None. [bytes]
    quality
        Value of the metric, or None; as measured at the batch size and in the precision of the speed.
    items
        Labelled items that the quality was measured on; 0 = not told.
    precision
        Number format that the runtime really computed in; empty when that is not told.
    basis
        What the speed stands on.
    added_usd_per_unit
        What each unit costs besides, such as the lookup of a cache. [USD]
    cache, fronts
        What a cache did, and the name of the option that it stands in front of; None and empty without a cache.
    """

    name: str
    machine: str = ""
    usd_per_hour: Decimal | None = None
    usd_per_unit: Decimal | None = None
    per_s: float | None = None
    latencies_s: tuple[tuple[str, float], ...] = ()
    memory_bytes: int | None = None
    quality: float | None = None
    items: int = 0
    precision: str = ""
    basis: OptionBasis = "stated"
    note: str = ""
    added_usd_per_unit: Decimal = ZERO
    cache: CacheHits | None = None
    fronts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Traffic.

    Parameters
    ----------
    per_day
        Useful units a day, or None when traffic is not told; then `utilisation` stands for it.
    peak_per_s
        Highest rate that must be served inside the target, or None: the mean rate. [1/s]
    utilisation
        Share of its throughput that a replica is busy for, used only without `per_day`.
    per
        Units that a cost is given for: 1,000 predictions, 1,000,000 tokens.
    unit
        What these are called.
    """

    per_day: float | None = None
    peak_per_s: float | None = None
    utilisation: float = 1.0
    per: Decimal = PER_THOUSAND
    unit: str = "1k predictions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an option must keep.

    Parameters
    ----------
    latencies_s
        Percentile and its limit. [s]
    bar
        Least quality, or None.
    is_more_better
        Whether a higher value of the metric is the better one.
    is_share_right
        Whether quality is a share of right answers, or may be taken for one; what is wrong is counted only then.
    reference
        Option whose quality must be kept within the margin of the verdicts; empty = none.
    error_cost_usd
        What a wrong answer costs the business, or None when that is not told. [USD]
    """

    latencies_s: tuple[tuple[str, float], ...] = ()
    memory_bytes: int | None = None
    bar: float | None = None
    is_more_better: bool = True
    is_share_right: bool = True
    reference: str = ""
    error_cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """Why an option does not take part: the limit, such as `p95` or `quality`, and a sentence."""

    by: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """An option with its cost.

    Parameters
    ----------
    replicas
        Whole replicas that the peak needs; None when traffic is not told.
    infra_usd, total_usd, total_low_usd, total_high_usd
        Per the unit of the demand: what serving costs, and with the cost of errors and its 95 % interval. [USD]
    break_even_error_usd
        What a wrong answer may cost before this option is dearer than the reference; None where that has no meaning. [USD]
    ruled_out
        Reasons; empty when it takes part.
    on_front
        Whether no other measured option is better in one of cost, latency and quality without being worse in another.
    """

    option: Option
    replicas: int | None
    infra_usd: Decimal | None
    error_share: float | None
    total_usd: Decimal | None
    total_low_usd: Decimal | None
    total_high_usd: Decimal | None
    break_even_error_usd: Decimal | None
    verdict: Verdict | None
    ruled_out: tuple[RuledOut, ...]
    on_front: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which option is cheapest at fixed quality.

    Parameters
    ----------
    cheapest
        Name of the option, with its machine after an at-sign; empty when there is no answer.
    reason
        Why it, or why none.
    notes
        What the reader must know.
    """

    cheapest: str
    reason: str
    ranked: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()
