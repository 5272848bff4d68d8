"""Nodes and cells read as moments: UTC timestamps without a zone."""

from __future__ import annotations

from unitcost.errors import BadBill
from unitcost.facts import mapping as m
from unitcost.facts.days import FIRST_DAY, LAST_DAY
from unitcost.ledger import folding
from unitcost.ledger.cells import Cells, Check, literal
from unitcost.ledger.compile import choose, text
from unitcost.ledger.folding import is_null, null

_FIRST, _LAST = (f"TIMESTAMP '{day.isoformat()}'" for day in (FIRST_DAY, LAST_DAY))
_BAD = f"is not a date between {FIRST_DAY.year} and {LAST_DAY.year}"
_LETTER_DATES = {
    "mdy": ("%m/%d/%y", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m-%d-%Y"),
    "dmy": ("%d/%m/%y", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d-%m-%Y", "%d.%m.%Y"),
}
_NONE = null("TIMESTAMP")


def moment(cells: Cells, node: m.Expr) -> str:
    """Node as a UTC TIMESTAMP."""
    match node:
        case m.Time(of, shift_days, snap):
            return _shifted(moment(cells, of), shift_days, snap)
        case m.YearMonth(of, after):
            read = f"TRY_STRPTIME({text(cells, of)} || '01', '%Y%m%d')"
            return _shifted(read, 0, "next-month-start" if after else "")
        case m.First(of):
            return folding.first([moment(cells, n) for n in of])
        case m.Choose():
            return choose(cells, node, lambda n: moment(cells, n))
        case m.Field(name):
            position = cells.position(name)
            return _NONE if position is None else _read(cells, position)
        case m.Const(constant):
            return f"CAST({literal(constant)} AS TIMESTAMP)"
        case _:
            raise BadBill(f"a {type(node).__name__} cannot be a moment", where=cells.plan.reader)


def _shifted(read: str, days: int, snap: str) -> str:
    if is_null(read):
        return read
    if days:
        read = f"({read} + INTERVAL {int(days)} DAY)"
    if snap:
        read = f"date_trunc('month', {read})"
    if snap == "next-month-start":
        read = f"({read} + INTERVAL 1 MONTH)"
    return f"TRY({read})" if days or snap else read


def _read(cells: Cells, position: int) -> str:
    name, kind = f"t{position}", cells.types[position]
    if name in cells.reads:
        return name
    cell = cells.cell(position)
    if kind == "TIMESTAMP WITH TIME ZONE":
        sql = f"CAST({cells.native(position)} AS TIMESTAMP)"
    elif kind.startswith("TIMESTAMP") or kind == "DATE":
        sql = _placed(cells, f"CAST({cells.native(position)} AS TIMESTAMP)")
    else:
        sql = _of_text(cells, cell)
    cells.read(name, sql)
    bad = f"({name} > {_LAST} OR {name} < {_FIRST} OR ({name} IS NULL AND trim({cell}) <> ''))"
    cells.checks[name] = Check(cells.column(position), cell, bad, _BAD)
    return name


def _placed(cells: Cells, local: str) -> str:
    """Moment without an offset, in the zone of the plan."""
    zone = cells.plan.timezone
    return local if zone == "UTC" else f"TRY(CAST(timezone({literal(zone)}, {local}) AS TIMESTAMP))"


def _of_text(cells: Cells, cell: str) -> str:
    with_offset = f"CAST(TRY_CAST({cell} AS TIMESTAMPTZ) AS TIMESTAMP)"
    local = f"TRY_CAST({cell} AS TIMESTAMP)"
    # `2026-09-01T00:00:00Z`, by far the most common: the cheaper cast is right for it.
    usual = f"WHEN strlen({cell}) = 20 AND suffix({cell}, 'Z') THEN {local}"
    if cells.plan.timezone == "UTC":
        iso = f"CASE {usual} ELSE {with_offset} END"
    else:
        offset = f"regexp_matches({cell}, '([+-][0-9]{{2}}(:?[0-9]{{2}})?|[zZ]| UTC)\\s*$') AND strlen({cell}) > 10"
        iso = f"CASE {usual} WHEN {offset} THEN {with_offset} ELSE {_placed(cells, local)} END"
    if cells.plan.date_order == "iso":
        return iso
    formats = ", ".join(literal(form) for form in _LETTER_DATES[cells.plan.date_order])
    return f"coalesce({_placed(cells, f'TRY_STRPTIME(trim({cell}), [{formats}])')}, {iso})"
