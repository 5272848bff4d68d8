"""What the tests of native exports share: a table, its reading, and a row of it by what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import ModuleType

from interpret import Row, table

from unitcost.facts.source import ReadOptions
from unitcost.money import add, parse_amount
from unitcost.readers.head import Head
from unitcost.readers.reading import Reading
from unitcost.readers.table import READERS

SAMPLES = Path(__file__).parent / "samples"
NO_OPTIONS = ReadOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Rows of one file, read by one reader."""

    columns: tuple[str, ...]
    reading: Reading
    rows: list[Row]

    def amount(self, row: int, target: str) -> Decimal | None:
        return self.rows[row].amount(self.reading.mapping[target])

    def text(self, row: int, target: str) -> str | None:
        return self.rows[row].text(self.reading.mapping[target])

    def tags(self, row: int) -> dict[str, str]:
        return self.rows[row].tags(self.reading.mapping["tags"])

    def total(self, target: str) -> Decimal:
        found = (row.amount(self.reading.mapping[target]) for row in self.rows)
        return add(amount for amount in found if amount is not None)


def bill(reader: ModuleType, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> Bill:
    """Rows as the reader understands them, its repairs made."""
    reading = reader.describe(tuple(columns), cells, NO_OPTIONS)
    repairs = {name.casefold(): repair for name, repair in reading.repairs.items()}

    def mended(column: str, cell: str) -> str:
        repair = repairs.get(column.casefold())
        return repair(cell) if repair and cell and cell not in reading.nulls else cell

    made = [[mended(c, cell) for c, cell in zip(columns, row, strict=True)] for row in cells]
    rows = [Row(columns, row, reading.nulls) for row in made]
    return Bill(columns=tuple(columns), reading=reading, rows=rows)


def of_dicts(reader: ModuleType, *rows: Mapping[str, str]) -> Bill:
    """Bill whose rows are given by column name."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return bill(reader, columns, [[row.get(name, "") for name in columns] for row in rows])


def of_file(reader: ModuleType, path: Path) -> Bill:
    """Bill of a csv file, a blank line at its end left out."""
    columns, rows = table(path)
    return bill(reader, columns, [row for row in rows if any(row)])


def column_sum(path: Path, column: str) -> Decimal:
    """Exact sum of a column, worked out from the csv alone."""
    columns, rows = table(path)
    at = columns.index(column)
    return add(parse_amount(row[at]) for row in rows if row[at].strip())


def reader_of(columns: Sequence[str]) -> str:
    """Name of the reader that is surest of a csv with this header."""
    head = Head(file="bill.csv", format="csv", columns=tuple(columns), delimiter=",")
    return max(READERS, key=lambda name: READERS[name].sniff(head))
