"""Slurm's accounting: `sacct -P -D`, with or without a header, any columns in any order."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WorkTable
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.tables import Broken
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.local_times import LocalTimes
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.slurm_fields import NEEDED, STEP, Fields, known_fields, layout_of, status_of
from unitcost.readers.work.slurm_life import NEVER, Life, Lives
from unitcost.readers.work.slurm_rows import Rows, first_line

NAME = "slurm"
CONVENTIONS = (
    "A row whose JobID has no dot is an allocation. Steps (with a dot) are counted and left out: they hold parts of "
    "what their allocation holds.",
    "Dump with `sacct -P -D`: each life of a job that was put back into the queue is a holding of its own, numbered by "
    "its start. Without -D only the last life is there. A life that the file states twice counts once.",
    "Jobs are named cluster/jobid where the dump has the cluster; `provider` names it where it has none. Tasks of an "
    "array and components of a heterogeneous job have the job as parent.",
    "gres/gpu counts all cards and gres/gpu:TYPE those of a type: gres/gpu:h100=4,gres/gpu=4 is four. Where AllocTRES "
    "has none they are those of AllocGRES, which counts all nodes together. A MIG instance counts as its part of a card.",
    "A life holds cards and, beside them, processor cores (accelerator cpu). Its billing weight is the billing value of "
    "AllocTRES, as the weights of the partition make it; it stands on one holding of a life only, so it adds up.",
    "AllocTRES says what a life holds on all nodes of NodeList together, not how much on each: each counts with an equal "
    "part, and the parts add up to the whole. Cards that do not divide evenly stand in the tag `uneven_cards`. A list "
    "that is not understood, or names more than 65,536 nodes, gives no node.",
    "A life lasts from Start to End, time in which it was suspended included. An End of Unknown means that it had not "
    "ended when the dump was made. A job without a Start, or without nodes, never started and holds nothing.",
    "NODE_FAIL is a crash, OUT_OF_MEMORY a failure, DEADLINE is a timeout, and REQUEUED is a life that was cut short like "
    "one that was preempted. The word itself stays in the tag `state`.",
    "Times are local to the cluster and name no zone, so `timezone` is asked for.",
    "What a job is for does not stand in the dump: its kind stays unknown until rules say so.",
)
DEFINING = NEEDED
_NEVER_AT = datetime.max.replace(tzinfo=UTC)


def sniff(head: Head) -> int:
    """How many fields of `sacct` the first line names, or how many of its cells look like some; only for a text."""
    if head.format != "document":
        return 0
    text = head.data.decode("utf-8-sig", "replace").lstrip("\r\n")
    return known_fields(text.partition("\n")[0].rstrip("\r"))


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the dump; see `WorkReader`."""
    layout = layout_of(first_line(source), delimiter=options.delimiter, columns=options.columns, where=source.name)
    lives = Lives(layout=layout, times=LocalTimes.of(options, source.name), cluster=options.provider)
    rows = Rows(source=source, layout=layout, progress=progress)
    jobs = _Jobs(lives=lives, sink=sink)
    jobs.look(rows.ids())
    for row in rows.fields():
        jobs.take(sink.read(), row)
    jobs.finish()
    return Told(dialect=f"sacct {layout.said}", conventions=CONVENTIONS, flags=tuple(jobs.flags()))


@dataclass(slots=True, kw_only=True)
class _Jobs:
    """Jobs of a dump. One with a single row goes into the sink at once; one with several waits for the last of them.

    `several` holds checksums of the ids that stand in several rows; a few others may share one by chance. What waits
    is kept as text, so that a dump full of requeued jobs needs little more than its own size.
    """

    lives: Lives
    sink: Sink
    several: frozenset[int] = frozenset()
    waiting: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def look(self, ids: Iterable[tuple[str, str]]) -> None:
        """Find the jobs with several rows, by the job and cluster of each row."""
        sums = array("I", (_sum_of(self.lives.named(job, cluster)) for job, cluster in ids if "." not in job))
        found, counts = np.unique(np.frombuffer(sums, dtype=np.uintc), return_counts=True)
        self.several = frozenset(found[counts > 1].tolist())

    def take(self, number: int, row: Fields | Broken) -> None:
        """Read one row."""
        if isinstance(row, Broken):
            self.sink.reject(number, row.reason, row.raw)
            return
        if "." in row.JobID or row.JobID == "JobID":
            self._set_step_aside(number, row)
            return
        name = self.lives.named(row.JobID, row.Cluster)
        if _sum_of(name) in self.several:
            self.waiting.setdefault(name, []).append((number, json.dumps(row)))
        else:
            self._add_lives(self._read([(number, row)]))

    def finish(self) -> None:
        """Put the jobs that have waited into the sink."""
        for kept in self.waiting.values():
            self._add_lives(self._once(self._read([(number, Fields(*json.loads(row))) for number, row in kept])))
        self.waiting.clear()

    def _set_step_aside(self, number: int, row: Fields) -> None:
        if STEP.fullmatch(row.JobID):
            self.lives.seen["steps"] += 1
            return
        reason = "repeats the header" if row.JobID == "JobID" else f"{row.JobID!r} is not the id of a job or a step"
        self._reject(number, row, BadCellError("JobID", row.JobID, reason))

    def _reject(self, number: int, row: Fields, error: BadCellError) -> None:
        raw = self.lives.layout.delimiter.join(filter(None, row))
        self.sink.reject(number, error.reason, raw, column=error.column, value=error.value)

    def _read(self, rows: list[tuple[int, Fields]]) -> list[Life]:
        found = []
        for number, row in rows:
            try:
                found.append(self.lives.read(number, row))
            except BadCellError as error:
                self._reject(number, row, error)
        return found

    def _once(self, lives: list[Life]) -> list[Life]:
        """Lives in the order of their start, each once, as the last row that knows its end states it."""
        by_start: dict[datetime | None, Life] = {}
        for life in lives:
            known = by_start.get(life.start)
            if known is None or life.ended or not known.ended:
                by_start[life.start] = life
        self.lives.seen["stated twice"] += len(lives) - len(by_start)
        never = by_start.pop(None, None)
        started = sorted(by_start.values(), key=lambda life: life.start or _NEVER_AT)
        return [*started, never] if never else started

    def _add_lives(self, lives: list[Life]) -> None:
        """Put a job into the sink; its lives are in order."""
        for attempt, life in enumerate(lives, 1):
            rows: list[tuple[WorkTable, dict[str, str]]] = [
                ("holdings", {**held, "attempt": str(attempt)}) for held in life.holdings
            ]
            if attempt == len(lives):
                rows.append(("workloads", _whole(lives) if attempt > 1 else life.workload))
            self.sink.add_cells(life.row, rows)

    def flags(self) -> Iterable[str]:
        """What the dump made necessary, one sentence each."""
        steps, twice = self.lives.seen["steps"], self.lives.seen["stated twice"]
        if steps:
            yield f"Steps of jobs, which are left out: {steps:,}."
        if steps == self.sink.rows_read - len(self.sink.rejects) and steps:
            yield "No row is an allocation; dump without a selection of steps."
        if twice:
            yield f"Rows that state a life which another row states too: {twice:,}; each life counts once."
        yield from self.lives.flags()


def _sum_of(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "replace"))


def _whole(lives: list[Life]) -> dict[str, str]:
    """The workload of a job with several lives: from the first start to the end of the last."""
    last = lives[-1]
    status = last.status
    if status == NEVER:
        # It was put back into the queue, and waits there or was cancelled there.
        status = status_of(last.state)
        status = lives[-2].status if status == NEVER else status
    return {**last.workload, "status": status, "started_at": lives[0].workload["started_at"]}
