"""The ledger's file: opening it, and what can be asked of it and told to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from unitcost.errors import LedgerBusy, LedgerMismatch, UnitcostError
from unitcost.facts.charges import FACET_COLUMNS, Facet
from unitcost.facts.measured import GAP_INTERVALS, GaugeRow, GaugesBy, IncrementRow, IncrementsBy
from unitcost.facts.rules import OWNER_KINDS, InvoiceTotal, StatedCharge
from unitcost.facts.source import LoadRecord, Plan, ReadOptions, Reject
from unitcost.facts.spend import (
    Attribution,
    ClosingRow,
    CommitmentRow,
    LedgerRow,
    OutputRow,
    Placement,
    Selection,
    SpendRow,
)
from unitcost.facts.work import WorkPlan
from unitcost.ledger import close, known, load, measured, stated
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.facet_sums import FacetSums
from unitcost.ledger.numbering import number_pending
from unitcost.ledger.place import address, check_place, make_folder
from unitcost.ledger.restate import Claim
from unitcost.ledger.spend import Question, WantedRows, ask_rows, ask_spend, ask_tag_keys
from unitcost.ledger.transaction import transaction
from unitcost.ledger.work_rows import WorkRows

SCHEMA_VERSION = 4
#: With less than this the engine stores rows as wide as charges on one core only.
_MEMORY_LIMIT = "1300MB"
#: Rows of several small files are stored in the end at once; each time it would be done anew for all of a row group.
_CHECKPOINT_FROM = "128MB"
_TRIES, _PAUSE_S = 20, 0.25
_BATCH = 2048


class Ledger:
    """An open ledger; use it as a context manager.

    One process writes at a time; another one waits a few seconds and then says who holds the file.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._con = con
        self._has_macros = False
        self._sums = FacetSums()
        self.path = path

    @classmethod
    def open(cls, path: Path | str, *, read_only: bool = False) -> Ledger:
        """Open a ledger, making it when it does not exist.

        Raises
        ------
        LedgerBusy
            When another process holds it.
        LedgerMismatch
            When the file is no ledger, is damaged, or has another schema version.
        UnitcostError
            When its folder cannot be made.
        """
        file = Path(path)
        make_folder(file.parent)
        check_place(file)
        con = _connect(file, read_only)
        try:
            con.execute(f"SET memory_limit = '{_MEMORY_LIMIT}'")
            con.execute(f"SET checkpoint_threshold = '{_CHECKPOINT_FROM}'")
            con.execute("SET TimeZone = 'UTC'")
            con.execute("SET temp_directory = ?", [str(file.parent / "scratch")])
            _check_schema(con, file, read_only)
            if not read_only:
                number_pending(con)
        except BaseException:
            con.close()
            raise
        return cls(con, file)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._con.close()

    # --- loading ----------------------------------------------------------------------------------------

    def known(
        self, file: str, sha256: str, *, source: str, options: ReadOptions, said: str = "", claim: Claim | None = None
    ) -> LoadRecord | None:
        """Load of this very content, restated as the options ask for; None when the content must be loaded.

        Parameters
        ----------
        said
            What the user says about reading the file; content of the same path that was read otherwise is not known.
        claim
            How far a restatement reaches.

        Raises
        ------
        PartOrRestatement
            When it restates what may be a part of the same statement.
        """
        self._sums.forget()
        if not self._con.execute("SELECT 1 FROM loads WHERE sha256 = ? LIMIT 1", [sha256]).fetchall():
            return None
        found = known.find(self._con, file, sha256, said, part=options.part)
        if found is None:
            return None
        return known.restated(self._con, found, file, options, replace(claim or Claim(), source=source))

    def contents(self) -> frozenset[str]:
        """SHA-256 of all contents that have been loaded."""
        return frozenset(row[0] for row in self._con.execute("SELECT DISTINCT sha256 FROM loads").fetchall())

    def load(
        self,
        plan: Plan | WorkPlan,
        *,
        file: str,
        sha256: str,
        source: str,
        options: ReadOptions,
        now: datetime,
        said: str = "",
        claim: Claim | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> LoadRecord:
        """Load one file in one transaction; see `known`, and `unitcost.ledger.load.load_plan` for what it raises."""
        claim = claim or Claim()
        found = self.known(file, sha256, source=source, options=options, said=said, claim=claim)
        if found is not None:
            return found
        if not self._has_macros:
            self._con.execute(_resource("queries/macros.sql"))
            self._has_macros = True
        arrival = load.Arrival(
            file=file, sha256=sha256, source=source, options=options, now=now, said=said, claim=claim
        )  # fmt: skip
        return load.load_plan(self._con, plan, arrival, progress)

    def state_charges(self, charges: Sequence[StatedCharge], *, now: datetime) -> None:
        """Put the `[[charge]]` entries of the settings in place of those stated before."""
        self._sums.forget()
        stated.state_charges(self._con, charges, now=now)

    def state_invoices(self, invoices: Sequence[InvoiceTotal]) -> None:
        """Put the `[[invoice]]` entries of the settings in place of those stated before."""
        stated.state_invoices(self._con, invoices)

    def loads(self) -> list[LoadRecord]:
        """Loads that count now, in the order they were made."""
        query = f"SELECT {load.LOAD_COLUMNS} FROM loads WHERE replaced_by IS NULL ORDER BY load_id"
        return [load.record_of(row) for row in self._con.execute(query).fetchall()]

    def rejects(self, load_id: int | None = None, limit: int | None = None) -> list[tuple[str, Reject]]:
        """Rows that were set aside, with their file, in file and row order."""
        query = (
            "SELECT l.file, r.row_number, r.column_name, r.value, r.reason, r.raw FROM rejects r JOIN loads l "
            "USING (load_id) WHERE (? IS NULL OR load_id = ?) ORDER BY r.load_id, r.row_number LIMIT ?"
        )
        rows = self._con.execute(query, [load_id, load_id, limit if limit is not None else 2**62]).fetchall()
        return [
            (file, Reject(row=row, column=column, value=value, reason=reason, raw=raw))
            for file, row, column, value, reason, raw in rows
        ]

    # --- attribution ------------------------------------------------------------------------------------

    def facets(self) -> Iterator[Facet]:
        """All facets, in the order of their id."""
        texts = [name for name in FACET_COLUMNS if name != "tags"]
        cursor = self._con.cursor()
        cursor.execute(f"SELECT facet_id, {', '.join(texts)}, tags FROM facets ORDER BY facet_id")
        while rows := cursor.fetchmany(_BATCH):
            for facet_id, *values, tags in rows:
                found = {name: value for name, value in zip(texts, values, strict=True) if value is not None}
                yield Facet(facet_id=facet_id, values=found, tags={k: v or "" for k, v in (tags or {}).items()})

    def attributed(self, fingerprint: str) -> bool:
        """Whether all facets have an attribution that was made with these rules."""
        rows = self._con.execute(
            "SELECT (SELECT value FROM meta WHERE key = 'attribution'), "
            "(SELECT count(*) FROM facets WHERE facet_id NOT IN (SELECT facet_id FROM attributions))"
        ).fetchall()
        return bool(rows[0][0] == fingerprint and rows[0][1] == 0)

    def write_attributions(self, fingerprint: str, rows: Iterable[Attribution]) -> None:
        """Put new attributions in place of all older ones."""
        self._sums.forget()
        columns: list[list[Any]] = [[] for _ in range(13)]
        for row in rows:
            owners = (part or "" for kind in OWNER_KINDS for part in row.owners[kind])
            for column, value in zip(
                columns, (row.facet_id, *owners, row.driver, row.driver_rule, row.line), strict=True
            ):
                column.append(value)
        with transaction(self._con):
            self._con.execute("DELETE FROM attributions")
            insert_columns(
                self._con,
                f"INSERT INTO attributions SELECT CAST(v0 AS UBIGINT), {', '.join(f'v{i}' for i in range(1, 13))} FROM given",
                {f"v{i}": column for i, column in enumerate(columns)},
            )
            self._con.execute("INSERT OR REPLACE INTO meta VALUES ('attribution', ?)", [fingerprint])

    # --- questions --------------------------------------------------------------------------------------

    def charge_periods(self) -> list[tuple[datetime, datetime]]:
        """Distinct charge periods, UTC, in order."""
        rows = self._con.execute(
            "SELECT DISTINCT charge_period_start, charge_period_end FROM charges ORDER BY ALL"
        ).fetchall()
        return [(start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)) for start, end in rows]

    def billing_months(self) -> list[str]:
        """Months (YYYY-MM) of the billing periods that charges stand in."""
        query = "SELECT DISTINCT strftime(billing_period_start, '%Y-%m') FROM charges ORDER BY 1"
        return [row[0] for row in self._con.execute(query).fetchall() if row[0] is not None]

    def currencies(self) -> list[str]:
        """Currencies that charges are billed in."""
        return [
            row[0] for row in self._con.execute("SELECT DISTINCT billing_currency FROM charges ORDER BY 1").fetchall()
        ]

    def spend(
        self,
        selection: Selection,
        dims: tuple[str, ...],
        *,
        placements: Sequence[Placement] = (),
        rates_since: Sequence[date] = (),
    ) -> list[SpendRow]:
        """Sums of the selected cost by `dims`, per currency and exchange-rate period, in the order of the keys.

        Parameters
        ----------
        placements
            Where each charge period lies; needed for the dimensions `month` and `day` and for a selection
            that places charges by their charge period. Unclipped: all buckets of each period.
        rates_since
            Days on which an exchange rate begins to apply.
        """
        question = Question(selection=selection, dims=dims, placements=placements, rates_since=rates_since)
        return ask_spend(self._con, question, self._sums)

    def rows(
        self,
        selection: Selection,
        dims: tuple[str, ...],
        wanted: Sequence[WantedRows],
        *,
        placements: Sequence[Placement] = (),
        rates_since: Sequence[date] = (),
        limit: int | None = None,
    ) -> list[list[LedgerRow]]:
        """Charges behind each of some sums by the same dimensions, largest part first; at most `limit` of each."""
        question = Question(selection=selection, dims=dims, placements=placements, rates_since=rates_since)
        return ask_rows(self._con, question, wanted, limit)

    @property
    def work(self) -> WorkRows:
        """What is known about work, beside what was paid."""
        return WorkRows(self._con)

    def tag_keys(
        self, selection: Selection, *, placements: Sequence[Placement] = (), currency: str = ""
    ) -> list[tuple[str, ...]]:
        """Sets of tag keys on the selected charges, each once; only those billed in a currency, where one is given."""
        return ask_tag_keys(self._con, Question(selection=selection, dims=(), placements=placements, currency=currency))

    def closing(self, selection: Selection) -> list[ClosingRow]:
        """Billed cost per invoice, currency and billing period, beside the invoice, with the bridge from effective."""
        return close.closing(self._con, selection)

    def commitments(self, selection: Selection) -> list[CommitmentRow]:
        """Commitment discounts in the range: bought, used, unused."""
        return close.commitments(self._con, selection)

    def outputs(self, selection: Selection) -> list[OutputRow]:
        """Useful units per service and day in the range."""
        return close.outputs(self._con, selection)

    # --- what was measured ------------------------------------------------------------------------------

    def increments(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        by: IncrementsBy = "series",
        metrics: Sequence[str] = (),
        daily: bool = False,
    ) -> list[IncrementRow]:
        """What counters have counted in `[start, end)`, restarts repaired per series before summing.

        Parameters
        ----------
        start, end
            Window, None = open; a step between two samples that crosses its edge is apportioned by time.
        by
            What to sum by.
        metrics
            Our names of the metrics; empty = all.
        daily
            One row for each UTC day.
        """
        return measured.increments(self._con, start, end, by=by, metrics=metrics, daily=daily)

    def gauges(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        by: GaugesBy = "resource",
        metrics: Sequence[str] = (),
        gap_intervals: int = GAP_INTERVALS,
    ) -> list[GaugeRow]:
        """Means of states of cards over `[start, end)`, weighted by time: one measurement per card, not per pod.

        Parameters
        ----------
        start, end
            Window, None = from the first sample, to the last.
        by
            A row for each card, or for each workload on each card.
        metrics
            Our names of the metrics; empty = all.
        """
        return measured.gauges(self._con, start, end, by=by, metrics=metrics, gap_intervals=gap_intervals)

    def metered_outputs(self, selection: Selection) -> list[OutputRow]:
        """Useful units per service and UTC day that counters of model servers have counted in the range."""
        return measured.metered_outputs(self._con, selection)


def _connect(file: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    for attempt in range(_TRIES):
        try:
            return duckdb.connect(address(file), read_only=read_only)
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise _mismatch(file, str(error).splitlines()[0]) from error
            if attempt == _TRIES - 1:
                raise LedgerBusy(
                    "another process is using the ledger", where=str(file), mend="wait until it has finished"
                ) from error
            time.sleep(_PAUSE_S)
        except (duckdb.Error, RuntimeError) as error:
            raise _mismatch(file, str(error).splitlines()[0]) from error
    raise UnitcostError("the ledger could not be opened", where=str(file))


def _mismatch(file: Path, what: str) -> LedgerMismatch:
    return LedgerMismatch(
        f"the file cannot be opened as a ledger ({what})", where=str(file), mend="move it away and load the bills again"
    )


def _check_schema(con: duckdb.DuckDBPyConnection, file: Path, read_only: bool) -> None:
    tables = {row[0] for row in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables and not read_only:
        con.execute("BEGIN")
        con.execute(_resource("schema.sql"))
        con.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(SCHEMA_VERSION)])
        con.execute("COMMIT")
        return
    found = con.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchall() if "meta" in tables else []
    if not found:
        raise _mismatch(file, "it holds other tables")
    if found[0][0] != str(SCHEMA_VERSION):
        raise LedgerMismatch(
            f"the ledger has schema version {found[0][0]}, this unitcost needs {SCHEMA_VERSION}",
            where=str(file), mend="move it away and load the bills again, or use the unitcost that wrote it",
        )  # fmt: skip


def _resource(name: str) -> str:
    return resources.files("unitcost.ledger").joinpath(name).read_text(encoding="utf-8")
