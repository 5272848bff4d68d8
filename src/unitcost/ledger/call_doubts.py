"""Calls that may be told twice: rows of one id that state different things, and sources that agree call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

import duckdb

from unitcost.facts.call_doubts import CallOverlap, Restated, StatedCall, StatementKind
from unitcost.facts.call_sums import CallQuestion
from unitcost.facts.calls import SUM_OF_CALLS
from unitcost.facts.tokens import INPUT_CLASSES, OUTPUT_CLASSES
from unitcost.ledger import call_pricing
from unitcost.ledger.spend import query
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_MINUTE

_ALL = 2**62
#: Two sources note the start of a call this far apart at most. [microseconds]
_NEAR = 2 * MICROSECONDS_PER_SECOND
#: So far apart calls agree by chance only; no round number, for jobs run at round times. [microseconds]
_SHIFT = (7 * SECONDS_PER_MINUTE + 13) * MICROSECONDS_PER_SECOND
#: Spans of fewer tolerances than this say nothing of chance.
_SHORT = 10
#: Fewer calls than this share of those of the smaller source are taken for chance.
_LEAST_SHARE = 0.05
#: Side of a call -> classes of tokens that do not overlap.
_SIDES: dict[str, list[str]] = {
    "taken": list(INPUT_CLASSES),
    "made": [name for name in OUTPUT_CLASSES if name != "reasoning"],
}


class CallDoubts:
    """Asks an open ledger which calls may be told twice."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def counts(self, load_id: int | None = None) -> dict[StatementKind, int]:
        """Kind -> rows whose id another row has too; of those that a load has part in, or of all."""
        sql = (
            "SELECT kind, count(*) FROM call_statements WHERE kind IS NOT NULL "
            "AND ($load_id IS NULL OR $load_id IN (load_id, by_load_id)) GROUP BY kind ORDER BY kind"
        )
        return dict(self._con.execute(sql, {"load_id": load_id}).fetchall())

    def restated(self, kind: StatementKind, *, load_id: int | None = None, limit: int | None = None) -> list[Restated]:
        """Rows of a kind with the rows that count instead, in the order in which they were loaded."""
        sides = {f"{side}_{table}": _summed(names, table) for side, names in _SIDES.items() for table in ("t", "b")}
        rows = self._con.execute(
            query("call_restated").format(**sides),
            {"kinds": [kind], "load_id": load_id, "most": _ALL if limit is None else limit},
        ).fetchall()
        return [Restated(kind=row[0], call_id=row[1], row=_stated(row[2:8]), counts=_stated(row[8:])) for row in rows]

    def several_readers(self) -> bool:
        """Whether several readers told of calls."""
        sql = "SELECT count(DISTINCT reader) > 1 FROM loads WHERE dataset = 'calls' AND replaced_by IS NULL"
        return bool(self._con.execute(sql).fetchall()[0][0])

    def overlaps(self, question: CallQuestion, *, priced: str = "") -> list[CallOverlap]:
        """Pairs of readers whose calls agree in model, tokens and time more often than by chance.

        Parameters
        ----------
        question
            Whose `called` says which names mean one model.
        priced
            Query of priced calls, for what they cost; empty = costs are not asked for. Then calls outside of the periods
            of the question count too.
        """
        if not self.several_readers():
            return []
        call_pricing.fill_names(self._con, question)
        sides = {side: _summed(names, "c") for side, names in _SIDES.items()}
        self._con.execute(query("call_signatures").format(**sides, sums=SUM_OF_CALLS))
        found = [self._overlap(*pair, question, priced) for pair in combinations(self._readers(), 2)]
        return [overlap for overlap in found if overlap is not None]

    def _readers(self) -> list[str]:
        rows = self._con.execute("SELECT DISTINCT reader FROM call_signatures ORDER BY reader").fetchall()
        return [row[0] for row in rows]

    def _overlap(self, first: str, second: str, question: CallQuestion, priced: str) -> CallOverlap | None:
        """What two readers have in common; None where that may be chance."""
        common = self._common(first, second)
        matched = self._matched(first, second, moved=False)
        if matched < max(1.0, _LEAST_SHARE * common):
            return None
        calls = matched - self._matched(first, second, moved=True)
        if calls < max(1.0, _LEAST_SHARE * common):
            return None
        costs = self._costs(first, second, question, priced) if priced else {first: {}, second: {}}
        return CallOverlap(readers=(first, second), calls=calls, common=common, costs=costs)

    def _common(self, first: str, second: str) -> int:
        """Calls of the reader with fewer of them in the time of which both tell."""
        sql = (
            "WITH spans AS (SELECT min(at_us) AS since, max(at_us) AS until FROM call_signatures WHERE reader IN ($first, $second) "
            "GROUP BY reader), common AS (SELECT max(since) - $near AS since, min(until) + $near AS until FROM spans) "
            "SELECT coalesce(min(found), 0) FROM (SELECT count(*) FILTER (at_us BETWEEN since AND until) AS found "
            "FROM call_signatures, common WHERE reader IN ($first, $second) GROUP BY reader)"
        )
        given = {"first": first, "second": second, "near": _NEAR}
        return int(self._con.execute(sql, given).fetchall()[0][0])

    def _matched(self, first: str, second: str, *, moved: bool) -> int:
        """Calls that agree; they are kept in a table where none was moved in time."""
        sql = "SELECT min(at_us), max(at_us) - min(at_us) + 1 FROM call_signatures WHERE reader IN (?, ?)"
        since, span = self._con.execute(sql, [first, second]).fetchall()[0]
        if span < _SHORT * _NEAR:  # too short to move calls inside of it
            span = _ALL - since
        given = {
            "first": first, "second": second, "near": _NEAR, "since": since, "span": span,
            "shift": min(_SHIFT, span // 2) if moved else 0,
        }  # fmt: skip
        matches = query("call_matches")
        if moved:
            rows = self._con.execute(f"SELECT count(*) FILTER (reader = $first) FROM ({matches})", given).fetchall()
        else:
            self._con.execute(f"CREATE OR REPLACE TEMP TABLE call_matches AS {matches}", given)
            rows = self._con.execute("SELECT count(*) FILTER (reader = ?) FROM call_matches", [first]).fetchall()
        return int(rows[0][0])

    def _costs(self, first: str, second: str, question: CallQuestion, priced: str) -> dict[str, dict[str, Decimal]]:
        sql = (
            f"SELECT m.reader, p.currency, sum(p.cost) FROM ({priced}) p JOIN call_matches m USING (load_id, row_number) "
            "WHERE p.currency <> '' GROUP BY ALL ORDER BY ALL"
        )
        found: dict[str, dict[str, Decimal]] = defaultdict(dict, {first: {}, second: {}})
        for reader, currency, cost in self._con.execute(sql, {"currency": question.currency}).fetchall():
            found[reader][currency] = cost
        return dict(found)


def _summed(names: Sequence[str], table: str) -> str:
    """All tokens of a side, what is not known as nothing."""
    return "(" + " + ".join(f"CAST(coalesce({table}.{name}_tokens, 0) AS HUGEINT)" for name in names) + ")"


def _stated(row: Sequence[Any]) -> StatedCall:
    file, number, taken, made, cost, currency = row
    return StatedCall(
        file=file, row_number=number, input_tokens=int(taken), output_tokens=int(made), cost=cost, currency=currency
    )
