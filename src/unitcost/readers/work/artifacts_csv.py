"""Own table of stored things: `artifact_id, size_bytes[, kind, run, owner, gb_months, created_at, last_access ...]`."""

from __future__ import annotations

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import ARTIFACT_KINDS, WORK_COLUMNS
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.own_tables import TAGS, TIMES, OwnTable, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink
from unitcost.readers.work.storage_kinds import kind_of, run_of
from unitcost.readers.work.storage_objects import KINDS, MONTHS, Month

NAME = "artifacts-csv"
CONVENTIONS = (
    "A row is one stored thing. Further columns: kind, run, owner, resource_id, storage_class, gb_months, period_start, "
    "period_end, created_at, last_access.",
    f"Kinds are {', '.join(ARTIFACT_KINDS)}. An empty kind or run is told by artifact_id, as that of an object is by its "
    "path.",
    *KINDS,
    MONTHS.replace("its last change", "created_at"),
    TIMES,
    TAGS,
)
DEFINING = ("artifact_id", "size_bytes")


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 without the two that are needed."""
    if head.format == "document" or not head.has(*DEFINING):
        return 0
    return head.count(*(name for name, _ in WORK_COLUMNS["artifacts"]))


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    own = OwnTable(tables=("artifacts",), needed=("artifact_id",), keys=("artifact_id", "period_start"),
                   times=times_of(options, source.name))  # fmt: skip
    month = Month.of(options, source.name)

    def make(cells: dict[str, str]) -> Rows:
        values = own.values(cells)
        kind = cells.get("kind", "").casefold()
        if kind and kind not in ARTIFACT_KINDS:
            raise BadCellError("kind", cells["kind"], f"{cells['kind']!r} is none of {', '.join(ARTIFACT_KINDS)}")
        told, rule = (kind, "") if kind else kind_of(cells.get("artifact_id", ""))
        tags = {**values.get("tags", {}), **({"kind_rule": rule} if rule else {})}
        values |= {"kind": told, "run": cells.get("run") or run_of(cells.get("artifact_id", "")), "tags": tags}
        if month and "gb_months" not in values and "size_bytes" in values:
            values |= {"gb_months": month.gb_months(values["size_bytes"], values.get("created_at")),
                       "period_start": month.start, "period_end": month.end}  # fmt: skip
        own.check(cells)
        return [("artifacts", values)]

    fill_rows(source, sink, progress, make, own.name_of)
    return Told(dialect="artifact_id, size_bytes", conventions=CONVENTIONS, flags=own.flags())
