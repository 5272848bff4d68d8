"""How amounts are written in a column: plain, or each with a currency sign."""

from __future__ import annotations

import re

#: `$10,000.00 `, `-$5`, `$-5.00`, `€1.234,50`; a sign is a must.
_SIGNED = re.compile(r"\s*-?\s*([$€£])\s*-?(\d{1,3}([.,]\d{3})+|\d+)?([.,]\d+)?\s*")


def sign_of(cell: str) -> str:
    """Currency sign of an amount that is written with one, empty for any other text."""
    match = _SIGNED.fullmatch(cell)
    return match.group(1) if match and any(character.isdigit() for character in cell) else ""


class Signs:
    """Which columns are written with one and the same currency sign in all cells that are not empty."""

    def __init__(self, columns: dict[int, str]) -> None:
        self.columns = columns
        self.found: dict[int, str] = {}
        self.mixed: set[int] = set()

    def add(self, position: int, cell: str) -> None:
        """Take a cell that is not empty into account."""
        sign = sign_of(cell)
        if not sign or self.found.setdefault(position, sign) != sign:
            self.mixed.add(position)

    @property
    def undecided(self) -> bool:
        """Whether reading on can change the answer: a sign has been seen in a column that is not mixed."""
        return any(position not in self.mixed for position in self.found)

    @property
    def names(self) -> frozenset[str]:
        """Names of the columns written with a sign throughout."""
        return frozenset(self.columns[position] for position in self.found if position not in self.mixed)
