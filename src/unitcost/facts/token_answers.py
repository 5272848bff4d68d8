"""Answers about calls of models, as the report shows them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost.facts.call_doubts import CallOverlap, StatementKind
from unitcost.figure import Figure

#: `api`: calls of a provider's models. `own`: models on machines that are paid for by time.
Hosted = Literal["api", "own"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCost:
    """What somebody paid for tokens, and what a million of them cost.

    Parameters
    ----------
    name
        Of the model, team, project, key or service.
    cost
        Of the calls whose cost is known; without a value where none is.
    low, high
        Bounds of the cost; None where there is no upper one.
    input_tokens, output_tokens, calls
        All that were counted, in millions where they stand under a price.
    per_input, per_output
        Computed cost of a million tokens of that side; without a value where it is not known by side.
    blended
        Cost over all tokens in the mix that occurred; `blend` names that mix.
    per_call, per_accepted
        Cost of a call, and of an accepted answer, failures included.
    unpriced_tokens
        Tokens whose cost nobody knows; they are in no price here.
    """

    name: str
    hosted: Hosted
    cost: Figure
    input_tokens: Figure
    output_tokens: Figure
    calls: Figure
    per_input: Figure
    per_output: Figure
    blended: Figure
    blend: str
    per_call: Figure
    per_accepted: Figure
    low: Decimal | None = None
    high: Decimal | None = None
    unpriced_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Calls that are counted apart: failed, broken off, tried again, answered from a cache."""

    name: str
    calls: int
    cost: Figure
    avoided: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillJoin:
    """What a provider billed for models in a month, beside what its calls come to; the bill wins in spend."""

    provider: str
    month: str
    billed: Figure | None
    called: Figure | None
    difference: Figure | None

    @property
    def stands(self) -> Figure | None:
        """What counts as spend: the bill where there is one, else what the calls come to."""
        return self.billed if self.billed is not None else self.called


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A flat price for throughput that was reserved, spread over its use.

    Parameters
    ----------
    name
        Resource, or kind of line, of the bill.
    tokens
        Of the calls that it could have answered.
    per_mtok
        Flat price over these tokens.
    unused
        Cost of the hours in which nobody called, at least; without a value where calls are not known.
    used_hours, paid_hours
        Hours in which somebody called, and hours that were paid for.
    """

    name: str
    provider: str
    cost: Figure
    tokens: int
    per_mtok: Figure
    unused: Figure
    used_hours: Decimal
    paid_hours: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLine:
    """What a prompt cache saved one key on one model.

    Parameters
    ----------
    ceiling
        Saving if all of the prompts had been read from the cache.
    saved
        Saving against no cache; negative when more was paid for writing than reading saved.
    lost
        Ceiling less saving.
    earned_by
        `provider` where it caches by itself, `caller` where writes were paid, `nobody` where nothing was read.
    """

    model: str
    key: str
    currency: str
    prompt_tokens: int
    read_tokens: int
    hit_share: Decimal | None
    ceiling: Decimal
    saved: Decimal
    lost: Decimal
    earned_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixLine:
    """What the prefix cache of an own service found.

    Parameters
    ----------
    prompt_tokens
        Of all prompts, those found in the cache included. [tokens]
    hit_tokens, hit_share
        Tokens found, and their share of those looked up.
    computed_tokens
        Prompt tokens that had to be computed. [tokens]
    reason
        Why these are not known.
    """

    service: str
    prompt_tokens: Decimal | None
    hit_tokens: Decimal | None = None
    hit_share: Decimal | None = None
    computed_tokens: Decimal | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpriced:
    """A model whose tokens have no price, why, and the names that look like it."""

    model: str
    provider: str
    tokens: int
    calls: int
    reason: str
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredTokens:
    """Tokens of a model as the meters of a bill count them, and what was billed for each side.

    Parameters
    ----------
    cost, input_cost, output_cost
        By the cost that the report adds up.
    per_input, per_output, blended
        Cost of a million tokens; None where there are none. `blend` names the mix of the blended price.
    """

    provider: str
    model: str
    variant: str
    currency: str
    input_tokens: Decimal
    output_tokens: Decimal
    input_cost: Decimal
    output_cost: Decimal
    cost: Decimal
    per_input: Decimal | None
    per_output: Decimal | None
    blended: Decimal | None
    blend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAccount:
    """All that is known about calls, by unit of money.

    Parameters
    ----------
    spend
        Unit -> cost of all calls whose cost is known.
    own
        Unit -> services on own machines whose tokens are counted.
    models, teams, projects, keys
        Unit -> lines, the dearest first.
    states
        Unit -> state of the cost -> sum.
    compared
        Provider, currency, reported and computed cost of the calls that have both.
    coverage
        Share of the tokens of APIs whose cost is known; None when no API was called.
    statements, overlaps
        Rows whose id another row has too, by kind; readers that seem to tell of the same calls.
    """

    spend: dict[str, Figure]
    own: dict[str, list[TokenCost]]
    models: dict[str, list[TokenCost]]
    teams: dict[str, list[TokenCost]]
    projects: dict[str, list[TokenCost]]
    keys: dict[str, list[TokenCost]]
    states: dict[str, dict[str, Figure]]
    apart: dict[str, list[Apart]]
    compared: list[tuple[str, str, Decimal, Decimal, int]]
    bills: dict[str, list[BillJoin]]
    reserved: dict[str, list[Reserved]]
    metered: list[MeteredTokens]
    cache: list[CacheLine]
    prefix: list[PrefixLine]
    unpriced: list[Unpriced]
    self_hosted: dict[str, int]
    priced_tokens: int
    coverage: Decimal | None
    notes: list[str]
    statements: dict[StatementKind, int]
    overlaps: list[CallOverlap]
