"""Spot capacity on a common clock, as a job of a given size meets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadSetting
from unitcost.facts.spot import SpotTrace

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Where a trace has no prices, spot costs this share of on-demand: a usual discount is 60 to 90 %.
ASSUMED_SPOT_SHARE = 0.3
#: Where no on-demand price is known, it is this many times the mean spot price.
ASSUMED_ON_DEMAND_TIMES = 3.0
#: Price of a node on demand where nothing at all is known: shares of on-demand are then the only answer. [USD / hour]
UNIT_PRICE_USD_PER_HOUR = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What could be had in each tick, and at what price, for one job.

    Parameters
    ----------
    zones, regions
        Name and region of each zone.
    gap_s
        Length of a tick. [s]
    available
        Whether the whole job would have had its nodes, zones x ticks.
    spot_usd_per_hour
        Price of all the nodes of the job, zones x ticks. [USD / hour]
    on_demand_usd_per_hour
        The same on demand. [USD / hour]
    egress_usd
        What it costs to move the checkpoint out of the region of each zone. [USD]
    priced
        Whether the spot prices were recorded; if not, they are a share of on-demand.
    """

    zones: tuple[str, ...]
    regions: tuple[str, ...]
    gap_s: float
    available: BoolArray
    spot_usd_per_hour: FloatArray
    on_demand_usd_per_hour: float
    egress_usd: tuple[float, ...]
    priced: bool

    @property
    def ticks(self) -> int:
        """Length of the recording. [ticks]."""
        return int(self.available.shape[1])

    def ages_s(self) -> FloatArray:
        """Time since each zone last came or went, as its watchers have seen it, zones x ticks. [s]."""
        ticks = np.arange(self.ticks)
        changed = np.diff(self.available, axis=1, prepend=self.available[:, :1])
        since = np.maximum.accumulate(np.where(changed, ticks, 0), axis=1)
        ages_s: FloatArray = np.asarray((ticks - since) * self.gap_s, np.float64)
        return ages_s


def market_of(
    traces: Sequence[SpotTrace],
    *,
    nodes: int = 1,
    on_demand_usd_per_hour: float | None = None,
    egress_usd_by_region: dict[str, float] | None = None,
) -> Market:
    """Market that a job of `nodes` nodes meets in zones recorded on one clock.

    A gang runs only while all its nodes are up, so its availability is the gang's own, never a mean over nodes.

    Parameters
    ----------
    nodes
        Size of the job; a trace of fewer nodes cannot speak for it.
    on_demand_usd_per_hour
        Price of one node; None takes that of the traces, else `ASSUMED_ON_DEMAND_TIMES` the mean spot price.
    egress_usd_by_region
        What moving one checkpoint out of a region costs. [USD]

    Raises
    ------
    BadSetting
        When the traces do not share a clock, recorded fewer nodes than the job needs, or tell no price above zero.
    """
    _check(traces, nodes)
    known = [t.on_demand_usd_per_hour for t in traces if t.on_demand_usd_per_hour]
    prices = [None if t.spot_usd_per_hour is None else np.asarray(t.spot_usd_per_hour, float) for t in traces]
    means = [float(p.mean()) for p in prices if p is not None]
    if on_demand_usd_per_hour is None:
        tripled = ASSUMED_ON_DEMAND_TIMES * max(means) if means else UNIT_PRICE_USD_PER_HOUR
        on_demand_usd_per_hour = min(known) if known else tripled
    if not on_demand_usd_per_hour > 0:
        raise BadSetting(
            "no price of the recording is above zero, so on-demand has none", where=", ".join(t.source for t in traces),
            mend="give --on-demand-usd, or leave the prices out of the recording",
        )  # fmt: skip
    length = min(len(t.counts) for t in traces)
    flat = np.full(length, ASSUMED_SPOT_SHARE * on_demand_usd_per_hour)
    egress = egress_usd_by_region or {}
    return Market(
        zones=tuple(t.zone for t in traces),
        regions=tuple(t.region for t in traces),
        gap_s=traces[0].gap_s,
        available=np.stack([np.asarray(t.counts)[:length] >= nodes for t in traces]),
        spot_usd_per_hour=np.stack([flat if p is None else p[:length] for p in prices]) * nodes,
        on_demand_usd_per_hour=on_demand_usd_per_hour * nodes,
        egress_usd=tuple(egress.get(t.region, 0.0) for t in traces),
        priced=len(means) == len(traces),
    )


def _check(traces: Sequence[SpotTrace], nodes: int) -> None:
    if not traces or len({(t.gap_s, t.start) for t in traces}) != 1:
        raise BadSetting(
            "zones can be compared only when they were recorded on one clock",
            where=", ".join(t.source for t in traces),
            mend="give traces with the same gap_seconds and start",
        )
    short = [t for t in traces if t.nodes < nodes]
    if short:
        raise BadSetting(
            f"the trace recorded {short[0].nodes} nodes, the job needs {nodes}", where=short[0].source,
            mend="a gang's availability cannot be guessed from fewer nodes; give a trace of that many",
        )  # fmt: skip
