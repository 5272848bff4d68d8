"""The token account: what calls cost, beside the providers' bills."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from unitcost import money
from unitcost.economics.coverage import TokenUse, price_coverage
from unitcost.economics.own_serving import own_serving
from unitcost.economics.prompt_cache import PromptCache, account, prompt_cache
from unitcost.facts.answers import UnitCost
from unitcost.facts.call_sums import CallQuestion
from unitcost.facts.token_account import PricedCalls, TokenGroup
from unitcost.facts.token_answers import Apart, CacheLine, TokenAccount, Unpriced
from unitcost.facts.tokens import Hosting
from unitcost.figure import Figure, figure_id, total
from unitcost.jobs.call_doubts import overlap_words, statement_words
from unitcost.jobs.token_bills import bills, reserved
from unitcost.jobs.token_lines import KEYS, MODELS, PROJECTS, TEAMS, lines
from unitcost.jobs.token_meters import metered_tokens
from unitcost.jobs.token_prefix import prefix_lines
from unitcost.jobs.token_sums import STANDS, TokenSums, number, tokens_of

if TYPE_CHECKING:
    from unitcost.jobs.asking import Asking
    from unitcost.report.amounts import Amounts

_NO_CALLS = PricedCalls(
    question=CallQuestion(names=(), self_hosted=frozenset(), rates=(), periods=()), groups=(), matches=()
)
#: Regions that a note names.
_MOST = 5
#: Calls that are counted apart, and how they are told; a call may be in several.
_APART: tuple[tuple[str, Callable[[TokenGroup], bool]], ...] = (
    ("failed", lambda g: g.sum.group.status == "failed"),
    ("aborted, cost is a lower bound", lambda g: g.sum.group.status == "aborted"),
    ("retries", lambda g: g.sum.group.retry),
    ("answered from the gateway's cache", lambda g: g.sum.group.status == "cached"),
)


def token_account(
    asking: Asking, amounts: Amounts, priced: PricedCalls | None, costs: Sequence[UnitCost]
) -> TokenAccount | None:
    """Account of the calls of a selection, beside services on own machines; None where nothing counts tokens.

    Parameters
    ----------
    costs
        Unit costs of services, those of tokens among them.
    """
    metered = metered_tokens(asking)
    if priced is None or not priced.groups:
        priced = _NO_CALLS
    sums = TokenSums(priced=priced, amounts=amounts)
    if asking.currency:
        kept = tuple(g for g in priced.groups if g.sum.group.currency in ("", asking.currency))
        sums = TokenSums(priced=_only(priced, kept), amounts=amounts)
    groups, own = sums.priced.groups, own_serving(costs, at=sums.at)
    prefix = prefix_lines(asking)
    if not (groups or metered or own or prefix):
        return None
    states = sums.costs("calls-state", ("state",), groups)
    coverage = price_coverage(
        TokenUse(model=group.model, tokens=tokens_of([group]), state=_hosting(group)) for group in groups
    )
    return TokenAccount(
        spend={unit: amounts.total("calls", unit, list(found.values()), label="calls") for unit, found in states.items()},
        own=own, models=lines(sums, MODELS),
        teams=lines(sums, TEAMS), projects=lines(sums, PROJECTS), keys=lines(sums, KEYS),
        states={unit: {str(key[0]): figure for key, figure in found.items()} for unit, found in states.items()},
        apart=_apart(sums), compared=_compared(groups), bills=bills(asking, sums), reserved=reserved(asking, sums), metered=metered,
        cache=_cache(sums.priced), prefix=prefix, unpriced=_unpriced(sums.priced), self_hosted=coverage.self_hosted,
        statements=dict(sums.priced.statements), overlaps=list(sums.priced.overlaps),
        priced_tokens=coverage.priced_tokens, coverage=coverage.share, notes=list(_notes(sums.priced)),
    )  # fmt: skip


def _only(priced: PricedCalls, groups: tuple[TokenGroup, ...]) -> PricedCalls:
    return replace(priced, groups=groups)


def _hosting(group: TokenGroup) -> Hosting:
    state = group.sum.group.state
    return "priced" if state in STANDS else "self-hosted" if state == "self-hosted" else "unpriced"


def _apart(sums: TokenSums) -> dict[str, list[Apart]]:
    """Unit -> calls that are counted apart; those without a cost stand with the unit of the report."""
    found: dict[str, list[Apart]] = defaultdict(list)
    for name, is_one in _APART:
        by_unit: dict[str, list[TokenGroup]] = defaultdict(list)
        for group in sums.priced.groups:
            if is_one(group):
                by_unit[sums.unit_of(group)].append(group)
        for unit, members in sorted(by_unit.items()):
            costs = sums.costs(f"calls-{name}", ("status", "attempt", "state"), members).get(unit, {})
            avoided = sums.costs(f"calls-{name}-avoided", ("status", "attempt", "state"), members, "avoided").get(
                unit, {}
            )
            found[unit].append(
                Apart(
                    name=name, calls=sum(member.sum.calls for member in members),
                    cost=_total(sums, ("calls-apart", name, unit), list(costs.values()), unit, name),
                    avoided=_total(sums, ("calls-apart", name, "avoided", unit), list(avoided.values()), unit, f"avoided, {name}")
                    if number("avoided", (member.sum for member in members)) else None,
                )
            )  # fmt: skip
    return dict(found)


def _total(sums: TokenSums, steps: tuple[str, ...], parts: Sequence[Figure], unit: str, label: str) -> Figure:
    return total(figure_id(*steps, at=sums.at), tuple(parts), unit=unit, label=label)


def _compared(groups: Sequence[TokenGroup]) -> list[tuple[str, str, Decimal, Decimal, int]]:
    """Reported and computed cost of the calls that have both, by provider and currency."""
    found: dict[tuple[str, str], list[TokenGroup]] = defaultdict(list)
    for group in groups:
        if group.sum.compared_rows:
            found[group.provider, group.sum.group.currency].append(group)
    return [
        (
            provider, currency, money.add(m.sum.compared_reported for m in members),
            money.add(m.sum.compared_computed for m in members), sum(m.sum.compared_rows for m in members),
        )
        for (provider, currency), members in sorted(found.items())
    ]  # fmt: skip


def _cache(priced: PricedCalls) -> list[CacheLine]:
    """Prompt caches by model and key, the largest loss first; answers of the gateway's cache called no model."""
    found: dict[tuple[str, str, str], list[PromptCache]] = defaultdict(list)
    for group in priced.groups:
        rate = group.sum.group.rate
        if rate is None or group.sum.group.state == "cached":
            continue
        row = priced.question.rates[rate]
        cache = prompt_cache(group.sum.tokens, row.per_token)
        if cache is not None and cache.prompt_tokens:
            name = "/".join(part for part in (group.provider, group.model) if part)
            found[name, group.sum.group.key, row.currency].append(cache)
    listed = []
    for (model, key, currency), parts in found.items():
        whole = account(
            prompt=sum(p.prompt_tokens for p in parts), read=sum(p.read_tokens for p in parts),
            wrote=any(p.earned_by == "caller" for p in parts), ceiling=money.add(p.ceiling for p in parts),
            saved=money.add(p.saved for p in parts),
        )  # fmt: skip
        listed.append(
            CacheLine(
                model=model, key=key, currency=currency, prompt_tokens=whole.prompt_tokens, read_tokens=whole.read_tokens,
                hit_share=whole.hit_share, ceiling=whole.ceiling, saved=whole.saved, lost=whole.lost,
                earned_by=whole.earned_by,
            )
        )  # fmt: skip
    return sorted(listed, key=lambda line: (-line.lost, line.model, line.key))


def _unpriced(priced: PricedCalls) -> list[Unpriced]:
    """Models without a price, those with most tokens first."""
    found: dict[tuple[str, str, str], list[TokenGroup]] = defaultdict(list)
    for group in priced.groups:
        if group.sum.group.state == "unpriced":
            found[group.provider, group.model, _reason(priced, group)].append(group)
    listed = [
        Unpriced(
            model=model, provider=provider, tokens=tokens_of(members), calls=sum(m.sum.calls for m in members),
            reason=reason, near=priced.near.get(model, ()),
        )
        for (provider, model, reason), members in found.items()
    ]  # fmt: skip
    return sorted(listed, key=lambda one: (-one.tokens, one.provider, one.model))


def _reason(priced: PricedCalls, group: TokenGroup) -> str:
    if group.sum.uncounted_rows == group.sum.rows:
        return "its source states neither tokens nor a cost"
    region = group.sum.group.region
    return f"{group.reason} (region {region})" if region and group.reason else group.reason


def _told_again(priced: PricedCalls) -> Iterator[str]:
    """What usage reports state of calls that are loaded too, beside what these state, by provider and month."""
    found: dict[tuple[str, str], list[TokenGroup]] = defaultdict(list)
    for group in priced.told_again:
        found[group.provider, group.month].append(group)
    for (provider, month), told in sorted(found.items()):
        counted = [group for group in priced.groups if (group.provider, group.month) == (provider, month)]
        if priced.question.counts:
            source, calls = priced.question.counts, sum(group.sum.calls for group in told)
            yield (
                f"{tokens_of(told):,} tokens of {provider or 'no provider'} in {month}, in {calls:,} calls, are told again elsewhere "
                f"and count nothing: {source} tells of the same models on the same days, and counts by `counts` under [calls]. What "
                f"counts there has {tokens_of(counted):,} tokens."
            )
            continue
        yield (
            f"A usage report of {provider} tells of {tokens_of(told):,} tokens on days of {month} of which calls, or a report in "
            f"more detail, are loaded too. They are taken for the same tokens and count once: what counts of {provider} in that "
            f"month has {tokens_of(counted):,} tokens."
        )


def _notes(priced: PricedCalls) -> Iterator[str]:
    groups = priced.groups
    lifetime = sum(g.sum.lifetime_unknown for g in groups if g.sum.group.state == "computed")
    if lifetime:
        yield (
            f"{lifetime} rows wrote to a cache for a time that is not stated; they are priced at the default lifetime of 5 "
            "minutes, and the range says what an hour would cost."
        )
    broken = sum(g.sum.broken_off for g in groups)
    if broken:
        yield f"{broken} rows are answers that were broken off: their tokens and costs are lower bounds."
    uncounted = sum(g.sum.uncounted_rows for g in groups)
    if uncounted:
        yield f"{uncounted} rows state no tokens; they are in no price per token."
    same = priced.statements.get("same", 0)
    if same:
        yield f"{same} rows tell of a call that another row tells of too; each call counts once."
    yield from statement_words(priced.statements)
    yield from map(overlap_words, priced.overlaps)
    yield from _told_again(priced)
    if priced.repeating_children:
        yield f"{priced.repeating_children} spans repeat what the calls below them state; those count."
    regions = sorted({g.sum.group.region for g in groups if g.sum.group.state == "computed" and g.sum.group.region})
    if regions:
        yield (
            f"Calls name regions ({', '.join(regions[:_MOST])}{', ...' if len(regions) > _MOST else ''}); a price list has one price of a "
            "model for all regions unless its name tells the region, so theirs may differ."
        )
    undated = sum(g.sum.rows for g in groups if not g.month)
    if undated:
        yield f"{undated} rows have no time; they are priced only where a model has one price for all time."
