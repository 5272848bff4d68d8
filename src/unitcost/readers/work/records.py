"""Rows of a table, one after the other, into the sink; what cannot be read is set aside with its cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from unitcost.facts.work import WorkTable
from unitcost.readers import tables
from unitcost.readers.opening import Source
from unitcost.readers.tables import Broken
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.reading import Progress
from unitcost.readers.work.sink import Sink

#: What a record gives: rows of the ledger's tables.
Rows = Sequence[tuple[WorkTable, Mapping[str, Any]]]


def fill_rows(
    source: Source,
    sink: Sink,
    progress: Progress | None,
    make: Callable[[dict[str, str]], Rows],
    name_of: Callable[[str], str] = str.casefold,
    *,
    header: bool = True,
) -> None:
    """Put each row of a table into the sink as `make` understands it, or set it aside.

    Parameters
    ----------
    make
        Given the cells of a row by name, trimmed, empty ones left out. It raises `ValueError`, best a `BadCellError`,
        when the row cannot be read.
    name_of
        Name of a column as `make` looks for it; where two columns have the same, the first counts.
    header
        Whether the first row of a csv names the columns.
    """
    names = [name_of(column) for column in source.columns]
    stated, first = list(source.columns), "header" if header else "first row"
    for row in tables.rows(source, progress, header=header):
        number = sink.read()
        if isinstance(row, Broken):
            sink.reject(number, row.reason, row.raw)
        elif len(row) != len(names):
            sink.reject(number, f"has {len(row)} cells where the {first} has {len(names)}", as_text(row, source))
        elif [cell.strip() for cell in row] == stated:
            sink.reject(number, "repeats the header", as_text(row, source))
        else:
            cells = {
                name: text for name, cell in zip(reversed(names), reversed(row), strict=True) if (text := cell.strip())
            }
            add_record(sink, number, partial(make, cells), partial(as_text, row, source))


def add_record(sink: Sink, number: int, make: Callable[[], Rows], raw: Callable[[], str]) -> None:
    """Put what a record gives into the sink, or set the record aside."""
    try:
        sink.add_all(number, make())
    except BadCellError as error:
        sink.reject(number, error.reason, raw(), column=error.column, value=error.value)
    except ValueError as error:
        sink.reject(number, str(error), raw())


def as_text(row: Sequence[str], source: Source) -> str:
    """Row as csv text, the way it stood in the file, up to quotes that were not needed."""
    text = io.StringIO()
    csv.writer(text, delimiter=source.delimiter or ",", lineterminator="").writerow(row)
    return text.getvalue()
