"""Calls that may be told twice: rows of one id that differ, and two sources that seem to tell of the same calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

#: `same`: states what the row that counts states. `superseded`: states other tokens or another cost of the same call, and does
#: not count. `shared`: counts, as a call of its own beside others of that id.
StatementKind = Literal["same", "superseded", "shared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCall:
    """A row of calls, and what it states.

    Parameters
    ----------
    input_tokens, output_tokens
        All of each side; 0 where nothing is stated.
    cost
        As its source gives it; None where it gives none.
    """

    file: str
    row_number: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated:
    """A row that another row of the same call takes the place of, or two calls that share an id.

    Parameters
    ----------
    row
        The row that does not count (`superseded`), or that counts although others have its id (`shared`).
    counts
        The row that counts instead; itself where `row` counts.
    """

    kind: StatementKind
    call_id: str
    row: StatedCall
    counts: StatedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOverlap:
    """Calls of two readers that agree in model, tokens and time, though no id says that they are the same.

    Parameters
    ----------
    readers
        Both, in the order of their names.
    calls
        Calls that agree, less those that would agree by chance.
    common
        Calls of the reader that tells of fewer in the time of which both tell.
    costs
        By reader: currency -> what these calls cost; empty where nothing was priced.
    """

    readers: tuple[str, str]
    calls: int
    common: int
    costs: Mapping[str, Mapping[str, Decimal]]
