"""What is kept in stores: checkpoints, feature tables, logs, embeddings, data sets, models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unitcost.facts.rules import OwnerKind
from unitcost.figure import Figure

#: Kind of what is kept -> what the money for it is for, beside training, serving and other drivers.
KEPT_FOR: dict[str, str] = {
    "checkpoint": "checkpoints",
    "feature table": "feature tables",
    "log": "logs",
    "embedding": "embeddings",
    "data set": "data sets",
    "model": "stored models",
    "other": "other stored things",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How much of one kind a run or an owner kept in a store, times how long, in bytes x microseconds.

    Owners and `run` are empty where nothing tells.
    """

    store: str
    kind: str
    run: str
    team: str
    byte_us: int
    project: str = ""
    experiment: str = ""

    def owner(self, kind: OwnerKind) -> str | None:
        """Owner that the listing, or the run that it names, tells of."""
        return {"team": self.team, "project": self.project, "experiment": self.experiment}[kind] or None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCharges:
    """What a store cost those who own its charges; None = nobody owns them.

    `divided` holds the kinds of owners among whom a split of the settings divides them.
    """

    store: str
    owners: Mapping[OwnerKind, str | None]
    amount: Figure
    divided: frozenset[OwnerKind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPart:
    """Part of the charges of a store.

    Parameters
    ----------
    charged
        Owners of the charges.
    owners
        The same; where nobody owns them and no split divides them, those that the listing tells of.
    """

    store: str
    kind: str
    run: str
    charged: Mapping[OwnerKind, str | None]
    owners: Mapping[OwnerKind, str | None]
    amount: Figure
