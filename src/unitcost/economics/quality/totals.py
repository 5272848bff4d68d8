"""What serving a thousand predictions costs, with the cost of being wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import NormalDist

from unitcost import money
from unitcost.economics.formulas import cost_per_1k_usd
from unitcost.errors import UnitcostError
from unitcost.facts.options import Demand, Option
from unitcost.units import HOURS_PER_DAY, PER_THOUSAND, SECONDS_PER_DAY, SECONDS_PER_HOUR

#: Two-sided level of intervals of a share of errors.
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Infra:
    """Serving cost per the unit of the demand, and whole replicas; None when they cannot be told, with the reason."""

    usd: Decimal | None
    replicas: int | None
    why_not: str = ""


def infra(option: Option, demand: Demand) -> Infra:
    """Serving cost of an option. [USD per `demand.unit`].

    Notes
    -----
    With traffic: ``replicas * usd_per_hour * 24 / (per_day / per)`` where ``replicas = ceil(peak / per_s)``, at least one:
    a replica is rented whole. One replica is supposed where no throughput is told, unless a peak or a latency limit must
    fit into it. Without: ``usd_per_hour / (per_s * 3600 * utilisation / per)``. What a unit costs besides is
    added.
    """
    found = _served(option, demand)
    if found.usd is None or not option.added_usd_per_unit:
        return found
    return replace(found, usd=money.add([found.usd, money.multiply(option.added_usd_per_unit, demand.per)]))


def _served(option: Option, demand: Demand) -> Infra:
    if option.usd_per_unit is not None:
        return Infra(usd=money.multiply(option.usd_per_unit, demand.per), replicas=None)
    if option.usd_per_hour is None:
        return Infra(usd=None, replicas=None, why_not="no price of it is known")
    if demand.per_day is not None:
        return _for_traffic(option, demand, option.usd_per_hour)
    if not option.per_s:
        return Infra(usd=None, replicas=None, why_not="neither its throughput nor the traffic is told")
    busy_per_hour = exact(option.per_s * demand.utilisation * SECONDS_PER_HOUR)
    usd = money.divide(money.multiply(option.usd_per_hour, demand.per), busy_per_hour)
    return Infra(usd=usd, replicas=None)


def error_cost(share: float, cost_usd: Decimal, per: Decimal) -> Decimal:
    """Cost of the wrong answers among `per` predictions. [USD].

    Notes
    -----
    ``per * share of errors * cost of an error``
    """
    return money.multiply(money.multiply(per, exact(share)), cost_usd)


def wilson(hits: float, items: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Interval of a share from `hits` of `items`.

    Notes
    -----
    Wilson's score interval [1]_; it stays inside 0 and 1, and has a width when nothing was hit.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if items <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = hits / items
    centre = share + z * z / (2 * items)
    half = z * math.sqrt(share * (1 - share) / items + z * z / (4 * items * items))
    whole = 1 + z * z / items
    return max(0.0, (centre - half) / whole), min(1.0, (centre + half) / whole)


def exact(value: float) -> Decimal:
    """Decimal that a float is written as: 0.02 stays 0.02.

    Raises
    ------
    UnitcostError
        When it is not finite.
    """
    if not math.isfinite(value):
        raise UnitcostError(f"{value} is not a finite number", mend="look at the measurement that it comes from")
    return Decimal(repr(float(value)))


def _for_traffic(option: Option, demand: Demand, usd_per_hour: Decimal) -> Infra:
    per_day = demand.per_day or 0.0
    if per_day <= 0:
        return Infra(usd=None, replicas=None, why_not="no useful unit")
    if not option.per_s and (demand.peak_per_s is not None or option.basis == "measured"):
        return Infra(usd=None, replicas=None, why_not="no rate inside the limits is known, so nor are its replicas")
    peak_per_s = demand.peak_per_s or per_day / SECONDS_PER_DAY
    replicas = max(1, math.ceil(peak_per_s / option.per_s - 1e-9)) if option.per_s else 1
    hours = money.multiply(Decimal(replicas), Decimal(HOURS_PER_DAY))
    per_1k = cost_per_1k_usd(usd_per_hour, hours, exact(per_day))
    usd = None if per_1k is None else money.divide(money.multiply(per_1k, demand.per), PER_THOUSAND)
    return Infra(usd=usd, replicas=replicas)
