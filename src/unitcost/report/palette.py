"""Colours by name: a driver, a team or a provider looks the same in every chart and in every report."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from unitcost.facts.naming import NONE
from unitcost.facts.rules import UNKNOWN_DRIVER, UNTAGGED

#: (on a light page, on a dark page); each stands out from its page by at least 3 to 1.
PAIRS = (
    ("#3b5bdb", "#6b8afd"), ("#099268", "#20b78c"), ("#d97706", "#f5a623"), ("#c2255c", "#e8588a"),
    ("#7048e8", "#9b7dfa"), ("#0c8599", "#2bb5c9"), ("#5c940d", "#8cbf2b"), ("#d9480f", "#f47b4a"),
    ("#d6438f", "#f08cc0"), ("#1971c2", "#55aef5"), ("#8a5a2b", "#c29260"), ("#a03fb5", "#cf7be0"),
)  # fmt: skip
#: Lines of the bill that are no usage: muted, and the same in every report.
LINES = {
    "tax": ("#7d7468", "#a59b8e"), "unused commitment": ("#9a8478", "#bda79a"), "purchase": ("#87845a", "#b0ad80"),
    "credit": ("#6f8a7d", "#93ad9f"), "refund": ("#7a8a9b", "#a1b1c2"), "adjustment": ("#8f7f9a", "#b2a1bd"),
}  # fmt: skip
UNKNOWN = ("#868e96", "#8b939b")
REST = ("#6b7280", "#6f7783")
_UNKNOWN_NAMES = frozenset({UNKNOWN_DRIVER, UNTAGGED, NONE})


def colours(names: Iterable[str]) -> dict[str, str]:
    """Colour of each name on a light page.

    Notes
    -----
    A name's own hash says where in the palette to look first; where another name already stands there, the next
    free place is taken, names in sorted order. Only with more names than colours do two share one.
    """
    listed = sorted(set(names))
    chosen = {name: LINES[name][0] for name in listed if name in LINES}
    chosen |= {name: UNKNOWN[0] for name in listed if name in _UNKNOWN_NAMES}
    taken: set[int] = set()
    for name in listed:
        if name not in chosen:
            place = _place(name, taken)
            taken = {place} if len(taken) == len(PAIRS) else taken | {place}
            chosen[name] = PAIRS[place][0]
    return chosen


def _place(name: str, taken: set[int]) -> int:
    first = crc32(name.encode()) % len(PAIRS)
    free = [(first + step) % len(PAIRS) for step in range(len(PAIRS))]
    return next((place for place in free if place not in taken), first)


def on_dark() -> dict[str, str]:
    """Colour on a light page -> the one that takes its place on a dark page."""
    return dict((*PAIRS, *LINES.values(), UNKNOWN, REST))
