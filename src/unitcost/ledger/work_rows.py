"""What was paid for capacity, who held it, and what is known about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb

from unitcost.facts.capacity import BilledMachine, HeldRow, KnownResource, PaidRow, WorkCounts, WorkSum
from unitcost.facts.charges import Facet
from unitcost.facts.measured import GaugeRow, HeldSpan
from unitcost.facts.qualities import MeasuredQuality
from unitcost.facts.rules import WorkBilling
from unitcost.facts.runs import HeldLife, Run
from unitcost.facts.spend import Selection, SpendRow
from unitcost.facts.stored import Kept
from unitcost.facts.token_charges import MeteredQuantity
from unitcost.ledger.call_rows import CallRows
from unitcost.ledger.measured import held_gauges, served
from unitcost.ledger.spend import Question, ask_periods, ask_spend, billing_range, query

_BATCH = 2048
#: Facet column -> what stands in it for a workload, so that rules for charges can speak of work.
_FACET_COLUMNS = {
    "resource_id": "workload_id", "resource_name": "name", "sub_account_id": "account", "service_name": "source",
    "resource_type": "kind", "resource_group": "parent",
}  # fmt: skip
#: Rule of billing -> which rows of a life are charged for.
_WINS: dict[WorkBilling, str] = {
    "accelerators": "(coalesce(c.accelerator, '') <> 'cpu' OR NOT c.has_accelerators)",
    "weights": "false",
    "larger": "((coalesce(c.by_accelerators, 0) >= coalesce(c.by_cores, 0) AND c.has_accelerators) "
    "= (coalesce(c.accelerator, '') <> 'cpu'))",
}
_OWNER_COLUMNS = ("team", "project", "experiment")


class WorkRows:
    """Asks an open ledger about work."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    @property
    def calls(self) -> CallRows:
        """What is known about calls of models."""
        return CallRows(self._con)

    def resources(self) -> list[KnownResource]:
        """Cards, nodes and instances that somebody told of, held or watched."""
        return [
            KnownResource(resource_id=row[0], node=row[1], instance_id=row[2], quantity=row[3], told=row[4])
            for row in self._con.execute(query("known_resources")).fetchall()
        ]

    def charged_names(self, selection: Selection) -> list[tuple[str, str | None]]:
        """Resource id and name of the charges in the range that have one."""
        sql = (
            "SELECT DISTINCT resource_id, resource_name FROM charges "
            f"WHERE resource_id IS NOT NULL AND {billing_range(selection)} ORDER BY ALL"
        )
        return [(row[0], row[1]) for row in self._con.execute(sql).fetchall()]

    def spend(self, question: Question) -> list[SpendRow]:
        """Sums by the dimensions of the question."""
        return ask_spend(self._con, question)

    def paid(self, question: Question) -> list[PaidRow]:
        """Sums by the dimensions of the question, with the periods that they paid for."""
        periods: dict[tuple[str | None, ...], list[tuple[datetime, datetime]]] = defaultdict(list)
        for *keys, start, end in ask_periods(self._con, question):
            periods[tuple(keys)].append((start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)))
        return [PaidRow(spend=row, periods=tuple(periods[row.keys])) for row in ask_spend(self._con, question)]

    def metered(self, selection: Selection) -> list[MeteredQuantity]:
        """What the usage charges of each meter in the range add up to."""
        sql = query("metered").replace("{range}", billing_range(selection))
        names = [field.name for field in fields(MeteredQuantity)]
        return [MeteredQuantity(**dict(zip(names, row, strict=True))) for row in self._con.execute(sql).fetchall()]

    def held(self) -> Iterator[HeldRow]:
        """Holdings that count, each stretch once, in a fixed order."""
        sql = (
            "SELECT source || ':' || workload_id, resource_id, node, accelerator, quantity, started_at, ended_at "
            f"FROM ({query('current_holdings')}) WHERE quantity IS NOT NULL AND started_at IS NOT NULL ORDER BY ALL"
        )
        for row in _batches(self._con, sql):
            yield HeldRow(
                workload=row[0], resource_id=row[1], node=row[2], accelerator=row[3], quantity=row[4],
                started_at=row[5].replace(tzinfo=UTC), ended_at=row[6].replace(tzinfo=UTC) if row[6] else None,
            )  # fmt: skip

    def gauges(
        self,
        start: datetime | None,
        end: datetime | None,
        *,
        metrics: Sequence[str],
        gap_intervals: int,
        spans: Sequence[HeldSpan],
    ) -> list[GaugeRow]:
        """Means of states of cards while one workload alone held them."""
        return held_gauges(self._con, start, end, metrics=metrics, gap_intervals=gap_intervals, spans=spans)

    def served(self, selection: Selection, metrics: Sequence[str]) -> list[tuple[str, str, str, Decimal]]:
        """Service, metric, unit and count of counters of model servers in the range."""
        return served(self._con, selection, metrics)

    def accelerators(self) -> list[tuple[str, str]]:
        """Accelerators and pricing categories that were held, each pair once."""
        sql = (
            "SELECT DISTINCT coalesce(accelerator, ''), coalesce(pricing_category, '') FROM holdings "
            "UNION SELECT 'weight', '' FROM holdings WHERE billing_weight IS NOT NULL ORDER BY ALL"
        )
        return [(row[0], row[1]) for row in self._con.execute(sql).fetchall()]

    def sums(
        self,
        epochs: Sequence[tuple[datetime, datetime]],
        prices: Sequence[tuple[str, str, int, int]],
        billing: WorkBilling,
    ) -> list[WorkSum]:
        """Time held by account, status, accelerator and stretch of time.

        Parameters
        ----------
        epochs
            Stretches of time that do not overlap; what was held outside them does not count.
        prices
            Accelerator, pricing category, number of the stretch, price of an hour in units of 10^-12.
        billing
            What is charged for.
        """
        self._con.execute("CREATE OR REPLACE TEMP TABLE work_epochs (number BIGINT, since TIMESTAMP, until TIMESTAMP)")
        for number, (since, until) in enumerate(epochs):
            moments = [moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, until)]
            self._con.execute("INSERT INTO work_epochs VALUES (?, ?, ?)", [number, *moments])
        self._con.execute(
            "CREATE OR REPLACE TEMP TABLE work_prices (accelerator VARCHAR, pricing_category VARCHAR, epoch BIGINT, "
            "units HUGEINT)"
        )
        for price in prices:
            self._con.execute("INSERT INTO work_prices VALUES (?, ?, ?, ?)", list(price))
        sql = query("work_sums").format(
            holdings=query("current_holdings"), workloads=query("current_workloads"), wins=_WINS[billing]
        )
        return [
            WorkSum(
                source=row[0], account=row[1], status=row[2], accelerator=row[3], pricing_category=row[4], epoch=row[5],
                counted=row[6], micro_us=row[7], weight_us=row[8], lives=row[9],
            )
            for row in self._con.execute(sql).fetchall()
        ]  # fmt: skip

    def counts(self) -> WorkCounts:
        """Lives without an end, and workloads that never started."""
        open_lives = (
            "SELECT count(DISTINCT (source, workload_id, attempt, started_at)) "
            f"FROM ({query('current_holdings')}) WHERE ended_at IS NULL"
        )
        never = f"SELECT count(*) FROM ({query('current_workloads')}) WHERE status = 'never started'"
        row = self._con.execute(f"SELECT ({open_lives}), ({never})").fetchall()[0]
        return WorkCounts(open_lives=row[0], never_started=row[1])

    def kept(self, start: datetime, end: datetime) -> list[Kept]:
        """What was kept in stores during `[start, end)`, by store, kind, run and owner."""
        given = {name: moment.astimezone(UTC).replace(tzinfo=None) for name, moment in (("start", start), ("end", end))}
        return [
            Kept(store=row[0], kind=row[1], run=row[2], team=row[3], byte_us=row[4])
            for row in self._con.execute(query("kept"), given).fetchall()
        ]

    def called(self, names: Sequence[str]) -> dict[str, str]:
        """Id or name of a workload -> its key `source:id`; a name that several have is left out."""
        sql = (
            "SELECT said, min(key) FROM (SELECT source || ':' || workload_id AS key, unnest([workload_id, name]) AS said "
            f"FROM ({query('current_workloads')})) WHERE said IN (SELECT unnest($names::VARCHAR[])) "
            "GROUP BY said HAVING count(DISTINCT key) = 1"
        )
        return dict(self._con.execute(sql, {"names": list(names)}).fetchall())

    def runs(self, kinds: Sequence[str], named: Sequence[str] = ()) -> list[Run]:
        """Workloads of these kinds, those that are named, and those that are known to be accepted or not."""
        sql = query("runs").format(workloads=query("current_workloads"))
        return [
            Run(
                workload=row[0], kind=row[1], name=row[2], parent=row[3], experiment=row[4], project=row[5], status=row[6],
                accepted=row[7], started_at=_utc(row[8]), ended_at=_utc(row[9]), config_key=row[10],
                metrics=_texts(row[11]), tags=_texts(row[12]),
            )
            for row in self._con.execute(sql, {"kinds": list(kinds), "named": list(named)}).fetchall()
        ]  # fmt: skip

    def versions(self) -> list[tuple[str, str | None]]:
        """Versions of models, each with the run that made it where that is known."""
        sql = "SELECT DISTINCT model_version, run FROM model_versions ORDER BY ALL"
        return [(row[0], row[1]) for row in self._con.execute(sql).fetchall()]

    def qualities(self) -> list[MeasuredQuality]:
        """The last value of each metric of each subject and data set, under all names of the subject."""
        sql = query("qualities").format(workloads=query("current_workloads"))
        return [
            MeasuredQuality(
                names=tuple(dict.fromkeys(name for name in row[:3] if name)), metric=row[3], value=row[4], items=row[5],
                data_set=row[6], measured_at=_utc(row[7]),
            )
            for row in self._con.execute(sql).fetchall()
        ]  # fmt: skip

    def lives(self, workloads: Sequence[str]) -> dict[str, list[HeldLife]]:
        """Workload -> what its lives held; under the short name too where no other workload has the same."""
        sql = query("lives").format(holdings=query("current_holdings"))
        found: dict[str, list[HeldLife]] = defaultdict(list)
        meant: dict[str, set[str]] = defaultdict(set)
        for row in self._con.execute(sql, {"workloads": list(workloads)}).fetchall():
            meant[row[1]].add(row[0])
            found[row[0]].append(_held(row[2:]))
        single = {short: next(iter(names)) for short, names in meant.items() if len(names) == 1}
        return {**{short: found[name] for short, name in single.items()}, **found}

    def billed_machines(self, resources: Sequence[str]) -> list[BilledMachine]:
        """What charges say of the machines that some resources are."""
        rows = self._con.execute(query("billed_machines"), {"resources": list(resources)}).fetchall()
        return [
            BilledMachine(resource=row[0], provider=row[1], region=row[2], pricing_category=row[3], texts=row[4])
            for row in rows
        ]

    def steps(self, workloads: Sequence[str]) -> dict[str, list[HeldLife]]:
        """Workload -> lives whose steps it tells of; what they held may be told by a job that it is part of."""
        found: dict[str, list[HeldLife]] = defaultdict(list)
        for row in self._con.execute(query("life_steps"), {"workloads": list(workloads)}).fetchall():
            found[row[0]].append(_held(row[1:]))
        return found

    def workload_facets(self, wanted: Sequence[str] | None = None) -> Iterator[tuple[str, Facet]]:
        """Workloads by their key `source:id`, as facets that the rules for owners and drivers can look at; None = all."""
        columns = ", ".join([*_FACET_COLUMNS.values(), *_OWNER_COLUMNS])
        sql = f"SELECT source || ':' || workload_id, {columns}, tags FROM ({query('current_workloads')})"
        condition = " WHERE source || ':' || workload_id IN (SELECT unnest($wanted::VARCHAR[]))"
        given = {"wanted": list(wanted)} if wanted is not None else {}
        sql += (condition if given else "") + " ORDER BY 1"
        for number, (key, *values, tags) in enumerate(_batches(self._con, sql, given), 1):
            texts = dict(zip(_FACET_COLUMNS, values, strict=False))
            owners = dict(zip(_OWNER_COLUMNS, values[len(_FACET_COLUMNS) :], strict=True))
            found = {name: text for name, text in (tags or {}).items() if text}
            found |= {name: text for name, text in owners.items() if text}
            yield (
                key,
                Facet(facet_id=number, values={name: text for name, text in texts.items() if text}, tags=found),
            )


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None


def _texts(found: dict[str, str | None] | None) -> dict[str, str]:
    return {name: text for name, text in (found or {}).items() if text is not None}


def _batches(
    con: duckdb.DuckDBPyConnection, sql: str, given: dict[str, Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    cursor = con.cursor()
    cursor.execute(sql, given or {})
    while rows := cursor.fetchmany(_BATCH):
        yield from rows


def _held(row: Sequence[Any]) -> HeldLife:
    return HeldLife(
        attempt=row[0], status=row[1], accelerator=row[2], pricing_category=row[3], quantity=row[4], started_at=_utc(row[5]),
        ended_at=_utc(row[6]), startup_s=row[7], start_step=row[8], end_step=row[9], kept_step=row[10],
    )  # fmt: skip
