"""A number that can explain itself: value, unit, basis, formula and inputs.

A figure is a node of a tree. Its inputs are other figures or, at the leaves, rows of the ledger or a value
that somebody gave. `recompute` folds the tree again from its leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from unitcost import money

Basis = Literal["billed", "measured", "derived", "estimated", "unknown"]
#: What stands for itself in an id.
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:+=")
#: Steps of ids that are remembered: a report names the same ones in thousands of ids.
_REMEMBERED = 8_192
Op = Literal["rows", "given", "sum", "difference", "product", "ratio", "split", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of the ledger whose `column` adds up to a figure.

    `where` holds (dimension, value) pairs; a value of None means "is null". Together with the selection
    of the report these find the rows again.
    """

    table: str
    column: str
    where: tuple[tuple[str, str | None], ...]
    currency: str
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its origin.

    Parameters
    ----------
    id
        Stable name: the same report of the same ledger gives the same id to the same number.
    value
        Exact for money; None when there is no such number (see `note` for the reason).
    unit
        `USD`, `share`, `rows`, `USD/1k predictions` ...
    basis
        What the number stands on.
    op
        How the inputs make the value. `rows`: the sum of ledger rows (`rows`). `given`: stated in the
        configuration or an invoice. `sum`, `product`: of all inputs. `difference`: first minus the rest.
        `ratio`: first over second. `split`: the part that `inputs[1 + part]`, a weight, gets of
        `inputs[0]` by largest remainder, in steps of 10^-places. `none`: no value.
    formula
        The same in words, for a reader.
    """

    id: str
    value: Decimal | None
    unit: str
    basis: Basis
    op: Op
    formula: str
    inputs: tuple[Figure, ...] = ()
    rows: Rows | None = None
    part: int = 0
    places: int = 12
    note: str = ""
    label: str = field(default="", compare=False)


@lru_cache(maxsize=_REMEMBERED)
def part_of_id(text: str) -> str:
    """Text made safe as one step of a figure id: spaces, slashes, at-signs and shell characters become `%20` ..."""
    if text and _SAFE.issuperset(text):
        return text
    signs = (sign if sign in _SAFE else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in text)
    return "".join(signs) or "%00"


def figure_id(*steps: str, at: str) -> str:
    """Id of a figure: its path in the report, then the selection that the report was made with."""
    return "/".join(part_of_id(step) for step in steps) + "@" + at


def walk(figure: Figure) -> Iterator[Figure]:
    """Yield the figure and everything it stands on, depth first."""
    yield figure
    for inner in figure.inputs:
        yield from walk(inner)


def walk_once(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield figures and everything they stand on, depth first, each only where it is met first."""
    seen: set[int] = set()
    waiting = [*figures][::-1]
    while waiting:
        figure = waiting.pop()
        if id(figure) not in seen:
            seen.add(id(figure))
            yield figure
            waiting += figure.inputs[::-1]


def recompute(figure: Figure, leaf: Callable[[Rows], Decimal]) -> Decimal | None:
    """Value folded again from the leaves; `leaf` adds up ledger rows.

    Returns
    -------
    Decimal or None
        What `figure.value` must equal.
    """
    if figure.op == "none":
        return None
    if figure.op == "given":
        return figure.value
    if figure.op == "rows":
        return leaf(figure.rows) if figure.rows is not None else None
    values = [recompute(inner, leaf) for inner in figure.inputs]
    known = [v for v in values if v is not None]
    if len(known) != len(values):
        return None
    return _fold(figure, known)


def _fold(figure: Figure, values: list[Decimal]) -> Decimal | None:
    match figure.op:
        case "sum":
            return money.add(values)
        case "difference":
            return money.subtract(values[0], money.add(values[1:]))
        case "product":
            result = Decimal(1)
            for value in values:
                result = money.multiply(result, value)
            return result
        case "ratio":
            return None if values[1] == 0 else money.divide(values[0], values[1])
        case _:
            return money.split_amount(values[0], values[1:], places=figure.places)[figure.part]


def total(id: str, inputs: tuple[Figure, ...], *, unit: str, label: str = "") -> Figure:
    """Figure that is the exact sum of others of the same unit; those without a value are left out and counted."""
    known = [(f, f.value) for f in inputs if f.value is not None]
    missing = len(inputs) - len(known)
    return Figure(
        id=id, value=money.add(value for _, value in known), unit=unit, basis="derived", op="sum",
        formula=" + ".join(f.label or f.id for f in inputs[:6]) + (" + ..." if len(inputs) > 6 else ""),
        inputs=tuple(f for f, _ in known), label=label, note=f"{missing} without a value left out" if missing else "",
    )  # fmt: skip


def ratio(id: str, top: Figure, bottom: Figure, *, unit: str, label: str = "", empty: str = "") -> Figure:
    """Figure that is one over another; without a value, and with the reason, when the lower one is zero or unknown."""
    if top.value is None or bottom.value is None or bottom.value == 0:
        return Figure(
            id=id, value=None, unit=unit, basis="unknown", op="none", formula="no value", inputs=(top, bottom),
            note=empty or f"{bottom.label or bottom.id} is zero or unknown", label=label,
        )  # fmt: skip
    return Figure(
        id=id, value=money.divide(top.value, bottom.value), unit=unit, basis="derived", op="ratio",
        formula=f"{top.label or top.id} / {bottom.label or bottom.id}", inputs=(top, bottom), label=label,
    )  # fmt: skip
