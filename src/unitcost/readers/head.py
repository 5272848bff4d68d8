"""The first bytes of a file and what they show: format, delimiter, header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Format = Literal["csv", "parquet", "jsonl", "json", "text", "document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a reader may look at to decide whether a file is its own.

    Parameters
    ----------
    file
        Name for messages; never a reason to choose a reader.
    format
        How the file is built. JSON is flattened: a nested object becomes columns with dotted names. A `document` is
        a text that a reader takes apart itself: each reader of work is asked first whether it knows one by `data`.
    data
        First bytes, unpacked, at most 64 KiB; empty for parquet.
    columns
        Header as written; for JSON the members of the first objects, in order of appearance.
    delimiter
        Of a csv; empty otherwise.
    """

    file: str
    format: Format
    data: bytes = b""
    columns: tuple[str, ...] = ()
    delimiter: str = ""

    @property
    def folded(self) -> frozenset[str]:
        """Column names in lower case."""
        return frozenset(column.strip().casefold() for column in self.columns)

    def count(self, *names: str) -> int:
        """How many of these columns the file has, letter case ignored."""
        folded = self.folded
        return sum(name.casefold() in folded for name in names)

    def has(self, *names: str) -> bool:
        """Whether the file has all of these columns, letter case ignored."""
        return self.count(*names) == len(names)
