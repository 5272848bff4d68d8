"""Cells of a scanned file as columns of a statement: their text, and the reads that are made of them once.

Cells are columns `c0`, `c1` ... by position, so no header, however hostile, becomes part of a statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from unitcost.facts.source import Plan


def literal(text: str) -> str:
    """Text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def is_nested(kind: str) -> bool:
    """Whether a type of the engine is a map, a struct or a list."""
    return kind.startswith(("MAP", "STRUCT")) or kind.endswith("]")


@dataclass(frozen=True, slots=True)
class Check:
    """A cell that must be readable: its source column, its text, when it is bad, and what to say then."""

    column: str
    cell: str
    bad: str
    reason: str


@dataclass(slots=True)
class Cells:
    """What the nodes of one plan stand on.

    Parameters
    ----------
    plan
        Whose mapping is compiled.
    types
        Type of each cell column in the engine, `VARCHAR` throughout for a csv.

    Notes
    -----
    A statement has two layers below its charges, so that each cell is taken up once and read once: `cells` (`x3`:
    text of the fourth cell, null when it is empty) and, over it, `reads` (`n3`: the cell as a decimal, `t3`: as a
    moment ...). They fill up while nodes are compiled.
    """

    plan: Plan
    types: Sequence[str]
    checks: dict[str, Check] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    cells: dict[str, str] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)
    #: Cells of tags that may turn out to be unreadable: position -> name of the read that is null then.
    tag_reads: dict[int, str] = field(default_factory=dict)

    def position(self, name: str) -> int | None:
        """Position of a source column: the exact name first, then letter case ignored."""
        columns = self.plan.scan.columns
        if name in columns:
            return columns.index(name)
        folded = name.casefold()
        return next((i for i, column in enumerate(columns) if column.casefold() == folded), None)

    def column(self, position: int) -> str:
        """Name of a source column, as the header writes it."""
        return self.plan.scan.columns[position]

    def cell(self, position: int) -> str:
        """Text of a cell; null when it is empty or says so."""
        name = f"x{position}"
        if name not in self.cells:
            self.cells[name] = self._text(position)
        self.used.add(position)
        return name

    def native(self, position: int) -> str:
        """Cell in the type that the file itself has."""
        name = f"c{position}"
        self.cells[name] = name
        self.used.add(position)
        return name

    def read(self, name: str, sql: str) -> str:
        """Name of a value that is worked out once per row."""
        self.reads.setdefault(name, sql)
        return name

    def _text(self, position: int) -> str:
        kind, name = self.types[position], f"c{position}"
        if self.plan.scan.format == "csv":
            return name  # the scan itself knows the spellings of null
        if kind != "VARCHAR":
            return f"CAST(to_json({name}) AS VARCHAR)" if is_nested(kind) else f"CAST({name} AS VARCHAR)"
        for spelling in ("", *self.plan.nulls):
            name = f"nullif({name}, {literal(spelling)})"
        return name
