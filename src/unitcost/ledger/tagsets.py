"""Nodes read as tags, and what is kept of the cells that no column of the ledger takes."""

from __future__ import annotations

import json

from unitcost.errors import BadBill
from unitcost.facts import mapping as m
from unitcost.ledger.cells import Cells, is_nested, literal
from unitcost.ledger.compile import NO_TEXT, text
from unitcost.ledger.folding import is_null, null

MAP = "MAP(VARCHAR, VARCHAR)"
_NO_TAGS = null(MAP)
_EMPTY = f"CAST(MAP {{}} AS {MAP})"


def tags(cells: Cells, node: m.Expr) -> str:
    """Node as MAP(VARCHAR, VARCHAR); null where there are none or they cannot be read."""
    match node:
        case m.JsonTags(of):
            return _of_cell(cells, of, "json_tags")
        case m.LabelTags(of):
            return _of_cell(cells, of, "label_tags")
        case m.ColumnTags(pairs):
            return _of_columns(cells, pairs)
        case m.MergedTags(of):
            return _merged([tags(cells, n) for n in of])
        case m.Field() | m.First() | m.Choose():
            return tags(cells, m.JsonTags(node))
        case _:
            raise BadBill(f"a {type(node).__name__} cannot be tags", where=cells.plan.reader)


def _merged(sets: list[str]) -> str:
    if len(sets) == 1:
        return sets[0]
    sets = [one for one in sets if not is_null(one)]
    if len(sets) <= 1:
        return f"coalesce({sets[0]}, {_EMPTY})" if sets else _EMPTY
    # To merge maps takes the engine as long as to read them, and mostly all but the first are empty.
    alone = " + ".join(f"coalesce(cardinality({one}), 0)" for one in sets[1:]) + " = 0"
    some = [f"coalesce({one}, {_EMPTY})" for one in reversed(sets)]
    return f"(CASE WHEN {alone} THEN {some[-1]} ELSE CAST(map_concat({', '.join(some)}) AS {MAP}) END)"


def _of_cell(cells: Cells, of: m.Expr, macro: str) -> str:
    value = text(cells, of)
    sql = _NO_TAGS if is_null(value) else f"{macro}({value})"
    position = cells.position(of.name) if isinstance(of, m.Field) else None
    if position is None:
        return sql
    kind = cells.types[position]
    if kind.startswith("MAP"):
        sql = f"TRY_CAST({cells.native(position)} AS {MAP})"
    name = cells.read(f"g{position}", sql)
    if not is_nested(kind):
        cells.tag_reads[position] = name
    return name


def _of_columns(cells: Cells, pairs: tuple[tuple[str, str], ...]) -> str:
    found: dict[str, str] = {}
    for key, column in pairs:
        position = cells.position(column)
        if position is not None:
            found[key] = f"coalesce({found[key]}, {cells.cell(position)})" if key in found else cells.cell(position)
    return map_of(list(found.items()))


def extra(cells: Cells) -> str:
    """JSON object of the cells that no mapping has used, and of tags that cannot be read; call it last."""
    names: dict[str, str] = {}
    for position, column in enumerate(cells.plan.scan.columns):
        unread = cells.tag_reads.get(position)
        if unread:
            value = f"CASE WHEN {unread} IS NULL AND trim(x{position}) NOT IN ('', 'null') THEN x{position} END"
        elif position not in cells.used:
            value = cells.cell(position)
        else:
            continue
        names[column if column not in names else f"{column} ({position})"] = value
    if not names:
        return NO_TEXT
    members = ", ".join(
        f"{literal(member(name))} || CAST(to_json({value}) AS VARCHAR)" for name, value in names.items()
    )
    return f"('{{' || nullif(concat_ws(',', {members}), '') || '}}')"


def member(name: str) -> str:
    """How a member of a JSON object begins in `extra`; within a text its quotes would be escaped."""
    return json.dumps(name, ensure_ascii=False) + ":"


def unread_tags(cells: Cells) -> list[str]:
    """Source columns of tags that may have been unreadable; a row's `extra` holds the text then."""
    return [cells.column(position) for position in cells.tag_reads]


def map_of(entries: list[tuple[str, str]]) -> str:
    """Map of the entries that are not null; null when there are none."""
    if not entries:
        return _NO_TAGS
    pairs = ", ".join(f"{{'k': {literal(key)}, 'v': {value}}}" for key, value in entries)
    some = ", ".join(value for _, value in entries)
    filled = f"map_from_entries(list_filter([{pairs}], lambda x: x.v IS NOT NULL))"
    return f"(CASE WHEN coalesce({some}) IS NOT NULL THEN {filled} END)"
