"""Prices that a refresh read, kept beside the ledger: one folder per refresh and feed, never written again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from unitcost.facts.offers import Shape
from unitcost.facts.prices import PriceRecord, Source
from unitcost.prices import tables
from unitcost.prices.tables import Row

_RECORDS, _SHAPES, _SOURCES = "records.csv", "shapes.csv", "sources.csv"
_MODELS = "data.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModels:
    """Data of a list of models that was read on a day."""

    path: Path
    observed: str


class PriceStore:
    """The folder of refreshed prices; it need not exist.

    Parameters
    ----------
    folder
        `.unitcost/prices` of a workspace.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, feed: str, now: datetime, records: Iterable[PriceRecord], shapes: Iterable[Shape]) -> Path:
        """Write what a feed gave, all of it or nothing; return the folder."""
        kept = list(records)
        sources = {record.source.key: record.source for record in kept}
        texts = {
            _RECORDS: tables.written([tables.record_row(r) for r in kept], tables.RECORD_COLUMNS),
            _SHAPES: tables.written([tables.shape_row(s) for s in shapes], tables.SHAPE_COLUMNS),
            _SOURCES: tables.written([tables.source_row(s) for s in sources.values()], tables.SOURCE_COLUMNS),
        }
        return self._write(feed, now, {name: text.encode() for name, text in texts.items()})

    def keep_models(self, feed: str, now: datetime, data: bytes) -> Path:
        """Write the data of a list of models as they were read."""
        return self._write(feed, now, {_MODELS: data})

    def rows(self) -> Iterator[Row]:
        """Cells of all records, oldest refresh first."""
        for file in self._files(_RECORDS):
            yield from tables.rows(file.read_text(encoding="utf-8"))

    def shapes(self) -> Iterator[Shape]:
        """Machines that feeds described."""
        for file in self._files(_SHAPES):
            for row in tables.rows(file.read_text(encoding="utf-8")):
                yield tables.shape({name: row.get(name, "") for name in tables.SHAPE_COLUMNS})

    def sources(self) -> dict[str, Source]:
        """Sources by key; the newest revision of each."""
        found: dict[str, Source] = {}
        for file in self._files(_SOURCES):
            rows = tables.rows(file.read_text(encoding="utf-8"))
            found.update(tables.sources({name: row.get(name, "") for name in tables.SOURCE_COLUMNS} for row in rows))
        return found

    def models(self, feed: str) -> list[StoredModels]:
        """Lists of models that were read, newest first."""
        return [
            StoredModels(path=file, observed=file.parent.name[:10])
            for file in reversed(self._files(_MODELS))
            if file.parent.parent.name == feed
        ]

    def _files(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"*/*/{name}"), key=lambda file: (file.parent.name, file.parent.parent.name))

    def _write(self, feed: str, now: datetime, contents: dict[str, bytes]) -> Path:
        """Write files beside their place and rename the folder, so that a broken write leaves nothing."""
        place = self.folder / feed
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place, prefix=".new-") as scratch:
            fresh = Path(scratch) / "refresh"
            fresh.mkdir()
            for name, content in contents.items():
                (fresh / name).write_bytes(content)
            target = place / self._name(place, now)
            os.replace(fresh, target)
        return target

    def _name(self, place: Path, now: datetime) -> str:
        stamp = f"{now:%Y-%m-%dT%H%M%S}"
        names = [stamp, *(f"{stamp}-{number}" for number in range(2, 1000))]
        return next(name for name in names if not (place / name).exists())
