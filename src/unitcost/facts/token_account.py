"""Calls of models with what was decided about them: whose they are, which price held, which cost stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from unitcost.facts.call_doubts import CallOverlap, StatementKind
from unitcost.facts.call_sums import CallQuestion, CallSum
from unitcost.facts.tokens import ModelMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGroup:
    """Sums over calls that agree in all of this.

    Parameters
    ----------
    sum
        What the ledger added up.
    provider, model
        As the price list names them; as the calls do where no list knows them.
    team, project
        None = nobody.
    month
        Of the report, `2026-09`; empty for calls without a time.
    rate_since
        Day from which the exchange rate in force applies.
    price_id, record_ids
        Price that held, and the records it is made of; empty where none did.
    reason
        Why there is no price; empty where there is one.
    """

    sum: CallSum
    provider: str
    model: str
    variant: str
    team: str | None
    project: str | None
    month: str
    rate_since: date | None
    price_id: str = ""
    record_ids: tuple[str, ...] = ()
    reason: str = ""

    def dim(self, name: str) -> str | None:
        """Value in a dimension of the token account; None where there is none."""
        return _DIMS[name](self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedCalls:
    """All calls of a selection, priced and owned.

    Parameters
    ----------
    question
        How the ledger was asked, so that it can be asked for the rows behind a group.
    matches
        How each name of the question was understood, in its order.
    near
        Model without a price -> names that look like it.
    statements
        Kind -> rows whose id another row has too: those that state the same, those that another statement takes the place of,
        and those that count beside others of their id.
    repeating_children
        Rows that are not counted, for the rows below them are.
    told_again
        Calls and usage reports of which another source tells, and counts: they are in no other group.
    overlaps
        Readers that seem to tell of the same calls; all of these count.
    """

    question: CallQuestion
    groups: tuple[TokenGroup, ...]
    matches: tuple[ModelMatch, ...]
    near: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    statements: Mapping[StatementKind, int] = field(default_factory=dict)
    repeating_children: int = 0
    told_again: tuple[TokenGroup, ...] = ()
    overlaps: tuple[CallOverlap, ...] = ()


#: Dimension -> value of a group. Only these stand in figures of the token account.
_DIMS: dict[str, Callable[[TokenGroup], str | None]] = {
    "provider": lambda g: g.provider or None,
    "model": lambda g: g.model or None,
    "variant": lambda g: g.variant or None,
    "team": lambda g: g.team,
    "project": lambda g: g.project,
    "key": lambda g: g.sum.group.key or None,
    "region": lambda g: g.sum.group.region or None,
    "month": lambda g: g.month or None,
    "status": lambda g: g.sum.group.status,
    "attempt": lambda g: "retry" if g.sum.group.retry else "first",
    "state": lambda g: g.sum.group.state,
    "currency": lambda g: g.sum.group.currency or None,
    "price": lambda g: g.price_id or None,
    "rate_since": lambda g: g.rate_since.isoformat() if g.rate_since else None,
}
CALL_DIMS = tuple(_DIMS)
