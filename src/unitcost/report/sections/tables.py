"""Tables of amounts with their shares, the largest first, the tail in one row that closes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from unitcost import money
from unitcost.facts.naming import NONE, word_for_none
from unitcost.figure import Figure, figure_id, ratio
from unitcost.report.amounts import Amounts, ByUnit, Key, names_of, order
from unitcost.report.model import Cell, Column, Table

Row = tuple[Cell, ...]
Remarked = tuple[tuple[Column, ...], tuple[Row, ...], Row | None]
#: Rows that a table shows before the rest is put into one.
TOP = 12


def ranked(figures: Mapping[Key, Figure]) -> list[tuple[Key, Figure]]:
    """Keys and figures, the largest amount first, equal ones by name."""
    return sorted(figures.items(), key=lambda item: (-(item[1].value or money.ZERO), order(item[0])))


def remarked(columns: Sequence[Column], rows: Sequence[Row], total: Row | None = None) -> Remarked:
    """Columns, rows and total of a table whose last column holds remarks; without it when there are none."""
    if any(row[-1] for row in rows):
        return tuple(columns), tuple(rows), total
    return tuple(columns[:-1]), tuple(row[:-1] for row in rows), total[:-1] if total else None


def share(path: str, names: Sequence[str], part: Figure, whole: Figure, at: str) -> Figure:
    """Share of a part in its whole."""
    return ratio(
        figure_id(path, *names, part.unit, "share", at=at), part, whole, unit="share",
        label=f"share of {' / '.join(names)}", empty="the total is zero",
    )  # fmt: skip


def amount_tables(
    path: str, by_unit: ByUnit, amounts: Amounts, *, names: tuple[str, ...], dims: tuple[str, ...] = (), top: int = TOP,
    note_of: Callable[[Key], str] | None = None, note_name: str = "", ordered: bool = False,
) -> tuple[Table, ...]:  # fmt: skip
    """One table per unit: names, amount, share and, where given, a note per row.

    Parameters
    ----------
    names
        Headers of the parts of the key.
    dims
        Dimensions of those parts, where they are values of the ledger; without, they are spelt already.
    top
        Rows shown; the others are one row "other (k)" so that the column adds up.
    ordered
        Keep the order of the keys (months) and show all of them.
    """
    tables = []
    for unit, figures in by_unit.items():
        listed = list(figures.items()) if ordered else ranked(figures)
        whole = amounts.total(path, unit, [figure for _, figure in figures.items()])
        shown, rest = (listed, []) if ordered or len(listed) <= top + 1 else (listed[:top], listed[top:])
        rows: list[tuple[Cell, ...]] = [
            _row(path, dims, key, figure, whole, amounts, note_of(key) if note_of else None) for key, figure in shown
        ]
        if rest:
            other = amounts.total(f"{path}-other", unit, [figure for _, figure in rest], label=f"other ({len(rest)})")
            key = (f"other ({len(rest)})", *("" for _ in names[1:]))
            rows.append(_row(path, (), key, other, whole, amounts, "" if note_of else None))
        words = [word_for_none(dim) for dim in dims] or [NONE] * len(names)
        columns = [
            *(Column(name=name, none=word) for name, word in zip(names, words, strict=True)),
            Column(name=unit, kind="money"),
            Column(name="share", kind="share"),
        ]
        total_row: list[Cell] = ["total", *("" for _ in names[1:]), whole, ""]
        if note_of:
            columns.append(Column(name=note_name))
            total_row.append("")
        tables.append(Table(columns=tuple(columns), rows=tuple(rows), total=tuple(total_row), unit=unit))
    return tuple(tables)


def _row(
    path: str, dims: tuple[str, ...], key: Key, figure: Figure, whole: Figure, amounts: Amounts, note: str | None
) -> tuple[Cell, ...]:
    names = names_of(key, dims)
    cells: list[Cell] = [None if part is None else name for part, name in zip(key, names, strict=True)]
    cells += [figure, share(path, names, figure, whole, amounts.selection.tag)]
    return tuple([*cells, note] if note is not None else cells)
