"""How an outside format becomes charges, as data.

A reader says once, in these few nodes, what its columns mean; the ledger compiles them to SQL. Nothing here
reads or computes. A node yields text unless the target column is of another kind, in which case the compiler
casts it (`money`, `quantity`: exact decimals; `time`: UTC timestamps; `tags`: a map).
"""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.errors import UnknownName
from unitcost.facts.charges import COLUMN_BY_NAME


@dataclass(frozen=True, slots=True)
class Field:
    """Cell of a source column, found by its name without regard to case; null when absent or empty."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """The same text in each row."""

    text: str


@dataclass(frozen=True, slots=True)
class First:
    """First of several values that is not null."""

    of: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """Exact sum of decimals; a null counts as nothing, all null gives null."""

    of: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    """The decimal with the other sign."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Product:
    """Decimal times decimal, rounded half away from zero to twelve places; null when either is null."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Equals:
    """Whether a text is one of several, letter case ignored; false when null."""

    of: Expr
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether a text matches a glob (`*`, `?`), letter case ignored; false when null."""

    of: Expr
    glob: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether there is no value."""

    of: Expr


@dataclass(frozen=True, slots=True)
class IsZero:
    """Whether a decimal is exactly zero; false when null."""

    of: Expr


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    of: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """Whether all conditions hold."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Whether at least one condition holds."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """Value of the first branch whose condition holds, otherwise `otherwise`."""

    branches: tuple[tuple[Condition, Expr], ...]
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class JoinText:
    """Texts joined by a separator; nulls are skipped."""

    of: tuple[Expr, ...]
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Between:
    """Part of a text after the first `start` and before the next `end`, letter case ignored; null when absent."""

    of: Expr
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Time:
    """Moment written in a cell.

    Parameters
    ----------
    of
        Text of the moment.
    shift_days
        Added days: 1 turns an inclusive last day into an exclusive end.
    snap
        `""`, `"month-start"` (first moment of the month it falls in) or `"next-month-start"`.
    """

    of: Expr
    shift_days: int = 0
    snap: str = ""


@dataclass(frozen=True, slots=True)
class YearMonth:
    """First moment of the month written `YYYYMM`, or of the month after it."""

    of: Expr
    after: bool = False


@dataclass(frozen=True, slots=True)
class JsonTags:
    """Tags written as one JSON object; values become text, `true` for a key without a value."""

    of: Expr


@dataclass(frozen=True, slots=True)
class LabelTags:
    """Tags written as a JSON list of objects with `key` and `value`."""

    of: Expr


@dataclass(frozen=True, slots=True)
class ColumnTags:
    """Tags that stand in one source column each: (tag key, column) pairs."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MergedTags:
    """Several sets of tags in one; where a key appears twice the earlier set wins."""

    of: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class JsonSum:
    """Exact sum of one member over a JSON list of objects; nothing for an empty list."""

    of: Expr
    member: str


@dataclass(frozen=True, slots=True)
class Member:
    """Text of a member of a JSON document in a cell; null when there is none, or when it is null.

    Parameters
    ----------
    of
        The cell.
    pointer
        Where the member is, as in RFC 6901: `/usage/prompt_tokens`.
    """

    of: Field
    pointer: str


Condition = Equals | Matches | IsNull | IsZero | Not | Every | Any
Expr = (
    Field | Const | First | Total | Negative | Product | Choose | JoinText | Between | Time | YearMonth
    | JsonTags | LabelTags | ColumnTags | MergedTags | JsonSum | Member
)  # fmt: skip
Mapping = dict[str, Expr]


def fields(*names: str) -> Expr:
    """First of several source columns that holds a value."""
    return Field(names[0]) if len(names) == 1 else First(tuple(Field(name) for name in names))


def check(mapping: Mapping) -> Mapping:
    """Return the mapping when each of its targets is a column of `charges`.

    Raises
    ------
    UnknownName
        Otherwise, with the near names.
    """
    for target in mapping:
        if target not in COLUMN_BY_NAME:
            raise UnknownName("charge column", target, COLUMN_BY_NAME)
    return mapping
