"""What monitoring has measured: counts and states in a window, and useful units that were counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import duckdb

from unitcost import money
from unitcost.errors import UnknownName
from unitcost.facts.measured import OUTPUT_UNITS, GaugeRow, GaugesBy, HeldSpan, IncrementRow, IncrementsBy
from unitcost.facts.metered import is_useless, service_of
from unitcost.facts.spend import OutputRow, Selection
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.spend import query
from unitcost.units import MICROSECONDS_PER_SECOND

#: What increments are summed by -> columns of the answer.
_KEYS: dict[IncrementsBy, tuple[str, ...]] = {
    "series": ("resource_id", "node", "workload_id", "label_text"),
    "workload": ("workload_id",),
    "resource": ("resource_id", "node"),
    "node": ("node",),
    "metric": (),
}
_COLUMNS = ("resource_id", "node", "workload_id")
#: All that a ledger may hold lies between these.
_EVER = (datetime(1990, 1, 1), datetime(2200, 1, 1))
_NAMES = "SELECT DISTINCT workload, workload_id FROM ids WHERE workload IS NOT NULL"
_BY_CARD = "SELECT *, CAST(NULL AS BIGINT) AS workload, weighted IS NOT NULL AS counts FROM lasting"
_BY_WORKLOAD = (
    "SELECT lasting.*, workload, weighted IS NOT NULL AND NOT shared AS counts FROM lasting JOIN "
    "(SELECT DISTINCT card, workload, sampled_at FROM near WHERE workload IS NOT NULL) USING (card, sampled_at)"
)


def increments(
    con: duckdb.DuckDBPyConnection, start: datetime | None, end: datetime | None, *, by: IncrementsBy,
    metrics: Sequence[str], daily: bool,
) -> list[IncrementRow]:  # fmt: skip
    """Increments of counters in `[start, end)`, in the order of metric, unit, day and keys."""
    if by not in _KEYS:
        raise UnknownName("key of increments", by, _KEYS)
    names = _KEYS[by]
    con.execute(query("grown"))
    shown = [f"any_value({c})" if c in names else "''" for c in _COLUMNS]
    keys = ", ".join([*shown, "any_value(labels)" if by == "series" else "NULL"])
    sql = query("increments").format(keys=keys, groups="".join(f", {name}" for name in names))
    rows = con.execute(sql, _window(start, end) | _chosen(metrics) | {"daily": daily}).fetchall()
    return [
        IncrementRow(
            metric=metric, unit=unit, day=day, resource_id=resource, node=node, workload_id=workload,
            labels=labels or {}, quantity=quantity, restarts=restarts, series_count=count,
            first_at=first.replace(tzinfo=UTC), last_at=last.replace(tzinfo=UTC),
        )
        for metric, unit, day, resource, node, workload, labels, quantity, restarts, count, first, last in rows
    ]  # fmt: skip


def gauges(
    con: duckdb.DuckDBPyConnection,
    start: datetime | None,
    end: datetime | None,
    *,
    by: GaugesBy,
    metrics: Sequence[str],
    gap_intervals: int,
) -> list[GaugeRow]:
    """Means of gauges of cards over `[start, end)`, in the order of metric, card and workload."""
    chosen = _BY_WORKLOAD if by == "workload" else _BY_CARD
    given = _window(start, end) | _chosen(metrics) | {"gap_intervals": gap_intervals}
    rows = con.execute(query("gauges").format(chosen=chosen, names=_NAMES), given).fetchall()
    return [_gauge(row, start, end, by) for row in rows]


def held_gauges(
    con: duckdb.DuckDBPyConnection, start: datetime | None, end: datetime | None, *, metrics: Sequence[str],
    gap_intervals: int, spans: Sequence[HeldSpan],
) -> list[GaugeRow]:  # fmt: skip
    """Means of gauges of cards over the spans of each workload, in the order of metric, card and workload."""
    names = sorted({span.workload for span in spans})
    numbers = {name: number for number, name in enumerate(names)}
    con.execute(
        "CREATE OR REPLACE TEMP TABLE held_spans (resource_id VARCHAR, workload BIGINT, since TIMESTAMP, until TIMESTAMP); "
        "CREATE OR REPLACE TEMP TABLE span_holders (workload BIGINT, workload_id VARCHAR)"
    )
    columns: dict[str, list[Any]] = {
        "resource_id": [span.resource_id for span in spans], "workload": [numbers[span.workload] for span in spans],
        "since": [span.start_us for span in spans], "until": [span.end_us for span in spans],
    }  # fmt: skip
    insert_columns(
        con, "INSERT INTO held_spans SELECT resource_id, workload, make_timestamp(since), make_timestamp(until) FROM given",
        columns,
    )  # fmt: skip
    insert_columns(
        con, "INSERT INTO span_holders FROM given", {"workload": list(numbers.values()), "workload_id": names}
    )
    given = _window(start, end) | _chosen(metrics) | {"gap_intervals": gap_intervals}
    sql = query("gauges").format(chosen=query("held_values"), names="FROM span_holders")
    return [_gauge(row, start, end, "workload") for row in con.execute(sql, given).fetchall()]


def _gauge(row: tuple[Any, ...], start: datetime | None, end: datetime | None, by: GaugesBy) -> GaugeRow:
    metric, unit, resource, node, workload, weighted, known_us, blank_us, shared_us, first, last, workloads = row
    low, high = start or first.replace(tzinfo=UTC), end or last.replace(tzinfo=UTC)
    known_s = int(known_us) / MICROSECONDS_PER_SECOND
    blank_s = int(blank_us) / MICROSECONDS_PER_SECOND
    return GaugeRow(
        metric=metric, unit=unit, resource_id=resource, node=node, workload_id=workload, workloads=tuple(workloads),
        mean=float(weighted) / int(known_us) if known_us else None, known_s=known_s,
        unknown_s=blank_s if by == "workload" else (high - low).total_seconds() - known_s,
        shared_s=int(shared_us) / MICROSECONDS_PER_SECOND,
    )  # fmt: skip


def _window(start: datetime | None, end: datetime | None) -> dict[str, Any]:
    first, last = _EVER
    return {"start": _plain(start) if start else first, "end": _plain(end) if end else last}


def _plain(moment: datetime) -> datetime:
    """The moment as the ledger writes it: UTC without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def _chosen(metrics: Sequence[str]) -> dict[str, Any]:
    return {"metrics": list(metrics), "all_metrics": not metrics}


# --- useful units ---------------------------------------------------------------------------------------------------

_OWNERS = (
    "SELECT workload_id, max(parent) FROM workloads WHERE source = 'kubernetes' AND parent IS NOT NULL GROUP BY ALL"
)


@dataclass(slots=True)
class _Made:
    """Useful units of one service and day."""

    quantity: Decimal = Decimal(0)
    failed: Decimal = Decimal(0)
    counts_failures: bool = False


def metered_outputs(con: duckdb.DuckDBPyConnection, selection: Selection) -> list[OutputRow]:
    """Useful units that counters of servers have counted, per service and UTC day, in the order of both."""
    start, end = (_midnight(day) if day else None for day in (selection.start, selection.end))
    metrics = [*OUTPUT_UNITS, "requests_failed"]
    owners = dict(con.execute(_OWNERS).fetchall())
    made: dict[tuple[str, date, str, str], _Made] = defaultdict(_Made)
    for row in increments(con, start, end, by="series", metrics=metrics, daily=True):
        service, how = service_of(row.labels, row.workload_id, owners)
        assert row.day is not None
        unit = OUTPUT_UNITS.get(row.metric, "requests")
        _count(made[service, row.day, unit, how], row)
    return [
        OutputRow(
            service=service, day=day, unit=unit, quantity=counted.quantity, named_by=how,
            attempts=money.add([counted.quantity, counted.failed]) if counted.counts_failures else None,
        )
        for (service, day, unit, how), counted in sorted(made.items())
    ]  # fmt: skip


def served(
    con: duckdb.DuckDBPyConnection, selection: Selection, metrics: Sequence[str]
) -> list[tuple[str, str, str, Decimal]]:
    """Service, metric, unit and count of counters of servers in the range, in this order."""
    start, end = (_midnight(day) if day else None for day in (selection.start, selection.end))
    owners = dict(con.execute(_OWNERS).fetchall())
    sums: dict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
    for row in increments(con, start, end, by="series", metrics=metrics, daily=False):
        key = service_of(row.labels, row.workload_id, owners)[0], row.metric, row.unit
        sums[key] = money.add([sums[key], row.quantity])
    return [(*key, quantity) for key, quantity in sorted(sums.items())]


def _count(made: _Made, row: IncrementRow) -> None:
    if row.metric == "requests_failed" or (row.metric == "requests" and is_useless(row.labels)):
        made.failed = money.add([made.failed, row.quantity])
        made.counts_failures = True
    else:
        made.quantity = money.add([made.quantity, row.quantity])


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
