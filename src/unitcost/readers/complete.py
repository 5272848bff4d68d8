"""What a format leaves open and the user or the file settles: currency and periods."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from unitcost.errors import BadSetting, NeedsAnswer
from unitcost.facts.charges import COLUMN_BY_NAME
from unitcost.facts.days import month_start, next_month
from unitcost.facts.mapping import Const, Expr, Field, Mapping, Time
from unitcost.facts.source import ReadOptions

_CURRENCY = re.compile(r"[A-Za-z]{3}")
_STARTS = ("charge_period_start", "charge_period_end")
_BILLING = ("billing_period_start", "billing_period_end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A mapping with currency and periods, and what had to be said for it."""

    mapping: Mapping
    flags: tuple[str, ...]


def complete(
    mapping: Mapping, options: ReadOptions, *, currency_seen: bool, cost_seen: bool = True, where: str
) -> Completed:
    """Mapping of charges in which no currency and no period is missing.

    Parameters
    ----------
    mapping
        Of the reader.
    currency_seen
        False when the format has a currency column that is empty in each row of the file.
    cost_seen
        False when no row has a cost: each will be rejected, and of what currency it would be is no question.

    Raises
    ------
    NeedsAnswer
        When neither the file nor the user says which currency, or which period.
    BadSetting
        When what the user says is no currency or no month.
    """
    done = dict(mapping)
    flags = _currency(done, options, currency_seen, cost_seen, where) + _periods(done, options, where)
    if options.provider and "service_provider_name" not in done:
        done["service_provider_name"] = Const(options.provider)
        flags.append(f"The provider is {options.provider}, as the user says.")
    return Completed(mapping=done, flags=tuple(flags))


def _currency(mapping: Mapping, options: ReadOptions, seen: bool, cost_seen: bool, where: str) -> list[str]:
    if "billing_currency" in mapping and seen:
        return []
    if not cost_seen and not options.currency:
        return ["No row has a cost."]
    if not options.currency:
        raise NeedsAnswer(
            "the currency column is empty" if "billing_currency" in mapping else "the file does not name its currency",
            where=where, mend="say currency = \"USD\" in [[load]], or --currency USD",
        )  # fmt: skip
    code = currency_said(options.currency, where)
    mapping["billing_currency"] = Const(code)
    return [f"Amounts are in {code}, as the user says; the file names no currency."]


def currency_said(text: str, where: str) -> str:
    """Code of a currency that the user names.

    Raises
    ------
    BadSetting
        When it is none.
    """
    if not _CURRENCY.fullmatch(text):
        raise BadSetting(f"the currency is {text!r}", where=where, mend="use a code of three letters: USD")
    return text.upper()


def _periods(mapping: Mapping, options: ReadOptions, where: str) -> list[str]:
    flags = _whole_months(mapping)
    _ask_other_end(mapping, where)
    has_charge = all(name in mapping for name in _STARTS)
    has_billing = all(name in mapping for name in _BILLING)
    if not has_charge and not has_billing:
        return [*flags, _stated_period(mapping, options, where)]
    if not has_charge:
        mapping.update(zip(_STARTS, (mapping[name] for name in _BILLING), strict=True))
        flags.append("The file has no charge period; a charge lasts as long as its billing period.")
    if not has_billing:
        start = mapping[_STARTS[0]]
        mapping[_BILLING[0]] = _snapped(start, "month-start")
        mapping[_BILLING[1]] = _snapped(start, "next-month-start")
        flags.append("The file has no billing period; a charge is billed in the month in which it starts.")
    return flags


def _whole_months(mapping: Mapping) -> list[str]:
    start, end = _BILLING
    if start in mapping and end not in mapping:
        mapping[end] = _snapped(mapping[start], "next-month-start")
        return ["The file names no end of the billing period; each ends with its month."]
    return []


def _ask_other_end(mapping: Mapping, where: str) -> None:
    present = [name for name in _STARTS if name in mapping]
    if len(present) == 1:
        missing = next(name for name in _STARTS if name not in mapping)
        raise NeedsAnswer(
            f"the file has no {COLUMN_BY_NAME[missing].focus}, so how long its charges last is unknown", where=where,
            mend=f"name a column for it under `columns` of the [[load]] entry (that of {present[0]}, for whole days)",
        )  # fmt: skip


def _snapped(of: Expr, snap: str) -> Time:
    return dataclasses.replace(of, snap=snap) if isinstance(of, Time) else Time(of, snap=snap)


def _stated_period(mapping: Mapping, options: ReadOptions, where: str) -> str:
    if not options.period:
        raise NeedsAnswer(
            "the file has no dates", where=where, mend='say period = "2026-09" in [[load]], or --period 2026-09'
        )
    first = month_start(options.period, where=f"{where}, period")
    after = next_month(first)
    for start, end in (_STARTS, _BILLING):
        mapping[start], mapping[end] = Const(first.isoformat()), Const(after.isoformat())
    return f"All charges are in {options.period}, as the user says; the file has no dates."


def source_columns(node: object) -> Iterator[str]:
    """Names of the source columns that a mapping node looks at."""
    if isinstance(node, Field):
        yield node.name
    elif isinstance(node, (tuple, list)):
        for item in node:
            yield from source_columns(item)
    elif dataclasses.is_dataclass(node):
        for part in dataclasses.fields(node):
            value = getattr(node, part.name)
            if part.name == "pairs":
                yield from (column for _, column in value)
            else:
                yield from source_columns(value)
