"""The one statement that turns the rows of a scanned file into charges."""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.errors import BadBill
from unitcost.facts.charges import CHARGE_COLUMNS, FACET_COLUMNS, MONEY_COLUMNS
from unitcost.facts.source import Plan, Scan
from unitcost.ledger.compile import WIDE_PLACES, Check, Compiler, literal
from unitcost.units import LEDGER_PLACES

_NULLS = {
    "money": "DECIMAL(38,12)", "quantity": "DECIMAL(38,12)", "time": "TIMESTAMP",
    "tags": "MAP(VARCHAR, VARCHAR)", "text": "VARCHAR", "json": "VARCHAR",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL of one load.

    Parameters
    ----------
    reads
        Query over the file: `row_number`, the cells as text and as what they are read as.
    mapped
        Query over it with the charge columns, `extra` and `problem` (null when the row is fine).
    checks
        What `problem` is made of, to say later which cell it was.
    """

    reads: str
    mapped: str
    checks: tuple[Check, ...]


def scan_sql(scan: Scan, *, counted: bool = True) -> str:
    """Table expression over the rows of a file: `row_number` from 1 and the cells `c0`, `c1` ...

    Counting the rows of a csv while it is read keeps the engine to one core; without `counted` the number is 0
    there, and the load numbers its rows afterwards by the order in which they were stored.
    """
    path = literal(str(scan.path))
    if scan.format == "parquet":
        cells = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" AS c{i}' for i, name in enumerate(scan.columns))
        return f"(SELECT file_row_number + 1 AS row_number, {cells} FROM read_parquet({path}, file_row_number=true))"
    numbered = {"row_number": "BIGINT"} if scan.numbered else {}
    kinds = numbered | {f"c{i}": "VARCHAR" for i in range(len(scan.columns))}
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    table = (
        f"read_csv({path}, header=true, auto_detect=false, delim={literal(scan.delimiter)}, quote='\"', escape='\"', "
        f"strict_mode=true, null_padding=false, max_line_size=67108864, columns={{{columns}}})"
    )
    if scan.numbered:
        return table
    number = "row_number() OVER ()" if counted else "CAST(0 AS BIGINT)"
    return f"(SELECT {number} AS row_number, * FROM {table})"


def compile_charges(plan: Plan, types: list[str], *, counted: bool = True) -> Statement:
    """Statement that maps the rows of a plan to charges.

    Raises
    ------
    BadBill
        When the mapping has none of the cost columns.
    """
    compiler = Compiler(plan=plan, types=types)
    targets = _targets(plan, compiler)
    residues = [_residue(plan, compiler, name) for name in MONEY_COLUMNS]
    if not any(name in plan.mapping for name in MONEY_COLUMNS):
        raise BadBill("the file has no cost column", where=str(plan.scan.path), mend="map one in [[load]] columns")
    extra = compiler.extra()
    checks = tuple(compiler.checks.values())
    bad = " OR ".join(f"coalesce({check.bad}, false)" for check in checks) or "false"
    reads = layers(compiler, plan, counted=counted)
    selected = ",\n    ".join([*targets, *residues, f"{extra} AS extra", f"({bad}) AS bad_cell"])
    mapped = (
        f"SELECT *, CASE WHEN bad_cell THEN 'cell' WHEN {plan.cost_column} IS NULL THEN 'cost' "
        "WHEN billing_currency IS NULL THEN 'currency' "
        "WHEN charge_period_start IS NULL OR charge_period_end IS NULL THEN 'period' "
        "WHEN charge_period_end < charge_period_start THEN 'order' END AS problem\n"
        f"FROM (SELECT row_number,\n    {selected}\nFROM ({reads}))"
    )
    return Statement(reads=reads, mapped=mapped, checks=checks)


def layers(compiler: Compiler, plan: Plan, *, keep_cells: bool = False, counted: bool = True) -> str:
    """Query with the cells and reads that compiled nodes stand on; `keep_cells` keeps all raw cells beside them."""
    cells = _layer(
        "*" if keep_cells else "row_number",
        _without_itself(compiler.cells, keep_cells),
        scan_sql(plan.scan, counted=counted),
    )
    return _layer("*", compiler.reads, f"({cells})")


def _without_itself(cells: dict[str, str], keep_cells: bool) -> dict[str, str]:
    return {name: sql for name, sql in cells.items() if not (keep_cells and name == sql)}


def _layer(kept: str, named: dict[str, str], source: str) -> str:
    columns = ", ".join(f"{sql} AS {name}" for name, sql in named.items())
    return f"SELECT {kept}{', ' if columns else ''}{columns} FROM {source}"


def insert_charges(statement: Statement, load_id: int) -> str:
    """INSERT of all rows of the file; rows with a problem get facet 0 and are taken out again afterwards."""
    names = [column.name for column in CHARGE_COLUMNS]
    hashed = ", ".join([*names, *(f"{name}_residue" for name in MONEY_COLUMNS)])
    columns = ["load_id", "row_number", "facet_id", "row_hash", *names]
    columns += [f"{name}_residue" for name in MONEY_COLUMNS] + ["extra"]
    facet = f"CASE WHEN problem IS NULL THEN greatest(hash({', '.join(FACET_COLUMNS)}), 1) ELSE 0 END"
    chosen = [str(int(load_id)), "row_number", facet, f"hash({hashed}, extra)", *columns[4:]]
    return f"INSERT INTO charges ({', '.join(columns)})\nSELECT {', '.join(chosen)}\nFROM ({statement.mapped})"


def _targets(plan: Plan, compiler: Compiler) -> list[str]:
    lines = []
    for column in CHARGE_COLUMNS:
        node = plan.mapping.get(column.name)
        if node is None:
            value = f"CAST(NULL AS {_NULLS[column.kind]})"
        elif column.kind in ("money", "quantity"):
            value = compiler.decimal(node)
            if column.kind == "money":
                value = _rounded(compiler, column.name, plan, value)
        elif column.kind == "time":
            value = compiler.moment(node)
        elif column.kind == "tags":
            value = compiler.tags(node)
        else:
            value = compiler.text(node)
        if column.name == "billing_currency" and node is not None:
            value = f"upper(trim({value}))"
        lines.append(f"{value} AS {column.name}")
    return lines


def _long(compiler: Compiler, plan: Plan, name: str) -> str:
    positions = sorted(compiler.positions(plan.mapping[name]))
    tests = [compiler.is_long(position) for position in positions]
    return " OR ".join(test for test in tests if test != "false") or "false"


def _rounded(compiler: Compiler, name: str, plan: Plan, value: str) -> str:
    """Amount made of several cells is added up in full width before it is rounded once."""
    if len(compiler.positions(plan.mapping[name])) < 2 or _long(compiler, plan, name) == "false":
        return value
    wide = compiler.decimal(plan.mapping[name], WIDE_PLACES)
    return f"CASE WHEN {_long(compiler, plan, name)} THEN CAST({wide} AS DECIMAL(38,{LEDGER_PLACES})) ELSE {value} END"


def _residue(plan: Plan, compiler: Compiler, name: str) -> str:
    kind = f"DECIMAL(38,{WIDE_PLACES})"
    if name not in plan.mapping or _long(compiler, plan, name) == "false":
        return f"CAST(NULL AS {kind}) AS {name}_residue"
    wide = compiler.decimal(plan.mapping[name], WIDE_PLACES)
    kept = f"CAST(CAST({wide} AS DECIMAL(38,{LEDGER_PLACES})) AS {kind})"
    rest = f"CAST({wide} - {kept} AS {kind})"
    return f"CASE WHEN {_long(compiler, plan, name)} THEN {rest} END AS {name}_residue"
