"""When something was there, from the moments at which it was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unitcost.facts.measured import GAP_INTERVALS

#: `[start, end)` in seconds since 1970; of no length when it was seen once and nobody knows how often one looked.
Span = tuple[float, float]


@dataclass(slots=True)
class _Run:
    """Moments that lie equally far apart."""

    first: float
    last: float
    step: float = 0.0

    def takes(self, time: float) -> bool:
        """Add a later moment if it continues the run."""
        gap = time - self.last
        if self.step and gap != self.step:
            return False
        self.last, self.step = time, gap
        return True

    def seen(self, reach: float) -> Iterator[tuple[float, float]]:
        """The run as a whole, or its moments one by one where they lie further apart than what can be bridged."""
        if self.step <= reach:
            yield self.first, self.last
            return
        for place in range(round((self.last - self.first) / self.step) + 1):
            yield self.first + place * self.step, self.first + place * self.step


class Spans:
    """Moments at which something was seen, folded into runs as they come."""

    def __init__(self) -> None:
        self.step_s: float | None = None
        self._runs: list[_Run] = []

    @classmethod
    def union(cls, many: Iterable[Spans]) -> Spans:
        """Seen at any of the moments."""
        made = cls()
        for spans in many:
            made._runs += spans._runs
            made.step_s = min((s for s in (made.step_s, spans.step_s) if s), default=None)
        return made

    @property
    def last_s(self) -> float | None:
        """Moment at which it was seen last."""
        return max((run.last for run in self._runs), default=None)

    def see(self, times_s: Sequence[float]) -> None:
        """Add moments, in any order."""
        times = sorted(set(times_s))
        steps = [later - earlier for earlier, later in pairwise(times)]
        self.step_s = min([*steps, *([self.step_s] if self.step_s else [])], default=None)
        run: _Run | None = None
        for time in times:
            if run is None or not run.takes(time):
                run = _Run(time, time)
                self._runs.append(run)

    def spans(self, step_s: float | None = None) -> list[Span]:
        """Times in which it was there, in order; what was seen stands for one step, and short gaps are bridged."""
        step = step_s or self.step_s or 0.0
        reach = GAP_INTERVALS * step
        merged: list[Span] = []
        for first, last in sorted(part for run in self._runs for part in run.seen(reach)):
            if merged and first - merged[-1][1] <= reach:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return [(first, last + step) for first, last in merged]


def common(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Times that lie in both; each is in order and without overlaps."""
    found: list[Span] = []
    at = 0
    for start, end in left:
        while at < len(right) and right[at][1] < start:
            at += 1
        for other_start, other_end in right[at:]:
            if other_start > end:
                break
            low, high = max(start, other_start), min(end, other_end)
            if low < high or (low == high and start == end):
                found.append((low, high))
    return found
