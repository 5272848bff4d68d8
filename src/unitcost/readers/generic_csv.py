"""Any table, its columns named in the configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unitcost.errors import BadSetting, UnknownName
from unitcost.facts.charges import COLUMN_BY_NAME
from unitcost.facts.mapping import ColumnTags, Field, JsonTags, Mapping, MergedTags, Time
from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading

NAME = "generic-csv"
CONVENTIONS = (
    "Columns mean what `columns` of the [[load]] entry says; all others are kept beside the charge.",
    "Own bills hold no prepayments: where only one of billed and effective cost is named, the other is the same.",
    "Times without a zone are UTC unless `timezone` says otherwise.",
    "A charge ends before its end; an end that is a plain date is the midnight with which that day begins.",
    "An empty cell is no value.",
)
#: Chosen because the user maps columns, never by what the columns are called.
DEFINING: tuple[str, ...] = ()

_WHERE = "columns of [[load]]"
_TAG = "tags."
_LIKE = {"billed_cost": "effective_cost", "effective_cost": "billed_cost"}


def sniff(head: Head) -> int:
    """Always 0: nothing in a file says that it is this one."""
    return 0


def describe(columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
    """What the columns mean, as the user says; see `Reader`."""
    if not options.columns:
        raise BadSetting(
            "no column is mapped", where=_WHERE, mend='say which is what: columns = { billed_cost = "Amount" }'
        )
    named = {target: _source(target, name, columns) for target, name in options.columns.items()}
    mapping: Mapping = {t: Field(n) for t, n in named.items() if not t.startswith(_TAG) and t != "tags"}
    pairs = tuple((t.removeprefix(_TAG), n) for t, n in named.items() if t.startswith(_TAG))
    for target in mapping:
        if target not in COLUMN_BY_NAME:
            raise UnknownName("charge column", target, [*COLUMN_BY_NAME, "tags.KEY"], where=_WHERE)
    if "tags" in named and pairs:
        mapping["tags"] = MergedTags((ColumnTags(pairs), JsonTags(Field(named["tags"]))))
    elif "tags" in named:
        mapping["tags"] = JsonTags(Field(named["tags"]))
    elif pairs:
        mapping["tags"] = ColumnTags(pairs)
    flags = tuple(_same_cost(mapping))
    if "billed_cost" not in mapping:
        raise BadSetting("no cost is mapped", where=_WHERE, mend='name it: columns = { billed_cost = "Amount" }')
    return Reading(
        dialect="mapped columns",
        mapping=mapping,
        conventions=CONVENTIONS,
        flags=flags + tuple(_end_flag(mapping)),
        date_columns=_of_kind(named, "time"),
        period_columns=_period(named),
        currency_columns=tuple(n for t, n in named.items() if t == "billing_currency"),
        money_columns=_of_kind(named, "money") + _of_kind(named, "quantity"),
    )


def _source(target: str, name: str, columns: tuple[str, ...]) -> str:
    if name in columns:
        return name
    found = next((column for column in columns if column.casefold() == name.strip().casefold()), None)
    if found is None:
        raise UnknownName("column", name, columns, where=f"{_WHERE}, {target}")
    return found


def _same_cost(mapping: Mapping) -> Iterator[str]:
    for present, missing in _LIKE.items():
        if present in mapping and missing not in mapping:
            mapping[missing] = mapping[present]
            yield f"The {missing.replace('_', ' ')} is taken to be the {present.replace('_', ' ')}."
            return


def _end_flag(mapping: Mapping) -> Iterator[str]:
    """One column for start and end of the charge is the day of the charge: the end is a day later."""
    start, end = "charge_period_start", "charge_period_end"
    if start in mapping and mapping.get(end) == mapping[start]:
        mapping[end] = Time(mapping[start], shift_days=1)
        yield "Start and end are one column: a charge lasts 24 hours from it."


def _of_kind(named: dict[str, str], kind: str) -> tuple[str, ...]:
    return tuple(n for t, n in named.items() if t in COLUMN_BY_NAME and COLUMN_BY_NAME[t].kind == kind)


def _period(named: dict[str, str]) -> tuple[str, str] | None:
    start, end = named.get("billing_period_start"), named.get("billing_period_end")
    return (start, end) if start and end else None
