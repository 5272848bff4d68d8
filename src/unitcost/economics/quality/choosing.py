"""The cheapest option at fixed quality: limits first, then cost; what is ruled out says why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from unitcost import money
from unitcost.economics.formulas import break_even_error_usd
from unitcost.economics.quality import totals
from unitcost.economics.quality.front import with_front
from unitcost.errors import UnknownName
from unitcost.facts.options import Choice, Demand, Limits, Option, Ranked, RuledOut
from unitcost.facts.verdicts import Verdict
from unitcost.units import PER_THOUSAND

#: Places of a price of an error in a sentence.
_PLACES = 9
NOT_COMPARABLE = "not comparable: give a quality bar, a margin to a reference, or what a wrong answer costs"
ALONE = "a single option: there is nothing to compare it with"


def label(option: Option) -> str:
    """Name of an option, with its machine after an at-sign where that is told."""
    return f"{option.name}@{option.machine}" if option.machine else option.name


def choose(
    options: Sequence[Option], demand: Demand, limits: Limits, verdicts: Mapping[str, Verdict] | None = None
) -> Choice:
    """Rank options.

    Parameters
    ----------
    verdicts
        Paired decisions against `limits.reference`, by name of the option (a model is as good on each machine that
        computes in the same precision).

    Raises
    ------
    UnknownName
        When there is no option by the name of the reference.

    Notes
    -----
    Without a bar, a verdict or the cost of an error nothing is cheaper: the dearer one may be worth its price.
    """
    verdicts = verdicts or {}
    known = {option.name for option in options} | {label(option) for option in options}
    if limits.reference and limits.reference not in known:
        raise UnknownName("option", limits.reference, known)
    reference = next((o for o in options if limits.reference in (o.name, label(o))), None) or _best(options, limits)
    ranked = [_rank(option, demand, limits, verdicts, reference) for option in options]
    ranked = with_front(ranked, limits)
    ordered = sorted(ranked, key=lambda row: _order(row, limits))
    if limits.bar is None and not verdicts and limits.error_cost_usd is None:
        notes = (*_notes(ordered), *_break_even_notes(ordered, reference, demand))
        reason = NOT_COMPARABLE if len(options) > 1 else ALONE
        return Choice(cheapest="", reason=reason, ranked=tuple(ordered), notes=notes)
    return _answer(ordered, limits, verdicts)


def _best(options: Sequence[Option], limits: Limits) -> Option | None:
    """Option of the best quality: what a cheaper one is held against where no reference is named."""
    known = [option for option in options if option.quality is not None]
    sign = 1 if limits.is_more_better else -1
    return max(known, key=lambda option: sign * (option.quality or 0.0), default=None)


def _break_even_notes(ordered: Sequence[Ranked], reference: Option | None, demand: Demand) -> tuple[str, ...]:
    return tuple(
        f"{label(row.option)} is cheaper than {label(reference)} only if a wrong answer costs less than "
        f"{money.text(money.round_places(row.break_even_error_usd, _PLACES))} USD{_more_wrong(row, reference, demand)}"
        for row in ordered
        if row.break_even_error_usd is not None and reference is not None
    )


def _more_wrong(row: Ranked, reference: Option, demand: Demand) -> str:
    if demand.per_day is None or row.option.quality is None or reference.quality is None:
        return ""
    more = money.subtract(totals.exact(reference.quality), totals.exact(row.option.quality))
    return f": it gives {float(more) * demand.per_day:,.0f} more wrong answers a day"


def _answer(ordered: Sequence[Ranked], limits: Limits, verdicts: Mapping[str, Verdict]) -> Choice:
    fit = [row for row in ordered if not row.ruled_out]
    notes = _notes(ordered)
    if not fit:
        return Choice(cheapest="", reason="every option is ruled out", ranked=tuple(ordered), notes=notes)
    best = fit[0]
    basis = "with the cost of errors " if limits.error_cost_usd is not None else ""
    reason = "the only one left" if len(fit) == 1 else f"lowest cost {basis}among those inside every limit"
    if len(fit) > 1 and best.total_usd == fit[1].total_usd:
        reason = f"as cheap as {label(fit[1].option)}"
    if limits.bar is not None and label(best.option) not in verdicts and best.option.name not in verdicts:
        notes = (*notes, _point_warning(best.option))
    return Choice(cheapest=label(best.option), reason=reason, ranked=tuple(ordered), notes=notes)


def _point_warning(option: Option) -> str:
    many = f" of {option.items:,} items" if option.items else ""
    return (
        f"quality is compared by its point value{many}: an option whose true quality lies just below the bar passes"
        " such a test half of the time; answers per item allow a paired test"
    )


def _rank(
    option: Option, demand: Demand, limits: Limits, verdicts: Mapping[str, Verdict], reference: Option | None
) -> Ranked:
    served = totals.infra(option, demand)
    verdict = verdicts.get(label(option)) or verdicts.get(option.name)
    share = _error_share(option, verdict, reference, limits)
    row = Ranked(
        option=option, replicas=served.replicas, infra_usd=served.usd, error_share=share, total_usd=served.usd,
        total_low_usd=served.usd, total_high_usd=served.usd, verdict=verdict,
        break_even_error_usd=_break_even(option, served.usd, demand, limits, reference),
        ruled_out=tuple(_reasons(option, served, limits, verdict, bool(verdicts), reference)),
    )  # fmt: skip
    return _with_errors(row, demand, limits) if limits.error_cost_usd is not None else row


def _error_share(option: Option, verdict: Verdict | None, reference: Option | None, limits: Limits) -> float | None:
    """Share of wrong answers, where quality is a share of right ones; from the paired loss where that is better."""
    if not limits.is_share_right:
        return None
    if option.quality is not None and 0 <= option.quality <= 1:
        return float(money.subtract(Decimal(1), totals.exact(option.quality)))
    if verdict is not None and reference is not None and reference.quality is not None:
        return 1 - reference.quality + verdict.loss
    return None


def _with_errors(row: Ranked, demand: Demand, limits: Limits) -> Ranked:
    """The row with the cost of its errors, and the interval of that."""
    cost_usd = limits.error_cost_usd
    if cost_usd is None or row.infra_usd is None:
        return row
    if row.error_share is None:
        unknown = RuledOut(by="quality", why="no share of wrong answers is measured, so its errors cannot be priced")
        return replace(
            row, total_usd=None, total_low_usd=None, total_high_usd=None, ruled_out=(*row.ruled_out, unknown)
        )
    infra_usd, items = row.infra_usd, row.option.items
    low, high = totals.wilson(row.error_share * items, items) if items else (row.error_share, row.error_share)

    def total(share: float) -> Decimal:
        return money.add([infra_usd, totals.error_cost(share, cost_usd, demand.per)])

    return replace(row, total_usd=total(row.error_share), total_low_usd=total(low), total_high_usd=total(high))


def _break_even(
    option: Option, infra_usd: Decimal | None, demand: Demand, limits: Limits, reference: Option | None
) -> Decimal | None:
    if reference is None or reference is option or infra_usd is None or demand.per != PER_THOUSAND:
        return None  # a token is no answer that could be wrong
    theirs = totals.infra(reference, demand).usd
    if (
        theirs is None
        or option.quality is None
        or reference.quality is None
        or not (limits.is_more_better and limits.is_share_right)
    ):
        return None
    more = money.subtract(totals.exact(reference.quality), totals.exact(option.quality))
    saved = money.subtract(theirs, infra_usd)
    return break_even_error_usd(saved, money.multiply(demand.per, more)) if saved > 0 else None


def _reasons(
    option: Option, served: totals.Infra, limits: Limits, verdict: Verdict | None, has_verdicts: bool,
    reference: Option | None,
) -> list[RuledOut]:  # fmt: skip
    found = [*_slow(option, limits), *_large(option, limits), *_poor(option, limits)]
    if option.basis == "estimated":
        found.append(RuledOut(by="basis", why="its speed is an estimate: measure it before it is chosen"))
    if has_verdicts and (reference is None or option.name != reference.name):
        if verdict is None:
            found.append(RuledOut(by="quality", why="it has no answers on the items of the reference: not comparable"))
        elif verdict.outcome != "not worse":
            found.append(RuledOut(by="quality", why=verdict.in_words()))
    if served.usd is None:
        found.append(RuledOut(by="cost", why=served.why_not))
    return found


def _slow(option: Option, limits: Limits) -> list[RuledOut]:
    measured = dict(option.latencies_s)
    found = []
    for name, limit_s in limits.latencies_s:
        if name not in measured:
            found.append(RuledOut(by=name, why=f"its {name} is not measured"))
        elif measured[name] > limit_s:
            found.append(RuledOut(by=name, why=f"{name} of {measured[name]:.4g} s is above {limit_s:.4g} s"))
    return found


def _large(option: Option, limits: Limits) -> list[RuledOut]:
    if limits.memory_bytes is None:
        return []
    if option.memory_bytes is None:
        return [RuledOut(by="memory", why="its memory is not measured")]
    if option.memory_bytes > limits.memory_bytes:
        return [RuledOut(by="memory", why=f"{option.memory_bytes:,} bytes are more than {limits.memory_bytes:,}")]
    return []


def _poor(option: Option, limits: Limits) -> list[RuledOut]:
    if limits.bar is None:
        return []
    if option.quality is None:
        return [RuledOut(by="quality", why="its quality is not measured: not comparable")]
    is_poor = option.quality < limits.bar if limits.is_more_better else option.quality > limits.bar
    side = "below" if limits.is_more_better else "above"
    return [RuledOut(by="quality", why=f"{option.quality:g} is {side} the bar {limits.bar:g}")] if is_poor else []


def _order(row: Ranked, limits: Limits) -> tuple[bool, bool, Decimal, float, str]:
    """Those that take part first, by cost, of equal cost the better one; then those that are ruled out, by cost."""
    usd, quality = row.total_usd, row.option.quality
    worth = math.inf if quality is None else -quality if limits.is_more_better else quality
    return (bool(row.ruled_out), usd is None, usd or money.ZERO, worth, label(row.option))


def _notes(ordered: Sequence[Ranked]) -> tuple[str, ...]:
    cheaper = [row for row in ordered if row.ruled_out and row.option.basis == "estimated"][:3]
    if not cheaper:
        return ()
    return (f"worth measuring next: {', '.join(label(row.option) for row in cheaper)}",)
