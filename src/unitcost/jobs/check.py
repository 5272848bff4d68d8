"""What agrees, what does not, and which export would answer what cannot be answered yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from unitcost import money
from unitcost.economics.joinable import MEASUREMENTS, joined_money
from unitcost.economics.quotes import QuoteCheck
from unitcost.errors import BadSetting
from unitcost.facts.source import LoadRecord, Reject
from unitcost.facts.spend import Selection
from unitcost.jobs.call_doubts import doubts_in
from unitcost.jobs.own_quotes import quote_checks
from unitcost.jobs.review import review
from unitcost.jobs.workspace import Workspace
from unitcost.report.charts import grouped, percent
from unitcost.report.model import Report
from unitcost.report.printed import unit_price
from unitcost.report.sections.loaded import rows_by_reader
from unitcost.units import CENT_PLACES

Verdict = Literal["ok", "warn", "fail"]
#: Invoices, names and services that an answer lists before it says how many more there are.
_MOST = 3
_LOAD = "run `unitcost load` with your bills"
_CALLS = "load a spend log of a gateway, traces of calls, or a provider's usage"
_OUTPUTS = (
    "load a csv with the columns service, day, unit, quantity: how many predictions, runs or tokens a service made; "
    "a service is named as a project, resource, service or team of the bill is"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question: whether it can be answered, and what would help."""

    question: str
    verdict: Verdict
    answer: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcome:
    """All checks, and the rows that were set aside."""

    checks: tuple[Check, ...]
    rejects: tuple[tuple[str, Reject], ...]
    report: Report

    @property
    def fails(self) -> bool:
        """Whether a threshold was passed."""
        return any(check.verdict == "fail" for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Books:
    """What was loaded, and what a report says of it."""

    report: Report
    loads: Sequence[LoadRecord]
    months: Sequence[str]
    has_outputs: bool
    quotes: Sequence[tuple[str, QuoteCheck]] = ()
    has_calls: bool = False
    #: Of rows of one id that differ, and of sources that agree.
    doubts: tuple[list[str], list[str]] = ([], [])

    @property
    def answers(self) -> dict[str, Any]:
        """Answers of the report for machines."""
        return self.report.answers


def check(
    workspace: Workspace, selection: Selection, *, currency: str = "", min_owned: float = 0.0, min_coverage: float = 0.0,
    rejects: int = 20,
) -> CheckOutcome:  # fmt: skip
    """Check a ledger.

    Parameters
    ----------
    currency
        Only charges billed in this currency; empty = all.
    min_owned
        Share of the spend that must have a team.
    min_coverage
        Share of the tokens of APIs whose cost must be known.
    rejects
        How many set-aside rows to return.

    Raises
    ------
    BadSetting
        When `min_owned` or `min_coverage` is no share.
    """
    for share in (min_owned, min_coverage):
        if not 0 <= share <= 1:
            raise BadSetting(f"the share {share} is not between 0 and 1", mend="write 0.9 for 90 %")
    report = review(workspace, selection, currency=currency)
    with workspace.open_ledger() as ledger:
        aside = ledger.rejects(limit=rejects)
        books = _Books(
            report=report, loads=ledger.loads(), months=ledger.billing_months(),
            has_outputs=bool(ledger.outputs(selection) or ledger.metered_outputs(selection)),
            quotes=quote_checks(workspace, ledger, selection),
            has_calls=ledger.work.calls.any(), doubts=doubts_in(ledger, report.answers["tokens"]),
        )  # fmt: skip
    checks = [*_charges(books, min_owned), *_closing(books), *_rows(books, len(aside))]
    if books.answers["total"]:
        checks += [*_currencies(books), *_owned(books, min_owned), *_names(books), *_drivers(books)]
        checks += [*_splits(books), *_work(books), *_quotes(books), *_units(books)]
    checks += [*_once(books), *_tokens(books, Decimal(str(min_coverage)))]
    return CheckOutcome(checks=tuple(checks), rejects=tuple(aside), report=report)


def _charges(books: _Books, min_owned: float) -> Iterator[Check]:
    """Nothing to check is said first; a share that must have a team is missed then."""
    if books.answers["total"]:
        return
    verdict: Verdict = "fail" if min_owned else "warn"
    if not books.months:
        instead = rows_by_reader(books.loads)
        answer = f"yes, but no charges: {instead}" if instead else "no: the ledger holds no charges"
        yield Check(question="Is anything loaded?", verdict=verdict, answer=answer, mend=_LOAD)
        return
    span = books.months[0] if len(books.months) == 1 else f"{books.months[0]} to {books.months[-1]}"
    yield Check(
        question="Are there charges to check?", verdict=verdict,
        answer=f"no: none is in the months and the currency that were asked for; the ledger holds {span}",
        mend="ask for other months, or load the bill of these",
    )  # fmt: skip


def _files(loads: Sequence[LoadRecord]) -> str:
    return "1 file" if len(loads) == 1 else f"{len(loads)} files"


def _closing(books: _Books) -> Iterator[Check]:
    question = "Does the ledger agree with the invoices?"
    rows: list[dict[str, Any]] = books.answers["closing"]
    known = [row for row in rows if row["invoice_total"] is not None]
    wrong = [row for row in known if row["difference"] not in ("0", None)]
    if wrong:
        found = _some([row["message"] for row in wrong], " ")
        yield Check(
            question=question, verdict="fail", answer=f"no: {len(wrong)} of {len(known)} differ. {found}",
            mend="load what is missing, or correct the [[invoice]]",
        )  # fmt: skip
    elif known:
        rest = "" if len(known) == len(rows) else f"; for the other {len(rows) - len(known)} no total is stated"
        yield Check(
            question=question, verdict="ok",
            answer=f"yes: {len(known)} of {len(rows)} invoices agree to the last place{rest}",
        )  # fmt: skip
    elif rows:
        yield Check(
            question=question, verdict="warn", answer="not known: no invoice total is stated",
            mend="state totals under [[invoice]], or load the provider's invoice detail",
        )  # fmt: skip


def _rows(books: _Books, listed: int) -> Iterator[Check]:
    read = sum(load.rows_read for load in books.loads)
    aside = sum(load.rows_rejected for load in books.loads)
    if aside:
        yield Check(
            question="Was every row accepted?", verdict="warn",
            answer=f"no: {aside:,} of {read:,} rows are set aside, and count nowhere",
            mend="correct them in the export, and load it again"
            + (f"; `--rejects {aside}` lists them all with their reasons" if listed < aside else ""),
        )  # fmt: skip
    elif read:
        yield Check(
            question="Was every row accepted?",
            verdict="ok",
            answer=f"yes: {read:,} {'row' if read == 1 else 'rows'} of {_files(books.loads)}",
        )


def _currencies(books: _Books) -> Iterator[Check]:
    reasons = books.answers["not_added"]
    if reasons:
        yield Check(
            question="Can all amounts be added?", verdict="warn",
            answer=f"no: there is {', '.join(reasons.values())}; what has none stays apart, with tables of its own",
            mend="state dated rates under [fx], the first from before the oldest charge",
        )  # fmt: skip


def _owned(books: _Books, min_owned: float) -> Iterator[Check]:
    for unit, share in books.answers["owned_share"]["team"].items():
        value = Decimal(share) if share is not None else Decimal(0)
        low = value < Decimal(str(min_owned))
        before = " before shared cost is divided" if books.answers["splits"] else ""
        floor = f", less than the {percent(Decimal(str(min_owned)))} asked for" if low else ""
        yield Check(
            question=f"How much of the {unit} spend has a team?",
            verdict="fail" if low else "ok" if value == 1 else "warn",
            answer=("nobody's share is known" if share is None else percent(value) + before) + floor,
            mend=""
            if value == 1
            else "`unitcost report --section untagged` lists the rest; name more tags in `from`, or add rules, "
            "under [owners.team]",
        )


def _names(books: _Books) -> Iterator[Check]:
    """Names and tag keys that look like known ones; they are never merged by themselves."""
    near = [
        f"{miss['kind']} {miss['what']} `{miss['found']}` looks like `{miss['near'][0]}`"
        for miss in books.answers["near_misses"]
        if miss["near"]
    ]
    if near:
        yield Check(
            question="Are names spelt in one way?", verdict="warn", answer=f"no: {_some(near)}",
            mend="mend the tags, or say what is meant with a rule or a further key in the settings",
        )  # fmt: skip


def _drivers(books: _Books) -> Iterator[Check]:
    for unit, firm in books.answers["firm"].items():
        largest = books.answers["largest_driver"][unit]
        if not largest:
            answer = "not known: no tag and no rule says what any of it is for"
        elif firm:
            answer = f"mostly {largest}"
        else:
            answer = f"mostly {largest}, as far as is known; what is unknown could change that"
        yield Check(
            question=f"What is the {unit} spend for?", verdict="ok" if firm else "warn", answer=answer,
            mend="" if firm else "tag the charges whose driver is unknown, or place them with rules under [[drivers]]",
        )  # fmt: skip


def _splits(books: _Books) -> Iterator[Check]:
    if not books.answers["splits"] and not books.answers["split_notes"]:
        return
    notes = [f"{note['split']}: {note['says']}" for note in books.answers["split_notes"]]
    yield Check(
        question="Is shared cost divided as the settings say?", verdict="warn" if notes else "ok",
        answer=_some(notes) or "yes",
        mend="correct these [[split]] entries, or load what they need" if notes else "",
    )  # fmt: skip


def _work(books: _Books) -> Iterator[Check]:
    """How much of what is paid for machines is joined to those who held them, and which export would join more."""
    for unit, drivers in books.answers["drivers"].items():
        known = books.answers["capacity"].get(unit, {})
        found = joined_money(_amounts(drivers), _amounts(known.get("attributed", {})))
        if found.share is None:
            continue
        missing = [f"{export} would join up to {percent(share)}" for export, _, share in found.missing]
        yield Check(
            question=f"How much of the {unit} spend for machines says who held them?",
            verdict="ok" if not missing else "warn",
            answer=f"{percent(found.share)} of {grouped(found.whole, CENT_PLACES)}", mend=_some(missing),
        )  # fmt: skip
        yield from _measured(unit, _amounts(known.get("held", {})), _amounts(known.get("measured", {})))


def _quotes(books: _Books) -> Iterator[Check]:
    """Own prices that are per accelerator where the bill says they are taken for the machine, or the other way round."""
    if books.quotes:
        yield Check(
            question="Do your own prices of machines fit the bill?", verdict="warn",
            answer="no: " + _some([f"{name}: {quote.sentence}" for name, quote in books.quotes]),
            mend="state usd_per_hour for the whole machine, or usd_per_accelerator_hour, in the files under [prices]",
        )  # fmt: skip


def _measured(unit: str, held: dict[str, Decimal], measured: dict[str, Decimal]) -> Iterator[Check]:
    """How much of what work held was measured, and what would measure the rest."""
    whole, known = money.add(held.values()), money.add(measured.values())
    if whole <= 0:
        return
    share = money.divide(known, whole)
    left = money.subtract(Decimal(1), share)
    yield Check(
        question=f"How much of the {unit} spend that work held says how busy it was?", verdict="warn" if left else "ok",
        answer=f"{percent(share)} of {grouped(whole, CENT_PLACES)}",
        mend=f"{MEASUREMENTS} would tell up to {percent(left)} more" if left else "",
    )  # fmt: skip


def _once(books: _Books) -> Iterator[Check]:
    """Rows of one call that differ, and sources that seem to tell of the same calls."""
    if not books.has_calls:
        return
    differ, agree = books.doubts
    answer = " ".join([*differ, *agree])
    yield Check(
        question="Does each call of a model count once?", verdict="warn" if answer else "ok", answer=answer or "yes",
        mend="say under [calls] which source counts, if they tell of the same calls" if agree else "",
    )  # fmt: skip


def _tokens(books: _Books, floor: Decimal) -> Iterator[Check]:
    """How much of the use of models has a price; what has none is named, with the names that look like it."""
    question = "How much of the tokens of APIs has a price?"
    account: dict[str, Any] = books.answers["tokens"]
    if not account or account["coverage"] is None:
        if floor:
            yield Check(question=question, verdict="fail", answer="not known: no calls of APIs are loaded", mend=_CALLS)
        return
    whole = account["priced_tokens"] + account["unpriced_tokens"]
    value = money.divide(Decimal(account["priced_tokens"]), Decimal(whole))
    low = value < floor
    named = _some([_unpriced(one) for one in account["unpriced"]])
    yield Check(
        question=question, verdict="fail" if low else "ok" if value == 1 else "warn",
        answer=f"{percent(value)} of {whole:,}" + (f", less than the {percent(floor)} asked for" if low else "")
        + (f"; unpriced: {named}" if named else ""),
        mend="" if value == 1 else "under [prices] say what is meant with aliases or same_as, give your own price, or list self_hosted",
    )  # fmt: skip


def _unpriced(one: Mapping[str, Any]) -> str:
    near = f"; looks like {' or '.join(f'`{name}`' for name in one['near'])}" if one["near"] else ""
    return f"{one['model'] or 'no model'} ({one['tokens']:,} tokens: {one['reason']}{near})"


def _amounts(found: dict[str, str | None]) -> dict[str, Decimal]:
    return {name: Decimal(amount) for name, amount in found.items() if amount is not None}


def _units(books: _Books) -> Iterator[Check]:
    question = "What does one useful unit cost?"
    if not books.has_outputs:
        answer = "not known: nothing that is loaded says how many useful units were made"
        yield Check(question=question, verdict="warn", answer=answer, mend=_OUTPUTS)
        return
    costs: list[dict[str, Any]] = books.answers["unit_costs"]
    known = _some([_unit_cost(cost) for cost in costs if cost["cost"] is not None])
    unknown = _some([f"{cost['service']} ({cost['reason']})" for cost in costs if cost["cost"] is None])
    if not costs:
        answer = "not asked for one currency: a part of the cost over all of the units would be wrong"
        yield Check(question=question, verdict="warn", answer=answer)
    elif unknown:
        yield Check(
            question=question, verdict="warn", answer="; ".join(filter(None, [known, f"not known for {unknown}"])),
            mend="name a service in the outputs as a project, resource, service or team of the bill is named",
        )  # fmt: skip
    else:
        yield Check(question=question, verdict="ok", answer=known)


def _unit_cost(cost: dict[str, Any]) -> str:
    if cost["cost_per_unit"] is None:
        return f"{cost['service']} has {cost['reason']}"
    return f"{cost['service']} {unit_price(Decimal(cost['cost_per_unit']))} {cost['currency']} per {cost['unit']}"


def _some(parts: Sequence[str], separator: str = "; ") -> str:
    """The first few parts, and how many more there are."""
    more = f" ({len(parts) - _MOST} more)" if len(parts) > _MOST else ""
    return separator.join(parts[:_MOST]) + more
