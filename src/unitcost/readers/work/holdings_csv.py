"""Own table of holdings: `workload_id, accelerator, quantity, started_at, ended_at[, attempt, status ...]`."""

from __future__ import annotations

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WORK_COLUMNS
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.own_tables import TIMES, OwnTable, holding_of, left_out, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "holdings-csv"
CONVENTIONS = (
    "A row is one life of a workload: it held `quantity` accelerators (a fraction of a card counts as such) from "
    "started_at to ended_at. The accelerator cpu counts processor cores; one without a name is a GPU of unknown type.",
    "Further columns: source, attempt, status, resource_id, node, billing_weight, pricing_category (spot, on-demand, reserved), "
    "startup_s, start_step, end_step, kept_step.",
    "Steps are counted from the start of the run: a life begins at start_step, reaches end_step, and what it has saved "
    "last is kept_step. startup_s is the time before the first step, in seconds.",
    "An empty ended_at means that the end is not known, not that the life lasts until now. An empty quantity is unknown.",
    TIMES,
)
DEFINING = ("workload_id", "accelerator", "quantity", "started_at")


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 without those that are needed; a table with `kind` lists workloads."""
    if head.format == "document" or not head.has(*DEFINING) or head.has("kind"):
        return 0
    return head.count(*(name for name, _ in WORK_COLUMNS["holdings"]))


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    own = OwnTable(tables=("holdings",), needed=("workload_id", "started_at"), times=times_of(options, source.name))

    def make(cells: dict[str, str]) -> Rows:
        own.check(cells)
        return [("holdings", holding_of(own, cells))]

    fill_rows(source, sink, progress, make, own.name_of)
    flags = (*own.flags(), *left_out(source, ("holdings",)))
    return Told(dialect="workload_id, accelerator, quantity, started_at", conventions=CONVENTIONS, flags=flags)
