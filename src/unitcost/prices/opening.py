"""Open the price book and the model prices of a workspace: the user's own files, then what ships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from unitcost.prices import genai, litellm, own
from unitcost.prices.book import PriceBook, bundled
from unitcost.prices.entries import PriceList
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.models import ModelBook, Naming
from unitcost.prices.own import OwnPrices
from unitcost.prices.own_models import OwnModels
from unitcost.prices.snapshots import ModelSnapshots
from unitcost.prices.store import PriceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceFiles:
    """Where the prices of a workspace lie.

    Parameters
    ----------
    folder
        What relative paths start from.
    store
        Folder of refreshed prices; None = there is none.
    files, litellm
        The user's own files, as the settings name them.
    naming
        What the settings say about names of models.
    now
        The moment that counts as now; the user vouches for own files then.
    """

    folder: Path
    now: datetime
    store: Path | None = None
    files: Sequence[str] = ()
    litellm: Sequence[str] = ()
    naming: Naming = field(default_factory=Naming)

    def own(self) -> dict[str, OwnPrices]:
        """The user's csv files by name."""
        day = self.now.date().isoformat()
        return {name: own.read(self.folder / name, name=name, observed=day) for name in self.files}


def open_book(where: PriceFiles) -> PriceBook:
    """Prices of machines and services.

    Raises
    ------
    BadPrice
        When a file of the user's cannot be read.
    """
    files = where.own().values()
    records = [record for file in files for record in file.records]
    shapes = [shape for file in files for shape in file.shapes]
    return _refreshed(where).with_own(records, shapes)


def open_models(where: PriceFiles) -> ModelBook:
    """Prices of models: the user's files, files in litellm's form, then genai-prices.

    Raises
    ------
    BadPrice
        When a file of the user's cannot be read.
    """
    day = where.now.date().isoformat()
    lists: list[PriceList] = [OwnModels(name, file.models) for name, file in where.own().items() if file.models]
    lists += [litellm.read(where.folder / name, name=name, observed=day) for name in where.litellm]
    kept = PriceStore(where.store).models(genai.NAME) if where.store else []
    readings = [
        GenaiPrices.read(item.path.read_bytes(), revision=item.observed, observed=item.observed)
        for item in kept
        if item.observed <= day
    ]
    return ModelBook([*lists, ModelSnapshots([GenaiPrices.bundled(where.now), *readings])], where.naming)


def _refreshed(where: PriceFiles) -> PriceBook:
    if where.store is None:
        return bundled()
    kept = PriceStore(where.store)
    return bundled().with_tables(list(kept.rows()), list(kept.shapes()), kept.sources())
