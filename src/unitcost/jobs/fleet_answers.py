"""What is asked and answered of fleets over a long stretch of traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from unitcost.serving.occupancy import ReplicaHours


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetAsk:
    """What is asked.

    Parameters
    ----------
    warm_pool
        Replicas in standby; 0: the fewest that keep the targets.
    standby_usd_per_gpu_hour
        Price of a GPU in the warm pool, [USD / hour]; None: as in service.
    kills_per_hour, away_s, notice_s
        How often a spot replica is lost, [1 / hour]; mean time until its capacity is back, [s]; warning before, [s].
    spot_trace, trace_means, gap_s
        Instead of the rate: a recording of how many nodes could be had; what a 1 means and the length of a tick, [s], where it
        does not say.

    Notes
    -----
    The rate and the time away are about the middle of 18 recordings of AWS and Google Cloud capacity from 2022 to 2025, of V100, K80
    and H100 machines, that are published with SkyPilot's "Can't Be Late" (Wu et al., NSDI 2024): losses per node and hour from
    0.007 to 2.1, median 0.49; mean time away from 0.2 to 31 hours, median 1.6.
    """

    warm_pool: int = 0
    standby_usd_per_gpu_hour: Decimal | None = None
    kills_per_hour: float = 0.5
    away_s: float = 5400.0
    notice_s: float = 120.0
    spot_trace: Path | None = None
    trace_means: str | None = None
    gap_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """A way to keep replicas, played on the whole traffic.

    Parameters
    ----------
    setting
        The smallest that keeps the targets, in words.
    usd_per_day, usd_per_mtok_total
        None: it was not played, or nothing was answered.
    usd_per_day_draws
        With each draw of the losses of spot that was played. The cost and the replica-hours of the row are their mean; latencies and the
        replicas over time are those of the draw with the fewest requests inside the targets.
    good_share
        Requests answered inside all targets, of all.
    cold_usd_share, warm_usd_share
        Of the cost.
    thrown_back
        Times that a request lost its replica and was computed again.
    ready_replicas
        Mean number in each slot of the chart.
    change_share
        Cost over that of the fixed fleet, less one; None: it was not played.
    verdict
        Whether it is taken, and why not.
    """

    name: str
    setting: str
    usd_per_day: Decimal | None
    usd_per_day_draws: tuple[Decimal, ...]
    usd_per_mtok_total: Decimal | None
    ttft_p95_s: float | None
    tpot_p95_s: float | None
    good_share: float | None
    unanswered: int
    thrown_back: int
    hours: ReplicaHours | None
    cold_usd_share: float
    warm_usd_share: float
    ready_replicas: Sequence[float]
    spot_replicas: Sequence[float]
    change_share: float | None
    meets: bool
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """Answer.

    Parameters
    ----------
    chosen
        Name of the cheapest row that keeps the targets; empty: none does.
    slot_s
        Length of a slot of the series. [s]
    requests_per_s
        Demand in each slot. [1 / s]
    usd_per_replica_hour
        By pricing category. [USD / hour]
    runs
        How often the simulator ran for this.
    """

    option: str
    rows: tuple[FleetRow, ...]
    chosen: str
    slot_s: float
    requests_per_s: Sequence[float]
    fixed_replicas: int
    usd_per_replica_hour: Mapping[str, Decimal]
    cold_start_s: float
    runs: int
    notes: tuple[str, ...]
