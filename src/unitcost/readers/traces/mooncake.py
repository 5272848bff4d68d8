"""Mooncake's traces: JSON lines with `timestamp` in milliseconds, `input_length`, `output_length` and `hash_ids`.

A hash stands for a block of 512 tokens and all that comes before it in the prompt.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from unitcost.facts.arrivals import RawArrivals, RefusedRow
from unitcost.units import MILLISECONDS_PER_SECOND

HASH_TOKENS = 512
_NEEDED = ("timestamp", "input_length", "output_length")


def sniff(head: bytes) -> bool:
    """Whether the first line is an object with the members that are needed."""
    try:
        first = json.loads(head.decode("utf-8-sig", "replace").strip().partition("\n")[0])
    except ValueError:
        return False
    return isinstance(first, dict) and all(name in first for name in _NEEDED)


def read(path: Path, *, hash_tokens: int = 0) -> RawArrivals:
    """Requests of the file; lines that say nothing usable are refused with their numbers."""
    found = RawArrivals(name=path.name)
    hashes: list[list[int] | None] = []
    refused: list[RefusedRow] = []
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            reason = _take(line, found, hashes, number) if line.strip() else ""
            if reason:
                refused.append(RefusedRow(row=number, reason=reason))
    any_hash = any(hashes)
    return RawArrivals(
        name=path.name, at_s=found.at_s, input_tokens=found.input_tokens, output_tokens=found.output_tokens, rows=found.rows,
        hashes=hashes if any_hash else (), hash_tokens=(hash_tokens or HASH_TOKENS) if any_hash else 0, refused=refused,
    )  # fmt: skip


def _take(line: str, found: RawArrivals, hashes: list[list[int] | None], number: int) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        return "is no JSON"
    if not isinstance(row, dict):
        return "is no object"
    for name in _NEEDED:
        if not _is_number(row.get(name)) or (name != "timestamp" and row[name] != int(row[name])):
            return f"{name} is {row.get(name)!r}"
    listed = row.get("hash_ids") or []
    if not isinstance(listed, list) or not all(isinstance(h, int) and abs(h) < 2**62 for h in listed):
        return "hash_ids are no list of whole numbers"
    found.at_s.append(row["timestamp"] / MILLISECONDS_PER_SECOND)
    found.input_tokens.append(_held(row["input_length"]))
    found.output_tokens.append(_held(row["output_length"]))
    found.rows.append(number)
    hashes.append(listed or None)
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _held(value: float) -> int:
    """Whole number, cut to what a column can hold; such a length is refused later."""
    return max(min(int(value), 2**53), -(2**53))
