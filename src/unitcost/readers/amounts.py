"""How amounts are written in a column: plain, or each with a currency sign or with its thousands parted."""

from __future__ import annotations

import re

_SIGN = r"\s*-?\s*(?P<sign>[$€£])\s*-?"
#: `$10,000.00 `, `-$5`, `$-5.00`, `$.5`. `€5,00` is none of these: taken for one, it would be 500.
_SIGNED = {
    point: re.compile(_SIGN + rf"(\d{{1,3}}({comma}\d{{3}})+|\d+)?({point}\d+)?\s*")
    for point, comma in ((r"\.", ","), (",", r"\."))
}
#: `10,000.00` or `1,000,000`; `1,000` alone could be one and no thousandths.
_PARTED = {
    point: re.compile(rf"\s*-?\d{{1,3}}(({comma}\d{{3}})+{point}\d+|({comma}\d{{3}}){{2,}})\s*")
    for point, comma in ((r"\.", ","), (",", r"\."))
}
PARTED = "thousands"


def style_of(cell: str, *, decimal_comma: bool = False) -> str:
    """Currency sign of an amount that is written with one, `PARTED` for thousands without, empty for any other text."""
    point = "," if decimal_comma else r"\."
    match = _SIGNED[point].fullmatch(cell)
    if match and any(character.isdigit() for character in cell):
        return match["sign"]
    return PARTED if _PARTED[point].fullmatch(cell) else ""


class Signs:
    """Which columns are written in one and the same such style in all cells that are not empty."""

    def __init__(self, columns: dict[int, str], *, decimal_comma: bool = False) -> None:
        self.columns = columns
        self.decimal_comma = decimal_comma
        self.found: dict[int, str] = {}
        self.mixed: set[int] = set()

    def add(self, position: int, cell: str) -> None:
        """Take a cell that is not empty into account."""
        if position in self.mixed:
            return
        style = style_of(cell, decimal_comma=self.decimal_comma)
        if not style or self.found.setdefault(position, style) != style:
            self.mixed.add(position)

    @property
    def undecided(self) -> bool:
        """Whether reading on can change the answer: the style has been seen in a column that is not mixed."""
        return any(position not in self.mixed for position in self.found)

    @property
    def names(self) -> frozenset[str]:
        """Names of the columns written in such a style throughout."""
        return frozenset(self.columns[position] for position in self.found if position not in self.mixed)
