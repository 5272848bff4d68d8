"""Answers per item: what each option said to each labelled item, from one table or one file per option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadFile
from unitcost.measure.tables import read_columns

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
    scored_by
        Column that the scores were read from; empty where it is found by its name.
    """

    names: tuple[str, ...]
    answers: dict[str, NDArray[Any]]
    truth: NDArray[Any] | None
    scored_by: str = ""


#: What one option answered: the items, and an answer to each.
_Told = tuple[list[str], list[Any]]


def read_items(sources: Sequence[str], *, score: str = "") -> Items:
    """Answers of all options.

    Parameters
    ----------
    sources
        Paths of tables: wide (`item,truth,OPTION,OPTION...`) or long (`item,option,answer[,truth]`); or `NAME=PATH`, a
        table of one option, such as MLflow's `eval_results_table.json`.
    score
        Column that holds a score per item, in long tables and tables of one option; it takes the place of the answers.

    Raises
    ------
    BadFile
        When a table is of neither form, or options have answered different items.
    """
    found: dict[str, _Told] = {}
    truth: dict[str, Any] = {}
    scored = False
    for source in sources:
        name, mark, rest = source.partition("=")
        is_path = not mark or Path(source).exists()
        table = read_columns(Path(source if is_path else rest))
        where = source if is_path else rest
        if not is_path:
            table["option"] = [name] * len(next(iter(table.values())))
        scored = scored or (bool(score) and score in table)
        for option, told in _answers(table, where, score).items():
            if option in found:
                raise BadFile(f"{option} is answered for in two tables", where=where, mend="give its answers once")
            found[option] = told
        _take_labels(table, truth, where)
    return _aligned(found, {} if scored else truth, ", ".join(sources), score if scored else "")


def _column(table: Mapping[str, list[Any]], names: Sequence[str]) -> str:
    return next((name for name in names if name in table), "")


def _answers(table: Mapping[str, list[Any]], where: str, score: str) -> dict[str, _Told]:
    """Option -> items and answers."""
    options = _column(table, OPTION)
    if not options:
        names = [name for name in table if name not in _NEITHER and name]
        if not names:
            raise BadFile("has no column with answers", where=where, mend="name a column after each option")
        items = _items(table)
        return {name: (items, table[name]) for name in names}
    answers = score if score in table else _answer_column(table)
    if not answers:
        mend = f"call the column with the answers one of: {', '.join(ANSWER)}"
        raise BadFile("has no column with answers", where=where, mend=mend)
    found: dict[str, _Told] = {}
    items = _items(table, by=options)
    for item, option, cell in zip(items, table[options], table[answers], strict=True):
        mine = found.setdefault(str(option), ([], []))
        mine[0].append(item)
        mine[1].append(cell)
    return found


def _answer_column(table: Mapping[str, list[Any]]) -> str:
    """Column of answers; MLflow calls a score `METRIC/v1/score`."""
    return _column(table, ANSWER) or next((name for name in table if name.endswith("/score")), "")


def _items(table: Mapping[str, list[Any]], by: str = "") -> list[str]:
    """Items of the rows; without a name they are counted, for each value of the column `by` anew."""
    name = _column(table, ITEM)
    if name:
        return [str(item) for item in table[name]]
    if not by:
        return [str(place) for place in range(len(next(iter(table.values()))))]
    counts: dict[Any, int] = {}
    found = []
    for option in table[by]:
        counts[option] = counts.get(option, -1) + 1
        found.append(str(counts[option]))
    return found


def _take_labels(table: Mapping[str, list[Any]], truth: dict[str, Any], where: str) -> None:
    labels = _column(table, TRUTH)
    if not labels:
        return
    for item, label in zip(_items(table, by=_column(table, OPTION)), table[labels], strict=True):
        if truth.setdefault(item, label) != label:
            raise BadFile(
                f"item {item!r} has two labels, {truth[item]!r} and {label!r}",
                where=where,
                mend="give each item one label",
            )


def _aligned(found: dict[str, _Told], truth: dict[str, Any], where: str, scored_by: str) -> Items:
    first = next(iter(found))
    names = found[first][0]
    columns = {first: found[first][1]}
    places: dict[str, int] = {}
    for option, (items, cells) in found.items():
        if items == names and option != first and places:
            columns[option] = cells
            continue
        mine = {item: place for place, item in enumerate(items)}
        if len(mine) != len(items):
            twice = next(item for place, item in enumerate(items) if mine[item] != place)
            raise BadFile(f"item {twice!r} is answered twice by {option}", where=where, mend="give each item once")
        places = places or mine
        odd = mine.keys() ^ places.keys()
        if odd:
            raise BadFile(
                f"{option} has answered other items than {first}: {', '.join(sorted(odd)[:3])}", where=where,
                mend="give the answers of all options to the same items",
            )  # fmt: skip
        columns[option] = [cells[mine[name]] for name in names]
    missing = next((item for item in names if item not in truth), None) if truth else None
    if missing is not None:
        raise BadFile(f"item {missing!r} has no label", where=where, mend="label every item, or none and give scores")
    labels = [truth[name] for name in names] if truth else None
    *arrays, last = _arrays([*columns.values(), labels or []], where)
    return Items(
        names=tuple(names),
        answers=dict(zip(columns, arrays, strict=True)),
        truth=last if truth else None,
        scored_by=scored_by,
    )


def _arrays(columns: Sequence[Sequence[Any]], where: str) -> list[NDArray[Any]]:
    """Columns as numbers where all cells of all of them are numbers, else all as text, so that they can be compared."""
    if any(cell is None or cell == "" or cell != cell for column in columns for cell in column):
        raise BadFile(
            "an answer is empty", where=where, mend="leave the item out for every option, or count it as wrong"
        )
    try:
        numbers = [_numbers(column) for column in columns]
    except (TypeError, ValueError):
        return [np.array([str(cell).strip() for cell in column]) for column in columns]
    if not all(np.isfinite(column).all() for column in numbers):
        raise BadFile("an answer is not a finite number", where=where, mend="count it as wrong, or leave the item out")
    return numbers


def _numbers(cells: Sequence[Any]) -> NDArray[np.float64]:
    values = {cell: _RIGHT.get(str(cell).strip().lower(), cell) for cell in set(cells)}
    numbers = {cell: float(value) for cell, value in values.items()}
    return np.fromiter((numbers[cell] for cell in cells), dtype=np.float64, count=len(cells))
