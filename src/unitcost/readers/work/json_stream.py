"""Values of a large JSON document, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import TextIOBase
from typing import Any

import ijson

from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import Broken
from unitcost.readers.work.reading import Progress

_TELL_EVERY = 500


class _Bytes:
    """A text as the UTF-8 that the parser wants, without a byte order mark."""

    def __init__(self, text: TextIOBase) -> None:
        self._text = text
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        block = self._text.read(size)
        if not self._begun and block:
            self._begun = True
            block = block.lstrip("\ufeff")
        return block.encode("utf-8")


def values(source: Source, path: str, progress: Progress | None = None) -> Iterator[Any]:
    """Values at a path of the document, such as `items.item` for the members of the list `items`.

    Whole numbers are `int`, others `Decimal`. Where the document ends early or is damaged, the last value is a `Broken`.
    An empty path means the document itself, or each of several that stand one after the other.
    """
    return _told(source, lambda stream: ijson.items(stream, path, multiple_values=True), progress)


def members(source: Source, path: str, progress: Progress | None = None) -> Iterator[Any]:
    """Names and values of the members of the objects at a path; the last is a `Broken` where the document is damaged."""
    return _told(source, lambda stream: ijson.kvitems(stream, path, multiple_values=True), progress)


def _told(source: Source, parse: Callable[[_Bytes], Iterator[Any]], progress: Progress | None) -> Iterator[Any]:
    with text_of(source) as (text, raw):
        try:
            for count, value in enumerate(parse(_Bytes(text)), 1):
                if progress and not count % _TELL_EVERY:
                    progress(raw.tell(), source.size_bytes)
                yield value
        except ijson.JSONError as error:
            lines = str(error).strip().splitlines() or ["it ends early"]
            yield Broken("", f"the rest of the file is not JSON ({lines[0]})")
