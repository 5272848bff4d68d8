"""How much of the money for machines is joined to the work that held them, and which export would join more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.facts.drivers import DEVELOPMENT, EVALUATION, PREPROCESSING, SERVING, TRAINING

#: Driver that machines are paid for -> the export that tells who held them.
EXPORTS: dict[str, str] = {
    SERVING: "pods and nodes (`kubectl get nodes,pods -A -o json`, or kube-state-metrics from Prometheus)",
    TRAINING: "accounting of the scheduler (`sacct -P -D`), or pods and nodes",
    PREPROCESSING: "accounting of the scheduler (`sacct -P -D`), or pods and nodes",
    EVALUATION: "accounting of the scheduler (`sacct -P -D`), or pods and nodes",
    DEVELOPMENT: "pods and nodes, or a csv of holdings",
}


#: The export that tells how busy cards were.
MEASUREMENTS = "utilisation of cards (the DCGM exporter, from Prometheus)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Money for machines in one currency.

    Parameters
    ----------
    share
        Part of it that is joined to work; None when nothing is paid for machines.
    missing
        (export, what it would join, the share of all that this is), the largest first.
    """

    whole: Decimal
    joined: Decimal
    share: Decimal | None
    missing: tuple[tuple[str, Decimal, Decimal], ...]


def joined_money(drivers: Mapping[str, Decimal], matched: Mapping[str, Decimal]) -> Joined:
    """How much of what is paid for machines is joined to work.

    Parameters
    ----------
    drivers
        Amount by driver.
    matched
        Part of it of which is known who held it, or that nobody did.
    """
    spent = {driver: drivers[driver] for driver in EXPORTS if drivers.get(driver, money.ZERO) > 0}
    known = {driver: min(amount, matched.get(driver, money.ZERO)) for driver, amount in spent.items()}
    whole, joined = money.add(spent.values()), money.add(known.values())
    if not whole:
        return Joined(whole=whole, joined=joined, share=None, missing=())
    left: dict[str, Decimal] = {}
    for driver, amount in spent.items():
        export = EXPORTS[driver]
        left[export] = money.add([left.get(export, money.ZERO), money.subtract(amount, known[driver])])
    missing = sorted(((export, amount) for export, amount in left.items() if amount > 0), key=lambda x: (-x[1], x[0]))
    return Joined(
        whole=whole, joined=joined, share=money.divide(joined, whole),
        missing=tuple((export, amount, money.divide(amount, whole)) for export, amount in missing),
    )  # fmt: skip
