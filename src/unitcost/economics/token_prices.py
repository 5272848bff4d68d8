"""What calls of models cost. Exact decimals; each token is priced once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from unitcost import money
from unitcost.economics.tiers import tier_of
from unitcost.facts.prices import PriceRecord
from unitcost.facts.tokens import (
    DEFAULT_LIFETIME,
    FEES,
    TOKEN_CLASSES,
    Fee,
    ModelPrice,
    TokenClass,
    TokenCounts,
)

#: A prompt within this much of the next tier is told, when the call would then cost this many times as much.
_CLIFF_SHARE = Decimal("0.25")
_CLIFF_RATIO = Decimal("1.5")


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedPart:
    """What one class of tokens, or one fee, costs.

    Parameters
    ----------
    meter
        The class or fee.
    charged_as
        The class whose rate holds; another one where the price list has none for this class.
    quantity
        Tokens, or how often the fee is due.
    price, per
        The price is that of `per` units.
    record_id
        The price record.
    """

    meter: TokenClass | Fee
    charged_as: str
    quantity: int
    price: Decimal
    per: Decimal
    amount: Decimal
    record_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedCall:
    """What a call costs.

    Parameters
    ----------
    amount
        None when a class of tokens that the call has is not priced: unknown, not zero.
    low, high
        Bounds: of a cache written for an unstated time, of a sum of calls whose tiers are unknown, of missing prices
        (no upper bound then: None).
    over_tokens
        Threshold of the tier that was taken, 0 for the lowest.
    missing
        Classes of the call that have no price.
    flags
        What makes the amount less than certain, one sentence each.
    """

    price_id: str
    currency: str
    amount: Decimal | None
    low: Decimal
    high: Decimal | None
    parts: tuple[PricedPart, ...]
    over_tokens: Decimal
    missing: tuple[TokenClass, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cliff:
    """The next long-context tier, seen from a call below it.

    Parameters
    ----------
    over_tokens
        Its threshold.
    growth
        By how much the prompt may grow before it is passed. [share]
    ratio
        What the same call costs there over what it costs now.
    """

    over_tokens: Decimal
    growth: Decimal
    ratio: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRates:
    """Rates of one model in one tier and interval, for pricing many calls by a join.

    A call belongs here when it is of this model and variant, happened in `[effective_from, effective_to)` and in
    `hours`, and its whole prompt is more than `over_tokens` and at most `up_to_tokens`. It costs the sum over classes of
    tokens x rate, where `output` counts without `reasoning`, plus the fees.

    Parameters
    ----------
    per_token
        Class -> price of one token, fallbacks filled in; a class that is not priced is absent.
    per_fee
        Fee -> price of one.
    """

    price_id: str
    provider: str
    model: str
    variant: str
    currency: str
    effective_from: datetime | None
    effective_to: datetime | None
    hours: str
    over_tokens: Decimal
    up_to_tokens: Decimal | None
    per_token: Mapping[TokenClass, Decimal]
    per_fee: Mapping[Fee, Decimal]


def price_call(tokens: TokenCounts, price: ModelPrice) -> PricedCall:
    """Price of a call, or of the sum of several.

    Parameters
    ----------
    tokens
        Counts in classes that do not overlap.
    price
        What the model charged when the call was made.

    Returns
    -------
    PricedCall
        The tier is chosen by the whole prompt and holds for every class. For a sum of calls it is chosen by their mean,
        and the bounds are those of the cheapest and the dearest tier that may apply.
    """
    mean = money.divide(Decimal(tokens.prompt_tokens), Decimal(max(1, tokens.requests)))
    parts, missing = _parts(tokens, price, mean)
    amount = money.add(part.amount for part in parts)
    flags = [*_missing_flags(missing), *_standard_flags(tokens, price)]
    bounds = [amount]
    if tokens.cache_write_tokens:
        bounds += [_total(_as_lifetime(tokens, lifetime), price, mean) for lifetime in _LIFETIMES]
        flags.append("how long the cache was written for is not stated; the default is taken")
    if tokens.requests > 1 and len(price.thresholds) > 1:
        others = [money.ZERO, Decimal(tokens.prompt_tokens)]
        bounds += [_total(tokens, price, whole) for whole in others]
        flags.append(f"a sum of {tokens.requests} calls: the tier is that of their mean prompt")
    return PricedCall(
        price_id=price.id, currency=price.currency, amount=None if missing else amount, low=min(bounds),
        high=None if missing else max(bounds), parts=parts, over_tokens=_threshold(price, mean), missing=missing,
        flags=tuple(flags),
    )  # fmt: skip


def cliff(tokens: TokenCounts, price: ModelPrice) -> Cliff | None:
    """The next tier, when a small growth of the prompt would pass it and make the whole call much dearer.

    Returns
    -------
    Cliff or None
        None when the next tier is far, is not much dearer, or there is none.
    """
    prompt = Decimal(tokens.prompt_tokens)
    later = [over for over in price.thresholds if over >= prompt]
    if not prompt or not later or tokens.requests != 1:
        return None
    growth = money.divide(money.subtract(later[0], prompt), prompt)
    now = _total(tokens, price, prompt)
    if growth > _CLIFF_SHARE or not now:
        return None
    beyond = _total(tokens, price, money.add([later[0], Decimal(1)]))
    ratio = money.divide(money.multiply(beyond, money.add([Decimal(1), growth])), now)
    return Cliff(over_tokens=later[0], growth=growth, ratio=ratio) if ratio >= _CLIFF_RATIO else None


def unit_rates(price: ModelPrice) -> tuple[UnitRates, ...]:
    """Rates of a model price, one per tier, lowest first."""
    edges = price.thresholds or (money.ZERO,)
    ends = [*edges[1:], None]
    return tuple(_rates(price, over, up_to) for over, up_to in zip(edges, ends, strict=True))


_LIFETIMES: tuple[TokenClass, ...] = (DEFAULT_LIFETIME, "cache_write_1h")


def _rates(price: ModelPrice, over: Decimal, up_to: Decimal | None) -> UnitRates:
    inside = money.add([over, Decimal(1)])
    tokens = {c: record for c in TOKEN_CLASSES if (record := price.charged_as(c)) is not None}
    fees = {fee: record for fee in FEES if (record := price.rate(fee)) is not None}
    return UnitRates(
        price_id=price.id, provider=price.provider, model=price.model, variant=price.variant, currency=price.currency,
        effective_from=price.effective_from, effective_to=price.effective_to, hours=price.hours, over_tokens=over,
        up_to_tokens=up_to, per_token={c: _per_unit(record, inside) for c, record in tokens.items()},
        per_fee={fee: _per_unit(record, inside) for fee, record in fees.items()},
    )  # fmt: skip


def _per_unit(record: PriceRecord, whole: Decimal) -> Decimal:
    return money.divide_exactly(tier_of(record.tiers, whole).price, record.per)


def _parts(
    tokens: TokenCounts, price: ModelPrice, whole: Decimal
) -> tuple[tuple[PricedPart, ...], tuple[TokenClass, ...]]:
    """Priced parts of a call at the tier that `whole` chooses, and the classes that have no price."""
    counts = {c: tokens.of(c) for c in TOKEN_CLASSES if tokens.of(c)}
    if "reasoning" in counts:
        counts["output"] -= counts["reasoning"]
    parts = []
    missing: list[TokenClass] = []
    for token_class, count in counts.items():
        record = price.charged_as(token_class)
        if record is None:
            missing.append(token_class)
        elif count:
            parts.append(_part(token_class, count, record, whole))
    for fee in FEES:
        record = price.rate(fee)
        if record is not None and tokens.fee(fee):
            parts.append(_part(fee, tokens.fee(fee), record, whole))
    return tuple(parts), tuple(missing)


def _part(meter: TokenClass | Fee, quantity: int, record: PriceRecord, whole: Decimal) -> PricedPart:
    rate = tier_of(record.tiers, whole).price
    amount = money.divide_exactly(money.multiply(Decimal(quantity), rate), record.per)
    return PricedPart(
        meter=meter, charged_as=record.meter, quantity=quantity, price=rate, per=record.per, amount=amount,
        record_id=record.id,
    )  # fmt: skip


def _total(tokens: TokenCounts, price: ModelPrice, whole: Decimal) -> Decimal:
    return money.add(part.amount for part in _parts(tokens, price, whole)[0])


def _threshold(price: ModelPrice, whole: Decimal) -> Decimal:
    return max((over for over in price.thresholds if whole > over), default=money.ZERO)


def _as_lifetime(tokens: TokenCounts, lifetime: TokenClass) -> TokenCounts:
    """The same counts with the unstated part of cache writes in one lifetime."""
    stated = tokens.of(lifetime) + tokens.cache_write_tokens
    return replace(tokens, cache_write_tokens=0, **{f"{lifetime}_tokens": stated})


def _missing_flags(missing: tuple[TokenClass, ...]) -> list[str]:
    return [f"no price for {', '.join(missing)} tokens"] if missing else []


def _standard_flags(tokens: TokenCounts, price: ModelPrice) -> list[str]:
    """Say which classes of the call a requested variant leaves at the usual price."""
    usual = [c for c in TOKEN_CLASSES if c in price.standard and tokens.of(c)]
    return [f"{', '.join(usual)} at the usual rate: {price.variant} names none"] if usual else []
