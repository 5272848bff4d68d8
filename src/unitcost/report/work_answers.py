"""Answers about work for the JSON report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from unitcost import money
from unitcost.facts.answers import EndpointAnswer
from unitcost.facts.capacity import Capacity, HeldCost, StatePart, WorkAnswers, Worker
from unitcost.facts.naming import spelt_owner
from unitcost.facts.rules import OWNER_KINDS, OwnerKind, WorkBilling
from unitcost.facts.runs import RunAnswer
from unitcost.facts.stored import StoredPart
from unitcost.figure import Figure
from unitcost.units import CENT_PLACES

#: States that only a measurement tells.
_MEASURED = ("used", "allocated idle")
_NameOf = Callable[[StatePart], str]


def capacity(work: WorkAnswers | None) -> dict[str, Any]:
    """Paid capacity by unit: in all, by owner, by driver, by resource and by workload; decimal strings.

    What nobody held has no owner, driver or workload: it stands under the empty name there.
    """
    if work is None:
        return {}
    return {
        unit: {
            "states": _sums(found.parts, lambda part: part.state),
            **{kind: _by(found.parts, _owner_of(work.workers, kind)) for kind in OWNER_KINDS},
            "driver": _by(found.parts, _driver_of(work.workers)),
            "resource": _by(found.parts, lambda part: part.place),
            "workload": _by(found.parts, lambda part: part.workload),
            "matched": _matched(found),
            "attributed": _by_driver(part for part in found.parts if part.holder_known),
            "held": _by_driver(part for part in found.parts if part.workload),
            "measured": _by_driver(part for part in found.parts if part.state in _MEASURED),
            "notes": list(found.notes),
        }
        for unit, found in work.capacity.items()
    }


def work(found: WorkAnswers | None, billing: WorkBilling) -> dict[str, Any]:
    """What was held by account and by status: hours and cost at the prices of the settings, decimal strings."""
    if found is None:
        return {}
    return {
        "billing": billing,
        "accounts": {row.name: _held(row) for row in found.accounts},
        "statuses": {row.name: _held(row) for row in found.statuses},
        "open_lives": found.counts.open_lives,
        "never_started": found.counts.never_started,
    }


def runs(found: WorkAnswers | None) -> dict[str, Any]:
    """Experiments with their cost per accepted result, and runs with cost and outcome; decimal strings."""
    if found is None or not found.runs:
        return {}
    return {
        "experiments": [
            {
                "experiment": group.group, "currency": group.cost.unit, "cost": _text(group.cost), "runs": group.runs,
                "accepted": int(group.accepted.value or 0), "unpriced": group.unpriced,
                "per_accepted": None if group.per_accepted.value is None else money.text(group.per_accepted.value),
                "reason": group.per_accepted.note or None, "figure": group.per_accepted.id,
                "pruning_saved": _known(group.pruning_saved),
            }
            for group in found.groups
        ],
        "runs": [
            {
                "run": answer.run.workload, "name": answer.run.name, "experiment": answer.group, "kind": answer.run.kind,
                "outcome": answer.outcome, "accepted": answer.accepted, "currency": answer.cost.unit,
                "cost": None if answer.cost.value is None else money.text(answer.cost.value),
                "from_bill": answer.from_bill, "accelerator_hours": money.text(answer.gpu_hours),
                "reason": answer.cost.note or None, "figure": answer.cost.id, "shared_by": answer.shared_by,
                "pruning_saved": _known(answer.pruning_saved),
                **_effort(answer),
            }
            for answer in found.runs
        ],
    }  # fmt: skip


def _effort(answer: RunAnswer) -> dict[str, Any]:
    """What the time and the cost of a run went into, and what spot saved."""
    effort, spot = answer.effort, answer.spot
    return {
        "no_effort": answer.no_effort or None,
        "effort": None if effort is None else {
            "useful_steps": effort.useful_steps, "repeated_steps": effort.repeated_steps, "lost_steps": effort.lost_steps,
            "hours": {part: _text(figure) for part, figure in effort.hours.items()},
            "cost": {part: _text(figure) for part, figure in effort.cost.items()},
            "cost_per_1k_useful_steps": None if effort.per_1k_steps.value is None else money.text(effort.per_1k_steps.value),
            "figure": effort.per_1k_steps.id,
        },
        "spot": None if spot is None else {
            "on_demand": _text(spot.on_demand), "saved": _text(spot.saved),
            "realised_saving": None if spot.share.value is None else money.text(spot.share.value), "figure": spot.share.id,
            "price": _text(spot.price), "price_basis": spot.price.basis, "price_source": spot.price.formula,
        },
    }  # fmt: skip


def stored(found: Mapping[str, Sequence[StoredPart]]) -> dict[str, Any]:
    """Charges of stores by unit: in all by `kind`, and by kind below each `team` and each `run`; decimal strings."""
    return {
        unit: {
            "kind": _kinds(parts),
            "team": _kinds_by(parts, lambda part: spelt_owner(part.owners["team"])),
            "run": _kinds_by(parts, lambda part: part.run),
        }
        for unit, parts in found.items()
    }


def _kinds(parts: Iterable[StoredPart]) -> dict[str, str]:
    groups: dict[str, list[StoredPart]] = defaultdict(list)
    for part in parts:
        groups[part.kind].append(part)
    return {
        kind: money.text(money.add(part.amount.value or money.ZERO for part in found))
        for kind, found in sorted(groups.items())
    }


def _kinds_by(parts: Iterable[StoredPart], name_of: Callable[[StoredPart], str]) -> dict[str, dict[str, str]]:
    groups: dict[str, list[StoredPart]] = defaultdict(list)
    for part in parts:
        groups[name_of(part)].append(part)
    return {name: _kinds(found) for name, found in sorted(groups.items())}


def _held(row: HeldCost) -> dict[str, Any]:
    return {
        "accelerator_hours": _text(row.accelerator_hours), "core_hours": _text(row.core_hours),
        "usd": None if row.cost.value is None else _text(row.cost),
        "unpriced_hours": _text(row.unpriced_hours), "lives": row.lives, "figure": row.cost.id,
    }  # fmt: skip


def _known(figure: Figure | None) -> str | None:
    return None if figure is None or figure.value is None else money.text(figure.value)


def _text(figure: Figure) -> str:
    return money.text(figure.value or money.ZERO)


def endpoints(found: Mapping[str, Sequence[EndpointAnswer]]) -> dict[str, dict[str, Any]]:
    """Endpoints by unit and name; `idle` is true without requests, false with some, null when nothing tells."""
    return {
        unit: {
            answer.name: {
                "cost": money.text(answer.cost.value or money.ZERO), "traffic": answer.traffic,
                "requests": None if answer.requests is None else money.text(answer.requests),
                "idle": {"in use": False, "no requests": True, "traffic unknown": None}[answer.traffic],
                "monthly_saving": _cents(answer.recoverable),
            }
            for answer in answers
        }
        for unit, answers in found.items()
    }  # fmt: skip


def _cents(figure: Figure | None) -> str | None:
    if figure is None or figure.value is None:
        return None
    return str(money.round_places(figure.value, CENT_PLACES))


def _matched(found: Capacity) -> dict[str, str]:
    """Charges that are joined to work, by the driver that they are for."""
    groups: dict[str, list[Figure]] = defaultdict(list)
    for driver, figure in found.matched:
        groups[driver].append(figure)
    return {
        driver: money.text(money.add(figure.value or money.ZERO for figure in figures))
        for driver, figures in sorted(groups.items())
    }


def _by_driver(parts: Iterable[StatePart]) -> dict[str, str]:
    """Amounts by the driver of the charges."""
    return _sums(parts, lambda part: part.driver)


def _by(parts: Iterable[StatePart], name_of: _NameOf) -> dict[str, dict[str, str]]:
    groups: dict[str, list[StatePart]] = defaultdict(list)
    for part in parts:
        groups[name_of(part)].append(part)
    return {name: _sums(found, lambda part: part.state) for name, found in sorted(groups.items())}


def _sums(parts: Iterable[StatePart], name_of: Callable[[StatePart], str]) -> dict[str, str]:
    groups: dict[str, list[StatePart]] = defaultdict(list)
    for part in parts:
        groups[name_of(part)].append(part)
    return {
        name: money.text(money.add(part.amount.value or money.ZERO for part in found))
        for name, found in sorted(groups.items())
    }


def _owner_of(workers: dict[str, Worker], kind: OwnerKind) -> _NameOf:
    return lambda part: _told(workers, part, lambda worker: spelt_owner(worker.owners[kind]), spelt_owner(None))


def _driver_of(workers: dict[str, Worker]) -> _NameOf:
    return lambda part: _told(workers, part, lambda worker: worker.driver, "unknown")


def _told(workers: dict[str, Worker], part: StatePart, tell: Callable[[Worker], str], otherwise: str) -> str:
    if not part.workload:
        return ""
    worker = workers.get(part.workload)
    return tell(worker) if worker else otherwise
