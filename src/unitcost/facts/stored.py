"""What is kept in stores: checkpoints, feature tables, logs, embeddings, data sets, models."""

from __future__ import annotations

from dataclasses import dataclass

from unitcost.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How much of one kind a run or an owner kept in a store, times how long, in bytes x microseconds.

    `run` and `owner` are empty where the listing does not tell.
    """

    store: str
    kind: str
    run: str
    owner: str
    byte_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPart:
    """Part of the charges of a store."""

    store: str
    kind: str
    run: str
    owner: str
    amount: Figure
