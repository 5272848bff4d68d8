"""A zone's spot capacity over time, as somebody recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unitcost.errors import BadFile


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotTrace:
    """How many nodes of a zone could be had in each tick, and their price where it is known.

    Parameters
    ----------
    zone, region
        Such as `us-east-1a` and `us-east-1`.
    device
        What one node is, in the words of the source.
    nodes
        How many nodes were asked for: a count is from 0 to this.
    gap_s
        Length of a tick. [s]
    counts
        Nodes up, by tick.
    spot_usd_per_hour
        Price of one node by tick, [USD / hour]; None when the source has none.
    on_demand_usd_per_hour
        Price of one node on demand, [USD / hour]; None when the source has none.
    start
        When the first tick began, as the source writes it; traces with equal starts share a clock.
    source
        File and origin.

    Raises
    ------
    BadFile
        When counts or prices cannot be.
    """

    zone: str
    region: str
    device: str
    nodes: int
    gap_s: float
    counts: Sequence[int]
    spot_usd_per_hour: Sequence[float] | None = None
    on_demand_usd_per_hour: float | None = None
    start: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not self.counts:
            raise BadFile("the trace has no ticks", where=self.source, mend="give at least one count")
        if not 0 < self.gap_s < float("inf"):
            raise BadFile(f"a tick of {self.gap_s} s cannot be", where=self.source, mend="give gap_seconds above zero")
        if self.nodes < 1 or min(self.counts) < 0 or max(self.counts) > self.nodes:
            raise BadFile(
                f"counts run from {min(self.counts)} to {max(self.counts)} for {self.nodes} nodes", where=self.source,
                mend="a count is the number of nodes that are up, from 0 to `nodes`",
            )  # fmt: skip
        self._check_prices()

    def _check_prices(self) -> None:
        prices = self.spot_usd_per_hour
        if prices is not None and len(prices) != len(self.counts):
            raise BadFile(
                f"{len(prices)} prices for {len(self.counts)} ticks", where=self.source,
                mend="give one price a tick, or none",
            )  # fmt: skip
        known = [*(prices or ()), *([] if self.on_demand_usd_per_hour is None else [self.on_demand_usd_per_hour])]
        if any(not 0 <= price < float("inf") for price in known):
            raise BadFile("a price is negative or not a number", where=self.source, mend="prices are USD per hour")
