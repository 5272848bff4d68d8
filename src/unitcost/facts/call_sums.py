"""What is asked of the ledger about calls of models, and the sums that come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from unitcost.facts.tokens import Fee, TokenClass

#: Which cost stands for a call. `measured`: its source says so, zero included. `computed`: tokens times the price in
#: force. `estimated`: its source gives an estimate and no price is known. `cached`: the gateway answered from its own
#: cache. `self-hosted`: the cost is in the machines' bill. `told-again`: another source, which counts, tells of the same tokens: a
#: usage report of days whose calls are loaded, or calls beside those of the source that the settings name. `unpriced`: nobody
#: knows.
CostState = Literal["measured", "computed", "estimated", "cached", "self-hosted", "told-again", "unpriced"]
COST_STATES: tuple[CostState, ...] = (
    "measured", "computed", "estimated", "cached", "self-hosted", "told-again", "unpriced",
)  # fmt: skip
#: More tokens of a side than this in one row are no count of tokens.
MOST_TOKENS = 10**15
#: Decimal places of the price of one token that the engine multiplies with.
RATE_PLACES = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class CallName:
    """What calls say they called: a provider (empty when none is named), a model and a variant."""

    provider: str
    model: str
    variant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """Prices of one name in one interval and tier: what a call is joined with.

    Parameters
    ----------
    name
        Place of the name in the list of names.
    price_id, record_ids
        The price, and the price records it is made of.
    since, until
        Half-open, UTC; None = no such bound.
    hours
        Hours of the day (UTC) such as `16:30-00:30`; empty = all day.
    over_tokens, up_to_tokens
        The whole prompt is more than the first and at most the second; None = no upper bound.
    lowest, tiered
        Place of the lowest tier of the same price in the list of rates, and whether there are several tiers.
    per_token, per_fee
        Prices of one token, search and request; a class that is missing is not priced.
    """

    name: int
    price_id: str
    record_ids: tuple[str, ...]
    currency: str
    since: datetime | None
    until: datetime | None
    hours: str
    over_tokens: int
    up_to_tokens: int | None
    lowest: int
    tiered: bool
    per_token: Mapping[TokenClass, Decimal]
    per_fee: Mapping[Fee, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPeriod:
    """A stretch of time inside one month of the report and one period of exchange rates; None = open, UTC."""

    month: str
    rate_since: date | None
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallQuestion:
    """How calls are priced and grouped.

    Parameters
    ----------
    names, self_hosted
        Distinct names in the calls, and which of them (by place) run on own machines.
    makers, called
        Provider and model of each name as price lists call it, in their order.
    rates
        Prices of the names.
    periods
        Ascending and without gaps; calls outside do not count. Calls without a time count in the first when it is open
        at both ends or `undated` says so.
    tag_keys
        Tags that calls are grouped by.
    currency
        Of reported costs that name none.
    undated
        Whether calls without a time count.
    counts
        Reader whose calls count where others tell of the same model on the same UTC day; empty = all count.
    """

    names: tuple[CallName, ...]
    self_hosted: frozenset[int]
    rates: tuple[RateRow, ...]
    periods: tuple[CallPeriod, ...]
    tag_keys: tuple[str, ...] = ()
    by_caller: bool = False
    currency: str = "USD"
    undated: bool = True
    makers: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    counts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGroup:
    """What calls of one group have in common.

    Parameters
    ----------
    name, rate, period
        Places in the lists of the question; None = no price, no time.
    tags
        Values of the tags that were asked for, in their order.
    retry
        Whether these are second and later attempts.
    currency
        Of the cost that stands; empty when none does.
    """

    name: int
    rate: int | None
    period: int | None
    region: str
    key: str
    caller: str
    tags: tuple[str | None, ...]
    status: str
    retry: bool
    state: CostState
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSum:
    """Sums over the calls of a group.

    Parameters
    ----------
    rows, calls
        Rows of the ledger, and calls that these stand for.
    input_tokens, output_tokens
        All of each side, each token once.
    tokens
        Class -> tokens; unknown counts as nothing here, `uncounted_rows` says in how many rows all are unknown.
    cost
        Of what stands; zero where nothing does.
    input_cost, output_cost
        Its parts, of computed costs.
    low_gap, high_gap
        What must be added to the cost for its bounds: the first is not positive, the second not negative.
    compared_reported, compared_computed
        Both costs of the calls that have both, in one currency.
    avoided
        What answers from the gateway's cache would have cost.
    accepted, judged
        Calls whose answer was accepted, and those of which that is known.
    broken_off, lifetime_unknown
        Rows whose output is a lower bound, and whose cache lifetime is the default.
    """

    group: CallGroup
    rows: int
    calls: int
    tokens: Mapping[TokenClass, int]
    input_tokens: int
    output_tokens: int
    searches: int
    cost: Decimal
    input_cost: Decimal
    output_cost: Decimal
    compared_reported: Decimal
    compared_computed: Decimal
    compared_rows: int
    avoided: Decimal
    accepted: int
    judged: int
    broken_off: int
    lifetime_unknown: int
    uncounted_rows: int
    low_gap: Decimal = field(default=Decimal(0))
    high_gap: Decimal = field(default=Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One row of calls, with what it adds to its group."""

    file: str
    row_number: int
    called_at: datetime | None
    sum: CallSum
