"""Runs in the table that `mlflow.search_runs` gives, as csv or as JSON records."""

from __future__ import annotations

from collections.abc import Sequence

from unitcost.readers.work.mlflow_answers import PARENT_TAG, RUN_STATUSES, moment_of
from unitcost.readers.work.tracked_run import TrackedRun

DEFINING = ("run_id", "experiment_id", "status", "start_time", "end_time")
_GROUPS = ("metrics.", "params.", "tags.")


def is_table(columns: Sequence[str]) -> bool:
    """Whether columns are those of such a table, of runs that logged something or of runs that did not."""
    return set(DEFINING) <= set(columns) and (
        "artifact_uri" in columns or any(name.startswith(_GROUPS) for name in columns)
    )


class TableRuns:
    """Makes runs of the rows of one table. An empty cell was not logged."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._width = len(columns)
        self._at = {name: position for position, name in enumerate(columns)}
        self._groups = {
            group: [(name.removeprefix(group), at) for name, at in self._at.items() if name.startswith(group)]
            for group in _GROUPS
        }

    def run_of(self, row: Sequence[str]) -> TrackedRun:
        """Run of one row.

        Raises
        ------
        ValueError
            When the row is none, with the reason.
        """
        if len(row) != self._width:
            raise ValueError(f"the row has {len(row)} cells where the header has {self._width}")
        tags = self._logged("tags.", row)
        return TrackedRun(
            source="mlflow", run_id=self._cell("run_id", row), name=tags.get("mlflow.runName", ""),
            parent=tags.get(PARENT_TAG, ""), experiment=self._cell("experiment_id", row),
            status=RUN_STATUSES.get(self._cell("status", row).upper(), "unknown"),
            started_at=moment_of(self._cell("start_time", row), "start_time"),
            ended_at=moment_of(self._cell("end_time", row), "end_time"), params=self._logged("params.", row),
            metrics=self._logged("metrics.", row), tags=tags,
        )  # fmt: skip

    def _cell(self, name: str, row: Sequence[str]) -> str:
        return row[self._at[name]].strip()

    def _logged(self, group: str, row: Sequence[str]) -> dict[str, str]:
        return {name: row[at] for name, at in self._groups[group] if row[at] != ""}
