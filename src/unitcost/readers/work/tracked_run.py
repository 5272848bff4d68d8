"""A run as experiment trackers know it, and the rows of the ledger that it gives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from unitcost.facts.work import ANY_GPU, SCHEDULER_JOB, WorkTable
from unitcost.readers.work import tracker_names as names

_KEY_DIGITS = 16


def config_key_of(params: Mapping[str, str]) -> str:
    """Key of a configuration, the same in whatever order it is written; empty for none."""
    if not params:
        return ""
    written = json.dumps(dict(sorted(params.items())), ensure_ascii=True)
    return hashlib.sha256(written.encode()).hexdigest()[:_KEY_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """One run; texts as the source has them, times in UTC, None = not known.

    `params` is what was configured, `metrics` the last value of each metric.
    """

    source: str
    run_id: str
    name: str
    status: str
    started_at: datetime | None
    ended_at: datetime | None
    parent: str = ""
    experiment: str = ""
    account: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.run_id:
            raise ValueError("the run has no id")
        if self.started_at and self.ended_at and self.ended_at < self.started_at:
            raise ValueError(f"the run ends at {self.ended_at.isoformat()}, before its start")

    @property
    def job(self) -> str:
        """`SCHEDULER:JOB` that the run is part of; empty when it names none."""
        return names.job_of(self.tags, self.params)

    @property
    def held(self) -> Decimal | None:
        """Accelerators that the run says it held, None when it does not or a scheduler's job tells. [accelerators]."""
        return None if self.job else names.gpus_of(self.tags, self.params)

    @property
    def config_key(self) -> str:
        """Same for runs of the same parameters, a seed among them; empty for a run without any."""
        return config_key_of(self.params)

    def rows(self, *, is_parent: bool, holds: bool) -> list[tuple[WorkTable, dict[str, Any]]]:
        """The workload, and its holding where the run states one.

        Parameters
        ----------
        is_parent
            Whether other runs name it as their parent.
        holds
            False for a parent whose children state what they hold: it holds nothing besides.
        """
        workload = {
            "source": self.source, "workload_id": self.run_id, "name": self.name, "parent": self.parent,
            "kind": names.kind_of(self.tags, is_parent=is_parent, has_parent=bool(self.parent)),
            "account": self.account, "team": names.named(self.tags, names.TEAM_TAGS),
            "project": names.named(self.tags, names.PROJECT_TAGS), "experiment": self.experiment,
            "status": self.final_status, "started_at": self.started_at, "ended_at": self.ended_at,
            "config_key": self.config_key, "metrics": self.metrics, "tags": self._all_tags(),
        }  # fmt: skip
        rows: list[tuple[WorkTable, dict[str, Any]]] = [("workloads", workload)]
        if holds and self.held and self.started_at and self.final_status != "never started":
            rows.append(("holdings", self._holding()))
        return rows

    @property
    def final_status(self) -> str:
        """Status, with what the tags say about it."""
        return names.status_of(self.status, self.tags)

    def _holding(self) -> dict[str, Any]:
        return {
            "source": self.source, "workload_id": self.run_id, "attempt": 1, "status": self.final_status,
            "node": names.named(self.tags, names.NODE_TAGS), "quantity": self.held,
            "accelerator": names.named(self.tags, names.MODEL_TAGS) or ANY_GPU,
            "started_at": self.started_at, "ended_at": self.ended_at, "pricing_category": names.pricing_of(self.tags),
        }  # fmt: skip

    def _all_tags(self) -> dict[str, str]:
        job = {SCHEDULER_JOB: self.job} if self.job else {}
        return {**{f"params.{name}": value for name, value in self.params.items()}, **self.tags, **job}
