"""What a format file says about one file: what its columns mean, and what is still open.

A reader is a module with the names of `Reader`. It opens no file: it is given the header and the first rows
and answers with a `Reading`. All that needs the whole file (the order of dates, currency signs, empty columns)
is settled afterwards by the core, in the same way for every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard

from unitcost.facts.mapping import Mapping
from unitcost.facts.source import Dataset, ReadOptions
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import Source
from unitcost.readers.tables import Row

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A format, recognised.

    Source columns are named as the header writes them. `mapping` may name them in any letter case.

    Parameters
    ----------
    dialect
        What was recognised: `FOCUS 1.2`, `CUR legacy`, `EA amortised` ...
    mapping
        Target column -> meaning. The core completes it:

        - no `billing_currency`: the `currency` that the user gives, or a question;
        - no charge period: the billing period; no billing period: the month in which the charge starts;
          neither: the `period` that the user gives, or a question.
    conventions
        What is taken for granted about the source, one plain sentence each.
    flags
        What this file made necessary, one plain sentence each; the core adds its own.
    dataset
        What the rows are.
    cost_column
        Target column that each row must have; without it the row is rejected.
    nulls
        Spellings of "no value" besides the empty cell; letter case matters.
    date_columns
        Source columns that hold dates. Only these are looked at to find out how dates are written.
    period_columns
        Source columns of the start and end of the billing period; they help to tell `5/1/25` from `1/5/25`.
    currency_columns
        Source columns that hold the billing currency. When none of them has a value in the whole file,
        the user's `currency` is taken as if the format had no such column. Empty: no such check.
    money_columns
        Source columns that hold amounts; the core looks for currency signs in them.
    zone_needed
        Times are local in this format: where a cell of `date_columns` names no zone, the user is asked
        for `timezone`. False: such cells are UTC, or in the `timezone` that the user gives.
    repairs
        Source column -> function that mends the text of one cell. It runs on cells that are not empty
        and are no spelling of null, before `derive`.
    derive
        Function of one row (source column -> text, "" where empty) that gives the cells of `derived`.
        It may raise `ValueError`: the row is then rejected with that reason.
    derived
        Names of the source columns that `derive` adds; the mapping uses them like any other.

    Notes
    -----
    `repairs` and `derive` force the careful path, row by row, for the whole file: a large export should do without.
    """

    dialect: str
    mapping: Mapping
    conventions: tuple[str, ...]
    flags: tuple[str, ...] = ()
    dataset: Dataset = "charges"
    cost_column: str = "billed_cost"
    nulls: tuple[str, ...] = ()
    date_columns: tuple[str, ...] = ()
    period_columns: tuple[str, str] | None = None
    currency_columns: tuple[str, ...] = ()
    money_columns: tuple[str, ...] = ()
    zone_needed: bool = False
    repairs: dict[str, Callable[[str], str]] = field(default_factory=dict)
    derive: Callable[[dict[str, str]], dict[str, str]] | None = None
    derived: tuple[str, ...] = ()


class Reader(Protocol):
    """A module of this shape is a reader.

    Parameters
    ----------
    NAME
        As in `reader = "..."` of a `[[load]]` entry and in `READERS`.
    CONVENTIONS
        What holds for each file of the format.
    DEFINING
        Columns by which a person knows the format; named when a file is not quite it.
    """

    NAME: str
    CONVENTIONS: tuple[str, ...]
    DEFINING: tuple[str, ...]

    def sniff(self, head: Head) -> int:
        """How sure the reader is that the file is of its format: columns it knows, 0 = not mine.

        The highest number reads the file; among equals the earlier in `READERS`.
        """
        ...

    def describe(self, columns: tuple[str, ...], sample: Sequence[Sequence[str]], options: ReadOptions) -> Reading:
        """What the columns mean.

        Parameters
        ----------
        columns
            Header as written, names possibly repeated with another letter case.
        sample
            First rows, at most 1000, each exactly `len(columns)` cells; a missing trailing cell is "".
        options
            What the user said about the file.

        Raises
        ------
        UnitcostError
            When the format is recognised but this file cannot be understood, or only the user can tell.
        """
        ...


class Unfolding(Reader, Protocol):
    """A reader of answers of an API, whose rows stand inside of larger JSON values.

    Parameters
    ----------
    COLUMNS
        Header of the rows that `unfold` gives; `describe` is asked about these.
    UNFOLDED
        Formats that it takes apart so; a file of another one is read by its columns.
    """

    COLUMNS: tuple[str, ...]
    UNFOLDED: tuple[Format, ...]

    def unfold(self, source: Source, progress: Progress | None, said: list[str]) -> Iterator[Row]:
        """Rows of the answer in order, a `Broken` for what cannot be taken apart.

        Parameters
        ----------
        source, progress
            The file, and who is told how far it is read.
        said
            Gets what is to be said about the file, one plain sentence each, when all of it has been read.

        Raises
        ------
        BadFile
            When the file is damaged, or is not what it seemed to be.
        """
        ...


def unfolds(reader: object) -> TypeGuard[Unfolding]:
    """Whether a reader takes a document apart into rows by itself."""
    return hasattr(reader, "unfold")
