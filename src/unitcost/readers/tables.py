"""Taking files apart into rows of text, one at a time, with a bound on each row.

A row that cannot be taken apart is a `Broken`; the rows after it are read on.
"""

from __future__ import annotations

import csv
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, TextIO

from unitcost.errors import BadFile
from unitcost.readers import json_rows, parquet_rows
from unitcost.readers.opening import Source, text_of
from unitcost.units import KIB, MIB

#: Longest line and longest row that is taken apart. [characters]
ROW_LIMIT = 16 * MIB
#: Most lines that one row may take up.
LINES_LIMIT = 100_000
#: How much of a broken row is kept. [characters]
RAW_LIMIT = 64 * KIB
_DELIMITERS = ",;\t|"
_TELL_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that cannot be taken apart: its text, cut when very long, and why."""

    raw: str
    reason: str


Row = list[str] | Broken


def rows(source: Source, progress: Callable[[int, int], None] | None = None, *, header: bool = True) -> Iterator[Row]:
    """Data rows of a file in order, blank lines left out, and in a csv the header unless it has none.

    Rows of JSON and parquet have exactly one cell per column of `source.columns`; those of a csv have as many
    as they are written with.

    Raises
    ------
    BadFile
        When the file is damaged or a byte of it cannot be decoded.
    """
    if source.format == "csv":
        return _csv_data(source, progress, header)
    if source.format == "parquet":
        return parquet_rows.rows(source)
    return _json_data(source, progress)


def sample(source: Source, count: int) -> list[Row]:
    """First data rows of a file."""
    if source.format == "parquet":
        return list(parquet_rows.rows(source, count))
    return list(islice(rows(source), count))


def header(source: Source) -> list[str]:
    """First row of a csv that is not blank.

    Raises
    ------
    BadFile
        When there is none, or it is no header.
    """
    with text_of(source) as (text, _):
        found = next(_csv_rows(_reader_of(text), source.delimiter), None)
    if isinstance(found, Broken) or not found:
        reason = found.reason if isinstance(found, Broken) else "the file has no row"
        raise BadFile(
            f"the header cannot be read: {reason}", where=f"{source.name}:1", mend="the first row must name the columns"
        )
    return found


def delimiter_of(first_line: str) -> str:
    """Sign that cuts the first line into most cells; a comma when none cuts it."""
    counts = {sign: len(cells_of(first_line, sign)) for sign in _DELIMITERS}
    return max(_DELIMITERS, key=lambda sign: counts[sign])


def cells_of(line: str, delimiter: str) -> list[str]:
    """Cells of one line; none when it cannot be cut."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _csv_data(source: Source, progress: Callable[[int, int], None] | None, header: bool) -> Iterator[Row]:
    with text_of(source) as (text, raw):
        found = _csv_rows(_reader_of(text), source.delimiter)
        if header:
            next(found, None)
        tell = _teller(source, raw, progress)
        for count, row in enumerate(found, 1):
            if not count % _TELL_EVERY:
                tell()
            yield row


def _teller(source: Source, raw: IO[bytes], progress: Callable[[int, int], None] | None) -> Callable[[], None]:
    return lambda: progress(raw.tell(), source.size_bytes) if progress else None


def _reader_of(text: TextIO) -> Callable[[], str]:
    readline = text.readline

    def next_line() -> str:
        line = readline(ROW_LIMIT)
        if not line:
            raise StopIteration
        if len(line) == ROW_LIMIT and line[-1] not in "\r\n":
            while (rest := readline(ROW_LIMIT)) and rest[-1] not in "\r\n":
                pass
            return _Cut(line[:RAW_LIMIT])
        return line

    return next_line


class _Cut(str):
    """The start of a line that is too long."""

    __slots__ = ()


class _BadLineError(Exception):
    """A line, or the row it belongs to, cannot be taken apart."""


class _Lines:
    """Lines of a csv, with those of the unfinished row kept so that reading can start again after a bad one."""

    def __init__(self, next_line: Callable[[], str]) -> None:
        self.next_line = next_line
        self.taken: list[str] = []
        self.size = 0
        self.again: deque[str] = deque()

    def start_row(self) -> None:
        """Forget the lines of the row that is finished."""
        self.taken = []
        self.size = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self.again.popleft() if self.again else self.next_line()
        self.taken.append(line)
        self.size += len(line)
        if "\0" in line:
            raise _BadLineError("the row holds a zero byte")
        if type(line) is _Cut or self.size > ROW_LIMIT:
            raise _BadLineError(f"the row is longer than {ROW_LIMIT // MIB} MiB")
        if len(self.taken) > LINES_LIMIT:
            raise _BadLineError("a quote is opened and never closed")
        return line

    def recover(self, reason: str) -> Broken:
        """Give up the first line of the row; the others are read again."""
        self.again.extendleft(reversed(self.taken[1:]))
        first = self.taken[0].rstrip("\r\n")
        return Broken(first[:RAW_LIMIT], reason)


def _csv_rows(next_line: Callable[[], str], delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(ROW_LIMIT, sys.maxsize))
    lines = _Lines(next_line)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_row()
        try:
            row = next(reader)
        except StopIteration:
            return
        except _BadLineError as error:
            yield lines.recover(str(error))
        except csv.Error as error:
            yield lines.recover(_reason(error))
        else:
            if len(row) > 1 or (row and row[0].strip()):
                yield row
            continue
        reader = csv.reader(lines, delimiter=delimiter, strict=True)


def _reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quote is opened and never closed"
    if "expected after" in text:
        return "text follows a closing quote"
    if "field larger" in text:
        return f"a cell is larger than {ROW_LIMIT // MIB} MiB"
    return f"the row cannot be taken apart ({text})"


def _json_data(source: Source, progress: Callable[[int, int], None] | None) -> Iterator[Row]:
    if source.held:
        yield from (_json_row(found, source.columns) for found in source.held)
        return
    with text_of(source) as (text, raw):
        tell = _teller(source, raw, progress)
        for count, found in enumerate(json_rows.objects(text, lines=source.format == "jsonl"), 1):
            if not count % _TELL_EVERY:
                tell()
            yield _json_row(found, source.columns)


def _json_row(found: dict[str, str] | json_rows.BrokenObject, columns: Sequence[str]) -> Row:
    if isinstance(found, dict):
        return [found.get(column, "") for column in columns]
    return Broken(found.raw[:RAW_LIMIT], found.reason)
