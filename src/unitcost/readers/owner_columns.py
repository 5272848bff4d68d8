"""Plain columns that people add to a table to say whose a charge is."""

from __future__ import annotations

from collections.abc import Sequence

#: Compared without case, `-`, `_` and blanks.
_OWNER_LIKE = frozenset({
    "team", "project", "experiment", "environment", "env", "costcenter", "costcentre", "owner", "application", "app",
    "department", "businessunit", "product", "workload", "run", "runid", "job", "stage",
})  # fmt: skip


def owner_columns(columns: Sequence[str]) -> list[str]:
    """Those of the columns that are named like an owner or a piece of work, in file order."""
    return [name for name in columns if _bare(name) in _OWNER_LIKE]


def _bare(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
