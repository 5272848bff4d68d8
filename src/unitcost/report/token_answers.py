"""The token account for the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.facts.call_doubts import CallOverlap, StatementKind
from unitcost.facts.token_answers import (
    Apart,
    BillJoin,
    CacheLine,
    MeteredTokens,
    PrefixLine,
    Reserved,
    TokenAccount,
    TokenCost,
)
from unitcost.figure import Figure

_SHARE_PLACES = 4
_STATEMENTS: tuple[StatementKind, ...] = ("same", "superseded", "shared")


def tokens(account: TokenAccount | None) -> dict[str, Any]:
    """Token account by unit, name by name; decimal strings, null for what is not known. Empty without calls."""
    if account is None:
        return {}
    return {
        "spend": {unit: _text(figure) for unit, figure in account.spend.items()},
        "states": {
            unit: {name: _text(figure) for name, figure in sorted(found.items())} for unit, found in account.states.items()
        },
        "coverage": None if account.coverage is None else _share(account.coverage),
        "priced_tokens": account.priced_tokens,
        "unpriced_tokens": sum(one.tokens for one in account.unpriced),
        "self_hosted_tokens": dict(account.self_hosted),
        "models": _lines(account.models),
        "own": _lines(account.own),
        "teams": _lines(account.teams),
        "projects": _lines(account.projects),
        "keys": _lines(account.keys),
        "apart": {unit: {row.name: _apart(row) for row in rows} for unit, rows in account.apart.items()},
        "reported_and_computed": [
            {
                "provider": provider, "currency": currency, "reported": money.text(reported),
                "computed": money.text(computed), "difference": money.text(money.subtract(reported, computed)), "rows": rows,
            }
            for provider, currency, reported, computed, rows in account.compared
        ],
        "bills": {unit: [_bill(row) for row in rows] for unit, rows in account.bills.items()},
        "reserved": {unit: [_reserved(row) for row in rows] for unit, rows in account.reserved.items()},
        "metered": [_metered(line) for line in account.metered],
        "prompt_cache": [_cache(line) for line in account.cache],
        "prefix_cache": [_prefix(line) for line in account.prefix],
        "unpriced": [
            {
                "model": one.model, "provider": one.provider or None, "tokens": one.tokens, "calls": one.calls,
                "reason": one.reason, "near": list(one.near),
            }
            for one in account.unpriced
        ],
        "statements": {kind: account.statements.get(kind, 0) for kind in _STATEMENTS},
        "overlaps": [_overlap(one) for one in account.overlaps],
        "notes": list(account.notes),
    }  # fmt: skip


def _lines(by_unit: Mapping[str, Sequence[TokenCost]]) -> dict[str, dict[str, dict[str, Any]]]:
    return {unit: {line.name: _line(line) for line in lines} for unit, lines in by_unit.items()}


def _line(line: TokenCost) -> dict[str, Any]:
    return {
        "cost": _text(line.cost), "low": _amount(line.low), "high": _amount(line.high), "figure": line.cost.id,
        "input_tokens": _whole(line.input_tokens), "output_tokens": _whole(line.output_tokens),
        "unpriced_tokens": line.unpriced_tokens, "calls": _whole(line.calls), "per_mtok_input": _text(line.per_input),
        "per_mtok_output": _text(line.per_output), "per_mtok_blended": _text(line.blended), "blend": line.blend or None,
        "per_call": _text(line.per_call), "per_accepted": _text(line.per_accepted),
        "price_records": sorted(_records(line.cost)),
    }  # fmt: skip


def _records(figure: Figure) -> set[str]:
    """Price records that a figure stands on."""
    found = {part for part in figure.note.replace(",", " ").split() if part.startswith("price-")}
    for inner in figure.inputs:
        found |= _records(inner)
    return found


def _apart(row: Apart) -> dict[str, Any]:
    return {"calls": row.calls, "cost": _text(row.cost), "avoided": _text(row.avoided)}


def _bill(row: BillJoin) -> dict[str, Any]:
    return {
        "provider": row.provider, "month": row.month, "billed": _text(row.billed), "called": _text(row.called),
        "difference": _text(row.difference), "counts": _text(row.stands),
    }  # fmt: skip


def _reserved(row: Reserved) -> dict[str, Any]:
    return {
        "name": row.name, "provider": row.provider, "cost": _text(row.cost), "tokens": row.tokens,
        "per_mtok": _text(row.per_mtok), "unused": _text(row.unused), "used_hours": money.text(row.used_hours),
        "paid_hours": money.text(row.paid_hours), "figure": row.unused.id,
    }  # fmt: skip


def _metered(line: MeteredTokens) -> dict[str, Any]:
    return {
        "provider": line.provider, "model": line.model, "variant": line.variant, "currency": line.currency,
        "input_tokens": money.text(line.input_tokens), "output_tokens": money.text(line.output_tokens),
        "input_cost": money.text(line.input_cost), "output_cost": money.text(line.output_cost),
        "per_mtok_input": _amount(line.per_input), "per_mtok_output": _amount(line.per_output),
        "cost": money.text(line.cost), "per_mtok_blended": _amount(line.blended), "blend": line.blend or None,
    }  # fmt: skip


def _cache(line: CacheLine) -> dict[str, Any]:
    return {
        "model": line.model, "key": line.key or None, "currency": line.currency, "prompt_tokens": line.prompt_tokens,
        "read_tokens": line.read_tokens, "hit_share": None if line.hit_share is None else _share(line.hit_share),
        "ceiling": money.text(line.ceiling), "saved": money.text(line.saved), "lost": money.text(line.lost),
        "earned_by": line.earned_by,
    }  # fmt: skip


def _overlap(one: CallOverlap) -> dict[str, Any]:
    return {
        "readers": list(one.readers), "calls": one.calls, "common": one.common,
        "costs": {
            reader: {currency: money.text(cost) for currency, cost in sorted(costs.items())}
            for reader, costs in sorted(one.costs.items())
        },
    }  # fmt: skip


def _prefix(line: PrefixLine) -> dict[str, Any]:
    return {
        "service": line.service, "prompt_tokens": _amount(line.prompt_tokens), "hit_tokens": _amount(line.hit_tokens),
        "hit_share": None if line.hit_share is None else _share(line.hit_share),
        "computed_prompt_tokens": _amount(line.computed_tokens), "reason": line.reason or None,
    }  # fmt: skip


def _text(figure: Figure | None) -> str | None:
    return None if figure is None or figure.value is None else money.text(figure.value)


def _amount(amount: Decimal | None) -> str | None:
    return None if amount is None else money.text(amount)


def _whole(figure: Figure) -> int | None:
    return None if figure.value is None else int(figure.value)


def _share(share: Decimal) -> str:
    return str(money.round_places(share, _SHARE_PLACES))
