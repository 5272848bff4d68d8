"""Where a reader of work puts its rows: one csv per table of the ledger, written as they come."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal
from json.encoder import encode_basestring
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from unitcost.facts.accelerators import accelerator_name
from unitcost.facts.source import Reject
from unitcost.facts.work import WORK_COLUMNS, TableFile, WorkKind, WorkTable
from unitcost.readers.tables import RAW_LIMIT
from unitcost.units import KIB, MIB

#: Years that a date of a file may have, the latter not included; one outside is a slip of the pen or of a program.
FIRST_YEAR, LAST_YEAR = 1990, 2200
_WHOLE_LIMIT = 2**63
_DECIMAL_LIMIT = Decimal(10) ** 12
_TIME_WIDTH = len("2026-09-01 00:00:00.000000")
_NAMES = {table: dict.fromkeys(name for name, _ in columns) for table, columns in WORK_COLUMNS.items()}
#: Text as a JSON string, for labels that are put together by hand.
quoted: Callable[[str], str] = encode_basestring
#: Cells of a row in their order, and a row without any.
_CELLS = {table: itemgetter(*names) for table, names in _NAMES.items()}
_EMPTY: dict[WorkTable, dict[str, str]] = {table: dict.fromkeys(names, "") for table, names in _NAMES.items()}
#: Tables whose rows name an accelerator.
_ACCELERATED: tuple[WorkTable, ...] = ("holdings", "resources")
_BUFFER_BYTES = 256 * KIB
_PLACES = Decimal(1).scaleb(-12)
#: Longest row. [characters]
_ROW_LIMIT = 4 * MIB


class Sink:
    """Takes the rows of one file; a context manager.

    A record of the source counts as read once, by `read`; what it gives goes in by `add`, or the record is set aside
    by `reject`. A value that its column cannot hold raises `ValueError` with the reason, before anything is written.
    """

    def __init__(self, workdir: Path) -> None:
        self._workdir = workdir
        self._stack = ExitStack()
        self._streams: dict[WorkTable, TextIO] = {}
        self._writers: dict[WorkTable, Callable[[Sequence[Any]], Any]] = {}
        self._counts: dict[WorkTable, int] = {}
        self.rejects: list[Reject] = []
        self.rows_read = 0

    def __enter__(self) -> Sink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def read(self, count: int = 1) -> int:
        """Count records of the source; returns the number of the last, from 1."""
        self.rows_read += count
        return self.rows_read

    def add(self, table: WorkTable, row: int, **values: Any) -> None:
        """Add a row; columns that are left out are null.

        Raises
        ------
        ValueError
            When a value does not fit its column; nothing is written then.
        """
        self.add_all(row, [(table, values)])

    def add_all(self, row: int, rows: Sequence[tuple[WorkTable, Mapping[str, Any]]]) -> None:
        """Add all rows that one record gives, or none of them when a value does not fit.

        Raises
        ------
        ValueError
            With the name of the column and the reason.
        """
        self._write(row, [(table, cells_of(table, values)) for table, values in rows])

    def add_cells(self, row: int, rows: Sequence[tuple[WorkTable, Mapping[str, str]]]) -> None:
        """Add rows whose values are cells already, made by `time_cell`, `decimal_cell` and `labels_cell`.

        For readers of millions of rows; columns that are left out are null.
        """
        self._write(row, [(table, _CELLS[table]({**_EMPTY[table], **named(table, values)})) for table, values in rows])

    def _write(self, row: int, rows: Sequence[tuple[WorkTable, Sequence[str]]]) -> None:
        for table, cells in rows:
            self._writer(table)((row, *cells))
            self._counts[table] += 1

    def samples(self, row: int, series_key: int, points: Sequence[tuple[str | float, str | float]]) -> None:
        """Add many (epoch [s], value) points of a series; they must be numbers already."""
        self._writer("samples")
        start = f"{row},{series_key},"
        # Nothing here needs a quote, and a writer of csv takes twice as long.
        self._streams["samples"].writelines([f"{start}{at},{value}\r\n" for at, value in points])
        self._counts["samples"] += len(points)

    def reject(self, row: int, reason: str, raw: str, *, column: str = "", value: str = "") -> None:
        """Set a record aside."""
        self.rejects.append(
            Reject(row=row, column=column, value=_text(value[:RAW_LIMIT]), reason=reason, raw=_text(raw[:RAW_LIMIT]))
        )

    def files(self) -> tuple[TableFile, ...]:
        """What was written; call it after the sink is closed."""
        return tuple(
            TableFile(table=table, path=self._path(table), row_count=count) for table, count in self._counts.items()
        )

    def _path(self, table: WorkTable) -> Path:
        return self._workdir / f"{table}.csv"

    def _writer(self, table: WorkTable) -> Callable[[Sequence[Any]], Any]:
        if table not in self._writers:
            stream = self._stack.enter_context(self._path(table).open("w", _BUFFER_BYTES, encoding="utf-8", newline=""))
            self._streams[table] = stream
            # With "\n" alone as line end a bare "\r" in a cell would not be quoted, and the engine would cut there.
            self._writers[table] = csv.writer(stream, lineterminator="\r\n").writerow
            self._counts[table] = 0
        return self._writers[table]


def named(table: WorkTable, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same with the one name of an accelerator, and beside it what the source calls it where that is another."""
    native = values.get("accelerator") if table in _ACCELERATED else None
    name = accelerator_name(native) if native else native
    return values if name == native else {**values, "accelerator": name, "accelerator_native": native}


def cells_of(table: WorkTable, values: Mapping[str, Any]) -> list[str]:
    """Cells of a row in the order of its columns.

    Raises
    ------
    ValueError
        When a value does not fit its column.
    KeyError
        When a value names no column of the table.
    """
    values = named(table, values)
    if not values.keys() <= _NAMES[table].keys():
        unknown = sorted(values.keys() - _NAMES[table].keys())
        raise KeyError(f"{table} has no column {', '.join(unknown)}")
    cells = [_cell(name, kind, values.get(name)) for name, kind in WORK_COLUMNS[table]]
    if sum(map(len, cells)) > _ROW_LIMIT:
        raise ValueError(f"the row is longer than {_ROW_LIMIT // MIB} MiB")
    return cells


def _cell(name: str, kind: WorkKind, value: Any) -> str:
    if value is None or value == "" or value == {}:
        return ""
    try:
        return _WAYS[kind](value)
    except (ValueError, ArithmeticError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from None


def _text(value: Any) -> str:
    text = value if type(value) is str else str(value)
    if text.isascii() and text.isprintable():
        return text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # JSON can hold halves of characters, which no file can
    return text.replace("\x00", "\ufffd")


def time_cell(value: datetime) -> str:
    """Cell of a moment that names its zone."""
    if value.tzinfo is None:
        raise ValueError(f"{value} names no time zone")
    moment = value if value.tzinfo is UTC else value.astimezone(UTC)
    if not FIRST_YEAR <= moment.year < LAST_YEAR:
        raise ValueError(f"{moment:%Y-%m-%d} is not a date between {FIRST_YEAR} and {LAST_YEAR}")
    return moment.isoformat(" ", "microseconds")[:_TIME_WIDTH]


def _epoch(value: Any) -> str:
    return str(Decimal(str(value)))


def _whole(value: Any) -> str:
    whole = int(value)
    if not -_WHOLE_LIMIT <= whole < _WHOLE_LIMIT:
        raise ValueError(f"{whole} is too large")
    return str(whole)


def decimal_cell(value: Any) -> str:
    """Cell of an exact number."""
    amount = Decimal(value) if not isinstance(value, float) else Decimal(repr(value))
    if not amount.is_finite() or amount.copy_abs() >= _DECIMAL_LIMIT:
        raise ValueError(f"{value} is not a number that the ledger can hold")
    return f"{amount.quantize(_PLACES):f}"


def _number(value: Any) -> str:
    return repr(float(value))


def _truth(value: bool) -> str:
    return "true" if value else "false"


def labels_cell(value: Mapping[str, Any]) -> str:
    """Cell of a set of labels, those that are None left out: a JSON object of texts; empty when there are none."""
    found = [f"{quoted(_text(k))}: {quoted(_text(v))}" for k, v in value.items() if v is not None]
    return "{" + ", ".join(found) + "}" if found else ""


_WAYS: dict[WorkKind, Callable[[Any], str]] = {
    "text": _text, "word": _text, "time": time_cell, "epoch": _epoch, "whole": _whole, "decimal": decimal_cell, "number": _number,
    "truth": _truth, "labels": labels_cell,
}  # fmt: skip
