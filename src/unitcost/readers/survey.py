"""The first look at a file: packing, encoding, format, delimiter, header. By content alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from unitcost.errors import BadFile, BadSetting
from unitcost.facts.paths import printable
from unitcost.facts.source import ReadOptions
from unitcost.readers import json_rows, parquet_rows, tables
from unitcost.readers.head import Format, Head
from unitcost.readers.opening import HEAD_BYTES, Source, encoding_of, first_bytes, text_of
from unitcost.units import MIB

_MAGIC = b"PAR1"
#: Longest first line [characters].
_HEADER_LIMIT = 1 * MIB
#: JSON up to this size is taken apart once and kept. [bytes]
_HELD_BYTES = 8 * MIB
#: More columns than any bill has.
_MOST_COLUMNS = 5_000


def look(path: Path, options: ReadOptions, claimed: Callable[[Head], bool] | None = None) -> Source:
    """How a file is built and which columns it has.

    Parameters
    ----------
    claimed
        Whether a reader knows a text by its first bytes and takes it apart itself.

    Raises
    ------
    BadFile
        When it is empty, binary, cut off, or has no header.
    NeedsAnswer
        When its encoding cannot be told.
    """
    name = printable(path.name)
    packing, data = first_bytes(path, name)
    source = Source(path=path, name=name, size_bytes=path.stat().st_size, packing=packing)
    if data.startswith(_MAGIC):
        return _parquet(source)
    source = replace(source, data=data, encoding=encoding_of(data, options.encoding, name))
    document = replace(source, format="document")
    if claimed and claimed(head_of(document)):
        return document
    said = delimiter_said(options.delimiter, name)
    source = replace(source, format=_format_of(source, said))
    if source.format in ("json", "jsonl"):
        return _with_members(source)
    if source.format == "text":
        return source
    return with_header(replace(source, delimiter=said or tables.delimiter_of(_first_line(source))))


def head_of(source: Source) -> Head:
    """What a reader may look at."""
    return Head(
        file=source.name, format=source.format, data=source.data, columns=source.columns, delimiter=source.delimiter
    )


def _parquet(source: Source) -> Source:
    if source.packing:
        raise BadFile(
            "a parquet file is packed once more", where=source.name, mend=f"unpack the {source.packing} first"
        )
    with source.path.open("rb") as stream:
        stream.seek(max(0, source.size_bytes - len(_MAGIC)))
        if stream.read() != _MAGIC or source.size_bytes < 3 * len(_MAGIC):
            raise BadFile("the parquet file is cut off before its end", where=source.name, mend="fetch the file again")
    return replace(source, format="parquet", columns=parquet_rows.columns(source.path, source.name))


def _format_of(source: Source, delimiter: str) -> Format:
    start = _start(source).lstrip("\ufeff \t\r\n")
    if start.startswith("{"):
        return "jsonl"
    if start.startswith("["):
        return "json"
    if start.startswith(("<?xml", "<!DOCTYPE", "<html")):
        raise BadFile("the file is a web page or XML, not a table", where=source.name, mend="export the bill as csv")
    line = _first_line(source)
    return "csv" if any(sign in line for sign in delimiter or ",;\t|") else "text"


def _start(source: Source) -> str:
    with text_of(source) as (text, _):
        return text.read(HEAD_BYTES // 4)


def _first_line(source: Source) -> str:
    with text_of(source) as (text, _):
        line = "\n"
        while line and not line.strip("\ufeff \r\n"):
            line = text.readline(_HEADER_LIMIT)
    if len(line) == _HEADER_LIMIT:
        raise BadFile(
            "the first line is longer than 1 MiB, which is no header", where=f"{source.name}:1",
            mend="give a csv whose first row names the columns",
        )  # fmt: skip
    return line.lstrip("\ufeff").rstrip("\r\n")


def delimiter_said(said: str, name: str) -> str:
    """Sign that the user names as delimiter.

    Raises
    ------
    BadSetting
        When it is more than one sign, or one that a csv cannot be cut at.
    """
    sign = {"tab": "\t", "\\t": "\t"}.get(said, said)
    if len(sign) > 1 or sign in ("\n", "\r", '"'):
        raise BadSetting(f"the delimiter is {said!r}", where=name, mend="use one sign, such as ; or tab")
    return sign


def _with_members(source: Source) -> Source:
    """Columns of JSON: members of all its objects. One object over several lines is an array of one."""
    with text_of(source) as (text, _):
        first = next(json_rows.objects(text, lines=source.format == "jsonl"), None)
    if not isinstance(first, dict) and source.format == "jsonl":
        source = replace(source, format="json")
    lines = source.format == "jsonl"
    with text_of(source) as (text, _):
        if source.packing or source.size_bytes > _HELD_BYTES:
            columns = json_rows.members(text, lines=lines)
        else:
            source = replace(source, held=tuple(json_rows.objects(text, lines=lines)))
            columns = json_rows.members_of(source.held)
    if not columns or len(columns) > _MOST_COLUMNS:
        raise BadFile(
            "the JSON holds no objects that could be rows" if not columns else "the JSON has too many unlike members",
            where=source.name, mend="give one object a line, or one array of objects",
        )  # fmt: skip
    return replace(source, columns=columns)


def with_header(source: Source) -> Source:
    """Csv with the columns that its header names.

    Raises
    ------
    BadFile
        When there is no header.
    """
    written = [cell.strip().lstrip("\ufeff").strip() for cell in tables.header(source)]
    firsts: dict[str, int] = {}
    repeated: dict[int, int] = {}
    unnamed = []
    names: list[str] = []
    for position, cell in enumerate(written):
        name = cell
        if not name:
            name = f"column {position + 1}"
            unnamed.append(name)
        elif name in firsts:
            repeated[position] = firsts[name]
            name = f"{name} ({position + 1})"
        firsts.setdefault(name, position)
        names.append(name)
    flags = (f"The header leaves {len(unnamed)} columns without a name: {', '.join(unnamed[:5])}.",) if unnamed else ()
    return replace(source, columns=tuple(names), repeated=repeated, flags=(*source.flags, *flags))
