"""Loading calls of models: what a source states becomes classes of tokens that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from unitcost.facts import mapping as m
from unitcost.facts.calls import (
    CACHE_LIFETIME_UNKNOWN,
    CALL_STATUSES,
    MOST_TOKENS,
    OUTPUT_LOWER_BOUND,
    STATED,
    TAG,
    VARIANTS,
)
from unitcost.facts.source import Plan
from unitcost.facts.work import WORK_COLUMNS
from unitcost.ledger.cells import Cells, Check, literal
from unitcost.ledger.compile import decimal, text
from unitcost.ledger.folding import null
from unitcost.ledger.moments import moment
from unitcost.ledger.numbering import number_later, number_now
from unitcost.ledger.statement import bad_cell, counts_rows, diagnosis, layers, raw_row
from unitcost.ledger.tagsets import map_of, tags

_NOT_A_COUNT = "is not a whole number from 0 to 10^15"
_PARTS = (
    "the parts of the input (cache reads and writes, audio, images) are more than the input that is said to hold them"
)
_LIFETIMES = "what was written to the cache for 5 minutes and 1 hour is more than all that was written to it"
_OUTPUT_PARTS = "the parts of the output (reasoning, audio, images) are more than the output that is said to hold them"
_NEGATIVE = "is negative"
#: Class of `input` besides fresh text, in the order in which sources break it down.
_OTHER_INPUT = ("input_audio", "input_image", "input_video")
_OTHER_OUTPUT = ("output_audio", "output_image", "output_video")
#: Columns whose words are few, the usual one first.
_WORDS = {
    "input_convention": ("gross", "fresh"),
    "output_convention": ("includes-reasoning", "beside-reasoning"),
    "cost_basis": ("measured", "estimated"),
}
_TYPES = {"text": "VARCHAR", "time": "TIMESTAMP", "truth": "BOOLEAN", "whole": "BIGINT", "decimal": "DECIMAL(38,12)"}
#: How secrets of providers begin; of those only the ends are kept.
_SECRET = "^(sk|pk|rk|gsk|xai|AIza|Bearer )[-_]?"
_TRUE, _FALSE = "('true', 'yes', 'y', '1', 't')", "('false', 'no', 'n', '0', 'f')"


def load_calls(con: duckdb.DuckDBPyConnection, plan: Plan, types: Sequence[str], load_id: int) -> tuple[int, int]:
    """Fill `calls` and `rejects`; returns how many rows were read, and how many of them were set aside."""
    cells = Cells(plan=plan, types=types)
    values = _targets(cells)
    names = [name for name, _ in WORK_COLUMNS["calls"]]
    bad = bad_cell(cells)
    # A row with a bad cell has no status until it is taken out again.
    values["status"] = f"CASE WHEN {bad} THEN '' ELSE {values['status']} END"
    chosen = ", ".join(values[name] for name in names)
    query = (
        f"INSERT INTO calls (load_id, row_number, {', '.join(names)}) "
        f"SELECT {int(load_id)}, row_number, {chosen} FROM ({layers(cells, counted=counts_rows(plan.scan))})"
    )
    rows_read = int(con.execute(query).fetchall()[0][0])
    rejected = "SELECT count(*) FROM calls WHERE load_id = ? AND status = ''"
    rows_rejected = int(con.execute(rejected, [load_id]).fetchall()[0][0])
    if not counts_rows(plan.scan):
        number_now(con, load_id, "calls") if rows_rejected else number_later(con, load_id, "calls")
    if rows_rejected:
        con.execute(f"INSERT INTO rejects SELECT ?, * FROM ({_rejects(cells, bad)})", [load_id])
        con.execute("DELETE FROM calls WHERE load_id = ? AND status = ''", [load_id])
    return rows_read, rows_rejected


def _rejects(cells: Cells, bad: str) -> str:
    """Query of row number, column, value, reason and raw row of the rows that are set aside."""
    found = ", ".join(f"{sql} AS {name}" for name, sql in diagnosis(cells).items())
    raw = f"regexp_replace({raw_row(cells)}, '((sk|pk|rk|gsk|xai)[-_]|AIza)[A-Za-z0-9_-]{{12,}}', '\\1...', 'g')"
    return (
        "SELECT row_number, bad_column, bad_value, bad_reason, raw FROM "
        f"(SELECT row_number, {found}, {raw} AS raw FROM ({layers(cells, keep_all=True)}) WHERE {bad})"
    )


def _targets(cells: Cells) -> dict[str, str]:
    """Column of `calls` -> its value."""
    stated = {name: _stated(cells, name) for name in STATED}
    for name, words in _WORDS.items():
        stated[name] = _word(cells, stated, name, words, words[0]) if name in cells.plan.mapping else stated[name]
    values = {name: stated.get(name, "") for name, _ in WORK_COLUMNS["calls"]}
    values |= _input(cells, stated) | _output(cells, stated) | _costs(cells, stated)
    values["status"] = _word(cells, stated, "status", CALL_STATUSES, "ok")
    values["variant"] = _word(cells, stated, "variant", VARIANTS, "")
    values["key"] = _masked(stated["key"])
    values["notes"] = _notes(stated, values)
    values["tags"] = _tags(cells)
    return values


def _stated(cells: Cells, name: str) -> str:
    """Name of what a source states, read once per row and checked."""
    node, kind = cells.plan.mapping.get(name), STATED[name]
    if node is None:
        return null(_TYPES[kind])
    if kind == "time":
        return moment(cells, node)
    if kind == "decimal":
        return _amount(cells, name, node)
    if kind == "text":
        return text(cells, node)
    return _count(cells, name, node) if kind == "whole" else _truth(cells, name, node)


def _count(cells: Cells, name: str, node: m.Expr) -> str:
    """Whole number; `12.0`, as tables with gaps are written, is one too, and `12.5` none."""
    cell = cells.text(f"s_{name}", text(cells, node))
    plain = f"TRY_CAST({cell} AS BIGINT)"
    usual = f"{plain} BETWEEN 0 AND {MOST_TOKENS} AND CAST({plain} AS VARCHAR) = {cell}"
    other = f"regexp_full_match({cell}, ' *[0-9]{{1,15}}(\\.0*)? *')"
    whole = f"TRY_CAST(split_part(trim({cell}), '.', 1) AS BIGINT)"
    cells.read(f"u_{name}", f"CASE WHEN {usual} THEN {plain} WHEN {other} THEN {whole} END")
    bad = _unread(f"u_{name}", cell)
    cells.checks[f"u_{name}"] = Check(_column(node), cell, bad, _NOT_A_COUNT)
    return f"u_{name}"


def _unread(read: str, cell: str) -> str:
    """Whether a cell that is not blank gave nothing; most cells are settled without looking at their text."""
    return f"(CASE WHEN {read} IS NULL AND {cell} IS NOT NULL THEN trim({cell}) <> '' ELSE false END)"


def _truth(cells: Cells, name: str, node: m.Expr) -> str:
    cell = cells.text(f"s_{name}", text(cells, node))
    word = f"lower(trim({cell}))"
    cells.read(f"u_{name}", f"CASE WHEN {word} IN {_TRUE} THEN true WHEN {word} IN {_FALSE} THEN false END")
    bad = _unread(f"u_{name}", cell)
    cells.checks[f"u_{name}"] = Check(_column(node), cell, bad, "is neither yes nor no")
    return f"u_{name}"


def _amount(cells: Cells, name: str, node: m.Expr) -> str:
    value = decimal(cells, node)
    cells.checks[f"a_{name}"] = Check(_column(node), text(cells, node), f"coalesce({value} < 0, false)", _NEGATIVE)
    return value


def _word(cells: Cells, stated: dict[str, str], name: str, known: Sequence[str], otherwise: str) -> str:
    """One of the words that a column may hold."""
    node = cells.plan.mapping.get(name)
    if node is None:
        return literal(otherwise)
    value = f"coalesce(nullif(lower(trim({stated[name]})), ''), {literal(otherwise)})"
    words = ", ".join(map(literal, known))
    reason = f"is none of {', '.join(word for word in known if word)}"
    cells.checks[f"w_{name}"] = Check(_column(node), stated[name], f"({value} NOT IN ({words}))", reason)
    return value


def _input(cells: Cells, stated: dict[str, str]) -> dict[str, str]:
    """Classes of the input; cells whose parts exceed the whole are bad."""
    some = {name: f"coalesce({stated[name]}, 0)" for name in STATED if STATED[name] == "whole"}
    lived = f"({some['cache_write_5m']} + {some['cache_write_1h']})"
    unstated = f"({stated['cache_write']} - {lived})"
    read = f"({stated['cache_read']} - {some['cache_read_audio']} - {some['cache_read_image']})"
    others = " + ".join(some[name] for name in _OTHER_INPUT)
    cached = f"{some['cache_read']} + coalesce({stated['cache_write']}, {lived})"
    gross = f"coalesce({stated['input_convention']} <> 'fresh', true)"
    fresh = f"({stated['input']} - CASE WHEN {gross} THEN {cached} ELSE 0 END - ({others}))"
    _refuse(cells, "cache_write", unstated, _LIFETIMES)
    _refuse(cells, "cache_read", read, _PARTS)
    _refuse(cells, "input", fresh, _PARTS)
    return {
        "input_tokens": fresh, "cache_read_tokens": read, "cache_write_tokens": unstated,
        **{f"{name}_tokens": stated[name] for name in (
            "cache_write_5m", "cache_write_1h", "cache_read_audio", "cache_read_image", *_OTHER_INPUT,
        )},
    }  # fmt: skip


def _output(cells: Cells, stated: dict[str, str]) -> dict[str, str]:
    others = " + ".join(f"coalesce({stated[name]}, 0)" for name in _OTHER_OUTPUT)
    beside = f"CASE WHEN {stated['output_convention']} = 'beside-reasoning' THEN coalesce({stated['reasoning']}, 0) ELSE 0 END"
    # Where only what was reasoned is told, at least so much was generated.
    least = f"({stated['output']} IS NULL AND {stated['reasoning']} IS NOT NULL)"
    whole = f"(CASE WHEN {least} THEN {stated['reasoning']} ELSE {stated['output']} + {beside} - ({others}) END)"
    _refuse(cells, "output", f"({whole} - coalesce({stated['reasoning']}, 0))", _OUTPUT_PARTS)
    names = ("reasoning", "citation", *_OTHER_OUTPUT)
    return {"output_tokens": whole, **{f"{name}_tokens": stated[name] for name in names}}


def _refuse(cells: Cells, name: str, rest: str, reason: str) -> None:
    """Set rows aside in which the parts of a count are more than it."""
    node = cells.plan.mapping.get(name)
    if node is not None:
        cells.checks[f"p_{name}"] = Check(_column(node), f"s_{name}", f"coalesce({rest} < 0, false)", reason)


def _costs(cells: Cells, stated: dict[str, str]) -> dict[str, str]:
    reported, estimated = stated["reported_cost"], stated["estimated_cost"]
    cached = f"coalesce(lower({stated['status']}) = 'cached', false)"
    cost = f"coalesce({reported}, CASE WHEN NOT {cached} THEN {estimated} END)"
    basis = (
        f"CASE WHEN {reported} IS NOT NULL THEN coalesce({stated['cost_basis']}, 'measured') "
        f"WHEN {cost} IS NOT NULL THEN 'estimated' END"
    )
    return {
        "reported_cost": cost,
        "cost_basis": basis,
        "reported_currency": f"CASE WHEN {cost} IS NOT NULL OR {estimated} IS NOT NULL THEN {stated['reported_currency']} END",
        "avoided_cost": f"coalesce({stated['avoided_cost']}, CASE WHEN {cached} THEN {estimated} END)",
    }


def _notes(stated: dict[str, str], values: dict[str, str]) -> str:
    told = {
        CACHE_LIFETIME_UNKNOWN: f"{values['cache_write_tokens']} > 0",
        OUTPUT_LOWER_BOUND: f"lower({stated['status']}) = 'aborted' OR "
        f"({stated['output']} IS NULL AND {stated['reasoning']} IS NOT NULL)",
    }
    codes = ", ".join(f"CASE WHEN {holds} THEN {literal(code)} END" for code, holds in told.items())
    return f"nullif(concat_ws(';', {stated['notes']}, {codes}), '')"


def _masked(key: str) -> str:
    secret = f"regexp_matches({key}, {literal(_SECRET)}) AND strlen({key}) > 12"
    return f"CASE WHEN {secret} THEN left({key}, 3) || '...' || right({key}, 4) ELSE {key} END"


def _tags(cells: Cells) -> str:
    mapping = cells.plan.mapping
    named = map_of([(name.removeprefix(TAG), text(cells, n)) for name, n in mapping.items() if name.startswith(TAG)])
    if "tags" not in mapping:
        return named
    listed = tags(cells, mapping["tags"])
    return f"CASE WHEN {named} IS NULL THEN {listed} WHEN {listed} IS NULL THEN {named} ELSE map_concat({listed}, {named}) END"


def _column(node: m.Expr) -> str:
    """Source column that a message names."""
    match node:
        case m.Field(name):
            return name
        case m.Member(of, pointer):
            return f"{of.name}{pointer}"
        case m.First(of):
            return _column(of[0])
        case m.Choose(branches, otherwise):
            return _column(otherwise) or _column(branches[0][1])
        case _:
            return ""
