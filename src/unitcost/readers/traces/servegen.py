"""Rate curves (`t, rate`) and length quantiles (`set, client, field, mean, q05 ... q100`), as published by ServeGen."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from pathlib import Path

from unitcost.errors import BadFile
from unitcost.facts.arrivals import LengthQuantiles, RateCurve
from unitcost.readers.traces.opened import text_of
from unitcost.units import PERCENT

_CURVE = "give a csv with t and rate, a row per step, in order"
_LENGTHS = "give a csv with client, field (input_tokens, output_tokens), mean and rising q05 ... q100"


def read_rates(path: Path) -> RateCurve:
    """Requests a second over time, in equal steps.

    Raises
    ------
    BadFile
        When the file cannot be opened, steps are unequal, or a rate is no number from 0 up.
    """
    rows = [(_number(row, "t", path, n), _number(row, "rate", path, n)) for n, row in _rows(path)]
    if len(rows) < 2:
        raise BadFile("has fewer than two rows: how long a step lasts is not known", where=str(path), mend=_CURVE)
    steps = {round(after[0] - before[0], 6) for before, after in itertools.pairwise(rows)}
    if len(steps) != 1 or min(steps) <= 0:
        raise BadFile("steps of time are not equal", where=str(path), mend="give one row per step, in order")
    if min(rate for _, rate in rows) < 0:
        raise BadFile("a rate is below zero", where=str(path), mend=_CURVE)
    return RateCurve(name=path.name, step_s=steps.pop(), per_s=[rate for _, rate in rows])


def read_quantiles(path: Path, *, group: str = "") -> list[LengthQuantiles]:
    """Length quantiles by client and field, of one set where several are listed.

    Raises
    ------
    BadFile
        When the file cannot be opened, has no row of the set, or a row has no quantile, or they fall.
    """
    found = []
    for number, row in _rows(path):
        if group and row.get("set") != group:
            continue
        names = [name for name in row if name[:1] == "q" and name[1:].isdigit()]
        values = [_number(row, name, path, number) for name in names]
        shares = [int(name[1:]) / int(PERCENT) for name in names]
        if not values or sorted(values) != values or sorted(shares) != shares or values[0] < 0 or shares[-1] > 1:
            raise BadFile("quantiles are missing, fall, or are below zero", where=f"{path}:{number}", mend=_LENGTHS)
        found.append(
            LengthQuantiles(
                client=row.get("client", ""), field=row.get("field", ""), mean=_number(row, "mean", path, number),
                shares=shares, tokens=values, group=row.get("set") or "",
            )
        )  # fmt: skip
    if not found:
        what = f"has no row of the set {group!r}" if group else "has no row"
        raise BadFile(what, where=str(path), mend=_LENGTHS)
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with text_of(path) as file:
        rows = csv.DictReader(file)
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:
            raise BadFile(f"cannot be read: {error}", where=f"{path}:{rows.line_num}") from error


def _number(row: dict[str, str], name: str, path: Path, line: int) -> float:
    try:
        number = float(row[name])
        if not math.isfinite(number):
            raise ValueError(name)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"`{name}` is {row.get(name)!r}, not a number", where=f"{path}:{line}") from error
    return number
