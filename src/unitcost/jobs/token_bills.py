"""Calls joined with what their providers billed: the bill wins, the difference is shown; reserved throughput is spread."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from unitcost import money
from unitcost.attribution.capacity import Period, merged
from unitcost.economics.token_costs import nothing, per_mtok
from unitcost.facts.drivers import LLM_API
from unitcost.facts.token_account import TokenGroup
from unitcost.facts.token_answers import BillJoin, Reserved
from unitcost.figure import Figure, figure_id, ratio
from unitcost.jobs.capacity import USAGE, clipped, microseconds
from unitcost.jobs.sellers import seller
from unitcost.jobs.token_sums import TokenSums, tokens_of
from unitcost.ledger.spend import Question
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking

_BILL_DIMS = ("provider", "month", "driver", "line")
_RESERVED_DIMS = ("provider", "resource", "throughput", "driver", "line")
_HOUR_US = SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND


def bills(asking: Asking, sums: TokenSums) -> dict[str, list[BillJoin]]:
    """Unit -> provider and month: billed for models, and what the calls come to."""
    rows = [r for r in asking.spend(_BILL_DIMS) if r.keys[2] == LLM_API and r.keys[3] in USAGE]
    amounts = sums.amounts
    billed = amounts.regroup(
        "calls-billed",
        amounts.by_unit("calls-billed-part", _BILL_DIMS, rows),
        lambda key: (seller(key[0] or ""), key[1]),
    )
    dims = ("provider", "month", "state")
    called = amounts.regroup(
        "calls-month",
        sums.costs("calls-month-part", dims, sums.priced.groups),
        lambda key: (seller(key[0] or ""), key[1]),
    )
    found: dict[str, list[BillJoin]] = {}
    for unit in sorted({*billed, *called}):
        keys = sorted({*billed.get(unit, {}), *called.get(unit, {})}, key=lambda key: (key[0] or "", key[1] or ""))
        found[unit] = [
            _join(sums, unit, key, billed.get(unit, {}).get(key), called.get(unit, {}).get(key)) for key in keys
        ]
    return found


def _join(
    sums: TokenSums, unit: str, key: tuple[str | None, ...], billed: Figure | None, called: Figure | None
) -> BillJoin:
    provider, month = key[0] or "", key[1] or ""
    difference = None
    if billed is not None and called is not None and billed.value is not None and called.value is not None:
        difference = Figure(
            id=figure_id("calls-difference", provider or "none", month or "none", unit, at=sums.at),
            value=money.subtract(billed.value, called.value), unit=unit, basis="derived", op="difference",
            formula="billed - calls", inputs=(billed, called), label=f"{provider} {month}, billed less calls",
        )  # fmt: skip
    return BillJoin(provider=provider, month=month, billed=billed, called=called, difference=difference)


def reserved(asking: Asking, sums: TokenSums) -> dict[str, list[Reserved]]:
    """Unit -> flat prices of reserved throughput, spread over the calls of their provider."""
    question = Question(
        selection=asking.selection, dims=_RESERVED_DIMS, placements=asking.months, rates_since=asking.rates_since,
        where=(("throughput", "reserved"), ("driver", LLM_API)),
    )  # fmt: skip
    rows = [
        row
        for row in asking.ledger.work.paid(question)
        if row.spend.keys[4] in USAGE and asking.currency in ("", row.spend.currency)
    ]
    if not rows:
        return {}
    periods: dict[tuple[str, str], list[Period]] = defaultdict(list)
    for row in rows:
        steps = ((microseconds(start), microseconds(end)) for start, end in row.periods)
        periods[row.spend.keys[0] or "", row.spend.keys[1] or ""] += clipped(steps, asking.selection)
    amounts = sums.amounts
    parts = amounts.by_unit("reserved-part", _RESERVED_DIMS, [row.spend for row in rows])
    return {
        unit: [
            _spread(asking, sums, key[0] or "", key[1] or "", figure, merged(periods[key[0] or "", key[1] or ""]))
            for key, figure in figures.items()
        ]
        for unit, figures in amounts.regroup(
            "reserved", parts, lambda key: (key[0], key[1]), ("provider", "resource")
        ).items()
    }


def _spread(
    asking: Asking, sums: TokenSums, provider: str, resource: str, cost: Figure, periods: list[Period]
) -> Reserved:
    groups = [group for group in sums.priced.groups if seller(group.provider) == seller(provider)]
    names = {sums.priced.question.names[group.sum.group.name].provider for group in groups}
    paid_us = sum(end - start for start, end in periods)
    used_us = asking.ledger.work.calls.busy_us(sorted(names), periods)
    tokens = sums.count("reserved", ("provider",), (groups[0].provider if groups else None,), groups, "tokens")
    steps = ("reserved", provider or "none", resource or "none")
    return Reserved(
        name=resource or "reserved throughput", provider=seller(provider), cost=cost, tokens=tokens_of(groups),
        per_mtok=per_mtok((*steps, "per-mtok"), cost, tokens, at=sums.at, label=resource),
        unused=_unused(sums, steps, cost, groups, paid_us, used_us), used_hours=_hours(used_us), paid_hours=_hours(paid_us),
    )  # fmt: skip


def _unused(
    sums: TokenSums, steps: tuple[str, ...], cost: Figure, groups: list[TokenGroup], paid_us: int, used_us: int
) -> Figure:
    """Cost of the time in which nobody called: ``cost x (paid - used) / paid``."""
    if not groups or not paid_us or cost.value is None:
        reason = "no calls of that provider are loaded" if not groups else "the bill states no period"
        return nothing((*steps, "unused", cost.unit), cost.unit, reason, at=sums.at, label="unused", inputs=(cost,))

    def given(what: str, microseconds_: int) -> Figure:
        return Figure(
            id=figure_id(*steps, what, cost.unit, at=sums.at), value=Decimal(microseconds_), unit="microseconds",
            basis="derived", op="given", formula=f"time {what}", label=what,
        )  # fmt: skip

    idle, paid = given("without a call", paid_us - used_us), given("paid for", paid_us)
    product = Figure(
        id=figure_id(*steps, "idle cost", cost.unit, at=sums.at), value=money.multiply(cost.value, idle.value or money.ZERO),
        unit=cost.unit, basis="derived", op="product", formula="cost x time without a call", inputs=(cost, idle),
        label="cost x time without a call",
    )  # fmt: skip
    return ratio(figure_id(*steps, "unused", cost.unit, at=sums.at), product, paid, unit=cost.unit, label="unused")


def _hours(microseconds_: int) -> Decimal:
    return money.divide(Decimal(microseconds_), Decimal(_HOUR_US))
