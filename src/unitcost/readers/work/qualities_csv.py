"""Own table of measured qualities: `subject, metric, value[, n, data_set, measured_at, basis]`."""

from __future__ import annotations

from math import isfinite

from unitcost.facts.source import ReadOptions
from unitcost.facts.work import WORK_COLUMNS
from unitcost.money import parse_amount
from unitcost.readers.head import Head
from unitcost.readers.opening import Source
from unitcost.readers.work.cells import BadCellError, read_cell
from unitcost.readers.work.own_tables import TIMES, OwnTable, left_out, times_of
from unitcost.readers.work.reading import Progress, Told
from unitcost.readers.work.records import Rows, fill_rows
from unitcost.readers.work.sink import Sink

NAME = "qualities-csv"
CONVENTIONS = (
    "A row is one value of a metric, of a version of a model, a run, or an option. Further columns: n, data_set, "
    "measured_at, basis.",
    "`n` is the number of labelled items that the value was measured on.",
    TIMES,
)
DEFINING = ("subject", "metric", "value")


def sniff(head: Head) -> int:
    """How many of its columns the file has, 0 without the three that are needed."""
    if head.format == "document" or not head.has(*DEFINING):
        return 0
    return head.count(*(name for name, _ in WORK_COLUMNS["qualities"]))


def fill(source: Source, options: ReadOptions, sink: Sink, progress: Progress | None) -> Told:
    """Read the table; see `WorkReader`."""
    own = OwnTable(tables=("qualities",), needed=DEFINING, keys=("subject", "data_set", "measured_at", "metric"),
                   times=times_of(options, source.name))  # fmt: skip

    def make(cells: dict[str, str]) -> Rows:
        own.check(cells)
        value = read_cell("value", cells["value"], lambda text: float(parse_amount(text)))
        if not isfinite(value):
            raise BadCellError("value", cells["value"], f"{cells['value']!r} is too large")
        rest = own.values({name: text for name, text in cells.items() if name != "value"})
        return [("qualities", {**rest, "value": value})]

    fill_rows(source, sink, progress, make, own.name_of)
    return Told(
        dialect="subject, metric, value",
        conventions=CONVENTIONS,
        flags=(*own.flags(), *left_out(source, ("qualities",))),
    )
