"""Top-level answers of the JSON report: plain maps that a script can read without knowing the sections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.facts.answers import Owned
from unitcost.facts.naming import NOBODY, meant
from unitcost.facts.rules import OWNER_KINDS, FxRate, OwnerKind
from unitcost.figure import Figure
from unitcost.report import token_answers, work_answers
from unitcost.report.amounts import ByUnit, names_of
from unitcost.report.figures import Made
from unitcost.report.inputs import ReportInput
from unitcost.report.sections import closing

_SHARE_PLACES = 4


def answers(given: ReportInput, made: Made) -> dict[str, Any]:
    """Answers by name. Money is a decimal string per currency; shares are rounded to four places."""
    firm = given.firmness.get("driver", {})
    return {
        "total": {unit: _money(figure) for unit, figure in made.totals.items()},
        "drivers": _map(made.drivers),
        "largest_driver": {unit: answer.largest or None for unit, answer in firm.items()},
        "firm": {unit: answer.firm for unit, answer in firm.items()},
        "could_overtake": {unit: list(answer.overtaking) for unit, answer in firm.items()},
        "owners": {kind: _owners(given, made, kind) for kind in OWNER_KINDS},
        "owned_share": {kind: _owned(given, kind, lambda shares: shares.owned) for kind in OWNER_KINDS},
        "directly_tagged_share": {kind: _owned(given, kind, lambda shares: shares.tagged) for kind in OWNER_KINDS},
        "unknown_values": {kind: _unknown_values(given, kind) for kind in OWNER_KINDS},
        "near_misses": [
            {"kind": miss.kind, "what": miss.what, "found": miss.found, "near": list(miss.near)}
            for miss in given.near_misses
        ],
        **{name: _map(made.groups[dim], (dim,)) for name, dim in _GROUPS.items()},
        "commitments": _commitments(made),
        "unit_costs": _unit_costs(given),
        "comparisons": [
            {"unit": answer.unit, "cheapest": answer.cheapest or None, "reason": answer.reason}
            for answer in given.comparisons
        ],
        "capacity": work_answers.capacity(given.work),
        "stored": work_answers.stored(given.stored),
        "runs": work_answers.runs(given.work),
        "work": work_answers.work(given.work, given.settings.work.billing),
        "tokens": token_answers.tokens(given.tokens),
        "endpoints": work_answers.endpoints(given.endpoints),
        "closing": _closing(given),
        "rates_used": [
            {
                "currency": rate.currency,
                "from": rate.since.isoformat(),
                "rate": money.text(rate.rate),
                "to": given.amounts.currency,
            }
            for rate in rates_used(given)
        ],
        "not_added": not_added(given, made.totals),
        "splits": [split.name for split in given.settings.splits if split.name in given.dividing],
        "split_notes": [{"kind": n.kind, "split": n.split, "says": n.says} for n in given.split_notes],
    }


def rates_used(given: ReportInput) -> list[FxRate]:
    """Rates that figures of the report were converted with, by currency and day; the sections must be made already."""
    used: dict[str, FxRate] = {}
    for amounts in (given.movers, given.billed, given.effective, given.amounts):
        used |= amounts.used
    return sorted(used.values(), key=lambda rate: (rate.currency, rate.since))


def not_added(given: ReportInput, totals: dict[str, Figure]) -> dict[str, str]:
    """Currency that stays apart -> why: it has no rate, or none so early."""
    others = [unit for unit in totals if unit != given.amounts.currency]
    return {unit: _no_rate(given, unit) for unit in others} if len(totals) > 1 or given.settings.fx else {}


def _no_rate(given: ReportInput, unit: str) -> str:
    first = min((rate.since for rate in given.settings.fx if rate.currency == unit), default=None)
    return f"no rate for {unit}" + (f" before {first}" if first else "")


_GROUPS = {
    "lines": "line", "providers": "provider", "services": "service", "accounts": "account", "regions": "region",
    "months": "month", "billing_months": "billing_month",
}  # fmt: skip


def _money(figure: Figure | None) -> str | None:
    return None if figure is None or figure.value is None else money.text(figure.value)


def _sum(figures: Iterable[Figure]) -> Decimal:
    return money.add(figure.value for figure in figures if figure.value is not None)


def _share(figure: Figure) -> str | None:
    return None if figure.value is None else str(money.round_places(figure.value, _SHARE_PLACES))


def _map(by_unit: ByUnit, dims: tuple[str, ...] = ()) -> dict[str, dict[str, str | None]]:
    return {
        unit: {names_of(key, dims)[0]: _money(figure) for key, figure in figures.items()}
        for unit, figures in by_unit.items()
    }


def _owners(given: ReportInput, made: Made, kind: OwnerKind) -> dict[str, dict[str, Any]]:
    answer: dict[str, dict[str, Any]] = {}
    for unit, shares in given.owners.get(kind, {}).items():
        direct = given.owner_direct[kind].get(unit, {})
        costs = _costs(made, kind, unit)
        rounded = money.round_to_total([share.amount.value or money.ZERO for share in shares])
        answer[unit] = {
            share.owner: {
                "owner": None if share.owner in NOBODY else meant(share.owner),
                "amount": _money(share.amount),
                "amount_rounded": str(cents),
                "direct": _money(share.direct) or "0",
                "received": money.text(_sum(share.shared)),
                "given": money.text(_sum(share.given)),
                "shared": money.text(money.subtract(_sum(share.shared), _sum(share.given))),
                "by": {key[1]: _money(figure) for key, figure in direct.items() if key[0] == share.owner},
                "for": costs.get(share.owner, {}),
                "figure": share.amount.id,
            }
            for share, cents in zip(shares, rounded, strict=True)
        }
    return answer


def _costs(made: Made, kind: OwnerKind, unit: str) -> dict[str, dict[str, str | None]]:
    """Owner -> what the money is for -> amount."""
    found: dict[str, dict[str, str | None]] = defaultdict(dict)
    for (owner, what), figure in made.owner_costs[kind].get(unit, {}).items():
        found[str(owner)][str(what)] = _money(figure)
    return found


def _owned(given: ReportInput, kind: OwnerKind, which: Callable[[Owned], Figure]) -> dict[str, str | None]:
    return {unit: _share(which(shares)) for unit, shares in given.owned[kind].items()}


def _unknown_values(given: ReportInput, kind: OwnerKind) -> dict[str, dict[str, str | None]]:
    return {
        unit: {str(key[0]): _money(figure) for key, figure in figures.items() if key[1] == "unknown value"}
        for unit, figures in given.owner_direct.get(kind, {}).items()
    }


def _commitments(made: Made) -> list[dict[str, Any]]:
    return [
        {
            "commitment": one.name, "currency": one.unit, "bought": _money(one.bought), "used": _money(one.used),
            "unused": _money(one.unused), "utilisation": _share(one.utilisation), "difference": _money(one.difference),
        }
        for one in made.commitments
    ]  # fmt: skip


def _unit_costs(given: ReportInput) -> list[dict[str, Any]]:
    return [
        {
            "service": cost.service, "unit": cost.unit, "cost_of": cost.of or None, "cost": _money(cost.cost), "currency": cost.cost.unit,
            "quantity": _money(cost.quantity), "cost_per_unit": _money(cost.per_unit), "wasted": _money(cost.wasted),
            "reason": cost.per_unit.note or None, "figure": cost.per_unit.id,
        }
        for cost in given.unit_costs
    ]  # fmt: skip


def _closing(given: ReportInput) -> list[dict[str, Any]]:
    answer = []
    for row in given.closing:
        gap = closing.difference(row)
        answer.append(
            {
                "billing_month": row.billing_month, "provider": row.provider, "billing_account": row.billing_account,
                "invoice": row.invoice_id or None, "currency": row.currency, "billed": money.text(row.billed),
                "effective": money.text(row.effective),
                "bridge": {step: money.text(amount) for step, amount in row.steps},
                "invoice_total": None if row.invoice_total is None else money.text(row.invoice_total),
                "difference": None if gap is None else money.text(gap), "reason": row.reason or None,
                "message": closing.message(row) or None,
            }
        )  # fmt: skip
    return answer
