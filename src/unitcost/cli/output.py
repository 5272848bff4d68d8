"""Printing for people and machines: tables that fit the terminal, JSON, a progress bar on standard error.

Numbers are never cut, nor are remarks: those that find no room on the line of their row stand below it. Where a table is too
wide its names are shortened in the middle, longest first.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from unitcost.facts.paths import printable
from unitcost.report.model import Report, Section, Table
from unitcost.report.printed import heading, printed, shown

#: A shortened name keeps at least this many characters.
SHORTEST_NAME = 12
#: Between two columns. [characters]
GAP = 2
#: Cells put to the right: numbers, with a sign, groups of thousands, a unit or currency, or a mark for "none".
_NUMBER = re.compile(r"[-+−(]?\s?(?:[A-Z]{3}\s)?\d[\d,_ ]*(?:\.\d+)?(?:\s?(?:%|[A-Za-z/]{1,12}))?\)?|[—–-]|")
_ELLIPSIS = "…"


def print_json(data: Any) -> None:
    """Print data as JSON on standard output, keys in the order given."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def say(text: str, *, err: bool = False) -> None:
    """Print a line as it is; what a file wrote to steer a terminal is spelt out."""
    click.echo("\n".join(map(printable, text.split("\n"))), err=err)


def terminal_width() -> int:
    """Width of the terminal, 80 where there is none. [characters]."""
    return Console().width


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    totals: int = 0,
    numeric: Sequence[bool] | None = None,
    width: int = 0,
) -> None:
    """Print a table on standard output, numbers to the right.

    Parameters
    ----------
    headers
        Names of the columns; a long one is broken at its spaces.
    rows
        Cells as they are to be shown.
    title
        Line above the table.
    totals
        How many of the last rows are sums: they are set apart by a rule.
    numeric
        Which columns hold numbers; None = those whose cells look like numbers.
    width
        Width of the terminal [characters]; 0 = ask it (80 where there is none).
    """
    console = Console(width=width or None, highlight=False)
    if numeric is None:
        numeric = [is_numeric([row[place] for row in rows]) for place in range(len(headers))]
    if title:
        _say(console, title, "bold")
    bands = bands_of(headers, rows, numeric, console.width)
    rule = _rule_sign(console) * max((band.width for band in bands), default=0)
    if any(headers):
        for band in bands:
            for line in band.header(headers):
                _say(console, line, "bold")
        _say(console, rule, "dim")
    for number, row in enumerate(rows):
        if totals and number == len(rows) - totals:
            _say(console, rule, "dim")
        for line in _lines_of(bands, row):
            _say(console, line, "bold" if number >= len(rows) - totals else "")


def _lines_of(bands: Sequence[Band], row: Sequence[str]) -> Iterator[str]:
    """Lines of a row: one of the first band, and those of the others that hold something."""
    for band in bands:
        yield from (line for line in band.lines(row) if line or band is bands[0])


def print_report(report: Report, *, keys: Collection[str] = (), width: int = 0) -> None:
    """Print a report on standard output, its messages on standard error.

    Parameters
    ----------
    report
        What to print.
    keys
        Keys of the sections to print; empty = all.
    width
        Width of the terminal [characters]; 0 = ask it.
    """
    console = Console(width=width or None, highlight=False)
    _paragraph(console, heading(report), "bold")
    for message in report.messages:
        say(f"! {message}", err=True)
    if report.tiles:
        tiles = [[tile.name, shown(tile.figure, tile.kind), tile.beside] for tile in report.tiles]
        print_table(["", "", ""], tiles, numeric=(False, True, False), width=width)
    for section in report.sections:
        if not keys or section.key in keys:
            print_section(section, width=width)


def print_section(section: Section, *, width: int = 0) -> None:
    """Print one section: its tables, or what its charts say where it has none, and its notes."""
    console = Console(width=width or None, highlight=False)
    _say(console, "", "")
    _say(console, section.title.upper(), "bold")
    _paragraph(console, section.question, "dim")
    for table in section.tables:
        _print_model_table(table, width)
    for chart in section.charts if not section.tables else ():
        _paragraph(console, chart.text)
    for note in section.notes:
        _paragraph(console, f"- {note}")


def print_paragraph(text: str) -> None:
    """Print words on standard output, broken at spaces to fit the terminal."""
    _paragraph(Console(highlight=False), text)


def _print_model_table(table: Table, width: int) -> None:
    headers, rows, has_total = printed(table)
    numeric = [
        column.kind != "text" or is_numeric([row[place] for row in rows]) for place, column in enumerate(table.columns)
    ]
    spare = {place for place, column in enumerate(table.columns) if column.spare}
    if spare and whole_width(headers, rows, numeric) > (width or terminal_width()):
        kept = [place for place in range(len(headers)) if place not in spare]
        headers, numeric = [headers[place] for place in kept], [numeric[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    click.echo("")
    print_table(headers, rows, title=table.caption, totals=int(has_total), numeric=numeric, width=width)


def _rule_sign(console: Console) -> str:
    """Line to draw with, as far as the encoding of the terminal has one."""
    try:
        "─".encode(console.encoding)
    except UnicodeEncodeError:
        return "-"
    return "─"


def _paragraph(console: Console, text: str, style: str = "") -> None:
    """Print words, broken at spaces, further lines indented under the first."""
    indent = "  " if text.startswith("- ") else ""
    for line in wrap(
        text, max(console.width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ):
        _say(console, line, style)


def _say(console: Console, line: str, style: str) -> None:
    """Print one line as it is: never broken, never cut."""
    console.print(Text(printable(line), style=style), soft_wrap=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Columns of a table that share a line. A table that fits has one band; a wide one stacks several.

    `widths` and `indent` are in characters. A band that `wraps` has one column, whose text is broken at spaces.
    """

    places: tuple[int, ...]
    widths: tuple[int, ...]
    numeric: tuple[bool, ...]
    indent: int = 0
    wraps: bool = False

    @property
    def width(self) -> int:
        """Width of the band [characters]."""
        return self.indent + sum(self.widths) + GAP * (len(self.widths) - 1)

    def lines(self, row: Sequence[str]) -> list[str]:
        """Lines of the band: one, or as many as its text needs."""
        if not self.wraps:
            return [self.line(row)]
        broken = wrap(row[self.places[0]], max(self.widths[0], 1), break_long_words=False, break_on_hyphens=False)
        return [" " * self.indent + line for line in broken]

    def line(self, row: Sequence[str]) -> str:
        """Cells of the band: names to the left, shortened where they must, numbers to the right, whole."""
        parts = []
        for place, width, numeric in zip(self.places, self.widths, self.numeric, strict=True):
            cell = row[place] if numeric else shortened(row[place], width)
            space = " " * (width - cell_len(cell))
            parts.append(space + cell if numeric else cell + space)
        found = (" " * GAP).join(parts).rstrip()
        return " " * self.indent + found if found else ""

    def header(self, headers: Sequence[str]) -> list[str]:
        """Names of the columns, broken at spaces into as many lines as the narrowest column needs."""
        widths = dict(zip(self.places, self.widths, strict=True))
        broken = {place: wrap(headers[place], max(width, 1)) for place, width in widths.items()}
        height = max(map(len, broken.values()), default=0)
        lines = [dict.fromkeys(self.places, "") for _ in range(height)]
        for place, words in broken.items():
            for number, word in enumerate(words):
                lines[height - len(words) + number][place] = word
        return [self.line([line.get(place, "") for place in range(len(headers))]) for line in lines]


def whole_width(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> int:
    """Width of a table in which no name is shortened. [characters]."""
    return _band(headers, rows, numeric, tuple(range(len(headers))), sys.maxsize).width


def bands_of(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> list[Band]:
    """Bands that fit a width [characters].

    Names give way first, the widest first. Where that is not enough a last column without a name, a remark, gets lines
    of its own, and then the numbers do. Only numbers that alone are too wide make a table wider than asked.
    """
    places = range(len(headers))
    remark = tuple(p for p in places if p == len(headers) - 1 and p > 0 and not headers[p] and not numeric[p])
    whole = _band(headers, rows, numeric, tuple(places), width, whole=remark)
    if whole.width <= width:
        return [whole]
    rest = tuple(p for p in places if p not in remark)
    below = [Band(places=remark, widths=(max(width - 2, 1),), numeric=(False,), indent=2, wraps=True)] if remark else []
    one_line = _band(headers, rows, numeric, rest, width)
    if one_line.width <= width:
        return [one_line, *below]
    names = tuple(p for p in rest if not numeric[p])
    numbers = tuple(p for p in rest if numeric[p])
    return [
        *([_band(headers, rows, numeric, names, width)] if names else []),
        _band(headers, rows, numeric, numbers, width, indent=2 if names else 0),
        *below,
    ]


def _band(
    headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], places: tuple[int, ...],
    width: int, *, indent: int = 0, whole: tuple[int, ...] = (),
) -> Band:  # fmt: skip
    """Columns on one line; names give way but for those that are to stay `whole`."""
    widths = {
        place: max(
            [*(cell_len(word) for word in headers[place].split()), *(cell_len(row[place]) for row in rows)], default=0
        )
        for place in places
    }
    names = [place for place in places if not numeric[place] and place not in whole]
    room = width - indent - GAP * (len(places) - 1)
    while names and sum(widths.values()) > room:
        longest = max(names, key=lambda place: widths[place])
        if widths[longest] <= SHORTEST_NAME:
            break
        widths[longest] -= 1
    return Band(
        places=places, widths=tuple(widths[place] for place in places), indent=indent,
        numeric=tuple(numeric[place] for place in places),
    )  # fmt: skip


def is_numeric(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers: every cell is one or is empty, and one is not empty."""
    return any(cells) and all(_NUMBER.fullmatch(cell.strip()) for cell in cells)


def shortened(text: str, width: int) -> str:
    """Text cut in its middle to a width [characters]: both ends of a resource's name tell it apart."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    head = width - 1 - tail
    return text[:head] + _ELLIPSIS + (text[-tail:] if tail else "")


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """Progress bar on standard error; yields None where that is no terminal, so nothing is told and nothing drawn."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with shown:
        tasks: dict[str, Any] = {}

        def tell(file: str, done: int, total: int) -> None:
            if file not in tasks:
                for task in tasks.values():
                    shown.update(task, visible=False)
                tasks[file] = shown.add_task(shortened(file, 40), total=max(total, 1))
            shown.update(tasks[file], completed=done, total=max(total, 1))

        yield tell
