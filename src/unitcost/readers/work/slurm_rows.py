"""Cutting an `sacct` dump into rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from unitcost.readers import tables
from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import ROW_LIMIT, Broken, Row
from unitcost.readers.work.reading import Progress
from unitcost.readers.work.slurm_fields import Fields, Layout

_TELL_EVERY = 20_000
_PASSES = 2
#: What no csv can carry: a zero byte, and the byte order mark that some programs put before each part they append.
_CONTROLS = {0: "\ufffd", 0xFEFF: None}


def first_line(source: Source) -> str:
    """First line that is not blank, without its end."""
    with text_of(source) as (text, _):
        line = "\n"
        while line and not line.strip("\ufeff \r\n"):
            line = text.readline(ROW_LIMIT)
    return line.lstrip("\ufeff").rstrip("\r\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of a dump; it is read twice."""

    source: Source
    layout: Layout
    progress: Progress | None

    def ids(self) -> Iterator[tuple[str, str]]:
        """Job and cluster of each row that can be cut."""
        places = self.layout.places
        job, cluster = places["JobID"], places.get("Cluster")
        needed = max(job, cluster or 0) + 1
        for cells in self._cut(0, most=needed):
            if isinstance(cells, list) and len(cells) > needed - 1:
                yield cells[job], cells[cluster] if cluster is not None else ""

    def fields(self) -> Iterator[Fields | Broken]:
        """Fields of each row."""
        width, pick = self.layout.width, self.layout.picker()
        for cells in self._cut(1):
            if isinstance(cells, list) and len(cells) != width:
                cells = self._mended(cells)
            yield cells if isinstance(cells, Broken) else pick(cells)

    def _cut(self, done: int, *, most: int = -1) -> Iterator[Row]:
        """Cells of each row, header and blank lines left out; `done` says how often the file has been read."""
        size = self.source.size_bytes

        def tell(at: int, _: int) -> None:
            if self.progress:
                self.progress((done * size + at) // _PASSES, size)

        if self.layout.quoted:
            as_csv = replace(self.source, format="csv", delimiter=self.layout.delimiter)
            return self._stripped(tables.rows(as_csv, tell))
        return self._plain(tell, most)

    def _stripped(self, rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            yield row if isinstance(row, Broken) else [cell.strip() for cell in row]

    def _plain(self, tell: Progress, most: int) -> Iterator[Row]:
        sign, skip = self.layout.delimiter, self.layout.header
        with text_of(self.source) as (text, raw):
            count = 0
            while line := text.readline(ROW_LIMIT):
                line = line.rstrip("\r\n")
                if not line or line.isspace():
                    continue
                if skip:
                    skip = False
                    continue
                count += 1
                if not count % _TELL_EVERY:
                    tell(raw.tell(), 0)
                if not line.isprintable():
                    line = line.translate(_CONTROLS)
                yield line.split(sign, most)

    def _mended(self, cells: list[str]) -> Row:
        """Row of the right width, or why it is none."""
        layout, width = self.layout, self.layout.width
        raw = layout.delimiter.join(cells)
        if layout.ends_cut and len(cells) > width and not cells[-1]:
            cells = cells[:-1]
        if layout.free_end and len(cells) > width:
            cells = [*cells[: width - 1], layout.delimiter.join(cells[width - 1 :])]
        if len(cells) == width:
            return cells
        return Broken(raw, f"has {len(cells)} cells where the dump has {width} columns")
