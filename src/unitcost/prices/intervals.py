"""Intervals in which prices of a model hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from unitcost.facts.tokens import ModelPrice

_EVER = datetime.min.replace(tzinfo=UTC)
_NEVER = datetime.max.replace(tzinfo=UTC)


def in_gaps(taken: Sequence[ModelPrice], more: Sequence[ModelPrice]) -> list[ModelPrice]:
    """The parts of prices that lie in times which no price holds yet."""
    free = list(more)
    for price in taken:
        free = [part for other in free for part in _outside(other, price)]
    return free


def _outside(price: ModelPrice, other: ModelPrice) -> Iterator[ModelPrice]:
    """The parts of a price before and after another; prices of unlike hours of the day do not meet."""
    if price.hours != other.hours and price.hours and other.hours:
        yield price
        return
    since, until = price.effective_from or _EVER, price.effective_to or _NEVER
    start, end = other.effective_from, other.effective_to
    if start is not None and since < start:
        yield replace(price, effective_to=min(until, start))
    if end is not None and until > end:
        yield replace(price, effective_from=max(since, end))
