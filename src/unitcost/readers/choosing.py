"""Which reader a file belongs to, by its content."""

from __future__ import annotations

from pathlib import Path

from unitcost.errors import BadFile, UnknownName
from unitcost.facts.source import ReadOptions
from unitcost.readers import generic_csv, rate_card
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.preamble import likely_header, past_preamble
from unitcost.readers.reading import Reader, unfolds
from unitcost.readers.survey import head_of, look
from unitcost.readers.table import all_readers, claimed
from unitcost.readers.work.reading import WorkReader, is_work

_MOST_NAMED = 6


def find(path: Path, options: ReadOptions) -> list[tuple[str, int]]:
    """Readers that know a file, the surest first, each with the number of columns it knows.

    Raises
    ------
    BadFile
        When none does; names the nearest and what it lacks.
    """
    source = past_preamble(look(path, options, claimed), options)
    return _ranked(source, head_of(source))


def choose(source: Source, options: ReadOptions) -> tuple[str, Reader | WorkReader]:
    """Reader that the user names or options call for, else the surest.

    Raises
    ------
    BadFile
        When no reader knows the file, or the named one does not.
    UnknownName
        When there is no reader of the name.
    """
    readers = all_readers()
    head = head_of(source)
    name = options.reader
    if not name and options.columns:
        name = generic_csv.NAME
    if not name and options.rates and rate_card.sniff(head):
        name = rate_card.NAME
    if not name:
        name = _ranked(source, head)[0][0]
    if name not in readers:
        raise UnknownName("reader", name, readers, where=source.name)
    reader = readers[name]
    if name != generic_csv.NAME and not reader.sniff(head):
        missing = _named([c for c in _defining(reader) if not head.has(c)])
        raise BadFile(
            f"the file is not of the format {name}: it lacks {missing}", where=source.name,
            mend="leave `reader` out, and it is chosen by content",
        )  # fmt: skip
    return name, reader


def _ranked(source: Source, head: Head) -> list[tuple[str, int]]:
    scores = [
        (name, reader.sniff(head))
        for name, reader in all_readers().items()
        if head.format != "document" or is_work(reader) or unfolds(reader)
    ]
    known = sorted((score for score in scores if score[1] > 0), key=lambda score: -score[1])
    if not known:
        raise _unknown(source, head)
    return known


def _above_header(source: Source) -> BadFile | None:
    """What to say of a file in which something like a header stands below other lines."""
    line = likely_header(source, ReadOptions())
    if not line:
        return None
    return BadFile(
        f"no reader knows the first line as a header; line {line} looks like one", where=source.name,
        mend="delete the lines above it",
    )  # fmt: skip


def _unknown(source: Source, head: Head) -> BadFile:
    mend = (
        "export one of the formats of docs/reference/readers.md, or say under `columns` of its [[load]] which column "
        'is what: columns = { billed_cost = "Amount" }'
    )
    if head.has("ContractCommitmentId"):
        return BadFile(
            "the file lists contract commitments of FOCUS, and no charges", where=source.name,
            mend="load the cost and usage file of the same export",
        )  # fmt: skip
    above = _above_header(source)
    if above:
        return above
    if not head.columns:
        return BadFile("the file is not a table that any reader knows", where=source.name, mend=mend)
    shares = {
        name: head.count(*_defining(reader)) / len(_defining(reader))
        for name, reader in all_readers().items()
        if _defining(reader)
    }
    nearest = max(shares, key=lambda name: shares[name], default="")
    if not nearest or not shares[nearest]:
        return BadFile(f"no reader knows these columns: {_named(list(head.columns))}", where=source.name, mend=mend)
    missing = [c for c in _defining(all_readers()[nearest]) if not head.has(c)]
    return BadFile(
        f"no reader knows this file; the nearest is {nearest}, for which it lacks {_named(missing)}",
        where=source.name, mend=mend,
    )  # fmt: skip


def _defining(reader: Reader | WorkReader) -> tuple[str, ...]:
    return tuple(getattr(reader, "DEFINING", ()))


def _named(names: list[str]) -> str:
    shown = ", ".join(f"'{name[:60]}'" for name in names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "") if shown else "nothing"
