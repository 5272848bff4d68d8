"""Runs of Weights & Biases: the table that its web page exports, and objects of its public API as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkTable
from unitcost.readers import json_rows
from unitcost.readers.head import Head
from unitcost.readers.json_rows import BrokenObject, written
from unitcost.readers.opening import Source, text_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import add_record, fill_rows
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.tracked_run import TrackedRun
from unitcost.readers.work.wandb_runs import SOURCE, TABLE, of_cells, of_object

NAME = "wandb"
CONVENTIONS = (
    "A run lasts as many seconds as its runtime from when it was created; one in the state running has no end. Times are "
    "UTC.",
    "A run of a sweep is a trial, and the sweep its parent. A crashed run stopped sending.",
    "Accelerators are counted by a tag or a parameter of the run (gpus, num_gpus ...). The gpu_count of W&B's metadata is "
    "that of the machine and counts nothing.",
    "In JSON, config is what was configured and summary has the last values of metrics. The exported table does not tell "
    "the two apart: numbers are kept as metrics, everything as tags, and no configuration is known.",
    "A tag name:value or name=value is a tag of that name; any other tag is kept with the value yes.",
    "The experiment is the group. A run without an ID is known by its name and when it was created.",
)
DEFINING = ("Name", "State", "Created", "Runtime")
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")
_MEMBERS = (
    (b'"state"',), (b'"config"',), (b'"summary"', b'"summaryMetrics"', b'"summary_metrics"'),
    (b'"created_at"', b'"createdAt"'),
)  # fmt: skip


def sniff(head: Head) -> int:
    """How many names of a run the file shows, 0 unless it has all that are needed."""
    if head.format == "document":
        begins = _BEGIN.match(head.data) is not None
        return len(_MEMBERS) if begins and all(any(n in head.data for n in names) for names in _MEMBERS) else 0
    return head.count(*TABLE) if set(DEFINING) <= set(head.columns) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the whole file into the sink; see `WorkReader`."""
    runs = _Runs(sink)
    if source.format == "document":
        for found in _objects(source, progress):
            row = sink.read()
            if isinstance(found, BrokenObject):
                sink.reject(row, found.reason, found.raw)
            else:
                add_record(sink, row, partial(runs.rows, found), partial(written, found))
    else:
        fill_rows(source, sink, progress, lambda cells: runs.rows(cells, in_table=True), str)
    for sweep, (row, experiment) in runs.sweeps.items():
        sink.add("workloads", row, source=SOURCE, workload_id=sweep, kind="sweep", experiment=experiment)
    dialect = "public API" if source.format == "document" else "exported table"
    return Told(dialect=dialect, conventions=CONVENTIONS, flags=tuple(runs.flags()))


def _objects(source: Source, progress: Progress | None) -> Iterator[object]:
    with text_of(source) as (text, raw):
        for found in json_rows.values(text):
            if progress:
                progress(raw.tell(), source.size_bytes)
            yield found


class _Runs:
    """Makes rows of the runs of one file."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.ids: set[str] = set()
        self.sweeps: dict[str, tuple[int, str]] = {}
        self.seen: Counter[str] = Counter()

    def rows(self, found: Any, *, in_table: bool = False) -> list[tuple[WorkTable, dict[str, Any]]]:
        run: TrackedRun = of_cells(found) if in_table else of_object(found)
        if run.run_id in self.ids:
            raise ValueError(f"the run {run.run_id} stands in the file already")
        rows = run.rows(is_parent=False, holds=True)
        self.ids.add(run.run_id)
        if run.parent:
            self.sweeps.setdefault(run.parent, (self.sink.rows_read, run.experiment))
        self.seen["runs"] += 1
        self.seen["without count"] += not run.job and run.held is None
        self.seen["open"] += run.ended_at is None and run.final_status != "never started"
        return rows

    def flags(self) -> Iterator[str]:
        if self.seen["without count"]:
            yield f"{self.seen['without count']} of {self.seen['runs']} runs do not say how many accelerators they held."
        if self.seen["open"]:
            yield f"{self.seen['open']} runs have no end that is known (still running?)."
