"""What the intervals of a run cost. Money begins here: the simulator itself knows none, so one run prices many offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from unitcost import money
from unitcost.errors import NoPrice
from unitcost.serving.fleet import Category, State
from unitcost.serving.outcome import Interval, Outcome
from unitcost.units import HOURS_PER_MONTH, MICROSECONDS_PER_SECOND, PER_MILLION, PER_THOUSAND, SECONDS_PER_HOUR

_K = TypeVar("_K")
_US_PER_HOUR = Decimal(SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Prices of a replica.

    Parameters
    ----------
    usd_per_hour
        By category. [USD / hour]
    paid
        States that are billed. Clouds bill a machine from when it runs, so provisioning is left out as shipped.
    standby_usd_per_hour
        Price in the warm pool where it is another one; None: as in service. [USD / hour]
    """

    usd_per_hour: Mapping[Category, Decimal]
    paid: frozenset[State] = frozenset({"loading", "standby", "ready", "draining"})
    standby_usd_per_hour: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCost:
    """Cost of a run.

    Parameters
    ----------
    usd
        The whole: the sum of `by_state`, and of `by_category`.
    used_usd, idle_usd
        Of ready and draining replicas: time in steps, and the rest. Pricing by allocation counts both, pricing by use the
        first alone.
    cold_usd, warm_usd, spot_usd
        Cold starts; the warm pool; all on spot.
    """

    usd: Decimal
    by_state: Mapping[State, Decimal]
    by_category: Mapping[Category, Decimal]
    used_usd: Decimal

    @property
    def idle_usd(self) -> Decimal:
        """Ready and draining replicas while no step ran. [USD]."""
        return money.subtract(self._open_usd, self.used_usd)

    @property
    def cold_usd(self) -> Decimal:
        """Cold starts. [USD]."""
        return money.add(self.by_state.get(state, money.ZERO) for state in _COLD)

    @property
    def warm_usd(self) -> Decimal:
        """Warm pool. [USD]."""
        return self.by_state.get("standby", money.ZERO)

    @property
    def spot_usd(self) -> Decimal:
        """All on spot. [USD]."""
        return self.by_category.get("spot", money.ZERO)

    @property
    def _open_usd(self) -> Decimal:
        return money.add(self.by_state.get(state, money.ZERO) for state in _OPEN)


_COLD: tuple[State, ...] = ("provisioning", "loading")
_OPEN: tuple[State, ...] = ("ready", "draining")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCosts:
    """Cost per useful unit; None where there is no such unit. [USD]."""

    per_mtok_input: Decimal | None
    per_mtok_output: Decimal | None
    per_mtok_total: Decimal | None
    per_1k_requests: Decimal | None
    per_month: Decimal | None


def interval_usd(interval: Interval, rates: Rates) -> Decimal:
    """Price of one interval, to the microsecond. [USD].

    Raises
    ------
    NoPrice
        When its category has no price.
    """
    if interval.state not in rates.paid:
        return money.ZERO
    rate = rates.usd_per_hour.get(interval.category)
    if interval.state == "standby" and rates.standby_usd_per_hour is not None:
        rate = rates.standby_usd_per_hour
    if rate is None:
        raise NoPrice(f"{interval.category} replicas have no price", mend="give a price for each category of the fleet")
    return money.divide(money.multiply(rate, _microseconds(interval)), _US_PER_HOUR)


def price(outcome: Outcome, rates: Rates) -> ServingCost:
    """Cost of a run at some prices."""
    parts = [(interval, interval_usd(interval, rates)) for interval in outcome.intervals]
    by_state = _grouped((interval.state, usd) for interval, usd in parts)
    by_category = _grouped((interval.category, usd) for interval, usd in parts)
    open_parts: dict[int, list[tuple[Interval, Decimal]]] = {}
    for interval, usd in parts:
        if interval.state in _OPEN:
            open_parts.setdefault(interval.replica, []).append((interval, usd))
    used = [_used_usd(outcome.busy_s[place], mine) for place, mine in open_parts.items()]
    return ServingCost(
        usd=money.add(usd for _, usd in parts), by_state=by_state, by_category=by_category, used_usd=money.add(used)
    )


def unit_costs(usd: Decimal, outcome: Outcome) -> UnitCosts:
    """Cost per million tokens, per 1,000 requests and per month of 730 hours at the traffic of the run.

    The whole cost stands over the input tokens, over the output tokens and over both; these are three views of one cost, not
    shares of it.
    """
    hours = money.divide(Decimal(round(outcome.end_s * MICROSECONDS_PER_SECOND)), _US_PER_HOUR)
    return UnitCosts(
        per_mtok_input=_per(usd, Decimal(outcome.input_tokens), PER_MILLION),
        per_mtok_output=_per(usd, Decimal(outcome.output_tokens), PER_MILLION),
        per_mtok_total=_per(usd, Decimal(outcome.input_tokens + outcome.output_tokens), PER_MILLION),
        per_1k_requests=_per(usd, Decimal(outcome.answered), PER_THOUSAND),
        per_month=_per(usd, hours, Decimal(HOURS_PER_MONTH)),
    )


def _per(usd: Decimal, units: Decimal, many: Decimal) -> Decimal | None:
    return money.divide(money.multiply(usd, many), units) if units else None


def _microseconds(interval: Interval) -> Decimal:
    end, start = (round(at * MICROSECONDS_PER_SECOND) for at in (interval.end_s, interval.start_s))
    return Decimal(end - start)


def _grouped(parts: Iterable[tuple[_K, Decimal]]) -> dict[_K, Decimal]:
    found: dict[_K, list[Decimal]] = {}
    for key, usd in parts:
        found.setdefault(key, []).append(usd)
    return {key: money.add(amounts) for key, amounts in found.items()}


def _used_usd(busy_s: float, parts: Sequence[tuple[Interval, Decimal]]) -> Decimal:
    """Part of the price of a replica's open time in which it was in a step."""
    open_us = money.add(_microseconds(interval) for interval, _ in parts)
    busy_us = min(Decimal(round(busy_s * MICROSECONDS_PER_SECOND)), open_us)
    paid = money.add(usd for _, usd in parts)
    return money.divide(money.multiply(paid, busy_us), open_us) if open_us else money.ZERO
