"""Cells read as exact decimals."""

from __future__ import annotations

from unitcost.ledger.cells import Cells, Check
from unitcost.units import LEDGER_PLACES

#: Places of the decimals that sums of fine amounts are rounded from.
WIDE_PLACES = 30
_NOT_A_NUMBER = "is not a number that the ledger can keep (a decimal of at most 26 digits before the point)"


def kind_of(places: int) -> str:
    """Decimal type with so many places."""
    return f"DECIMAL(38,{places})"


def to_decimal(text: str, places: int) -> str:
    """Text as a decimal, rounded half away from zero; null when it is no number.

    A cast alone would take `1_000` for a number, and is not exact for E-notation. A number of more than 200
    characters is none: sums of such would not stay exact.
    """
    kind = kind_of(places)
    odd = f"contains({text}, '_') OR contains({text}, 'e') OR contains({text}, 'E') OR strlen({text}) > 200"
    return f"(CASE WHEN {odd} THEN TRY_CAST(plain_number({text}) AS {kind}) ELSE TRY_CAST({text} AS {kind}) END)"


def read_number(cells: Cells, position: int) -> str:
    """Name of a cell read as a decimal of the ledger; a cell that is not empty must be readable."""
    name = f"n{position}"
    if name in cells.reads:
        return name
    if _is_exact_type(cells, position):
        return cells.read(name, f"TRY_CAST({cells.native(position)} AS {kind_of(LEDGER_PLACES)})")
    cell = cells.cell(position)
    cells.read(name, to_decimal(number_text(cells, position), LEDGER_PLACES))
    bad = f"CASE WHEN {name} IS NULL THEN coalesce(trim({cell}) <> '', false) ELSE false END"
    cells.checks[name] = Check(cells.column(position), cell, bad, _NOT_A_NUMBER)
    return name


def read_wide(cells: Cells, position: int) -> str:
    """Cell as a decimal of 30 places, for amounts that are finer than the ledger; null beyond 8 digits."""
    if _is_exact_type(cells, position):
        return f"TRY_CAST({cells.native(position)} AS {kind_of(WIDE_PLACES)})"
    return to_decimal(number_text(cells, position), WIDE_PLACES)


def is_fine(cells: Cells, position: int) -> str:
    """Whether a cell has more places than the ledger keeps; cheap for the usual short cell."""
    kind = cells.types[position]
    if _is_exact_type(cells, position) and not _has_fine_scale(kind):
        return "false"
    text = number_text(cells, position)
    long = f"strlen({text}) > {LEDGER_PLACES + 1} OR contains({text}, 'e') OR contains({text}, 'E')"
    return cells.read(f"l{position}", f"CASE WHEN {long} THEN {has_fine_text(text)} ELSE false END")


def has_fine_text(text: str) -> str:
    """Whether a number in text has more places than the ledger keeps."""
    return f"coalesce(decimal_places({text}) > {LEDGER_PLACES}, false)"


def number_text(cells: Cells, position: int) -> str:
    """Cell as a number is written in text: a point, no currency sign, no separators."""
    cell = cells.cell(position)
    if cells.column(position) in cells.plan.currency_signs:
        cell = f"replace(replace(replace({cell}, '$', ''), '€', ''), '£', '')"
        thousands = "." if cells.plan.decimal_comma else ","
        cell = f"nullif(trim(replace({cell}, '{thousands}', '')), '')"
    return f"replace({cell}, ',', '.')" if cells.plan.decimal_comma else cell


def _is_exact_type(cells: Cells, position: int) -> bool:
    kind = cells.types[position]
    return kind.startswith("DECIMAL") or kind.endswith("INT") or kind.endswith("INTEGER")


def _has_fine_scale(kind: str) -> bool:
    return kind.startswith("DECIMAL") and int(kind.rstrip(")").split(",")[1]) > LEDGER_PLACES
