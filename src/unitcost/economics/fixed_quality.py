"""Which of several services is the cheapest, asked only where the comparison is fair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from unitcost import money
from unitcost.facts.answers import Comparison, UnitCost
from unitcost.facts.rules import QualityBar

#: A unit that carries its quality in it: somebody has accepted each one.
ACCEPTED = "accepted result"
_NO_QUALITY: Mapping[str, Decimal] = {}


def compare(
    costs: Sequence[UnitCost], bars: Sequence[QualityBar], measured: Mapping[str, Decimal] = _NO_QUALITY
) -> list[Comparison]:
    """Cheapest service per unit that more than one service makes, where the comparison is fair.

    Accepted results carry their quality in them. Any other unit is compared only at fixed quality: each service
    has a bar in the settings, all are judged by the same metric, and it has been measured for each. Who is below
    the bar does not take part.

    Parameters
    ----------
    costs
        Unit costs of any services and units.
    bars
        What counts as good enough, by service.
    measured
        Service -> measured value of the metric of its bar; more is better.
    """
    by_unit: dict[str, list[UnitCost]] = {}
    for cost in costs:
        by_unit.setdefault(cost.unit, []).append(cost)
    by_service = {bar.service: bar for bar in bars}
    return [_answer(unit, group, by_service, measured) for unit, group in sorted(by_unit.items()) if len(group) > 1]


def good_enough(bar: QualityBar, value: Decimal) -> bool:
    """Whether a measured value is not below the bar by more than the margin."""
    return value >= money.subtract(bar.bar, bar.margin)


def _answer(
    unit: str, group: Sequence[UnitCost], bars: Mapping[str, QualityBar], measured: Mapping[str, Decimal]
) -> Comparison:
    ruled_out = {c.service: c.per_unit.note for c in group if c.per_unit.value is None}
    valued = [cost for cost in group if cost.per_unit.value is not None]
    if not valued:
        return _no_answer(unit, "none of them has a cost per useful unit", ruled_out)
    doubt = _doubt(unit, valued, bars, measured)
    if doubt:
        return _no_answer(unit, f"not comparable: {doubt}", ruled_out)
    if unit != ACCEPTED:
        ruled_out |= _below(valued, bars, measured)
    fit = [cost for cost in valued if cost.service not in ruled_out]
    if not fit:
        return _no_answer(unit, "none of them is good enough", ruled_out)
    best = min(fit, key=lambda cost: (cost.per_unit.value or money.ZERO, cost.service))
    tied = [c.service for c in fit if c.per_unit.value == best.per_unit.value]
    reason = "lowest cost per useful unit" if len(tied) == 1 else f"equal: {', '.join(sorted(tied))}"
    if len(fit) == 1:
        reason = "the only one left"
    return Comparison(unit=unit, cheapest=best.service, reason=reason, ruled_out=tuple(sorted(ruled_out.items())))


def _no_answer(unit: str, reason: str, ruled_out: Mapping[str, str]) -> Comparison:
    return Comparison(unit=unit, cheapest="", reason=reason, ruled_out=tuple(sorted(ruled_out.items())))


def _doubt(
    unit: str, group: Sequence[UnitCost], bars: Mapping[str, QualityBar], measured: Mapping[str, Decimal]
) -> str:
    """Why services cannot be ranked; empty when they can."""
    currencies = sorted({cost.per_unit.unit.partition("/")[0] for cost in group})
    if len(currencies) > 1:
        return f"they are paid in {' and '.join(currencies)}"
    if unit == ACCEPTED:
        return ""
    names = sorted(cost.service for cost in group)
    without = [name for name in names if name not in bars]
    if without:
        return f"no quality bar is given for {', '.join(without)}"
    metrics = sorted({bars[name].metric for name in names})
    if len(metrics) > 1:
        return f"they are judged by {' and '.join(metrics)}"
    unmeasured = [name for name in names if name not in measured]
    return f"no {metrics[0]} is measured for {', '.join(unmeasured)}" if unmeasured else ""


def _below(
    group: Sequence[UnitCost], bars: Mapping[str, QualityBar], measured: Mapping[str, Decimal]
) -> dict[str, str]:
    return {
        cost.service: f"{bars[cost.service].metric} {measured[cost.service]} is below the bar {bars[cost.service].bar}"
        for cost in group
        if not good_enough(bars[cost.service], measured[cost.service])
    }
