"""The statements of a load: from the rows of a scanned file to charges, and to what is wrong with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unitcost.errors import BadBill
from unitcost.facts import mapping as m
from unitcost.facts.charges import CHARGE_COLUMNS, FACET_COLUMNS, MONEY_COLUMNS, Column
from unitcost.facts.source import Plan, Scan
from unitcost.ledger.cells import Cells, identifier, literal
from unitcost.ledger.compile import decimal, fine, terms, text, wide_decimal
from unitcost.ledger.folding import is_null, null
from unitcost.ledger.moments import moment
from unitcost.ledger.numbers import odd_layers, to_decimal
from unitcost.ledger.tagsets import MAP, extra, map_of, tags, unread_tags
from unitcost.units import LEDGER_PLACES

_TYPES = {
    "money": "DECIMAL(38,12)", "quantity": "DECIMAL(38,12)", "time": "TIMESTAMP", "tags": MAP, "text": "VARCHAR",
    "json": "VARCHAR",
}  # fmt: skip
#: How much of a csv the engine takes up at once, per core; a row may be half as long.
_BUFFER_BYTES = 40_000_000
#: What a row can lack besides a readable cell: problem -> reason.
_REASONS = {
    "cost": "has no cost",
    "currency": "has a cost but no currency",
    "period": "has no charge period",
    "order": "ends before it starts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL of one load.

    Parameters
    ----------
    charges
        Query of the charge columns, `unrounded`, `extra` and `problem` (null when the row is fine).
    rejects
        Query of row number, column, value, reason and raw row of the rows that are set aside.
    fine_columns
        Money columns in which some amount may have more places than the ledger keeps.
    tag_columns
        Source columns of tags; a row whose tags could not be read has their text in `extra`.
    """

    charges: str
    rejects: str
    fine_columns: tuple[str, ...]
    tag_columns: tuple[str, ...]


def counts_rows(scan: Scan) -> bool:
    """Whether rows get their number while the file is read.

    Counting the rows of a csv keeps the engine to one core. One buffer full is read on one core in any case; the rows of
    a larger file are numbered afterwards, by the order in which they were stored.
    """
    if scan.format != "csv" or scan.numbered:
        return True
    return scan.path.suffix.lower() != ".gz" and scan.path.stat().st_size < _BUFFER_BYTES


def scan_sql(scan: Scan, nulls: Sequence[str] = (), *, counted: bool = True) -> str:
    """Table expression over the rows of a file: `row_number` from 1 and the cells `c0`, `c1` ...

    Without `counted` the row number of a csv is 0.
    """
    path = literal(str(scan.path))
    if scan.format == "parquet":
        cells = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(scan.columns))
        return f"(SELECT file_row_number + 1 AS row_number, {cells} FROM read_parquet({path}, file_row_number=true))"
    numbered = {"row_number": "BIGINT"} if scan.numbered else {}
    kinds = numbered | {f"c{i}": "VARCHAR" for i in range(len(scan.columns))}
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    spellings = ", ".join(literal(null) for null in ("", *nulls))
    table = (
        f"read_csv({path}, header=true, auto_detect=false, delim={literal(scan.delimiter)}, quote='\"', escape='\"', "
        f"strict_mode=true, null_padding=false, nullstr=[{spellings}], "
        f"max_line_size={_BUFFER_BYTES // 2}, buffer_size={_BUFFER_BYTES}, columns={{{columns}}})"
    )
    if scan.numbered:
        return table
    number = "row_number() OVER ()" if counted else "CAST(0 AS BIGINT)"
    return f"(SELECT {number} AS row_number, * FROM {table})"


def compile_charges(plan: Plan, types: Sequence[str]) -> Statement:
    """Statement that maps the rows of a plan to charges.

    Raises
    ------
    BadBill
        When the mapping has none of the cost columns.
    """
    if not any(name in plan.mapping for name in MONEY_COLUMNS):
        raise BadBill("the file has no cost column", where=str(plan.scan.path), mend="map one in [[load]] columns")
    cells = Cells(plan=plan, types=types)
    targets = {column.name: _target(cells, column) for column in CHARGE_COLUMNS}
    fine_columns = {name: test for name in MONEY_COLUMNS if (test := _fine(cells, name)) != "false"}
    unrounded = map_of(
        [(n, f"CASE WHEN {t} THEN {terms(cells, plan.mapping[n])} END") for n, t in fine_columns.items()]
    )
    targets |= {"unrounded": unrounded, "extra": extra(cells), "bad_cell": bad_cell(cells)}
    return Statement(
        charges=_with_problem(plan, targets, layers(cells, counted=counts_rows(plan.scan)), "row_number"),
        rejects=_rejects(cells, targets),
        fine_columns=tuple(fine_columns),
        tag_columns=tuple(unread_tags(cells)),
    )


def _target(cells: Cells, column: Column) -> str:
    node = cells.plan.mapping.get(column.name)
    if node is None:
        return null(_TYPES[column.kind])
    if column.kind == "money":
        return _rounded(cells, node, fine(cells, node))
    if column.kind == "quantity":
        return decimal(cells, node)
    if column.kind == "time":
        return moment(cells, node)
    if column.kind == "tags":
        return tags(cells, node)
    value = text(cells, node)
    return f"upper(trim({value}))" if not is_null(value) and column.name == "billing_currency" else value


def _fine(cells: Cells, name: str) -> str:
    return fine(cells, cells.plan.mapping[name]) if name in cells.plan.mapping else "false"


def _rounded(cells: Cells, node: m.Expr, is_fine: str) -> str:
    """Amount made of several numbers is added up in full width, where that fits, before it is rounded once."""
    value = decimal(cells, node)
    if is_fine == "false" or isinstance(node, m.Field):
        return value
    wide = to_decimal(wide_decimal(cells, node), LEDGER_PLACES)
    return f"coalesce(CASE WHEN {is_fine} THEN {wide} END, {value})"


def bad_cell(cells: Cells) -> str:
    """Whether a row has a cell that cannot be read."""
    return f"coalesce({' OR '.join(check.bad for check in cells.checks.values()) or 'false'}, false)"


def layers(cells: Cells, *, counted: bool = True, keep_all: bool = False) -> str:
    """Query with the cells and reads that compiled nodes stand on; `keep_all` keeps all raw cells beside them."""
    named = {name: sql for name, sql in cells.cells.items() if not (keep_all and name == sql)}
    scan = scan_sql(cells.plan.scan, cells.plan.nulls, counted=counted)
    query = _layer("*" if keep_all else "row_number", named, scan)
    for layer in (cells.texts, *odd_layers(cells), cells.reads):
        query = _layer("*", layer, f"({query})") if layer else query
    return query


def _layer(kept: str, named: dict[str, str], source: str) -> str:
    columns = ", ".join(f"{sql} AS {name}" for name, sql in named.items())
    return f"SELECT {kept}{', ' if columns else ''}{columns} FROM {source}"


def _with_problem(plan: Plan, targets: dict[str, str], reads: str, kept: str) -> str:
    selected = ",\n    ".join(f"{value} AS {name}" for name, value in targets.items())
    return (
        f"SELECT *, CASE WHEN bad_cell THEN 'cell' WHEN {identifier(plan.cost_column)} IS NULL THEN 'cost' "
        "WHEN billing_currency IS NULL OR billing_currency = '' THEN 'currency' "
        "WHEN charge_period_start IS NULL OR charge_period_end IS NULL THEN 'period' "
        "WHEN charge_period_end < charge_period_start THEN 'order' END AS problem\n"
        f"FROM (SELECT {kept},\n    {selected}\nFROM ({reads}))"
    )


def _rejects(cells: Cells, targets: dict[str, str]) -> str:
    plan = cells.plan
    needed = ("bad_cell", plan.cost_column, "billing_currency", "charge_period_start", "charge_period_end")
    kept = ["row_number", f"{raw_row(cells)} AS raw", *(f"{sql} AS {name}" for name, sql in diagnosis(cells).items())]
    rows = _with_problem(plan, {n: targets[n] for n in needed}, layers(cells, keep_all=True), ", ".join(kept))
    reasons = " ".join(f"WHEN {literal(problem)} THEN {literal(reason)}" for problem, reason in _REASONS.items())
    return (
        "SELECT row_number, CASE problem WHEN 'cell' THEN bad_column "
        f"WHEN 'cost' THEN {literal(plan.cost_column)} ELSE '' END, CASE problem WHEN 'cell' THEN bad_value ELSE '' END, "
        f"CASE problem WHEN 'cell' THEN bad_reason {reasons} END, raw FROM ({rows}) WHERE problem IS NOT NULL"
    )


def diagnosis(cells: Cells) -> dict[str, str]:
    """Column, value and reason of the first cell of a row that cannot be read."""
    checks = cells.checks.values()

    def first(answer: dict[str, str]) -> str:
        whens = " ".join(f"WHEN {bad} THEN {value}" for bad, value in answer.items())
        return f"CASE {whens} ELSE '' END" if whens else "''"

    return {
        "bad_column": first({check.bad: literal(check.column) for check in checks}),
        "bad_value": first({check.bad: f"CAST({check.cell} AS VARCHAR)" for check in checks}),
        "bad_reason": first({check.bad: literal(check.reason) for check in checks}),
    }


def raw_row(cells: Cells) -> str:
    """Row as a JSON object of source column and text."""
    pairs = (f"{literal(name)}, coalesce(CAST(c{i} AS VARCHAR), '')" for i, name in enumerate(cells.plan.scan.columns))
    return f"CAST(json_object({', '.join(pairs)}) AS VARCHAR)"


def insert_charges(statement: Statement, load_id: int) -> str:
    """INSERT of all rows of the file; rows with a problem get facet 0 and are taken out again afterwards."""
    names = [column.name for column in CHARGE_COLUMNS] + ["unrounded", "extra"]
    facet = "CASE WHEN problem IS NULL THEN greatest(facet_hash, 1) ELSE 0 END"
    # A restatement changes amounts, not what the row is about: those do not tell rows apart.
    about = [column.name for column in CHARGE_COLUMNS if column.kind not in ("money", "quantity") and not column.facet]
    chosen = [str(int(load_id)), "row_number", facet, f"hash(facet_hash, {', '.join(about)})", *names]
    columns = ["load_id", "row_number", "facet_id", "row_hash", *names]
    hashed = f"(SELECT *, hash({', '.join(FACET_COLUMNS)}) AS facet_hash FROM ({statement.charges}))"
    return f"INSERT INTO charges ({', '.join(columns)})\nSELECT {', '.join(chosen)}\nFROM {hashed}"
