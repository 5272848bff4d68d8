"""Objects of a store as artifacts: kind, run, size, and GB-months when it is said which month a listing stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from unitcost.errors import BadSetting
from unitcost.facts.source import ReadOptions
from unitcost.readers.rates import hours_between
from unitcost.readers.work.sink import FIRST_YEAR, LAST_YEAR
from unitcost.readers.work.storage_kinds import kind_of, run_of
from unitcost.units import GIB, LEDGER_PLACES

KINDS = (
    "What an object is, is told by its path: checkpoint, feature table, log, embedding, data set, model or other; the tag "
    "kind_rule names the rule.",
    "The run is a part run=ID of the path, a folder below runs, or that of MLflow's and W&B's folders.",
)
MONTHS = (
    "GB-months are known only when `period` says which month the listing stands for: an object counts from its last "
    "change, or the start of the month, to the end of the month. A GB is 2^30 bytes here, as stores bill it."
)
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)
_MONTHS_IN_YEAR = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An object of a store.

    Parameters
    ----------
    place
        Bucket or container; may be empty.
    url
        Name of the artifact.
    """

    place: str
    path: str
    url: str
    size_bytes: int
    storage_class: str = ""
    changed: datetime | None = None
    created: datetime | None = None
    accessed: datetime | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The month that a listing stands for."""

    start: datetime
    end: datetime

    @classmethod
    def of(cls, options: ReadOptions, where: str) -> Month | None:
        """Month that the user names, None when no one is named.

        Raises
        ------
        BadSetting
            When it is no month.
        """
        if not options.period:
            return None
        found = _MONTH.fullmatch(options.period)
        if not found or not FIRST_YEAR <= int(found[1]) < LAST_YEAR:
            raise BadSetting(f"the period is {options.period!r}", where=where, mend="write a month as 2026-09")
        year, month = int(found[1]), int(found[2])
        after = (year + month // _MONTHS_IN_YEAR, month % _MONTHS_IN_YEAR + 1)
        return cls(start=datetime(year, month, 1, tzinfo=UTC), end=datetime(*after, 1, tzinfo=UTC))

    def gb_months(self, size_bytes: int, since: datetime | None) -> Decimal:
        """Gigabytes (2^30 bytes) times the part of the month in which an object was there [GB-months]."""
        begun = max(self.start, since or self.start)
        part = hours_between(begun, self.end) / hours_between(self.start, self.end) if begun < self.end else Fraction(0)
        return Decimal(round(part * size_bytes / GIB * 10**LEDGER_PLACES)).scaleb(-LEDGER_PLACES)


def artifact_of(stored: Stored, month: Month | None) -> dict[str, Any]:
    """Values of the artifact that an object is."""
    kind, rule = kind_of(stored.path)
    return {
        "artifact_id": stored.url, "kind": kind, "run": run_of(stored.path), "resource_id": stored.place,
        "storage_class": stored.storage_class, "size_bytes": stored.size_bytes,
        "gb_months": month.gb_months(stored.size_bytes, stored.changed or stored.created) if month else None,
        "period_start": month.start if month else None, "period_end": month.end if month else None,
        "created_at": stored.created or stored.changed, "last_access": stored.accessed,
        "tags": {**stored.tags, **({"kind_rule": rule} if rule else {})},
    }  # fmt: skip
