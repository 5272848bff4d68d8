"""Pricing the calls of a ledger: what each name means, which price held when, and whose the calls are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

from unitcost.attribution import decide
from unitcost.attribution.decide import owner_rules
from unitcost.attribution.fx import rate_days
from unitcost.attribution.owners import DEFAULT_SOURCES
from unitcost.attribution.periods import months_between, selection_bounds
from unitcost.attribution.tags import fold
from unitcost.economics.token_prices import unit_rates
from unitcost.errors import NoPrice
from unitcost.facts.call_sums import CallName, CallPeriod, CallQuestion, CallSum, RateRow
from unitcost.facts.charges import Facet
from unitcost.facts.rules import OwnerKind, Settings
from unitcost.facts.spend import Selection
from unitcost.facts.token_account import PricedCalls, TokenGroup
from unitcost.facts.tokens import ModelMatch, ModelPrice
from unitcost.jobs.call_doubts import called, check_rules
from unitcost.ledger import Ledger
from unitcost.prices.models import ModelBook

#: Kinds of owner that calls are shown by.
_KINDS: tuple[OwnerKind, ...] = ("team", "project")
_CALLER = "sub_account_name"
_TOLD_AGAIN = "told-again"
#: Unpriced models for which near names are looked up; that is slow.
_MOST_NEAR = 12
#: A name that begins with a region of Bedrock, or a data zone of Azure.
_ZONE = re.compile(
    r"(?:(?:bedrock|aws|azure|azure_ai)/)?(?:[a-z]{2}(?:-[a-z]+)+-\d|eu|us|global(?:-standard)?|data-?zone[^/]*)/", re.I
)
_NO_ZONES = "; no price list here knows prices by Bedrock region or Azure data zone: give your own under [prices]"


def priced_calls(ledger: Ledger, book: ModelBook, settings: Settings, selection: Selection) -> PricedCalls | None:
    """Calls of a selection with prices and owners; None when the ledger holds no calls.

    Calls are placed by when they were made, whatever places charges.
    """
    calls = ledger.work.calls
    if not calls.any():
        return None
    check_rules(settings.calls, where=settings.file)
    names = tuple(calls.names())
    matches = tuple(book.match(name.model, name.provider) for name in names)
    rates, reasons = _rates(book, names, matches)
    tag_keys, by_caller = _looked_at(settings, calls.tag_keys())
    question = CallQuestion(
        names=names, self_hosted=frozenset(i for i, match in enumerate(matches) if match.state == "self-hosted"),
        rates=tuple(rates), periods=tuple(_periods(selection, settings, calls.span())), tag_keys=tag_keys,
        by_caller=by_caller, currency=settings.currency, undated=selection.start is None and selection.end is None,
        makers=tuple(match.provider or name.provider for name, match in zip(names, matches, strict=True)),
        called=called(names, matches), counts=settings.calls.counts,
    )  # fmt: skip
    decided = tuple(_decided(calls.sums(question), question, matches, reasons, settings))
    groups = tuple(group for group in decided if group.sum.group.state != _TOLD_AGAIN)
    return PricedCalls(
        question=question, groups=groups, matches=matches, near=_near(book, groups, matches),
        statements=calls.doubts.counts(), repeating_children=calls.repeating(),
        told_again=tuple(g for g in decided if g.sum.group.state == _TOLD_AGAIN),
        overlaps=() if settings.calls.counts else tuple(calls.overlaps(question)),
    )  # fmt: skip


def _rates(
    book: ModelBook, names: Sequence[CallName], matches: Sequence[ModelMatch]
) -> tuple[list[RateRow], dict[int, str]]:
    """Prices of the names, and why others have none."""
    rates: list[RateRow] = []
    reasons: dict[int, str] = {}
    for number, (name, match) in enumerate(zip(names, matches, strict=True)):
        if match.state != "priced":
            reasons[number] = match.reason + (_NO_ZONES if _ZONE.match(name.model) else "")
            continue
        try:
            prices = book.intervals(match, name.variant)
        except NoPrice as error:
            reasons[number] = error.what
            continue
        for price in prices:
            rates += _rate_rows(price, number, len(rates))
    return rates, reasons


def _rate_rows(price: ModelPrice, name: int, first: int) -> Iterator[RateRow]:
    tiers = unit_rates(price)
    records = tuple(sorted(record.id for record in price.rates))
    for tier in tiers:
        yield RateRow(
            name=name, price_id=price.id, record_ids=records, currency=tier.currency, since=tier.effective_from,
            until=tier.effective_to, hours=tier.hours, over_tokens=int(tier.over_tokens),
            up_to_tokens=None if tier.up_to_tokens is None else int(tier.up_to_tokens), lowest=first,
            tiered=len(tiers) > 1, per_token=tier.per_token, per_fee=tier.per_fee,
        )  # fmt: skip


def _looked_at(settings: Settings, known: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Tags that rules for owners may look at, and whether they look at the caller."""
    columns: set[str] = set()
    for kind in _KINDS:
        rules = owner_rules(settings, kind)
        columns.update(rules.sources or DEFAULT_SOURCES[kind])
        columns.update(column for rule in rules.rules for column in rule.when.columns)
    wanted = {fold(column.removeprefix("tags.")) for column in columns if column.startswith("tags.")}
    return tuple(key for key in known if fold(key) in wanted), _CALLER in columns


def _periods(selection: Selection, settings: Settings, span: tuple[datetime, datetime] | None) -> Iterator[CallPeriod]:
    """Months of the selection that calls were made in, cut where an exchange rate begins."""
    if span is None:
        yield CallPeriod(month="", rate_since=None, since=None, until=None)
        return
    start, end = selection_bounds(selection)
    days = rate_days(settings.fx)
    first, last = max(filter(None, (span[0], start))), span[1]
    for month, since, until in months_between(first, last, selection.timezone):
        lower, upper = max(filter(None, (since, start))), min(filter(None, (until, end)))
        cuts = [moment for day in days if lower < (moment := _midnight(day)) < upper]
        for begin, stop in pairwise([lower, *cuts, upper]):
            if begin < stop:
                in_force = [day for day in days if _midnight(day) <= begin]
                yield CallPeriod(month=month, rate_since=max(in_force, default=None), since=begin, until=stop)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _decided(
    sums: Sequence[CallSum],
    question: CallQuestion,
    matches: Sequence[ModelMatch],
    reasons: dict[int, str],
    settings: Settings,
) -> Iterator[TokenGroup]:
    keys: dict[tuple[object, ...], Facet] = {}
    listed = []
    for found in sums:
        group = found.group
        key = (group.name, group.region, group.key, group.caller, group.tags)
        if key not in keys:
            keys[key] = _facet(found, question, len(keys))
        listed.append((found, keys[key].facet_id))
    owners = {row.facet_id: row.owners for row in decide(keys.values(), settings)}
    for found, facet in listed:
        match, name = matches[found.group.name], question.names[found.group.name]
        rate = None if found.group.rate is None else question.rates[found.group.rate]
        period = None if found.group.period is None else question.periods[found.group.period]
        yield TokenGroup(
            sum=found, provider=match.provider or name.provider, model=match.model or name.model, variant=name.variant,
            team=owners[facet]["team"][0], project=owners[facet]["project"][0], month=period.month if period else "",
            rate_since=period.rate_since if period else None, price_id=rate.price_id if rate else "",
            record_ids=rate.record_ids if rate else (), reason=reasons.get(found.group.name, "" if rate else _NO_PRICE_THEN),
        )  # fmt: skip


_NO_PRICE_THEN = "no price holds for that time or that class of tokens"


def _facet(found: CallSum, question: CallQuestion, number: int) -> Facet:
    group, name = found.group, question.names[found.group.name]
    values = {
        "service_provider_name": name.provider, "resource_name": name.model, "sku_id": name.model, "region_id": group.region,
        "resource_id": group.key, _CALLER: group.caller, "operation": name.variant,
    }  # fmt: skip
    tags = {key: value for key, value in zip(question.tag_keys, group.tags, strict=True) if value}
    return Facet(facet_id=number, values={name: value for name, value in values.items() if value}, tags=tags)


def _near(book: ModelBook, groups: Sequence[TokenGroup], matches: Sequence[ModelMatch]) -> dict[str, tuple[str, ...]]:
    """Names that look like those of models without a price, of the models with most tokens."""
    tokens: dict[int, int] = {}
    for group in groups:
        if group.sum.group.state == "unpriced" and matches[group.sum.group.name].state == "unpriced":
            name = group.sum.group.name
            tokens[name] = tokens.get(name, 0) + sum(group.sum.tokens.values())
    most = sorted(tokens, key=lambda name: (-tokens[name], name))[:_MOST_NEAR]
    return {matches[name].asked_model: tuple(book.near(matches[name])) for name in most}
