"""Amazon S3 Inventory: csv without a header, or csv and parquet with one."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import islice
from urllib.parse import unquote

from unitcost.errors import BadSetting, NeedsAnswer, UnknownName
from unitcost.facts.source import ReadOptions
from unitcost.readers import tables
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError, read_cell, truth, whole
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.storage_objects import KINDS, MONTHS, Month, Stored, artifact_of

NAME = "s3-inventory"
CONVENTIONS = (
    "A row is an object, or an older version of one, that is stored and billed. Delete markers are left out.",
    "Without a header the columns are Bucket, Key, then what fileSchema of manifest.json says, in Amazon's order; they "
    "are recognised by their cells. Where that fails, say where they stand: columns = { Size = \"4\" ... }.",
    "Keys of a csv are URL-encoded. Times are UTC.",
    *KINDS,
    MONTHS,
)  # fmt: skip
DEFINING = ("Bucket", "Key", "Size")
_FIELDS = (
    *DEFINING,
    "VersionId",
    "IsLatest",
    "IsDeleteMarker",
    "LastModifiedDate",
    "StorageClass",
    "IntelligentTieringAccessTier",
)
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)
_CLASSES = frozenset({
    "STANDARD", "STANDARD_IA", "ONEZONE_IA", "REDUCED_REDUNDANCY", "INTELLIGENT_TIERING", "GLACIER", "GLACIER_IR",
    "DEEP_ARCHIVE", "OUTPOSTS", "EXPRESS_ONEZONE", "SNOW",
})  # fmt: skip
_WAYS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("Size", lambda cell: cell.isascii() and cell.isdigit()),
    ("LastModifiedDate", _TIME.fullmatch),
    ("StorageClass", _CLASSES.__contains__),
)
#: Columns up to the marks of a version.
_VERSIONED = 4
_TRUTHS = frozenset({"true", "false"})
_SAMPLE_ROWS = 200
#: Part of the cells of a column that shows what it is.
_MOST_OF = 0.8


def sniff(head: Head) -> int:
    """How many of its columns a header names, or how many the cells of a file without header show."""
    if head.format == "document":
        text = head.data.decode("utf-8-sig", "replace").lstrip("\r\n")
        lines = text.splitlines()[:_SAMPLE_ROWS]
        return len(_guessed(list(csv.reader(lines if len(lines) == 1 else lines[:-1])))) if text.startswith('"') else 0
    names = {_plain(column) for column in head.columns}
    return sum(_plain(name) in names for name in _FIELDS) if all(_plain(name) in names for name in DEFINING) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the inventory; see `WorkReader`."""
    reading = _Reading(
        times=LocalTimes(zone=UTC, where=source.name), month=Month.of(options, source.name),
        encoded=source.format in ("csv", "document"),
    )  # fmt: skip
    bare = source.format == "document"
    if bare:
        source = _with_columns(replace(source, format="csv", delimiter=","), options.columns)
    fill_rows(source, sink, progress, reading.make, _known_name, header=not bare)
    dialect = "without header" if bare else "with header"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(reading.flags()))


def _plain(name: str) -> str:
    return name.casefold().replace("_", "")


def _known_name(column: str) -> str:
    return next((name for name in _FIELDS if _plain(name) == _plain(column)), column)


def _guessed(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Position -> field, as the cells show it; empty when these are not rows of an inventory.

    Amazon writes the fields in a fixed order: bucket, key, then version and its two marks, size, last change, storage
    class, and others that are not looked at.
    """
    width = len(rows[0]) if rows else 0
    columns = [[row[at] for row in rows if len(row) == width] for at in range(width)]
    found: dict[int, str] = {}
    if width < len(DEFINING) or not all(_BUCKET.fullmatch(cell) for cell in columns[0]) or len(set(columns[0])) != 1:
        return {}
    if width > _VERSIONED and all(_are(columns[at], _TRUTHS.__contains__) for at in (3, 4)):
        found |= {2: "VersionId", 3: "IsLatest", 4: "IsDeleteMarker"}
    for name, way in _WAYS:
        at = next((at for at in range(2, width) if at not in found and _are(columns[at], way)), -1)
        if at >= 0:
            found[at] = name
    names = set(found.values())
    return (
        {0: "Bucket", 1: "Key", **found}
        if "Size" in names and len(names & {"LastModifiedDate", "StorageClass"})
        else {}
    )


def _are(cells: Sequence[str], way: Callable[[str], object]) -> bool:
    """Whether cells that are not empty are of a kind; a few odd ones will be set aside with their rows."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and sum(bool(way(cell)) for cell in filled) >= _MOST_OF * len(filled)


def _with_columns(source: Source, stated: dict[str, str]) -> Source:
    """Source whose columns are named: as the user says, else as the cells show."""
    first = [row for row in islice(tables.rows(source, header=False), _SAMPLE_ROWS) if isinstance(row, list)]
    width = len(first[0])
    found = {0: "Bucket", 1: "Key", **_told(stated, width, source.name)} if stated else _guessed(first)
    if "Size" not in found.values():
        raise NeedsAnswer(
            "which column of the inventory is which cannot be told", where=source.name,
            mend='say where they stand, from 1: reader = "s3-inventory", columns = { Size = "3", LastModifiedDate = "4" }',
        )  # fmt: skip
    return replace(source, columns=tuple(found.get(at, f"column {at + 1}") for at in range(width)))


def _told(stated: dict[str, str], width: int, where: str) -> dict[int, str]:
    found = {}
    for name, place in stated.items():
        field = _known_name(name)
        if field not in _FIELDS:
            raise UnknownName("field of an inventory", name, _FIELDS, where=f"{where}, columns of [[load]]")
        if not (place.isascii() and place.isdigit() and 1 <= int(place) <= width):
            raise BadSetting(
                f"{name} stands in column {place!r}, but the columns are 1 to {width}",
                where=f"{where}, columns of [[load]]", mend="give the number of the column, from 1",
            )  # fmt: skip
        found[int(place) - 1] = field
    return found


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of one inventory."""

    times: LocalTimes
    month: Month | None
    encoded: bool
    markers: int = 0
    older: int = 0

    def make(self, cells: dict[str, str]) -> Rows:
        """Artifact of a row."""
        for name in ("Bucket", "Key"):
            if name not in cells:
                raise BadCellError(name, "", f"{name} is missing")
        if read_cell("IsDeleteMarker", cells.get("IsDeleteMarker", "false"), truth):
            self.markers += 1
            return []
        latest = read_cell("IsLatest", cells.get("IsLatest", "true"), truth)
        self.older += not latest
        key = unquote(cells["Key"]) if self.encoded else cells["Key"]
        version = cells.get("VersionId", "")
        url = f"s3://{cells['Bucket']}/{key}" + (f"?versionId={version}" if version and not latest else "")
        changed, _ = self.times.period(cells.get("LastModifiedDate", ""), "", None, columns=("LastModifiedDate", ""))
        tier = cells.get("IntelligentTieringAccessTier", "")
        stored = Stored(
            place=cells["Bucket"], path=key, url=url, size_bytes=read_cell("Size", cells.get("Size", ""), whole),
            storage_class=cells.get("StorageClass", ""), changed=changed,
            tags={**({} if latest else {"latest": "false"}), **({"access_tier": tier} if tier else {})},
        )  # fmt: skip
        return [("artifacts", artifact_of(stored, self.month))]

    def flags(self) -> Iterator[str]:
        """What the file made necessary."""
        if self.markers:
            yield f"Delete markers, which are left out: {self.markers:,}."
        if self.older:
            yield f"Older versions of objects, stored and billed too, which have the tag latest=false: {self.older:,}."
        if self.month is None:
            yield "No `period` is given, so GB-months are not known."
