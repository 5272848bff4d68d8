"""Cells read as exact decimals."""

from __future__ import annotations

from unitcost.ledger.cells import Cells, Check
from unitcost.units import LEDGER_PLACES

#: Places of the decimals that sums of fine amounts are rounded from.
WIDE_PLACES = 30
#: Longest number that is one [bytes].
_LONGEST = 200
_IS_ODD = "contains({0}, '_') OR contains({0}, 'e') OR contains({0}, 'E')"
_NOT_A_NUMBER = "is not a number that the ledger can keep (a decimal of at most 26 digits before the point)"


def kind_of(places: int) -> str:
    """Decimal type with so many places."""
    return f"DECIMAL(38,{places})"


def to_decimal(plain: str, places: int) -> str:
    """Plain number as a decimal, rounded half away from zero; null when it is none. See `Cells.plain`."""
    return f"TRY_CAST({plain} AS {kind_of(places)})"


def read_number(cells: Cells, position: int) -> str:
    """Name of a cell read as a decimal of the ledger; a cell that is not empty must be readable."""
    name = f"n{position}"
    if name in cells.reads:
        return name
    if _is_exact_type(cells, position):
        return cells.read(name, to_decimal(cells.native(position), LEDGER_PLACES))
    cell = cells.cell(position)
    cells.read(name, to_decimal(cells.plain(number_text(cells, position)), LEDGER_PLACES))
    bad = f"({name} IS NULL AND trim({cell}) <> '')"
    cells.checks[name] = Check(cells.column(position), cell, bad, _NOT_A_NUMBER)
    return name


def read_wide(cells: Cells, position: int) -> str:
    """Cell of an odd row as a decimal of 30 places; null beyond 8 digits."""
    if _is_exact_type(cells, position):
        return to_decimal(cells.native(position), WIDE_PLACES)
    return to_decimal(cells.odd_plain(number_text(cells, position)), WIDE_PLACES)


def is_fine(cells: Cells, position: int) -> str:
    """Whether a cell has more places than the ledger keeps."""
    if _is_exact_type(cells, position) and not _has_fine_scale(cells.types[position]):
        return "false"
    return cells.read(f"l{position}", has_fine_text(cells.odd_plain(number_text(cells, position))))


def has_fine_text(plain: str) -> str:
    """Whether a plain number has more places than the ledger keeps, trailing zeros apart; never null."""
    places = f"rtrim(regexp_extract({plain}, '^ *[+-]?[0-9]*\\.([0-9]{{{LEDGER_PLACES + 1},}}) *$', 1), '0')"
    return f"coalesce(length({places}) > {LEDGER_PLACES}, false)"


def number_text(cells: Cells, position: int) -> str:
    """Name of a cell as a number is written in text: a point, no currency sign, no separators."""
    cell = text = cells.cell(position)
    if cells.column(position) in cells.plan.currency_signs:
        text = f"replace(replace(replace({text}, '$', ''), '€', ''), '£', '')"
        thousands = "." if cells.plan.decimal_comma else ","
        text = f"nullif(trim(replace({text}, '{thousands}', '')), '')"
    if cells.plan.decimal_comma:
        text = f"replace({text}, ',', '.')"
    return cell if text == cell else cells.text(f"m{position}", text)


def odd_layers(cells: Cells) -> list[dict[str, str]]:
    """Layers that find the odd rows and spell their numbers plainly; none where all numbers are typed.

    A cast alone would take `1_000` for a number and is not exact for E-notation; a number of more than 200 characters
    is taken for none, as sums of such would not stay exact. Amounts with more places than the ledger keeps count as odd.
    """
    parts = [*cells.numbers, *(f"array_to_string({name}, ' ')" for name in cells.amounts)]
    if not parts:
        return []
    fine = f"regexp_matches(written, '\\.[0-9]{{{LEDGER_PLACES + 1}}}')"
    long = f"longest > {LEDGER_PLACES + 1} AND (longest > {_LONGEST} OR {fine})"
    lists = ", ".join([f"CAST([{', '.join(cells.numbers)}] AS VARCHAR[])", *cells.amounts])
    plain = f"CASE WHEN {_IS_ODD.format('t')} OR strlen(t) > {_LONGEST} THEN plain_number(t) ELSE t END"
    spelt = f"list_transform([{lists}], lambda l: list_transform(l, lambda t: {plain}))"
    longest = ", ".join(f"strlen({part})" for part in parts)
    return [
        {"written": f"concat_ws(' ', {', '.join(parts)})", "longest": f"greatest({longest}, 0)"},
        {"odd": f"CASE WHEN {_IS_ODD.format('written')} OR {long} THEN {spelt} END"},
    ]


def _is_exact_type(cells: Cells, position: int) -> bool:
    kind = cells.types[position]
    return kind.startswith("DECIMAL") or kind.endswith("INT") or kind.endswith("INTEGER")


def _has_fine_scale(kind: str) -> bool:
    return kind.startswith("DECIMAL") and int(kind.rstrip(")").split(",")[1]) > LEDGER_PLACES
