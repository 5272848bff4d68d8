"""Own table of useful units: `service, day, unit, quantity[, attempts]`."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.facts.mapping import Field, Mapping
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "outputs-csv"
CONVENTIONS = (
    "A row says how many useful units a service made in one day; rows of one service, day and unit add up.",
    "A day is a UTC day unless `timezone` says otherwise.",
    "`attempts` counts all tries, the useless ones included; empty means unknown, not none.",
    "Units are what the file calls them: a request that holds eight predictions is not one prediction.",
)
DEFINING = ("service", "day", "unit", "quantity")

_TARGETS = (*DEFINING, "attempts")


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 unless it has the four that are needed."""
    return head.count(*_TARGETS) if head.has(*DEFINING) else 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns of the table mean; see `Reader`."""
    by_folded = {name.casefold(): name for name in reversed(columns)}
    mapping: Mapping = {target: Field(by_folded[target]) for target in _TARGETS if target in by_folded}
    return Reading(
        dialect="service, day, unit, quantity",
        dataset="outputs",
        mapping=mapping,
        conventions=CONVENTIONS,
        date_columns=(by_folded["day"],),
    )
