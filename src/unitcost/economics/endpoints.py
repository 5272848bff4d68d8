"""Endpoints that are paid for: in use, without any request, or with no traffic data at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.facts.answers import EndpointAnswer, Traffic
from unitcost.facts.spend import OutputRow
from unitcost.figure import Figure, figure_id, ratio
from unitcost.units import HOURS_PER_MONTH, MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

#: Units of output that show whether anybody called.
TRAFFIC_UNITS = ("requests", "predictions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What is paid for an endpoint.

    Parameters
    ----------
    paid_us
        How long it was paid for. [microseconds]
    """

    name: str
    cost: Figure
    paid_us: int


def endpoint_answers(
    endpoints: Iterable[Endpoint], outputs: Iterable[OutputRow], *, at: str, names: Mapping[str, str]
) -> list[EndpointAnswer]:
    """Traffic of each endpoint, the dearest first.

    Parameters
    ----------
    names
        Endpoint -> service of the outputs that is the same.
    at
        Tag of the selection, for figure ids.
    """
    counts: dict[str, dict[str, list[Decimal]]] = defaultdict(lambda: defaultdict(list))
    for row in outputs:
        if row.unit in TRAFFIC_UNITS:
            counts[row.service][row.unit].append(row.attempts if row.attempts is not None else row.quantity)
    answers = [_answer(endpoint, counts.get(names.get(endpoint.name, ""), {}), at) for endpoint in endpoints]
    return sorted(answers, key=lambda answer: (-(answer.cost.value or money.ZERO), answer.name))


def _answer(endpoint: Endpoint, counts: Mapping[str, list[Decimal]], at: str) -> EndpointAnswer:
    unit = next((unit for unit in TRAFFIC_UNITS if unit in counts), "")
    requests = money.add(counts[unit]) if unit else None
    traffic: Traffic = "traffic unknown" if requests is None else "in use" if requests > 0 else "no requests"
    return EndpointAnswer(
        name=endpoint.name, cost=endpoint.cost, traffic=traffic, requests=requests, unit=unit,
        recoverable=_per_month(endpoint, at) if traffic == "no requests" else None,
    )  # fmt: skip


def _per_month(endpoint: Endpoint, at: str) -> Figure | None:
    """Cost of an average month at the price that was paid: ``cost / paid hours * 730``."""
    if not endpoint.paid_us or endpoint.cost.value is None:
        return None

    def given(what: str, value: Decimal, formula: str) -> Figure:
        return Figure(
            id=figure_id("endpoint", endpoint.name, what, at=at), value=value, unit="hours", basis="derived", op="given",
            formula=formula, label=what,
        )  # fmt: skip

    seconds = money.divide(Decimal(endpoint.paid_us), Decimal(MICROSECONDS_PER_SECOND))
    paid = given("paid hours", money.divide(seconds, Decimal(SECONDS_PER_HOUR)), "length of the charge periods")
    month = given("hours of a month", Decimal(HOURS_PER_MONTH), "365 days of 24 hours / 12")
    scaled = Figure(
        id=figure_id("endpoint", endpoint.name, "cost-hours", endpoint.cost.unit, at=at),
        value=money.multiply(endpoint.cost.value, Decimal(HOURS_PER_MONTH)), unit=endpoint.cost.unit, basis="derived",
        op="product", formula="cost x hours of a month", inputs=(endpoint.cost, month), label="cost x 730",
    )  # fmt: skip
    return ratio(
        figure_id("endpoint", endpoint.name, "recoverable", endpoint.cost.unit, at=at), scaled, paid,
        unit=endpoint.cost.unit, label=f"{endpoint.name}, a month",
    )  # fmt: skip
