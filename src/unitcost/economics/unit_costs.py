"""Cost per useful unit: all that a service cost over all that it produced.

Failures are part of the cost. A service that produced nothing useful has a cost and no unit cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from unitcost import money
from unitcost.economics.fixed_quality import compare
from unitcost.facts.answers import UnitCost
from unitcost.facts.spend import OutputRow
from unitcost.figure import Basis, Figure, figure_id, ratio
from unitcost.units import PER_MILLION, PER_THOUSAND

__all__ = ["SCALES", "compare", "scale_of", "unit_costs"]

_ONE = Decimal(1)
_UNSAID: Mapping[str, str] = {}
#: Unit of output -> (units that the cost is stated for, their name).
SCALES: dict[str, tuple[Decimal, str]] = {
    "predictions": (PER_THOUSAND, "1k predictions"),
    "requests": (PER_THOUSAND, "1k requests"),
    "steps": (PER_THOUSAND, "1k useful steps"),
    "runs": (_ONE, "run"),
    "accepted": (_ONE, "accepted result"),
    "accepted results": (_ONE, "accepted result"),
    "results": (_ONE, "accepted result"),
}


def scale_of(unit: str) -> tuple[Decimal, str]:
    """How many units of output the cost is stated for, and the name of that many.

    Tokens of any class are counted by the million; what has no scale of its own is counted singly.
    """
    folded = unit.strip().casefold()
    if folded.split(" ")[-1] == "tokens":
        return PER_MILLION, f"million {folded}"
    return SCALES.get(folded) or (_ONE, folded.removesuffix("s"))


def unit_costs(
    costs: Mapping[str, Figure], outputs: Iterable[OutputRow], *, at: str, of: Mapping[str, str] = _UNSAID
) -> list[UnitCost]:
    """Unit cost of each (service, unit), in sorted order.

    Parameters
    ----------
    costs
        Service -> its cost; a service of `outputs` that is missing here has an unknown cost.
    outputs
        Useful units by service, day and unit.
    at
        Tag of the selection, for figure ids.
    of
        Service -> dimension in which charges bear its name.

    Notes
    -----
    ``cost_per_1k = cost / (predictions / 1000)``; ``cost_per_mtok = cost / (tokens / 10^6)``;
    ``cost_per_result = sum(cost) / accepted``, failures included.
    """
    made: dict[tuple[str, str], list[OutputRow]] = {}
    for row in outputs:
        made.setdefault((row.service, row.unit), []).append(row)
    return [
        _Maker(service=service, unit=unit, at=at).unit_cost(costs.get(service), rows, of.get(service, ""))
        for (service, unit), rows in sorted(made.items())
    ]


class _Maker:
    """Makes the figures of one service and unit."""

    def __init__(self, *, service: str, unit: str, at: str) -> None:
        self.service, self.unit, self.at = service, unit, at
        self.per, self.name = scale_of(unit)

    def unit_cost(self, cost: Figure | None, rows: list[OutputRow], of: str) -> UnitCost:
        quantity = self.given("quantity", money.add(row.quantity for row in rows), self.unit, f"useful {self.unit}")
        cost = cost or self.nothing("cost", "USD", f"no charge belongs to {self.service}", f"cost of {self.service}")
        return UnitCost(
            service=self.service, unit=self.name, cost=cost, quantity=quantity,
            per_unit=self.per_unit(cost, quantity), wasted=self.wasted(cost, rows), of=of,
        )  # fmt: skip

    def per_unit(self, cost: Figure, quantity: Figure) -> Figure:
        unit, label = f"{cost.unit}/{self.name}", f"{self.service} per {self.name}"
        made = quantity.value or money.ZERO
        if cost.value is None or made <= 0:
            reason = cost.note or "its cost is unknown" if cost.value is None else no_unit(self.unit)
            return self.nothing("", unit, reason, label, inputs=(cost, quantity))
        scaled = Figure(
            id=self.id("scaled"), value=money.divide(made, self.per), unit=self.name, basis="derived", op="ratio",
            formula=f"{self.unit} / {self.per}", label=f"{self.service} in {self.name}",
            inputs=(quantity, self.given("scale", self.per, self.unit, f"{self.unit} per {self.name}")),
        )  # fmt: skip
        return ratio(self.id(""), cost, scaled, unit=unit, label=label)

    def wasted(self, cost: Figure, rows: list[OutputRow]) -> Figure | None:
        """Cost of attempts without a result: cost x (attempts - useful) / attempts."""
        if cost.value is None or any(row.attempts is None for row in rows):
            return None
        attempts = money.add(row.attempts for row in rows if row.attempts is not None)
        useful = money.add(row.quantity for row in rows)
        label = f"wasted by {self.service}"
        if attempts <= 0 or useful > attempts:
            return self.nothing("wasted", cost.unit, f"{useful} useful of {attempts} attempts cannot be", label)
        failed = self.given("failed", money.subtract(attempts, useful), "attempts", "attempts without a result")
        product = Figure(
            id=self.id("failed-cost"), value=money.multiply(cost.value, failed.value or money.ZERO), unit=cost.unit,
            basis="derived", op="product", formula=f"{cost.label or 'cost'} x failed attempts", inputs=(cost, failed),
            label=f"{cost.label or 'cost'} x failed attempts",
        )  # fmt: skip
        tried = self.given("attempts", attempts, "attempts", "attempts")
        return ratio(self.id("wasted"), product, tried, unit=cost.unit, label=label)

    def id(self, what: str) -> str:
        return figure_id("unit-cost", self.service, self.unit, *((what,) if what else ()), at=self.at)

    def given(self, what: str, value: Decimal, unit: str, label: str) -> Figure:
        basis: Basis = "derived" if what == "scale" else "measured"
        formula = "definition" if what == "scale" else "from the outputs that were loaded"
        return Figure(id=self.id(what), value=value, unit=unit, basis=basis, op="given", formula=formula, label=label)

    def nothing(self, what: str, unit: str, note: str, label: str, inputs: tuple[Figure, ...] = ()) -> Figure:
        return Figure(
            id=self.id(what), value=None, unit=unit, basis="unknown", op="none", formula="no value", inputs=inputs,
            note=note, label=label,
        )  # fmt: skip


def no_unit(unit: str) -> str:
    """Answer for a service that produced nothing useful."""
    return "no accepted unit" if scale_of(unit)[1] == "accepted result" else "no useful unit"
