"""What the time and the money of a run went into, and what spot capacity saved, as figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from unitcost import money
from unitcost.economics.runs import decimal_of, on_demand_hours, run_cost
from unitcost.facts.runs import EFFORT_PARTS, Effort, EffortPart, HeldLife, Life, OnDemand, RunEffort, SpotFigures
from unitcost.figure import Figure, figure_id, ratio
from unitcost.units import PER_THOUSAND


def lives_of(priced: Sequence[tuple[HeldLife, Decimal | None]]) -> list[Life]:
    """Attempts of a run; what one attempt held on several machines at the same steps is one life.

    Its quantity and its price are then means over what it held.
    """
    groups: dict[tuple[object, ...], list[tuple[HeldLife, Decimal | None]]] = defaultdict(list)
    for life, price in priced:
        groups[life.attempt, life.started_at, life.ended_at, life.start_step, life.end_step].append((life, price))
    return [_life(found) for found in groups.values()]


def _life(rows: Sequence[tuple[HeldLife, Decimal | None]]) -> Life:
    first = rows[0][0]
    quantity = money.add(life.quantity for life, _ in rows)
    prices = [price for _, price in rows]
    usd = [money.multiply(life.quantity, price) for life, price in rows if price is not None]
    mean = money.divide(money.add(usd), quantity) if quantity and len(usd) == len(prices) else None
    return Life(
        attempt=first.attempt, status=first.status, quantity=quantity, started_at=first.started_at, ended_at=first.ended_at,
        usd_per_hour=prices[0] if len(set(prices)) == 1 else mean, start_step=first.start_step, end_step=first.end_step,
        kept_step=first.kept_step, startup_s=None if first.startup_s is None else Decimal(repr(first.startup_s)),
    )  # fmt: skip


def run_effort(name: str, lives: Sequence[Life], cost: Figure, *, at: str) -> tuple[RunEffort | None, str]:
    """Useful, repeated, lost and start-up part of a run's time and cost; None, and why, where they cannot be told.

    The cost is divided in proportion to what the hours of each part cost at prices of the settings, or to the hours
    where there is no price; the parts add up to it.
    """
    found = run_cost(lives)
    if found.effort is None:
        return None, found.no_effort
    hours = {
        part: _given(name, part, "hours", _hours(found.effort, part), "accelerator-hours", at) for part in EFFORT_PARTS
    }
    return RunEffort(
        useful_steps=found.effort.useful_steps, repeated_steps=found.effort.repeated_steps,
        lost_steps=found.effort.lost_steps, hours=hours, cost=_costs(name, found.effort, hours, cost, at),
        per_1k_steps=_per_1k(name, found.effort.useful_steps, cost, at),
    ), ""  # fmt: skip


def _hours(effort: Effort, part: EffortPart) -> Decimal:
    return {
        "useful": effort.useful_hours, "repeated": effort.repeated_hours, "lost": effort.lost_hours,
        "start-up": effort.startup_hours,
    }[part]  # fmt: skip


def _usd(effort: Effort, part: EffortPart) -> Decimal:
    return {
        "useful": effort.useful_usd, "repeated": effort.repeated_usd, "lost": effort.lost_usd,
        "start-up": effort.startup_usd,
    }[part]  # fmt: skip


def _costs(
    name: str, effort: Effort, hours: dict[EffortPart, Figure], cost: Figure, at: str
) -> dict[EffortPart, Figure]:
    """Parts of the cost; none where there is no cost, or no time to divide it by."""
    if cost.value is None:
        return {}
    usd = {part: _given(name, part, "at-prices", _usd(effort, part), "USD", at) for part in EFFORT_PARTS}
    weights = usd if any(figure.value for figure in usd.values()) else hours
    if not any(figure.value for figure in weights.values()):
        return {}
    inputs = tuple(weights[part] for part in EFFORT_PARTS)
    values = money.split_amount(cost.value, [figure.value or money.ZERO for figure in inputs])
    return {
        part: Figure(
            id=figure_id("run", name, part, "cost", cost.unit, at=at), value=value, unit=cost.unit, basis="derived",
            op="split", formula=f"cost of {name} in proportion to what its time went into", inputs=(cost, *inputs),
            part=number, label=f"{name}, {part}",
        )
        for number, (part, value) in enumerate(zip(EFFORT_PARTS, values, strict=True))
    }  # fmt: skip


def _per_1k(name: str, steps: int, cost: Figure, at: str) -> Figure:
    made = _given(name, "useful", "steps", money.divide(Decimal(steps), PER_THOUSAND), "1k steps", at)
    return ratio(
        figure_id("run", name, "per-1k-steps", cost.unit, at=at), cost, made, unit=f"{cost.unit}/1k useful steps",
        label=f"{name} per 1k useful steps", empty=cost.note or "no useful step",
    )  # fmt: skip


def spot_figures(name: str, lives: Sequence[Life], cost: Figure, without: OnDemand, *, at: str) -> SpotFigures | None:
    """What spot saved at equal useful steps; None where the steps or the cost are not known.

    Parameters
    ----------
    without
        Price of one accelerator without interruptions, in the currency of the cost.
    """
    hours = on_demand_hours(lives)
    if hours is None or cost.value is None or not without.usd_per_hour:
        return None
    needed = _given(name, "on-demand", "hours", decimal_of(hours), "accelerator-hours", at)
    price = Figure(
        id=figure_id("run", name, "on-demand", "price", at=at), value=without.usd_per_hour,
        unit=f"{cost.unit} / accelerator-hour", basis=without.basis, op="given", formula=without.source,
        label=f"{name}, price on demand",
    )  # fmt: skip
    on_demand = Figure(
        id=figure_id("run", name, "on-demand", "cost", cost.unit, at=at),
        value=money.multiply(needed.value or money.ZERO, without.usd_per_hour), unit=cost.unit, basis="estimated",
        op="product", formula="hours for the same useful steps without interruptions x price on demand",
        inputs=(needed, price), label=f"{name} on demand",
    )  # fmt: skip
    saved = Figure(
        id=figure_id("run", name, "saved", cost.unit, at=at),
        value=money.subtract(on_demand.value or money.ZERO, cost.value), unit=cost.unit, basis="estimated",
        op="difference", formula="on demand - what it cost", inputs=(on_demand, cost), label=f"{name}, saved",
    )  # fmt: skip
    share = ratio(
        figure_id("run", name, "saved", "share", at=at),
        saved,
        on_demand,
        unit="share",
        label=f"{name}, realised saving",
    )
    return SpotFigures(price=price, on_demand=on_demand, saved=saved, share=share)


def _given(name: str, what: str, of: str, value: Decimal, unit: str, at: str) -> Figure:
    return Figure(
        id=figure_id("run", name, what, of, at=at), value=value, unit=unit, basis="measured", op="given",
        formula="from steps, times and prices of its attempts", label=f"{name}, {what} {of}",
    )  # fmt: skip
