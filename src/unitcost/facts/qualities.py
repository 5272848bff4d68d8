"""What was measured of the quality of a model, and what a cache in front of it changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredQuality:
    """One value of a metric.

    Parameters
    ----------
    names
        What it may be called: its subject, the name of the run, the version of the model that the run made.
    items
        Labelled items that it was measured on; 0 = not told.
    data_set
        What it was measured on; empty when that is not told.
    """

    names: tuple[str, ...]
    metric: str
    value: float
    items: int = 0
    data_set: str = ""
    measured_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheHits:
    """What a cache in front of a model did on a log of requests.

    Parameters
    ----------
    threshold
        Similarity from which a stored answer is served; None = only equal requests.
    requests, hits
        Requests in all, and those that were answered from the cache.
    changed
        Hits whose answer is another than the model would have given.
    judged, wrong
        Hits whose right answer is known, and those among them that were answered wrongly.
    """

    threshold: float | None
    requests: int
    hits: int
    changed: int
    judged: int = 0
    wrong: int = 0
