"""Calls that may be told twice, in words: rows of one id that differ, and sources that agree call by call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from unitcost import money
from unitcost.errors import UnknownName
from unitcost.facts.call_doubts import CallOverlap, Restated, StatedCall, StatementKind
from unitcost.facts.call_sums import CallName, CallQuestion
from unitcost.facts.rules import CallRules
from unitcost.facts.source import LoadRecord
from unitcost.facts.tokens import ModelMatch
from unitcost.ledger import Ledger
from unitcost.readers.table import CALL_READERS
from unitcost.report.charts import grouped
from unitcost.units import CENT_PLACES

#: Rows that a sentence names.
_MOST = 3
#: Maker before a model's name, and date of a version after it.
_MAKER, _DATE = re.compile(r"^.*/"), re.compile(r"[-@:]?20\d{2}-?\d{2}-?\d{2}$")


def called(names: Sequence[CallName], matches: Sequence[ModelMatch] = ()) -> tuple[str, ...]:
    """Model of each name, so that a gateway's and a trace's spelling are one: as a price list has it, else the bare name."""
    known = [match.model if match.state == "priced" else "" for match in matches] or [""] * len(names)
    return tuple(model or _bare(name.model) for name, model in zip(names, known, strict=True))


def _bare(model: str) -> str:
    return _DATE.sub("", _MAKER.sub("", model.casefold()))


def check_rules(rules: CallRules, *, where: str = "") -> None:
    """Refuse a reader of calls that there is none of.

    Raises
    ------
    UnknownName
        With the near names.
    """
    if rules.counts and rules.counts not in CALL_READERS:
        raise UnknownName("reader of calls", rules.counts, CALL_READERS, where=f"{where}, calls.counts".strip(", "))


def load_notes(ledger: Ledger, record: LoadRecord, rules: CallRules) -> tuple[str, ...]:
    """What is to be said of a load of calls beside those that are in the ledger already."""
    if record.dataset != "calls":
        return ()
    calls = ledger.work.calls
    named = {kind: calls.doubts.restated(kind, load_id=record.load_id, limit=_MOST) for kind in _SAID}
    notes = [*statement_words(calls.doubts.counts(record.load_id), named)]
    if not rules.counts:
        names = tuple(calls.names())
        question = CallQuestion(names=names, self_hosted=frozenset(), rates=(), periods=(), called=called(names))
        overlaps = calls.doubts.overlaps(question)
        notes += [overlap_words(overlap) for overlap in overlaps if record.reader in overlap.readers]
    return tuple(notes)


_SAID: tuple[StatementKind, ...] = ("superseded", "shared")


def statement_words(
    counts: Mapping[StatementKind, int], named: Mapping[StatementKind, Sequence[Restated]] | None = None
) -> Iterator[str]:
    """Sentences about rows of one id that do not state the same, with some of the rows where these are given."""
    superseded, shared = counts.get("superseded", 0), counts.get("shared", 0)
    given = named or {}
    if superseded:
        rows = _some([_against(one) for one in given.get("superseded", ())], superseded)
        yield (
            f"{superseded:,} {'row states' if superseded == 1 else 'rows state'} other tokens or another cost than a fuller or "
            f"later row of the same call; that row counts{rows}."
        )
    if shared:
        rows = _some([f"{_place(one.row)} ({one.call_id})" for one in given.get("shared", ())], shared)
        yield f"{shared:,} calls share an id with calls at another time; each counts{rows}."


def _some(rows: Sequence[str], whole: int) -> str:
    if not rows:
        return ""
    more = f" ({whole - len(rows):,} more)" if whole > len(rows) else ""
    return f": {'; '.join(rows)}{more}"


def _against(one: Restated) -> str:
    return f"{_place(one.row)} has {_stated(one.row)}, and {_place(one.counts)} has {_stated(one.counts)}"


def _place(row: StatedCall) -> str:
    return f"{row.file}:{row.row_number}"


def _stated(row: StatedCall) -> str:
    cost = "" if row.cost is None else f" for {money.text(row.cost)} {row.currency}".rstrip()
    return f"{row.input_tokens:,} + {row.output_tokens:,} tokens{cost}"


def overlap_words(overlap: CallOverlap) -> str:
    """Sentence about two sources that agree call by call: how many calls, which money, and what settles it."""
    first, second = overlap.readers
    costs = {reader: _money(overlap.costs.get(reader, {})) for reader in overlap.readers}
    told = ", ".join(f"{costs[reader] or 'no cost'} in {reader}" for reader in overlap.readers)
    paid = f" ({told})" if any(costs.values()) else ""
    return (
        f"{overlap.calls:,} calls of {first} and {second} agree in model, tokens and time, of {overlap.common:,} that could, and no "
        f"id tells whether they are the same. Both count{paid}, so that much may be double. If they are the same, say whose "
        f'count: `counts = "{first}"` or `counts = "{second}"` under [calls].'
    )


def doubts_in(ledger: Ledger, answers: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Sentences about rows of one id that differ, and about sources that agree, of the calls that a report tells of.

    Parameters
    ----------
    answers
        The token account of the report.
    """
    calls = ledger.work.calls
    named = {kind: calls.doubts.restated(kind, limit=_MOST) for kind in _SAID}
    return list(statement_words(calls.doubts.counts(), named)), [
        _overlap_in(one) for one in answers.get("overlaps", ())
    ]


def _overlap_in(one: Mapping[str, Any]) -> str:
    first, second = one["readers"]
    costs = {
        reader: {currency: Decimal(cost) for currency, cost in found.items()} for reader, found in one["costs"].items()
    }
    return overlap_words(CallOverlap(readers=(first, second), calls=one["calls"], common=one["common"], costs=costs))


def _money(amounts: Mapping[str, Decimal]) -> str:
    return " and ".join(f"{grouped(amount, CENT_PLACES)} {currency}" for currency, amount in sorted(amounts.items()))
