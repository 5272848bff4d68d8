"""Traces as JSON lines: Mooncake's, vLLM's requests, or any objects with the names that a csv may have.

Mooncake: `timestamp` in milliseconds, `input_length`, `output_length` and `hash_ids`; a hash stands for a block of 512
tokens and all that comes before it in the prompt. All others state seconds, or a date and time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unitcost.facts.arrivals import RawArrivals
from unitcost.readers.traces.cells import seconds, since_start, tokens
from unitcost.readers.traces.opened import text_of
from unitcost.readers.traces.rows import HASH_TOKENS, NAMES, NEEDED, Rows
from unitcost.units import MILLISECONDS_PER_SECOND

_MOONCAKE = frozenset({"timestamp", "input_length", "output_length"})
_NAMED = ("key", "tenant", "model")


def names_of(head: str) -> tuple[str, ...]:
    """Members of the first object of JSON lines, or of a list of objects; none where it is neither."""
    try:
        first, _ = json.JSONDecoder().raw_decode(head, head.index("{"))
    except ValueError:
        return ()
    return tuple(first) if isinstance(first, dict) else ()


def sniff(names: tuple[str, ...]) -> bool:
    """Whether an object has the members that are needed."""
    folded = {name.casefold() for name in names}
    return all(folded & set(NAMES[name]) for name in NEEDED)


def read(path: Path, *, hash_tokens: int = 0) -> RawArrivals:
    """Requests of the file; what says nothing usable is refused with its number: of the line, or in the list."""
    rows = Rows()
    with text_of(path) as file:
        for number, row in _objects(file.read() if _is_list(path) else file):
            reason = row if isinstance(row, str) else _take(row, rows, number)
            if reason:
                rows.refuse(number, reason)
    return rows.columns(path.name, hash_tokens or HASH_TOKENS)


def _is_list(path: Path) -> bool:
    """Whether it is one list, or objects that are not a line each."""
    with text_of(path) as file:
        first = file.readline().strip()
    return first.startswith("[") or first == "{"


def _objects(text: Any) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Objects with their numbers, or why a line is none."""
    if isinstance(text, str):
        listed = _parsed(text)
        if isinstance(listed, list):
            for number, row in enumerate(listed, 1):
                yield number, row if isinstance(row, dict) else "is no object"
            return
        text = text.splitlines()
    for number, line in enumerate(text, 1):
        if line.strip():
            row = _parsed(line)
            yield number, row if isinstance(row, dict) else "is no JSON" if row is None else "is no object"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _take(row: Mapping[str, Any], rows: Rows, number: int) -> str:
    known = {name.casefold(): value for name, value in row.items()}
    said = {column: next((known[n] for n in names if n in known), None) for column, names in NAMES.items()}
    counts = []
    for name, parse in (("at", _moment), ("input", _count), ("output", _count)):
        try:
            counts.append(parse(said[name]))
        except (ValueError, OverflowError):
            return f"{name} is {said[name]!r}"
    listed = said["hashes"] or []
    if not isinstance(listed, list) or not all(isinstance(h, int) and abs(h) < 2**62 for h in listed):
        return "hash_ids are no list of whole numbers"
    at_s = counts[0] / MILLISECONDS_PER_SECOND if known.keys() >= _MOONCAKE else since_start(counts[0])
    key, tenant, model = (_text(said[name]) for name in _NAMED)
    tokens_of_both = int(counts[1]), int(counts[2])
    rows.add(number, at_s, tokens_of_both, hashes=listed, names=(key, tenant, model), status=_text(said["status"]))
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, sort_keys=True)


def _moment(value: Any) -> float:
    if isinstance(value, str):
        return seconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _count(value: Any) -> int:
    """Whole number, cut to what a column can hold; such a length is refused later."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(value)
    if isinstance(value, int):
        return max(min(value, 2**53), -(2**53))
    return tokens(str(value))
