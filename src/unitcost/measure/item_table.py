"""Answers per item: what each option said to each labelled item, from one table or one file per option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadFile
from unitcost.measure.tables import Row, column, read_rows

ITEM = ("item", "id", "row", "request_id")
TRUTH = ("truth", "label", "target", "targets", "ground_truth", "expected")
OPTION = ("option", "config", "model", "variant")
ANSWER = ("answer", "prediction", "output", "outputs", "score", "correct")
#: Columns of a table of options that are no option.
_NEITHER = (*ITEM, *TRUTH, "input", "inputs", "text", "prompt")
#: What right and wrong are written as.
_RIGHT = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Answers of options to the same items.

    Parameters
    ----------
    names
        The items.
    answers
        Option -> one entry per item.
    truth
        What is right; None where the answers are scores already.
    """

    names: tuple[str, ...]
    answers: dict[str, NDArray[Any]]
    truth: NDArray[Any] | None


def read_items(sources: Sequence[str]) -> Items:
    """Answers of all options.

    Parameters
    ----------
    sources
        Paths of tables: wide (`item,truth,OPTION,OPTION...`) or long (`item,option,answer[,truth]`); or `NAME=PATH`, a
        table of one option, such as MLflow's `eval_results_table.json`.

    Raises
    ------
    BadFile
        When a table is of neither form, or options have answered different items.
    """
    found: dict[str, dict[str, Any]] = {}
    truth: dict[str, Any] = {}
    for source in sources:
        name, mark, rest = source.partition("=")
        path = Path(rest if mark and not Path(source).exists() else source)
        rows = read_rows(path)
        if mark and path == Path(rest):
            rows = [{**row, "option": name} for row in rows]
        _take(rows, path, found, truth)
    return _aligned(found, truth, ", ".join(sources))


def _take(rows: list[dict[str, Any]], path: Path, found: dict[str, dict[str, Any]], truth: dict[str, Any]) -> None:
    truths = column(rows, TRUTH)
    if column(rows, OPTION):
        _take_long(rows, path, found)
    else:
        options = [name for name in rows[0] if name not in _NEITHER]
        if not options:
            raise BadFile("has no column with answers", where=str(path), mend="name a column after each option")
        for name in options:
            _put(found.setdefault(name, {}), [(_item(row, n), row[name]) for n, row in enumerate(rows)], path)
    if truths:
        counts: dict[str, int] = {}
        for row in rows:
            name = str(row.get(column(rows, OPTION), ""))
            counts[name] = counts.get(name, -1) + 1
            truth[_item(row, counts[name])] = row[truths]


def _take_long(rows: Sequence[Row], path: Path, found: dict[str, dict[str, Any]]) -> None:
    options, answers = column(rows, OPTION), _answer_column(rows)
    if not answers:
        mend = f"call the column with the answers one of: {', '.join(ANSWER)}"
        raise BadFile("has no column with answers", where=str(path), mend=mend)
    grouped: dict[str, list[tuple[str, Any]]] = {}
    for row in rows:
        mine = grouped.setdefault(str(row[options]), [])
        mine.append((_item(row, len(mine)), row[answers]))
    for name, cells in grouped.items():
        _put(found.setdefault(name, {}), cells, path)


def _answer_column(rows: Sequence[Row]) -> str:
    """Column of answers; MLflow calls a score `METRIC/v1/score`."""
    return column(rows, ANSWER) or next((name for name in rows[0] if name.endswith("/score")), "")


def _put(into: dict[str, Any], cells: Sequence[tuple[str, Any]], path: Path) -> None:
    for item, cell in cells:
        if item in into:
            raise BadFile(f"item {item!r} is answered twice by one option", where=str(path), mend="give each item once")
        into[item] = cell


def _item(row: Row, place: int) -> str:
    name = next((name for name in ITEM if name in row), "")
    return str(row[name]) if name else str(place)


def _aligned(found: dict[str, dict[str, Any]], truth: dict[str, Any], where: str) -> Items:
    first = next(iter(found.values()))
    for name, answers in found.items():
        odd = answers.keys() ^ first.keys()
        if odd:
            raise BadFile(
                f"{name} has answered other items than {next(iter(found))}: {', '.join(sorted(odd)[:3])}", where=where,
                mend="give the answers of all options to the same items",
            )  # fmt: skip
    missing = [item for item in first if item not in truth]
    if truth and missing:
        raise BadFile(
            f"item {missing[0]!r} has no label", where=where, mend="label every item, or none and give scores"
        )
    names = tuple(first)
    return Items(
        names=names, answers={option: _array([answers[n] for n in names], where) for option, answers in found.items()},
        truth=_array([truth[n] for n in names], where) if truth else None,
    )  # fmt: skip


def _array(cells: Sequence[Any], where: str) -> NDArray[Any]:
    """Cells as numbers where all are numbers, else as text."""
    if any(cell is None or str(cell).strip() == "" for cell in cells):
        raise BadFile(
            "an answer is empty", where=where, mend="leave the item out for every option, or count it as wrong"
        )
    try:
        numbers = np.array([_RIGHT.get(str(cell).strip().lower(), cell) for cell in cells], dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([str(cell) for cell in cells])
    if not np.isfinite(numbers).all():
        raise BadFile("an answer is not a finite number", where=where, mend="count it as wrong, or leave the item out")
    return numbers
