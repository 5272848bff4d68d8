"""Cost per useful unit: all that a service cost over all that it produced.

Failures are part of the cost. A service that produced nothing useful has a cost and no unit cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.facts.rules import QualityBar
from unitcost.facts.spend import OutputRow
from unitcost.figure import Figure, figure_id, ratio
from unitcost.units import PER_MILLION, PER_THOUSAND

#: Unit of output -> (units that the cost is stated for, their name). Others are stated per single unit.
SCALES: dict[str, tuple[Decimal, str]] = {
    "predictions": (PER_THOUSAND, "1k predictions"),
    "requests": (PER_THOUSAND, "1k requests"),
    "steps": (PER_THOUSAND, "1k useful steps"),
    "tokens": (PER_MILLION, "million tokens"),
    "input tokens": (PER_MILLION, "million input tokens"),
    "output tokens": (PER_MILLION, "million output tokens"),
    "runs": (Decimal(1), "run"),
    "accepted": (Decimal(1), "accepted result"),
    "accepted results": (Decimal(1), "accepted result"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCost:
    """What one useful unit of a service costs.

    Parameters
    ----------
    cost
        All that the service cost in the range.
    quantity
        Useful units made.
    per_unit
        The unit cost; without a value, and with the reason in its note, when there is none.
    wasted
        Part of the cost that went into attempts without a useful result; None when attempts are unknown.
    """

    service: str
    unit: str
    cost: Figure
    quantity: Figure
    per_unit: Figure
    wasted: Figure | None = None


def unit_costs(costs: Mapping[str, Figure], outputs: Iterable[OutputRow], *, at: str) -> list[UnitCost]:
    """Unit cost of each (service, unit), in sorted order.

    Parameters
    ----------
    costs
        Service -> its cost; a service of `outputs` that is missing here has an unknown cost.
    outputs
        Useful units by service, day and unit.
    at
        Tag of the selection, for figure ids.

    Notes
    -----
    ``cost_per_1k = cost / (predictions / 1000)``; ``cost_per_result = sum(cost) / accepted``, failures included.
    """
    made: dict[tuple[str, str], list[OutputRow]] = {}
    for row in outputs:
        made.setdefault((row.service, row.unit), []).append(row)
    return [_unit_cost(service, unit, costs.get(service), rows, at) for (service, unit), rows in sorted(made.items())]


def _unit_cost(service: str, unit: str, cost: Figure | None, rows: list[OutputRow], at: str) -> UnitCost:
    per, name = SCALES.get(unit, (Decimal(1), unit.removesuffix("s")))
    quantity = _given(f"{service} {unit}", money.add(row.quantity for row in rows), unit, at, "quantity", service, unit)
    if cost is None:
        cost = Figure(
            id=figure_id("unit-cost", service, unit, "cost", at=at), value=None, unit="USD", basis="unknown", op="none",
            formula="no value", note=f"no charge belongs to {service}", label=f"cost of {service}",
        )  # fmt: skip
    scaled = Figure(
        id=figure_id("unit-cost", service, unit, "scaled", at=at),
        value=money.divide(quantity.value or money.ZERO, per), unit=name, basis="derived", op="ratio",
        formula=f"{unit} / {per}",
        inputs=(quantity, _given(f"units per {name}", per, "units", at, "scale", service, unit)),
        label=f"{service} in {name}",
    )  # fmt: skip
    per_unit = ratio(
        figure_id("unit-cost", service, unit, at=at), cost, scaled, unit=f"{cost.unit}/{name}",
        label=f"{service} per {name}",
        empty=cost.note if cost.value is None else no_unit(unit),
    )  # fmt: skip
    return UnitCost(
        service=service, unit=name, cost=cost, quantity=quantity, per_unit=per_unit,
        wasted=_wasted(service, unit, cost, rows, at),
    )  # fmt: skip


def no_unit(unit: str) -> str:
    """Answer for a service that produced nothing useful."""
    return "no accepted unit" if unit.startswith("accepted") else "no useful unit"


def _wasted(service: str, unit: str, cost: Figure, rows: list[OutputRow], at: str) -> Figure | None:
    """Cost of attempts without a result: cost x (attempts - useful) / attempts."""
    if cost.value is None or any(row.attempts is None for row in rows):
        return None
    attempts = money.add(row.attempts for row in rows if row.attempts is not None)
    if attempts == 0:
        return None
    failed = money.subtract(attempts, money.add(row.quantity for row in rows))
    share = ratio(
        figure_id("unit-cost", service, unit, "failed-share", at=at),
        _given("failed attempts", failed, "attempts", at, "failed", service, unit),
        _given("attempts", attempts, "attempts", at, "attempts", service, unit), unit="share", label="failed share",
    )  # fmt: skip
    return Figure(
        id=figure_id("unit-cost", service, unit, "wasted", at=at),
        value=money.multiply(cost.value, share.value or money.ZERO), unit=cost.unit, basis="derived", op="product",
        formula=f"cost of {service} x failed share", inputs=(cost, share), label=f"wasted by {service}",
    )  # fmt: skip


def _given(label: str, value: Decimal, unit: str, at: str, what: str, service: str, of: str) -> Figure:
    return Figure(
        id=figure_id("unit-cost", service, of, what, at=at), value=value, unit=unit, basis="measured", op="given",
        formula="from the outputs that were loaded", label=label,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Answer to "which is the cheapest?" among services with the same unit.

    `cheapest` is empty when they are not comparable; `reason` then says why.
    """

    unit: str
    cheapest: str
    reason: str


def compare(costs: Sequence[UnitCost], bars: Sequence[QualityBar]) -> list[Comparison]:
    """Cheapest service per unit, where the comparison is fair.

    Accepted results carry their quality in them. Any other unit is compared only among services that have a
    quality bar in the settings; without one the answer is "not comparable".
    """
    by_unit: dict[str, list[UnitCost]] = {}
    for cost in costs:
        by_unit.setdefault(cost.unit, []).append(cost)
    known = {bar.service for bar in bars}
    answers = []
    for unit, group in sorted(by_unit.items()):
        if len(group) < 2:
            continue
        valued = [c for c in group if c.per_unit.value is not None]
        unchecked = sorted(c.service for c in group if c.service not in known)
        if not valued:
            answers.append(Comparison(unit=unit, cheapest="", reason="none of them made a useful unit"))
        elif unit != "accepted result" and unchecked:
            reason = f"not comparable: no quality is known for {', '.join(unchecked)}"
            answers.append(Comparison(unit=unit, cheapest="", reason=reason))
        else:
            best = min(valued, key=lambda c: (c.per_unit.value or money.ZERO, c.service))
            answers.append(Comparison(unit=unit, cheapest=best.service, reason="lowest cost per useful unit"))
    return answers
