"""Figures that several parts of a report show, each made once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from unitcost import money
from unitcost.facts.rules import OWNER_KINDS, OwnerKind
from unitcost.figure import Figure, figure_id, ratio
from unitcost.figure import total as sum_of
from unitcost.report.amounts import ByUnit
from unitcost.report.inputs import COMMITMENTS, DIMS, ReportInput, shown_driver
from unitcost.report.owner_costs import owner_costs

#: Groups of sums by one dimension of the ledger.
GROUPS = ("line", "provider", "service", "account", "region", "month", "billing_month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A commitment in one currency; `difference` is None where nothing was bought in the range."""

    name: str
    unit: str
    bought: Figure
    used: Figure
    unused: Figure
    utilisation: Figure
    difference: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Figures of a report.

    Parameters
    ----------
    totals
        Unit -> all that is selected.
    drivers
        Amounts by the name under which each driver is shown.
    groups
        Dimension (one of `GROUPS`) -> amounts by its values.
    owner_costs
        Kind of owner -> amounts by owner and what they are for.
    """

    totals: dict[str, Figure]
    drivers: ByUnit
    groups: dict[str, ByUnit]
    owner_costs: dict[OwnerKind, ByUnit]
    commitments: tuple[Commitment, ...]


def make(given: ReportInput) -> Made:
    """Figures of an input."""
    amounts = given.amounts
    groups = {name: amounts.by_unit(name, DIMS[name], given.spend[name]) for name in GROUPS}
    by_rule = amounts.by_unit("driver-part", DIMS["driver"], given.spend["driver"])
    return Made(
        totals={unit: amounts.total("spend", unit, list(found.values())) for unit, found in groups["line"].items()},
        drivers=amounts.regroup("driver", by_rule, lambda key: (shown_driver(key[0], key[2]),)),
        groups=groups,
        owner_costs={kind: owner_costs(given, kind) for kind in OWNER_KINDS},
        commitments=tuple(_commitments(given)),
    )


_Parts = dict[tuple[str, str], list[Figure]]


def _commitments(given: ReportInput) -> Iterable[Commitment]:
    billed = given.billed.by_unit("commitment", COMMITMENTS, given.commitments_billed)
    effective = given.effective.by_unit("commitment", COMMITMENTS, given.commitments_effective)
    bought = _picked(billed, lambda status, category: category == "Purchase")
    used = _picked(effective, lambda status, category: category != "Purchase" and status != "Unused")
    unused = _picked(effective, lambda status, category: status == "Unused")
    for key in sorted({*bought, *used, *unused}):
        yield _commitment(
            given.effective.selection.tag, key, bought.get(key, []), used.get(key, []), unused.get(key, [])
        )


def _picked(by_unit: ByUnit, test: Callable[[str | None, str | None], bool]) -> _Parts:
    """(Unit, commitment) -> figures whose status and category pass the test."""
    found: _Parts = {}
    for unit, figures in by_unit.items():
        for (name, status, category), figure in figures.items():
            if name is not None and test(status, category):
                found.setdefault((unit, name), []).append(figure)
    return found


def _commitment(
    at: str, key: tuple[str, str], bought: list[Figure], used: list[Figure], unused: list[Figure]
) -> Commitment:
    unit, name = key

    def step(what: str) -> str:
        return figure_id("commitment", name, unit, what, at=at)

    def add(what: str, parts: list[Figure]) -> Figure:
        return sum_of(step(what), tuple(parts), unit=unit, label=what)

    paid, use, waste = add("bought", bought), add("used", used), add("unused", unused)
    whole = add("used and unused", [*used, *unused])
    gap = Figure(
        id=step("difference"), value=money.subtract(whole.value or money.ZERO, paid.value or money.ZERO), unit=unit,
        basis="derived", op="difference", formula="used + unused - bought", inputs=(whole, paid), label="difference",
    )  # fmt: skip
    share = ratio(
        step("utilisation"), use, whole, unit="share", label=f"utilisation of {name}", empty="no use in this range"
    )
    return Commitment(
        name=name, unit=unit, bought=paid, used=use, unused=waste, utilisation=share, difference=gap if bought else None
    )
