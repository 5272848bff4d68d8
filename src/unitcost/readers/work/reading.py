"""What a reader of work is: a module of the shape of `WorkReader`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.reading import Reader
from unitcost.readers.work.sink import Sink

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a reader says about a file that it has read: what it recognised, and what the file made necessary."""

    dialect: str
    conventions: tuple[str, ...]
    flags: tuple[str, ...] = ()


class WorkReader(Protocol):
    """A module of this shape reads what is known about work.

    Parameters
    ----------
    NAME
        As in `reader = "..."` of a `[[load]]` entry and in `READERS`.
    CONVENTIONS
        What holds for each file of the format, one plain sentence each.
    DEFINING
        Columns, or for a JSON document members, by which a person knows the format.
    """

    NAME: str
    CONVENTIONS: tuple[str, ...]
    DEFINING: tuple[str, ...]

    def sniff(self, head: Head) -> int:
        """How sure the reader is that the file is of its format: names it knows, 0 = not mine.

        A JSON text that is one document, and no list of like objects, has no columns here; look at `head.data`.
        """
        ...

    def fill(self, source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
        """Read the whole file into the sink, one record at a time.

        Rows of a csv come from `readers.tables.rows(source, progress)`; the text of anything else from
        `readers.opening.text_of(source)`.

        Raises
        ------
        BadFile
            When the file is not what it seemed to be.
        NeedsAnswer
            When only the user can tell, such as the time zone of local times.
        """
        ...


def is_work(reader: Reader | WorkReader) -> TypeGuard[WorkReader]:
    """Whether a reader reads work rather than charges."""
    return hasattr(reader, "fill")
