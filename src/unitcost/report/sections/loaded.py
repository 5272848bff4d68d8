"""What the report stands on: files, rows, and what was set aside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from unitcost.facts.source import LoadRecord
from unitcost.report.inputs import ReportInput
from unitcost.report.model import Column, Section, Table

#: Readers that are named before the others are only counted.
_MOST = 5


def rows_by_reader(loads: Sequence[LoadRecord]) -> str:
    """What is loaded, in words: accepted rows by reader, most rows first."""
    counts: dict[str, int] = defaultdict(int)
    for load in loads:
        counts[load.reader] += load.rows_accepted
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{count:,} {'row' if count == 1 else 'rows'} of {reader}" for reader, count in ordered]
    more = f" and of {len(words) - _MOST} more readers" if len(words) > _MOST else ""
    return ", ".join(words[:_MOST]) + more


def data(given: ReportInput) -> Section:
    """Files that were loaded, with rows read, accepted and set aside, and what each made necessary."""
    columns = tuple(Column(name=name) for name in ("file", "reader", "rows read", "accepted", "set aside"))
    rows = tuple(
        (
            load.file,
            f"{load.reader} ({load.dialect})",
            f"{load.rows_read:,}",
            f"{load.rows_accepted:,}",
            f"{load.rows_rejected:,}",
        )
        for load in given.loads
    )
    notes = [f"{load.file}: {flag}" for load in given.loads for flag in load.flags]
    aside = sum(load.rows_rejected for load in given.loads)
    if aside:
        notes.insert(0, f"{aside} rows were set aside; `unitcost check --rejects` lists them with their reasons.")
    residues = [
        f"{load.file}: rounding to twelve places took {value} {currency} from {column}"
        for load in given.loads
        for currency, columns_ in load.residues.items()
        for column, value in columns_.items()
    ]
    return Section(
        key="data", title="Data", question="What does this report stand on?", tables=(Table(columns=columns, rows=rows),),
        notes=(*notes, *residues),
    )  # fmt: skip
