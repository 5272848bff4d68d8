"""The cards that the metrics of a file are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from unitcost.readers.work.accelerators import mig_share
from unitcost.readers.work.sink import Sink

SOURCE = "prometheus"
#: Times of samples: 1990 to 2200, as everywhere. [s since 1970]
FIRST_S, LAST_S = 631_152_000, 7_258_118_400
#: Time of a sample as written [s since 1970], and its number.
Point = tuple[float | str, float]


@dataclass(slots=True)
class _Card:
    """A card, or an instance of one that MIG cuts, and when it was seen first and last. [s since 1970]."""

    row: int
    node: str
    model: str
    profile: str
    first_s: float | None = None
    last_s: float | None = None


class Cards:
    """Cards by their UUID."""

    def __init__(self) -> None:
        self._known: dict[str, _Card] = {}

    def meet(self, card: str, node: str, labels: Mapping[str, str], row: int) -> None:
        """Note what the labels of a series say about a card."""
        if card not in self._known:
            self._known[card] = _Card(row, node, labels.get("modelName", ""), labels.get("GPU_I_PROFILE", ""))

    def see(self, card: str, points: Sequence[Point]) -> None:
        """Note when a card was measured."""
        known = self._known.get(card)
        if known:
            first_s, last_s = float(points[0][0]), float(points[-1][0])
            known.first_s = first_s if known.first_s is None else min(known.first_s, first_s)
            known.last_s = last_s if known.last_s is None else max(known.last_s, last_s)

    def write(self, sink: Sink) -> None:
        """One resource for each card."""
        for card, known in sorted(self._known.items()):
            instance = "/" in card
            sink.add(
                "resources", known.row, source=SOURCE, resource_id=card, node=known.node, accelerator=known.model,
                quantity=mig_share(known.profile) if instance else Decimal(1),
                started_at=moment(known.first_s), ended_at=moment(known.last_s),
                tags={"mig_profile": known.profile} if known.profile else {},
            )  # fmt: skip


def moment(at_s: float | None) -> datetime | None:
    """Moment of seconds since 1970."""
    return None if at_s is None else datetime.fromtimestamp(at_s, UTC)
