"""Own table of workloads: `workload_id, kind[, name, parent, team, project, experiment, status, accepted ...]`."""

from __future__ import annotations

from typing import Any

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WORK_COLUMNS, WORKLOAD_DRIVERS, WorkTable
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.own_tables import TAGS, TIMES, OwnTable, holding_of, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "workloads-csv"
CONVENTIONS = (
    "A row is one piece of work. Its columns are those of the table `workloads`: workload_id, kind, name, parent, "
    "account, team, project, experiment, status, accepted, started_at, ended_at, config_key, source.",
    f"Kinds are {', '.join(WORKLOAD_DRIVERS)}; another one is kept, and no driver stands for it.",
    "`accepted` is yes, no or empty: not known. `config_key` is the same for runs of the same configuration.",
    "Where the table has `quantity`, a row with one is also what the workload held, from started_at to ended_at, with "
    "the columns of `holdings-csv`.",
    "A workload_id that stands in an earlier row is set aside.",
    TIMES,
    TAGS,
)
DEFINING = ("workload_id", "kind")


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 without the two that are needed."""
    names = {name for table in ("workloads", "holdings") for name, _ in WORK_COLUMNS[table]}
    return head.count(*names) if head.format != "document" and head.has(*DEFINING) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    held = "quantity" in {column.casefold() for column in source.columns}
    own = OwnTable(
        tables=("workloads", "holdings") if held else ("workloads",), needed=("workload_id",),
        keys=("source", "workload_id"), times=times_of(options, source.name),
    )  # fmt: skip

    def make(cells: dict[str, str]) -> Rows:
        workload = own.values(cells)
        rows: list[tuple[WorkTable, dict[str, Any]]] = [("workloads", workload)]
        if "quantity" in cells:
            rows.append(("holdings", holding_of(own, cells)))
        own.check(cells)
        own.note_kind(workload.get("kind"))
        return rows

    fill_rows(source, sink, progress, make, own.name_of)
    return Told(dialect="workload_id, kind", conventions=CONVENTIONS, flags=own.flags())
