"""What was measured: counts in a window, states over a window, from series of monitoring."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

#: What increments of counters are summed by.
IncrementsBy = Literal["series", "workload", "resource", "node", "metric"]
#: What means of gauges are taken for: each card, or each workload on each card.
GaugesBy = Literal["resource", "workload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSpan:
    """A workload alone held what a card is part of, in microseconds since 1970-01-01 UTC. Spans of a card do not overlap."""

    resource_id: str
    workload: str
    start_us: int
    end_us: int


#: A gap of more than so many scrape intervals is a time of which nothing is known, or in which a pod was not there. Two
#: failed scrapes are bridged, as Prometheus itself looks back five minutes at a usual interval of one or two.
GAP_INTERVALS = 3

#: Counter of useful units -> what a unit is called. `predictions` and `requests` are never the same.
OUTPUT_UNITS: dict[str, str] = {
    "generation_tokens": "output tokens",
    "prompt_tokens": "input tokens",
    "predictions": "predictions",
    "requests": "requests",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementRow:
    """What counters of one metric have counted in a window, or in one UTC day of it.

    A series of which the window shows one sample only tells no increment and is in no row; a row with quantity 0 is a
    measured zero.

    Parameters
    ----------
    quantity
        Sum of the repaired increments. [unit]
    restarts
        How often a series has started again from zero.
    series_count
        Series that are in the sum.
    first_at, last_at
        First and last sample that bear it, UTC.
    labels
        Of the series; empty unless the rows are by series.
    """

    metric: str
    unit: str
    quantity: Decimal
    restarts: int
    series_count: int
    first_at: datetime
    last_at: datetime
    day: date | None = None
    resource_id: str = ""
    node: str = ""
    workload_id: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What the sum cannot show; empty when nothing is missing."""
        if not self.restarts:
            return ""
        times = "once" if self.restarts == 1 else f"{self.restarts} times"
        return (
            f"{self.metric} started again from zero {times}: what was counted between the last sample before a restart "
            "and the restart is not visible, so the sum is a lower bound"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeRow:
    """Mean of a state of one card over a window, weighted by time.

    Whatever number of pods show the value of the card, it is one measurement of the card.

    Parameters
    ----------
    mean
        None when no value is known, or when the row is about a workload that never had the card to itself. [unit]
    known_s
        Time for which a value is known. [s]
    unknown_s
        Rest of the window (by resource), or time in which the workload is seen without a value. [s]
    shared_s
        Time in which several workloads were on the card at once: then its value is that of none of them. [s]
    workload_id
        The workload; empty when the row is about the card as a whole.
    workloads
        All that were seen on the card, sorted.
    """

    metric: str
    unit: str
    resource_id: str
    node: str
    mean: float | None
    known_s: float
    unknown_s: float
    shared_s: float
    workload_id: str = ""
    workloads: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What the mean cannot show; empty when nothing is missing."""
        if self.workload_id and self.shared_s:
            return "utilisation per pod is not available while several pods share the card"
        return ""
