"""Training jobs of Vertex AI and Azure Machine Learning, as tables that their command lines make."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from unitcost.facts.pricing import category_named, spot_or_not
from unitcost.facts.source import ReadOptions
from unitcost.facts.work import ANY_GPU, WorkTable
from unitcost.money import multiply
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError, amount, read_cell, truth
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.own_tables import TIMES, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "managed-training"
CONVENTIONS = (
    "Vertex AI: name, state, start_time, end_time, machine_type, replica_count, and as far as known display_name, "
    "accelerator_type, accelerator_count (of one replica), spot, experiment, parent; docs/how-to/managed-services.md has the "
    "command. Azure Machine Learning: name, status, start_time, end_time, vm_size, instance_count, and display_name, "
    "accelerator_type, accelerator_count (of one instance), tier, experiment_name, parent.",
    "A job holds the accelerators of all its replicas from its start to its end, which is one life: neither service says "
    "when a job lost its machines in between.",
    "Without accelerator_count the quantity is unknown, not zero; a count of 0 holds no accelerator.",
    "A job without a start never got a machine and holds nothing. One without an end still runs.",
    "Spot is what `spot` says (yes, no, or the strategy SPOT), or the tier LowPriority.",
    "Other columns become tags.",
    TIMES,
)
_VERTEX = ("name", "state", "start_time", "machine_type", "replica_count")
_AZURE = ("name", "status", "start_time", "vm_size", "instance_count")
DEFINING = _VERTEX
_OPTIONAL = (
    "display_name", "end_time", "accelerator_type", "accelerator_count", "spot", "tier", "experiment", "experiment_name",
    "parent", "create_time",
)  # fmt: skip
#: State, without its prefix and signs -> ours.
_STATUSES = {
    "succeeded": "completed", "completed": "completed", "finished": "completed", "partiallysucceeded": "completed",
    "failed": "failed", "notresponding": "crashed", "expired": "timeout", "cancelled": "cancelled", "canceled": "cancelled",
    "running": "running", "cancelling": "running", "cancelrequested": "running", "finalizing": "running",
    "updating": "running", "paused": "running", "pending": "never started", "queued": "never started",
    "notstarted": "never started", "preparing": "never started", "starting": "never started",
    "provisioning": "never started",
}  # fmt: skip
_STILL = frozenset({"running", "never started"})


def sniff(head: Head) -> int:
    """How many of the columns the table has, 0 without those that one of the services needs."""
    if head.format == "document" or not (head.has(*_VERTEX) or head.has(*_AZURE)):
        return 0
    return max(head.count(*_VERTEX), head.count(*_AZURE)) + head.count(*_OPTIONAL)


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    vertex = head_has(source, _VERTEX)
    jobs = _Jobs(source_name="vertex" if vertex else "azureml", times=times_of(options, source.name))
    fill_rows(source, sink, progress, jobs.rows)
    flags = [sentence.format(jobs.seen[what]) for what, sentence in _SENTENCES.items() if jobs.seen[what]]
    dialect = "Vertex AI" if vertex else "Azure Machine Learning"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=(*flags, *jobs.times.flags()))


def head_has(source: Source, names: tuple[str, ...]) -> bool:
    """Whether the table has these columns, letter case ignored."""
    return set(names) <= {column.casefold() for column in source.columns}


_SENTENCES = {
    "unknown": "{} jobs do not say how many accelerators they held.",
    "strange": "{} jobs have a state that is not known here.",
    "running": "{} jobs have no end (still running?).",
}
#: Columns that have a place of their own, the others are tags.
_PLACED = frozenset(
    {"name", "display_name", "state", "status", "start_time", "end_time", "parent", "experiment", "experiment_name"}
)


@dataclass(slots=True)
class _Jobs:
    """Makes rows of the jobs of one table."""

    source_name: str
    times: LocalTimes
    seen: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)

    def rows(self, cells: dict[str, str]) -> Rows:
        name = cells.get("name", "")
        if not name:
            raise BadCellError("name", "", "name is missing")
        if name in self.names:
            raise BadCellError("name", name, f"{name!r} stands in an earlier row")
        start, end = self.times.period(
            cells.get("start_time", ""), cells.get("end_time", ""), None, columns=("start_time", "end_time")
        )
        status = self._status(cells)
        if start is None:
            status = "never started"
        elif status in _STILL:
            status = "running" if end is None else "unknown"
        about = {"status": status, "started_at": start, "ended_at": end}
        rows: list[tuple[WorkTable, dict[str, Any]]] = [("workloads", {**self._workload(name, cells), **about})]
        if start is not None:
            rows += self._held(name, cells, about)
        self.names.add(name)
        self.seen["running"] += start is not None and end is None
        return rows

    def _status(self, cells: dict[str, str]) -> str:
        said = cells.get("state") or cells.get("status", "")
        word = said.casefold().removeprefix("job_state_").replace("_", "").replace(" ", "")
        self.seen["strange"] += word not in _STATUSES
        return _STATUSES.get(word, "unknown")

    def _workload(self, name: str, cells: dict[str, str]) -> dict[str, Any]:
        tags = {key: text for key, text in cells.items() if key not in _PLACED}
        parent = cells.get("parent", "")
        return {
            "source": self.source_name, "workload_id": name, "name": cells.get("display_name") or name.rpartition("/")[2],
            "kind": "trial" if parent else "training", "parent": parent, "team": tags.get("team"),
            "project": tags.get("project"), "experiment": cells.get("experiment") or cells.get("experiment_name"),
            "tags": tags,
        }  # fmt: skip

    def _held(self, name: str, cells: dict[str, str], about: dict[str, Any]) -> list[tuple[WorkTable, dict[str, Any]]]:
        replicas = read_cell("replicas", cells.get("replica_count") or cells.get("instance_count") or "1", amount)
        each = (
            read_cell("accelerator_count", cells["accelerator_count"], amount) if "accelerator_count" in cells else None
        )
        self.seen["unknown"] += each is None
        if each == 0:
            return []
        quantity: Decimal | None = None if each is None else multiply(each, replicas)
        machine = cells.get("machine_type") or cells.get("vm_size")
        accelerator = cells.get("accelerator_type") or ANY_GPU
        when = {"started_at": about["started_at"], "ended_at": about["ended_at"]}
        holding = {
            "source": self.source_name, "workload_id": name, "attempt": 1, "status": about["status"], "resource_id": name,
            "accelerator": accelerator, "quantity": quantity, "pricing_category": _pricing(cells), **when,
        }  # fmt: skip
        resource = {
            "source": self.source_name, "resource_id": name, "instance_type": machine, "accelerator": accelerator,
            "quantity": quantity, "tags": {"instances": str(replicas)}, **when,
        }  # fmt: skip
        return [("holdings", holding), ("resources", resource)]


def _pricing(cells: dict[str, str]) -> str:
    said = cells.get("spot", "").casefold()
    if said:
        named = "Standard" if said == "flex_start" else category_named(said)
        return named or str(spot_or_not(read_cell("spot", said, truth)))
    return category_named(cells.get("tier", "")) or ""
