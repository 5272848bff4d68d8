"""Hours and cost of work by account and by how it ended, at the prices of the settings."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING

from unitcost import money
from unitcost.attribution.work_prices import price_days, price_in_force
from unitcost.economics.held_costs import held_costs
from unitcost.facts.capacity import HeldCost
from unitcost.facts.days import FIRST_DAY, LAST_DAY
from unitcost.facts.zones import zone_of
from unitcost.units import LEDGER_PLACES

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking


def held_costs_of(asking: Asking) -> tuple[tuple[HeldCost, ...], tuple[HeldCost, ...]]:
    """What was held in the range of the selection, by account and by how it ended."""
    rules = asking.settings.work
    epochs = _epochs(asking)
    pairs = asking.ledger.work.accelerators()
    prices = {
        (accelerator, category, number): price.usd_per_hour
        for number, (since, _) in enumerate(epochs)
        for accelerator, category in pairs
        if (price := price_in_force(rules.prices, accelerator, category, since.date()))
    }
    units = [(*key, money.to_units(money.round_places(usd, LEDGER_PLACES))) for key, usd in prices.items()]
    sums = asking.ledger.work.sums(epochs, units, rules.billing)
    at, by_weight = asking.selection.tag, rules.billing == "weights"
    groups = [
        held_costs(sums, prices, key_of, what=what, at=at, by_weight=by_weight)
        for what, key_of in (("account", lambda row: row.account or ""), ("status", lambda row: row.status))
    ]
    return tuple(groups[0]), tuple(groups[1])


def _epochs(asking: Asking) -> list[tuple[datetime, datetime]]:
    """Stretches of the range during which no price changes, in the zone of the report."""
    zone = zone_of(asking.selection.timezone)
    first, last = asking.selection.start or FIRST_DAY, asking.selection.end or LAST_DAY
    edges = [first, *(day for day in price_days(asking.settings.work.prices) if first < day < last), last]
    moments = [_midnight(day, zone) for day in edges]
    return list(pairwise(moments))


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, datetime.min.time(), zone).astimezone(UTC)
