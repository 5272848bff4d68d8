"""Listings of objects that tools of stores print: tables, JSON, and the lines of gsutil and azcopy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.readers.head import Head
from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import ROW_LIMIT, Broken
from unitcost.readers.work import json_stream
from unitcost.readers.work.cells import BadCellError, read_cell, whole
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, add_record, fill_rows
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.storage_objects import KINDS, MONTHS, Month, Stored, artifact_of

NAME = "object-listing"
#: What a column means -> how tools call it, in lower case.
_NAMES = {
    "key": ("key", "name", "path", "url", "uri", "object", "blob", "object_name", "storage_url"),
    "size": ("size", "size_bytes", "bytes", "contentlength", "content_length", "content-length", "properties.contentlength"),
    "changed": ("lastmodified", "last_modified", "lastmodifieddate", "last_modified_time", "updated", "update_time", "mtime",
                "last-modified", "properties.lastmodified"),
    "created": ("timecreated", "creation_time", "creationtime", "time_created", "properties.creationtime"),
    "accessed": ("last_access", "last_access_time", "lastaccesstime", "lastaccessedon", "properties.lastaccessedon"),
    "class": ("storageclass", "storage_class", "tier", "access_tier", "accesstier", "blobtier", "properties.blobtier"),
    "place": ("bucket", "container", "bucket_name", "container_name"),
}  # fmt: skip
CONVENTIONS = (
    "Read are `aws s3api list-objects-v2` and list-object-versions, `gcloud storage objects list` and `az storage blob list` "
    "as JSON, `gsutil ls -l`, `azcopy list --machine-readable`, and tables with a name and a size of each object.",
    "Sizes are bytes. Times are UTC unless they say otherwise.",
    *KINDS,
    MONTHS,
)
DEFINING = ("key", "size", "last_modified")
_NAME_OF = {alias: name for name, aliases in _NAMES.items() for alias in aliases}
_GSUTIL = re.compile(r"\s*(\d+)\s+(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\s+(gs://[^/]+/.+?)(?:\s+metageneration=\S+)?\s*")
_GSUTIL_TOTAL = re.compile(r"TOTAL: (\d+) objects?, (\d+) bytes.*")
_AZCOPY = re.compile(r"(?:INFO: )?(.+?);\s+(?:.*;\s*)?Content Length: ([^;]+?)\s*")
_S3API = re.compile(rb'"(Contents|Versions)"\s*:\s*\[')
_LINES = 3
_TELL_EVERY = 20_000


def sniff(head: Head) -> int:
    """How many columns of a listing the file has, or whether its lines or its JSON are those of a tool."""
    if head.format == "document":
        if _S3API.search(head.data) and b'"Key"' in head.data and b'"Size"' in head.data:
            return _LINES
        lines = [line for line in head.data.decode("utf-8-sig", "replace").splitlines() if line.strip()][:_LINES]
        return sum(_parsed(line) is not None for line in lines)
    names = {_NAME_OF.get(column.casefold()) for column in head.columns}
    return len(names - {None}) if {"key", "size"} <= names and names & {"changed", "class", "created"} else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the listing; see `WorkReader`."""
    times, month = LocalTimes(zone=UTC, where=source.name), Month.of(options, source.name)
    reading = _Reading(sink=sink, times=times, month=month)
    if source.format != "document":
        fill_rows(source, sink, progress, reading.of_row, _name_of)
        dialect = "table"
    elif found := _S3API.search(source.data):
        for item in json_stream.values(source, f"{found[1].decode()}.item", progress):
            reading.of_item(item)
        dialect = "aws s3api"
    else:
        reading.of_lines(source, progress)
        dialect = "lines of gsutil or azcopy"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(reading.flags()))


def _name_of(column: str) -> str:
    return _NAME_OF.get(column.casefold(), column)


def _parsed(line: str) -> dict[str, str] | None:
    """Cells of the object that a line of a tool lists; None for any other line."""
    if found := _GSUTIL.fullmatch(line):
        return {"size": found[1], "changed": found[2], "key": found[3]}
    if found := _AZCOPY.fullmatch(line):
        return {"key": found[1], "size": found[2]}
    return None


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What has been read of one listing."""

    sink: Sink
    times: LocalTimes
    month: Month | None
    homeless: int = 0
    total: str = ""

    def of_row(self, cells: dict[str, str]) -> Rows:
        """Artifact of a row whose columns have our names."""
        for name in ("key", "size"):
            if name not in cells:
                raise BadCellError(name, "", f"the object has no {name}")
        key = cells["key"]
        host, _, path = key.partition("://")[2].partition("/")
        place = cells.get("place", "") or host
        version, latest = cells.get("VersionId", ""), cells.get("IsLatest", "").casefold() != "false"
        url = key if path else f"{place}/{key}" if place else key
        stored = Stored(
            place=place, path=path or key, url=url if latest or not version else f"{url}?versionId={version}",
            size_bytes=read_cell("size", cells["size"], whole), storage_class=cells.get("class", ""),
            changed=self._moment(cells, "changed"), created=self._moment(cells, "created"),
            accessed=self._moment(cells, "accessed"), tags={} if latest else {"latest": "false"},
        )  # fmt: skip
        self.homeless += not place
        return [("artifacts", artifact_of(stored, self.month))]

    def _moment(self, cells: dict[str, str], name: str) -> datetime | None:
        return self.times.period(cells.get(name, ""), "", None, columns=(name, ""))[0]

    def of_item(self, item: Any) -> None:
        """Read one object of `aws s3api`."""
        number = self.sink.read()
        if isinstance(item, Broken):
            self.sink.reject(number, item.reason, item.raw)
            return

        def make() -> Rows:
            if not isinstance(item, dict):
                raise ValueError("this is not an object of a listing")
            return self.of_row({_name_of(name): str(value) for name, value in item.items() if value is not None})

        add_record(self.sink, number, make, lambda: json.dumps(item, default=str, ensure_ascii=False))

    def of_lines(self, source: Source, progress: Progress | None) -> None:
        """Read the lines of gsutil or azcopy."""
        count = size_bytes = 0
        for line in _lines(source, progress):
            if stated := _GSUTIL_TOTAL.fullmatch(line):
                if (int(stated[1]), int(stated[2])) != (count, size_bytes):
                    self.total = f"gsutil states {stated[1]} objects with {stated[2]} bytes, and lists {count} with {size_bytes}."
                continue
            cells = _parsed(line)
            number = self.sink.read()
            if cells is None:
                self.sink.reject(number, "this is not a line of an object", line)
                continue
            count, size_bytes = count + 1, size_bytes + (int(cells["size"]) if cells["size"].isdigit() else 0)
            add_record(self.sink, number, partial(self.of_row, cells), partial(str, line))

    def flags(self) -> Iterator[str]:
        """What the listing made necessary."""
        if self.total:
            yield self.total
        if self.homeless:
            yield f"Objects that name no bucket, by which their charges could be found: {self.homeless:,}."
        if self.month is None:
            yield "No `period` is given, so GB-months are not known."


def _lines(source: Source, progress: Progress | None) -> Iterator[str]:
    with text_of(source) as (text, raw):
        count = 0
        while line := text.readline(ROW_LIMIT):
            count += 1
            if progress and not count % _TELL_EVERY:
                progress(raw.tell(), source.size_bytes)
            line = line.strip("\ufeff\r\n")
            if line.strip():
                yield line
