"""What was held by account and by how it ended: hours, and their cost at the prices of the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from unitcost import money
from unitcost.facts.capacity import HeldCost, WorkSum
from unitcost.facts.work import CPU
from unitcost.figure import Figure, figure_id, ratio, total
from unitcost.units import SECONDS_PER_HOUR

#: Sums hold millionths of an accelerator times microseconds.
_PICO = -12
#: What the weights of a scheduler are called among the accelerators.
WEIGHT = "weight"
#: Prices of an hour, by (accelerator, pricing category, stretch of time). [USD / hour]
Prices = Mapping[tuple[str, str, int], Decimal]


def held_costs(
    sums: Iterable[WorkSum], prices: Prices, key_of: Callable[[WorkSum], str], *, what: str, at: str, by_weight: bool
) -> list[HeldCost]:
    """Hours and cost of each group of sums, the dearest first, then the longest.

    Parameters
    ----------
    key_of
        Name of the group that a sum belongs to.
    what
        What the groups are, for figure ids.
    by_weight
        Whether the scheduler's weights are charged for, and not what was held.

    Notes
    -----
    ``cost = sum(price * held_seconds) / 3600``
    """
    groups: dict[str, list[WorkSum]] = defaultdict(list)
    for row in sums:
        groups[key_of(row)].append(row)
    maker = _Maker(prices, what, at, by_weight)
    made = [maker.held(name, rows) for name, rows in groups.items()]
    return sorted(
        made, key=lambda h: (-(h.cost.value or money.ZERO), -(h.accelerator_hours.value or money.ZERO), h.name)
    )


class _Maker:
    """Makes the figures of one grouping."""

    def __init__(self, prices: Prices, what: str, at: str, by_weight: bool) -> None:
        self.prices, self.what, self.at, self.by_weight = prices, what, at, by_weight

    def held(self, name: str, rows: list[WorkSum]) -> HeldCost:
        charged = self._charged(rows)
        parts = tuple(
            self._cost(name, key, steps, self.prices[key])
            for key, steps in sorted(charged.items())
            if key in self.prices
        )
        unpriced = sum(steps for key, steps in charged.items() if key not in self.prices)
        cores = sum(row.micro_us for row in rows if row.accelerator == CPU)
        accelerators = sum(row.micro_us for row in rows if row.accelerator != CPU)
        return HeldCost(
            name=name, accelerator_hours=self._hours(name, "accelerator-hours", accelerators),
            core_hours=self._hours(name, "core-hours", cores),
            cost=self._whole(name, parts, known=bool(parts) or not unpriced),
            unpriced_hours=self._hours(name, "unpriced hours", unpriced), lives=sum(row.lives for row in rows),
        )  # fmt: skip

    def _whole(self, name: str, parts: tuple[Figure, ...], *, known: bool) -> Figure:
        """Sum of the costs; unknown, not zero, where no hour that is charged for has a price."""
        label = f"{name or '(none)'}, at prices of the settings"
        if known:
            return total(self._id(name, "cost"), parts, unit="USD", label=label)
        return Figure(
            id=self._id(name, "cost"), value=None, unit="USD", basis="unknown", op="none", formula="no value", label=label,
            note="no hour that is charged for has a price",
        )  # fmt: skip

    def _charged(self, rows: Iterable[WorkSum]) -> dict[tuple[str, str, int], int]:
        found: dict[tuple[str, str, int], int] = defaultdict(int)
        for row in rows:
            if self.by_weight and row.weight_us:
                found[WEIGHT, "", row.epoch] += row.weight_us
            elif row.counted and not self.by_weight:
                found[row.accelerator, row.pricing_category, row.epoch] += row.micro_us
        return found

    def _cost(self, name: str, key: tuple[str, str, int], steps: int, usd_per_hour: Decimal) -> Figure:
        held = ", ".join(part for part in key[:2] if part) or "accelerator"
        ids = (name, held, str(key[2]))
        seconds = self._given(ids, "seconds", Decimal(steps).scaleb(_PICO), f"{held}-seconds")
        price = self._given(ids, "price", usd_per_hour, f"USD / {held}-hour", "price of the settings")
        product = Figure(
            id=self._id(*ids, "product"), value=money.multiply(seconds.value or money.ZERO, usd_per_hour), unit="USD",
            basis="derived", op="product", formula="held seconds x price of an hour", inputs=(seconds, price),
            label=f"{name}: {held}",
        )  # fmt: skip
        return ratio(self._id(*ids, "cost"), product, self._hour(), unit="USD", label=f"{name}: {held}")

    def _hours(self, name: str, what: str, steps: int) -> Figure:
        seconds = self._given((name,), f"{what} in seconds", Decimal(steps).scaleb(_PICO), what)
        return ratio(self._id(name, what), seconds, self._hour(), unit=what, label=f"{name}, {what}")

    def _hour(self) -> Figure:
        return Figure(
            id=figure_id("seconds-per-hour", at=self.at), value=Decimal(SECONDS_PER_HOUR), unit="s", basis="derived",
            op="given", formula="definition", label="seconds of an hour",
        )  # fmt: skip

    def _given(
        self, steps: tuple[str, ...], what: str, value: Decimal, unit: str,
        formula: str = "from what schedulers and monitoring told",
    ) -> Figure:  # fmt: skip
        return Figure(
            id=self._id(*steps, what), value=value, unit=unit, basis="measured", op="given", formula=formula, label=what
        )

    def _id(self, *steps: str) -> str:
        return figure_id("work", self.what, *(step or "(none)" for step in steps), at=self.at)
