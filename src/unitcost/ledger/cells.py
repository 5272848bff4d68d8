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
    A statement has layers below its charges, so that each cell is taken up once and read once. They fill up while
    nodes are compiled, each stands on those before it:

    - `cells`: `x3`, text of the fourth cell, null when it is empty;
    - `texts`: `m3`, the cell as a number is written; `j1`, the amounts of a JSON list;
    - `odd`: all numbers of the row in plain spelling, in those few rows in which one is spelt oddly or has more places
      than the ledger keeps. To spell numbers anew takes the engine long to plan, so it is said once for the row;
    - `reads`: `n3`, the cell as a decimal, `t3`, as a moment ...
    """

    plan: Plan
    types: Sequence[str]
    checks: dict[str, Check] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    cells: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)
    #: Names of texts that are a number, or a list of numbers, in the order in which `odd` has them.
    numbers: list[str] = field(default_factory=list)
    amounts: list[str] = field(default_factory=list)
    #: Cells of tags that may turn out to be unreadable: position -> name of the read that is null then.
    tag_reads: dict[int, str] = field(default_factory=dict)
    #: Position of a cell that is JSON -> pointers to those of its members that are looked at.
    pointers: dict[int, list[str]] = field(default_factory=dict)

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

    def member(self, position: int, pointer: str) -> str:
        """Text of a member of a JSON cell, which is taken apart once per row; a cell that is no JSON is bad."""
        name, cell, known = f"d{position}", self.cell(position), self.pointers.setdefault(position, [])
        if pointer not in known:
            known.append(pointer)
        listed = ", ".join(map(literal, known))
        self.cells[name] = f"TRY(json_extract_string({self._text(position)}, [{listed}]))"
        bad = f"({name} IS NULL AND trim({cell}) <> '')"
        self.checks[name] = Check(self.column(position), cell, bad, "is not JSON")
        return f"{name}[{known.index(pointer) + 1}]"

    def text(self, name: str, sql: str) -> str:
        """Name of a text that is made of cells once per row."""
        self.texts.setdefault(name, sql)
        return name

    def plain(self, number: str) -> str:
        """Named number in a spelling that the engine casts exactly; null when it is none, or is very long."""
        return f"CASE WHEN odd IS NULL THEN {number} ELSE {self.odd_plain(number)} END"

    def odd_plain(self, number: str) -> str:
        """The same, null in all rows but the odd ones."""
        if number not in self.numbers:
            self.numbers.append(number)
        return f"odd[1][{self.numbers.index(number) + 1}]"

    def plain_amounts(self, listed: str) -> str:
        """Named list of numbers in spellings that the engine casts exactly."""
        return f"CASE WHEN odd IS NULL THEN {listed} ELSE {self.odd_amounts(listed)} END"

    def odd_amounts(self, listed: str) -> str:
        """The same, null in all rows but the odd ones."""
        if listed not in self.amounts:
            self.amounts.append(listed)
        return f"odd[{self.amounts.index(listed) + 2}]"

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
