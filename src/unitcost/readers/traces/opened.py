"""Text of a trace: packed or not, with or without a byte order mark."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from unitcost.readers.opening import first_bytes, unpacked

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def head_of(path: Path) -> str:
    """First characters of a trace.

    Raises
    ------
    BadFile
        When the file is empty, cannot be opened or unpacked, or is of a kind that holds no table.
    """
    _, data = first_bytes(path, str(path))
    return data.decode(_encoding(data), "replace")


@contextmanager
def text_of(path: Path) -> Iterator[IO[str]]:
    """Text of a trace from its beginning; a byte that is no text is replaced, so its row is refused or reads on."""
    packing, data = first_bytes(path, str(path))
    with unpacked(path, packing, str(path)) as (stream, _):
        text = io.TextIOWrapper(
            cast("io.BufferedReader", stream), encoding=_encoding(data), errors="replace", newline=""
        )
        yield text
        text.detach()


def _encoding(data: bytes) -> str:
    return next((codec for bom, codec in _BOMS if data.startswith(bom)), "utf-8")
