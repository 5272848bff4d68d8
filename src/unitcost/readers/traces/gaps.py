"""Silences between requests: a column or list called `gap_s`, `gap_minutes`, `gaps_hours` and the like.

A csv with one such column, JSON lines of objects with one, or a JSON document with a list (`{"gaps_minutes": [2, 3, 45]}`).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.errors import BadFile
from unitcost.readers.traces.opened import head_of, text_of
from unitcost.units import MILLISECONDS_PER_SECOND, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

_NAME = re.compile(r"(?:idle_)?gaps?_(?P<unit>ms|s|seconds|m|min|minutes|h|hours)")
_SECONDS = {
    "s": 1, "seconds": 1, "m": SECONDS_PER_MINUTE, "min": SECONDS_PER_MINUTE, "minutes": SECONDS_PER_MINUTE,
    "h": SECONDS_PER_HOUR, "hours": SECONDS_PER_HOUR,
}  # fmt: skip


def sniff(path: Path) -> bool:
    """Whether the file states gaps, by the name of a column or a member near its beginning."""
    words = re.findall(r"[a-z_]+", head_of(path).casefold())
    return any(_NAME.fullmatch(word) for word in words)


def read(path: Path) -> list[Decimal]:
    """Gaps in the order of the file. [s].

    Raises
    ------
    BadFile
        When there is none, or one is no time from zero up.
    """
    with text_of(path) as file:
        text = file.read()
    stated = list(_of_json(text, path) if text.lstrip()[:1] in ("{", "[") else _of_csv(text, path))
    if not stated:
        raise BadFile("there is no gap in it", where=str(path), mend="give a column gap_s, gap_minutes or gap_hours")
    return stated


def _of_csv(text: str, path: Path) -> Iterable[Decimal]:
    rows = csv.DictReader(text.splitlines())
    for row in rows:
        yield from _of_object(row, f"{path}:{rows.line_num}")


def _of_json(text: str, path: Path) -> Iterable[Decimal]:
    try:
        found = json.loads(text, parse_float=Decimal)
    except ValueError:
        found = [_line(line, f"{path}:{n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    for number, row in enumerate(found if isinstance(found, list) else [found], 1):
        if isinstance(row, dict):
            yield from _of_object(row, f"{path}, object {number}")


def _line(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise BadFile(f"is no JSON ({error})", where=where, mend="write one object a line") from error


def _of_object(row: dict[str, Any], where: str) -> Iterable[Decimal]:
    for name, value in row.items():
        match = _NAME.fullmatch(str(name).strip().casefold())
        if match is None:
            continue
        for one in value if isinstance(value, list) else [value]:
            yield _seconds(one, match["unit"], where)


def _seconds(value: Any, unit: str, where: str) -> Decimal:
    try:
        number = money.parse_amount(str(value).strip())
    except ValueError as error:
        raise BadFile(f"a gap is {value!r}, not a number", where=where, mend="write it like 45 or 0.5") from error
    if number < 0:
        raise BadFile(f"a gap is {value}, below zero", where=where, mend="sort the requests by time")
    if unit == "ms":
        return money.divide(number, Decimal(MILLISECONDS_PER_SECOND))
    return money.multiply(number, Decimal(_SECONDS[unit]))
