"""The same traffic bought from an API, and the volume at which the answer flips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from unitcost import money
from unitcost.economics.token_prices import price_call
from unitcost.errors import NoPrice, UnknownName
from unitcost.facts.tokens import ModelPrice, TokenCounts
from unitcost.jobs.plan_prices import Prices
from unitcost.jobs.prices import open_models
from unitcost.jobs.serve_answers import ApiOffer
from unitcost.measure.labels import known_model
from unitcost.prices.models import ModelBook
from unitcost.serving.own_or_api import OwnReplicas, flips
from unitcost.serving.traces import Trace
from unitcost.units import HOURS_PER_MONTH, MICROSECONDS_PER_SECOND, PER_MILLION, SECONDS_PER_HOUR

_FAMILY = re.compile(r"[a-z]+(?:-[a-z]+)*")


def api_offers(model: str, trace: Trace, own: OwnReplicas | None, prices: Prices) -> tuple[ApiOffer, ...]:
    """Offers of a model by the token, the cheapest first.

    Parameters
    ----------
    own
        Replicas to compare with, in tokens a month; None: nothing of one's own keeps the targets.
    """
    found = [
        offer for price, listed in _priced(open_models(prices.workspace), model, prices)
        if (offer := _offer(price, listed, model, trace, own)) is not None
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda offer: (bool(offer.needs_check), offer.usd_per_month, offer.provider)))


def _priced(book: ModelBook, model: str, prices: Prices) -> Iterator[tuple[ModelPrice, str]]:
    """Prices in force of all listed models of that shape."""
    meant = known_model(model)
    short = _short(meant)
    family = _FAMILY.match(short)
    seen = set()
    for entry in (entry for known in book.lists for entry in known.entries()):
        key = (entry.provider.casefold(), entry.model.casefold())
        if key in seen or (family and family[0] not in key[1]) or not _is(entry.model, meant):
            continue
        seen.add(key)
        match = book.match(entry.model, entry.provider)
        if match.state != "priced":
            continue
        try:
            yield book.price(match, prices.at), entry.model
        except NoPrice:
            continue  # listed, but not at that time


def _is(listed: str, meant: str) -> bool:
    try:
        return known_model(listed) == meant
    except UnknownName:
        return False


def _short(name: str) -> str:
    return name.casefold().rsplit("/", 1)[-1].removeprefix("meta-")


def _offer(price: ModelPrice, listed: str, asked: str, trace: Trace, own: OwnReplicas | None) -> ApiOffer | None:
    """Offer for the traffic of a trace; None when it cannot be priced in USD.

    Each request is priced as one of the mean length: where a list has tiers by length, that is a simplification.
    """
    requests, hours = len(trace), _hours(trace)
    inputs, outputs = int(trace.input_tokens.sum()), int(trace.output_tokens.sum())
    mean = TokenCounts(input_tokens=round(inputs / requests), output_tokens=round(outputs / requests))
    call = price_call(mean, price)
    if call.currency != "USD" or call.amount is None or not hours:
        return None
    tokens = Decimal(mean.input_tokens + mean.output_tokens)
    per_token = money.divide(call.amount, tokens)
    whole = money.multiply(per_token, Decimal(inputs + outputs))
    same = _short(asked) in _short(listed) or _short(known_model(asked)) in _short(listed)
    return ApiOffer(
        provider=price.provider, model=listed, usd_per_month=_per_month(whole, hours),
        usd_per_mtok_total=money.multiply(per_token, PER_MILLION),
        usd_per_mtok_input=_over(whole, inputs), usd_per_mtok_output=_over(whole, outputs),
        needs_check="" if same else "needs quality check: another version of the model",
        flips=tuple(flips(own, per_token)) if own else (), source=str(price.source),
    )  # fmt: skip


def _over(usd: Decimal, tokens: int) -> Decimal:
    return money.divide(money.multiply(usd, PER_MILLION), Decimal(tokens))


def _hours(trace: Trace) -> Decimal:
    span_us = Decimal(round(trace.duration_s * MICROSECONDS_PER_SECOND))
    return money.divide(span_us, Decimal(SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND))


def _per_month(usd: Decimal, hours: Decimal) -> Decimal:
    return money.divide(money.multiply(usd, Decimal(HOURS_PER_MONTH)), hours)
