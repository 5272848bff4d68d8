"""Slurm's lists of nodes, `node[01-04,07],gpu-a`, and what an allocation holds on each of them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from itertools import product

from unitcost import money
from unitcost.readers.work.sink import decimal_cell

#: Slurm itself takes no more nodes than this, in one range and in all.
MOST_NODES = 65_536
#: Parts are whole millionths where the whole is: time is added up in these, so that a job is as large as before.
_PART_PLACES = 6
#: A name whose brackets hold numbers and ranges of them, up to the next comma.
_NAME = re.compile(r"((?:[^\[\],\s]|\[[\d,-]+\])+)(?:,\s*|$)", re.ASCII)
_BRACKETS = re.compile(r"\[([\d,-]+)\]", re.ASCII)
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
#: Few, as a list may name tens of thousands.
_REMEMBERED = 64


@lru_cache(maxsize=_REMEMBERED)
def nodes_of(text: str) -> tuple[str, ...]:
    """Nodes that a list names, each once, in its order.

    `n[08-10]` is n08, n09, n10; `r[1-2]n[1-2]-ib` is r1n1-ib, r1n2-ib, r2n1-ib, r2n2-ib.

    Raises
    ------
    ValueError
        When it is no such list, or names more than `MOST_NODES`.
    """
    found: dict[str, None] = {}
    at = named = 0
    while at < len(text):
        name = _NAME.match(text, at)
        if not name:
            raise ValueError(f"{text[at : at + 60]!r} is not a list of nodes, such as node[01-04,07],gpu-a")
        parts = _BRACKETS.split(name[1])
        ranges = [_numbers(inside) for inside in parts[1::2]]
        size = 1
        for numbers in ranges:
            size *= sum(len(some) for some, _ in numbers)
        named += size
        if named > MOST_NODES:
            raise ValueError(f"it names more than {MOST_NODES:,} nodes")
        written = [[str(number).zfill(width) for some, width in numbers for number in some] for numbers in ranges]
        for chosen in product(*written):
            found["".join(map("".join, zip(parts[::2], (*chosen, ""), strict=True)))] = None
        at = name.end()
    return tuple(found)


def _numbers(inside: str) -> list[tuple[range, int]]:
    """Ranges that brackets hold, each with the width to which its numbers are filled with zeros."""
    found = []
    for part in inside.split(","):
        bounds = _RANGE.fullmatch(part)
        if not bounds:
            raise ValueError(f"{part!r} is not a range of numbers, such as 01-04")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if last < first:
            raise ValueError(f"{part!r} ends before it begins")
        found.append((range(first, last + 1), len(bounds[1])))
    return found


@lru_cache(maxsize=_REMEMBERED)
def part_cells(quantity: Decimal, count: int) -> tuple[str, ...]:
    """Cells of the equal parts of a quantity on so many nodes; they add up to it, and what cannot be equal comes last."""
    return tuple(decimal_cell(part) for part in money.split_amount(quantity, [Decimal(1)] * count, places=_PART_PLACES))


def uneven(quantity: Decimal, count: int) -> bool:
    """Whether whole cards do not divide evenly by so many nodes."""
    return count > 1 and quantity == int(quantity) and bool(int(quantity) % count)
