"""Lines that stand above the header: a title, when and for whom a report was made, `sep=;`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.opening import HEAD_BYTES, Source, text_of
from unitcost.readers.survey import delimiter_said, head_of, with_header
from unitcost.readers.table import all_readers
from unitcost.readers.tables import cells_of, delimiter_of

#: A header is looked for in so many lines.
_MOST_LINES = 100
#: So many known columns in one line are a header beyond doubt.
_SURE = 4
_SHOWN = 60


def past_preamble(source: Source, options: ReadOptions) -> Source:
    """Source that begins with its header, where lines stand above it and a reader knows the header beyond doubt.

    Rows keep their place in the file: the lines that are left out are counted with the rows.
    """
    if source.format not in ("csv", "text") or _known(head_of(source), options):
        return source
    for number, head in _heads(source, options):
        if _known(head, options) >= _SURE:
            found = replace(
                source, format="csv", delimiter=head.delimiter, skipped=number, flags=(_flag(source, number),)
            )
            return with_header(found)
    return source


def likely_header(source: Source, options: ReadOptions) -> int:
    """Line in which something like a header stands below the first, counted from 1; 0 when none does."""
    if source.format not in ("csv", "text"):
        return 0
    return next((number + 1 for number, head in _heads(source, options) if _known(head, options)), 0)


def _heads(source: Source, options: ReadOptions) -> Iterator[tuple[int, Head]]:
    """Lines below the first as if each were the header, with the number of lines above."""
    with text_of(source) as (text, _):
        lines = [text.readline(HEAD_BYTES) for _ in range(_MOST_LINES)]
    for number, line in enumerate(lines):
        if len(line) == HEAD_BYTES:
            return
        if not number or not line:
            continue
        delimiter = delimiter_said(options.delimiter, source.name) or delimiter_of(line)
        cells = tuple(cell.strip() for cell in cells_of(line, delimiter))
        if len(cells) > 1:
            yield number, Head(file=source.name, format="csv", columns=cells, delimiter=delimiter)


def _known(head: Head, options: ReadOptions) -> int:
    """How many columns the surest reader knows; those that the user maps count when all of them are there."""
    if options.columns:
        return max(_SURE, len(options.columns)) if head.has(*options.columns.values()) else 0
    readers = all_readers()
    chosen = [readers[options.reader]] if options.reader in readers else readers.values()
    return max((reader.sniff(head) for reader in chosen), default=0)


def _flag(source: Source, number: int) -> str:
    with text_of(source) as (text, _):
        first = next((line.strip() for line in islice(text, number) if line.strip()), "")
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…"
    above = (
        f"the line above it, '{shown}', is" if number == 1 else f"the {number} lines above it, from '{shown}' on, are"
    )
    return f"The header stands in line {number + 1}; {above} left out."
