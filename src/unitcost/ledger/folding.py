"""SQL without what is known before a row is read: a column that the file lacks is null in each of its rows.

A mapping names all columns that some version of a format has; a file has some of them. What is left out here the
engine would have to parse, bind and fold anew for each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NULL = re.compile(r"CAST\(NULL AS [A-Z]+(?:\([A-Z0-9, ]+\))?\)")
TRUE, FALSE = "true", "false"


def null(kind: str) -> str:
    """Value of a type that is null in each row."""
    return f"CAST(NULL AS {kind})"


def is_null(sql: str) -> bool:
    """Whether an expression is `null` of some type."""
    return _NULL.fullmatch(sql) is not None


def first(parts: Sequence[str]) -> str:
    """First of the values of one type that is not null."""
    some = [part for part in parts if not is_null(part)]
    if not some:
        return parts[0]
    return some[0] if len(some) == 1 else f"coalesce({', '.join(some)})"


def negative(amount: str) -> str:
    """Amount with the other sign."""
    return amount if is_null(amount) else f"(-{amount})"


def opposite(condition: str) -> str:
    """Whether a condition does not hold."""
    return {TRUE: FALSE, FALSE: TRUE}.get(condition) or f"(NOT {condition})"


def every(conditions: Sequence[str]) -> str:
    """Whether all conditions hold."""
    open_ones = [one for one in conditions if one != TRUE]
    if FALSE in open_ones:
        return FALSE
    return f"({' AND '.join(open_ones)})" if open_ones else TRUE


def some(conditions: Sequence[str]) -> str:
    """Whether at least one condition holds."""
    open_ones = [one for one in conditions if one != FALSE]
    if TRUE in open_ones:
        return TRUE
    return f"({' OR '.join(open_ones)})" if open_ones else FALSE


def choice(branches: Iterable[tuple[str, str]], otherwise: str) -> str:
    """Value of the first branch whose condition holds, otherwise `otherwise`; all values are of one type."""
    whens = []
    for condition, value in branches:
        if condition == TRUE:
            otherwise = value
            break
        if condition != FALSE:
            whens.append((condition, value))
    if all(value == otherwise for _, value in whens):
        return otherwise
    return f"(CASE {' '.join(f'WHEN {condition} THEN {value}' for condition, value in whens)} ELSE {otherwise} END)"
