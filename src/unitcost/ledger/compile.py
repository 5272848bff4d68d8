"""Mapping nodes -> SQL expressions over the cells of a scanned file: texts, conditions and exact amounts."""

from __future__ import annotations

from collections.abc import Callable

from unitcost.errors import BadBill
from unitcost.facts import mapping as m
from unitcost.ledger import folding
from unitcost.ledger.cells import Cells, Check, literal
from unitcost.ledger.folding import is_null, null
from unitcost.ledger.numbers import (
    WIDE_PLACES,
    has_fine_text,
    is_fine,
    kind_of,
    number_text,
    read_number,
    read_wide,
    to_decimal,
)
from unitcost.units import LEDGER_PLACES

#: Places in which a product is first tried; more places leave fewer digits before the point.
_PRODUCT_PLACES = (18, 15, 12)
NO_TEXT = null("VARCHAR")


def text(cells: Cells, node: m.Expr) -> str:
    """Node as text."""
    match node:
        case m.Field(name):
            position = cells.position(name)
            return NO_TEXT if position is None else cells.cell(position)
        case m.Const(constant):
            return literal(constant)
        case m.First(of):
            return folding.first([text(cells, n) for n in of])
        case m.Choose():
            return choose(cells, node, lambda n: text(cells, n))
        case m.JoinText(of, separator):
            some = [part for n in of if not is_null(part := text(cells, n))]
            return f"nullif(concat_ws({literal(separator)}, {', '.join(some)}), '')" if some else NO_TEXT
        case m.Member(of, pointer):
            position = cells.position(of.name)
            return NO_TEXT if position is None else cells.member(position, pointer)
        case m.Between(of, start, end):
            return _between(text(cells, of), start, end)
        case _:
            raise BadBill(f"a {type(node).__name__} cannot be text", where=cells.plan.reader)


def _between(of: str, start: str, end: str) -> str:
    if is_null(of):
        return NO_TEXT
    begin, stop = literal(start.lower()), literal(end.lower())
    rest = f"substr({of}, instr(lower({of}), {begin}) + {len(start)})"
    found = f"instr(lower({rest}), {stop})"
    until = f"CASE WHEN {found} > 0 THEN {found} - 1 ELSE length({rest}) END"
    return f"(CASE WHEN contains(lower({of}), {begin}) THEN nullif(left({rest}, {until}), '') END)"


def choose(cells: Cells, node: m.Choose, way: Callable[[m.Expr], str]) -> str:
    """Choice between branches, each compiled in the given way."""
    # Each branch is compiled, though it be left out: a cell that cannot be read is bad wherever it is named.
    return folding.choice([(condition(cells, c), way(n)) for c, n in node.branches], way(node.otherwise))


def condition(cells: Cells, node: m.Condition) -> str:
    """Condition that is true or false, never null."""
    match node:
        case m.Equals(of, values):
            listed = ", ".join(literal(value.lower()) for value in values)
            value = text(cells, of)
            return _holds(value, f"lower({value}) IN ({listed})")
        case m.Matches(of, glob):
            value, pattern = text(cells, of), glob.lower().replace("[", "[[]")
            return _holds(value, f"lower({value}) GLOB {literal(pattern)}")
        case m.IsNull(of):
            value = text(cells, of)
            return folding.TRUE if is_null(value) else f"({value} IS NULL)"
        case m.IsZero(of):
            value = decimal(cells, of)
            return _holds(value, f"{value} = 0")
        case m.Not(of):
            return folding.opposite(condition(cells, of))
        case m.Every(of):
            return folding.every([condition(cells, n) for n in of])
        case m.Any(of):
            return folding.some([condition(cells, n) for n in of])


def _holds(value: str, test: str) -> str:
    """Test of a value as true or false, never null."""
    return folding.FALSE if is_null(value) else f"coalesce({test}, false)"


def decimal(cells: Cells, node: m.Expr) -> str:
    """Node as a decimal of the ledger, each cell rounded half away from zero."""
    kind = kind_of(LEDGER_PLACES)
    match node:
        case m.Field(name):
            position = cells.position(name)
            return null(kind) if position is None else read_number(cells, position)
        case m.Const(constant):
            return f"CAST({literal(constant)} AS {kind})"
        case m.First(of):
            return folding.first([decimal(cells, n) for n in of])
        case m.Total(of):
            return _total([decimal(cells, n) for n in of], kind)
        case m.Negative(of):
            return folding.negative(decimal(cells, of))
        case m.Product():
            sides = [decimal(cells, side) for side in (node.left, node.right)]
            return null(kind) if any(map(is_null, sides)) else f"CAST({_product(cells, node)} AS {kind})"
        case m.Choose():
            return choose(cells, node, lambda n: decimal(cells, n))
        case m.JsonSum():
            listed = _json_amounts(cells, node)
            amounts = f"list_transform({cells.plain_amounts(listed)}, lambda t: {to_decimal('t', LEDGER_PLACES)})"
            summed = f"coalesce(list_sum({amounts}), CASE WHEN {listed} IS NOT NULL THEN 0 END)"
            return cells.read(f"s{listed[1:]}", f"TRY(CAST({summed} AS {kind}))")
        case _:
            raise BadBill(f"a {type(node).__name__} cannot be an amount", where=cells.plan.reader)


def _total(parts: list[str], kind: str) -> str:
    some = [part for part in parts if not is_null(part)]
    if len(some) <= 1:
        return some[0] if some else null(kind)
    added = " + ".join(f"coalesce({part}, CAST(0 AS {kind}))" for part in some)
    return f"(CASE WHEN coalesce({', '.join(some)}) IS NOT NULL THEN TRY(CAST({added} AS {kind})) END)"


def wide_decimal(cells: Cells, node: m.Expr) -> str:
    """Node of a row with a fine amount as a decimal of 30 places; null where some number of it does not fit."""
    kind = kind_of(WIDE_PLACES)
    match node:
        case m.Field(name):
            position = cells.position(name)
            return null(kind) if position is None else read_wide(cells, position)
        case m.First(of):
            pairs = [(decimal(cells, n), wide_decimal(cells, n)) for n in of]
            return folding.choice([(_stated(usual), wide) for usual, wide in pairs], null(kind))
        case m.Total(of):
            pairs = [(decimal(cells, n), wide_decimal(cells, n)) for n in of]
            fits = [
                folding.FALSE if is_null(usual) else f"({usual} IS NOT NULL AND {wide} IS NULL)"
                for usual, wide in pairs
            ]
            return folding.choice([(folding.some(fits), null(kind))], _total([wide for _, wide in pairs], kind))
        case m.Negative(of):
            return folding.negative(wide_decimal(cells, of))
        case m.Choose():
            return choose(cells, node, lambda n: wide_decimal(cells, n))
        case m.JsonSum():
            listed = cells.odd_amounts(_json_amounts(cells, node))
            amounts = f"list_transform({listed}, lambda t: {to_decimal('t', WIDE_PLACES)})"
            fit = f"coalesce(list_bool_and(list_transform({amounts}, lambda a: a IS NOT NULL)), {listed} IS NOT NULL)"
            return f"(CASE WHEN {fit} THEN TRY(CAST(coalesce(list_sum({amounts}), 0) AS {kind})) END)"
        case _:
            return f"CAST({decimal(cells, node)} AS {kind})"


def _stated(value: str) -> str:
    return folding.FALSE if is_null(value) else f"{value} IS NOT NULL"


def _product(cells: Cells, node: m.Product) -> str:
    """Product in the ledger's places; of factors with more than 12 places as many are used as the digits allow."""
    tried = []
    for places in _PRODUCT_PLACES:
        kind = kind_of(places)
        factors = [f"CAST({_factor(cells, side, places)} AS {kind})" for side in (node.left, node.right)]
        tried.append(f"TRY(CAST({factors[0]} * {factors[1]} AS {kind_of(LEDGER_PLACES)}))")
    return f"coalesce({', '.join(tried)})"


def _factor(cells: Cells, node: m.Expr, places: int) -> str:
    position = cells.position(node.name) if isinstance(node, m.Field) else None
    usual = decimal(cells, node)
    if position is None or places == LEDGER_PLACES or is_fine(cells, position) == "false":
        return usual
    return to_decimal(cells.plain(number_text(cells, position)), places)


def _json_amounts(cells: Cells, node: m.JsonSum) -> str:
    """Name of the amounts of a JSON list as they are written, nulls left out; null where there is no list.

    The engine reads JSON numbers as doubles. The digits as written are taken from the text where the pattern
    finds as many as the list has, which is always so unless the member stands deeper inside, too.
    """
    of, name = text(cells, node.of), f"j{len(cells.texts)}"
    found = f"list_filter(json_extract_string({of}, {literal(f'$[*].{node.member}')}), lambda v: v IS NOT NULL)"
    pattern = literal(f'"{node.member}"\\s*:\\s*("[-+0-9.eE]+"|[-+0-9.eE]+)\\s*[,}}]')
    written = f"list_transform(regexp_extract_all({of}, {pattern}, 1), lambda t: trim(t, '\"'))"
    listed = f"TRY(CASE WHEN json_type({of}) = 'ARRAY' THEN {found} END)"
    sql = (
        f"CASE WHEN {of} IS NULL THEN NULL WHEN {of} = '[]' THEN CAST([] AS VARCHAR[]) "
        f"WHEN length({written}) = length({listed}) THEN {written} ELSE {listed} END"
    )
    known = next((key for key, value in cells.texts.items() if value == sql), None)
    if known is not None:
        return known
    cells.text(name, sql)
    plain = cells.plain_amounts(name)
    unread = f"list_bool_or(list_transform({plain}, lambda t: {to_decimal('t', LEDGER_PLACES)} IS NULL))"
    odd = f"TRY(list_bool_or(list_transform(json_extract({of}, '$[*]'), lambda o: json_type(o) <> 'OBJECT')))"
    nothing = f"{of} IS NOT NULL AND trim({of}) NOT IN ('', 'null')"
    bad = (
        f"CASE WHEN {name} IS NULL THEN {nothing} WHEN {name} = [] AND {of} = '[]' THEN false "
        f"ELSE coalesce({unread}, false) OR coalesce({odd}, false) END"
    )
    column = node.of.name if isinstance(node.of, m.Field) else ""
    cells.checks[name] = Check(column, of, bad, "is not a JSON list of amounts")
    return name


def fine(cells: Cells, node: m.Expr) -> str:
    """Whether an amount is made of a number with more places than the ledger keeps; `false` when it never is."""
    match node:
        case m.Field(name):
            position = cells.position(name)
            return "false" if position is None else is_fine(cells, position)
        case m.First(of) | m.Total(of):
            tests = [fine(cells, n) for n in of]
        case m.Negative(of):
            tests = [fine(cells, of)]
        case m.Choose():
            tests = [fine(cells, n) for _, n in node.branches] + [fine(cells, node.otherwise)]
        case m.JsonSum():
            listed = cells.odd_amounts(_json_amounts(cells, node))
            tests = [f"coalesce(list_bool_or(list_transform({listed}, lambda t: {has_fine_text('t')})), false)"]
        case _:
            tests = []
    return " OR ".join(sorted({test for test in tests if test != "false"})) or "false"


def terms(cells: Cells, node: m.Expr, sign: str = "") -> str:
    """Numbers that an amount is the sum of, as they are written, parted by spaces; a subtracted one begins with `~`."""
    match node:
        case m.Field(name):
            position = cells.position(name)
            return NO_TEXT if position is None else f"{literal(sign)} || trim({number_text(cells, position)})"
        case m.Const(constant):
            return literal(sign + constant)
        case m.First(of):
            return folding.first([terms(cells, n, sign) for n in of])
        case m.Total(of):
            some = [part for n in of if not is_null(part := terms(cells, n, sign))]
            return f"nullif(concat_ws(' ', {', '.join(some)}), '')" if some else NO_TEXT
        case m.Negative(of):
            return terms(cells, of, "" if sign else "~")
        case m.Choose():
            return choose(cells, node, lambda n: terms(cells, n, sign))
        case m.JsonSum():
            return f"array_to_string(list_transform({_json_amounts(cells, node)}, lambda t: {literal(sign)} || trim(t)), ' ')"
        case _:
            return f"{literal(sign)} || CAST({decimal(cells, node)} AS VARCHAR)"
