"""Own table of what there is to hold: `resource_id, node, accelerator, quantity[, replicas, instance_type ...]`."""

from __future__ import annotations

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WORK_COLUMNS
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.own_tables import TAGS, TIMES, OwnTable, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "resources-csv"
CONVENTIONS = (
    "A row is a card, a node or an instance that has `quantity` accelerators from started_at to ended_at; without "
    "times it is there all the time.",
    "`replicas` says into how many time slices each accelerator is cut; empty means that it is not cut.",
    "Further columns: source, node, instance_id, instance_type.",
    TIMES,
    TAGS,
)
DEFINING = ("resource_id", "accelerator", "quantity")
_NAMES = ("resource_id", "node", "instance_id")


def sniff(head: Head) -> int:
    """How many of its columns the file has; 0 without a name, accelerator and quantity, or with workloads."""
    if head.format == "document" or head.count("workload_id", "kind") or not head.has("accelerator", "quantity"):
        return 0
    return head.count(*(name for name, _ in WORK_COLUMNS["resources"])) if head.count(*_NAMES) else 0


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    own = OwnTable(tables=("resources",), needed=("accelerator", "quantity"), times=times_of(options, source.name))

    def make(cells: dict[str, str]) -> Rows:
        own.check(cells)
        if not any(name in cells for name in _NAMES):
            raise ValueError("it names no resource, node or instance")
        values = own.values(cells)
        values.setdefault("resource_id", values.get("instance_id") or values.get("node"))
        return [("resources", values)]

    fill_rows(source, sink, progress, make, own.name_of)
    return Told(dialect="accelerator, quantity", conventions=CONVENTIONS, flags=own.flags())
