"""The formulas of unit costs, for one machine, one run, one mistake. None stands for "there is no such number"."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from unitcost import money
from unitcost.units import PER_THOUSAND


def cost_per_1k_usd(hourly_usd: Decimal, hours: Decimal, predictions: Decimal) -> Decimal | None:
    """Cost of a thousand predictions. [USD / 1k predictions].

    Returns
    -------
    Decimal or None
        None when no prediction was made.

    Notes
    -----
    ``hourly_usd * hours / (predictions / 1000)``
    """
    if predictions <= 0:
        return None
    return money.divide(money.multiply(money.multiply(hourly_usd, hours), PER_THOUSAND), predictions)


def cost_per_run_usd(
    hourly_usd: Decimal, gpu_hours: Decimal, storage_gb: Decimal = money.ZERO, storage_usd_per_gb: Decimal = money.ZERO
) -> Decimal:
    """Cost of a training run. [USD].

    Notes
    -----
    ``hourly_usd * gpu_hours + storage_gb * storage_usd_per_gb``
    """
    compute_usd = money.multiply(hourly_usd, gpu_hours)
    return money.add([compute_usd, money.multiply(storage_gb, storage_usd_per_gb)])


def cost_per_result_usd(run_costs_usd: Iterable[Decimal], accepted: int) -> Decimal | None:
    """Cost of an accepted result, runs that failed included. [USD / accepted result].

    Returns
    -------
    Decimal or None
        None when nothing was accepted.

    Notes
    -----
    ``sum(cost_per_run) / accepted``
    """
    total_usd = money.add(run_costs_usd)
    return money.divide(total_usd, Decimal(accepted)) if accepted > 0 else None


def break_even_error_usd(saved_usd: Decimal, extra_errors: Decimal) -> Decimal | None:
    """What a mistake may cost before a cheaper option that makes more of them is the dearer one. [USD / error].

    Parameters
    ----------
    saved_usd
        What the cheaper option saves in a period.
    extra_errors
        How many more mistakes it makes in that period.

    Returns
    -------
    Decimal or None
        None when it makes no more mistakes: then it is cheaper whatever a mistake costs.
    """
    return money.divide(saved_usd, extra_errors) if extra_errors > 0 else None
