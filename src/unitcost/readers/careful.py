"""The careful path: each row checked, mended and written anew, so that the engine meets only sound rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unitcost.facts.source import Reject
from unitcost.readers.evidence import Evidence
from unitcost.readers.opening import Source
from unitcost.readers.reading import Reading
from unitcost.readers.tables import RAW_LIMIT, Broken, Row

#: A file whose rows all lack the same trailing cells is believed when they lack no more than this part of the header.
_MOST_MISSING_SHARE = 4
_ROW_NUMBER = "row_number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """How wide the rows of a file are.

    `taken` is the width that is accepted; cells that are missing to `header` are read as empty, cells past it
    are dropped.
    """

    header: int
    taken: int

    @property
    def flag(self) -> str:
        """Sentence for the load record, empty when rows are as wide as the header."""
        if self.taken < self.header:
            missing = self.header - self.taken
            return f"Each row lacks the last {_cells(missing)} of the header; read as no value."
        if self.taken > self.header:
            return f"Each row has {_cells(self.taken - self.header)} past the header, all empty; left out."
        return ""


def _cells(count: int) -> str:
    return "cell" if count == 1 else f"{count} cells"


def widths_of(evidence: Evidence, header: int) -> Widths:
    """Width that rows are accepted with: the header's, or another one when all rows agree on it."""
    if len(evidence.widths) == 1:
        (width, count), *_ = evidence.widths.items()
        missing = header - width
        if missing > 0 and width > 1 and count > 1 and missing <= max(1, header // _MOST_MISSING_SHARE):
            return Widths(header=header, taken=width)
        if missing < 0 and not evidence.filled_beyond:
            return Widths(header=header, taken=width)
    return Widths(header=header, taken=header)


@dataclass(slots=True)
class Copyist:
    """Writes the cleaned copy of one file.

    Parameters
    ----------
    rejects
        Rows that are not in the copy.
    """

    source: Source
    reading: Reading
    widths: Widths
    rejects: list[Reject] = field(default_factory=list)

    def write(self, rows: Iterator[Row], target: Path) -> None:
        """Write a csv of row number and cells, then the derived cells."""
        names = [_ROW_NUMBER, *self.source.columns, *self.reading.derived]
        with target.open("w", encoding="utf-8", newline="") as stream:
            # With "\n" alone as line end a bare "\r" in a cell would not be quoted, and the engine would cut there.
            writer = csv.writer(stream, lineterminator="\r\n")
            writer.writerow(names)
            writer.writerows(self._mended(self._sound(rows)))

    def _sound(self, rows: Iterator[Row]) -> Iterator[list[object]]:
        header, taken, width = list(self.source.columns), self.widths.taken, self.widths.header
        padding = [""] * max(0, width - taken)
        number = self.source.skipped
        for row in rows:
            number += 1
            if type(row) is list and len(row) == taken:
                if row[0].strip() == header[0] and [cell.strip() for cell in row[:width]] == header:
                    self._reject(number, "repeats the header", _joined(row, self.source.delimiter))
                    continue
                cells: list[object] = [number]
                cells += row
                if padding:
                    cells += padding
                elif taken > width:
                    del cells[width + 1 :]
                yield cells
            elif isinstance(row, Broken):
                self._reject(number, row.reason, row.raw)
            else:
                reason = f"has {len(row)} cells where the header has {width}"
                self._reject(number, reason, _joined(row, self.source.delimiter))

    def _mended(self, rows: Iterator[list[object]]) -> Iterator[list[object]]:
        if not self.reading.repairs and self.reading.derive is None:
            return rows
        return self._changed(rows)

    def _changed(self, rows: Iterator[list[object]]) -> Iterator[list[object]]:
        columns, nulls = self.source.columns, frozenset(("", *self.reading.nulls))
        repairs = self._repairs(columns)
        derive, derived = self.reading.derive, self.reading.derived
        for row in rows:
            column = ""
            try:
                for position, repair in repairs:
                    column = columns[position - 1]
                    cell = str(row[position])
                    if cell not in nulls:
                        row[position] = repair(cell)
                column = ""
                if derive is not None:
                    cells = {c: "" if v in nulls else str(v) for c, v in zip(columns, row[1:], strict=True)}
                    made = derive(cells)
                    row += [made.get(name, "") for name in derived]
            except ValueError as error:
                value = str(row[columns.index(column) + 1]) if column else ""
                self._reject(int(str(row[0])), str(error), _joined(row[1:], self.source.delimiter), column, value)
                continue
            yield row

    def _repairs(self, columns: Sequence[str]) -> list[tuple[int, Callable[[str], str]]]:
        by_name = {name.casefold(): repair for name, repair in self.reading.repairs.items()}
        return [(i, by_name[c.casefold()]) for i, c in enumerate(columns, 1) if c.casefold() in by_name]

    def _reject(self, number: int, reason: str, raw: str, column: str = "", value: str = "") -> None:
        self.rejects.append(Reject(row=number, column=column, value=value, reason=reason, raw=raw[:RAW_LIMIT]))


def _joined(row: Sequence[object], delimiter: str) -> str:
    """Row as csv text, the way it stood in the file, up to quotes that were not needed."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter or ",", lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n")
