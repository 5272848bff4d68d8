"""Calls of models: who called what, what that cost at the prices in force, and the rows behind a sum."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb

from unitcost.facts.call_arrivals import CallArrival
from unitcost.facts.call_doubts import CallOverlap
from unitcost.facts.call_sums import CallGroup, CallName, CallQuestion, CallRow, CallSum
from unitcost.facts.tokens import INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES, TokenClass
from unitcost.ledger import call_pricing
from unitcost.ledger.bulk import insert_columns
from unitcost.ledger.call_doubts import CallDoubts
from unitcost.ledger.spend import query
from unitcost.units import MICROSECONDS_PER_SECOND, SECONDS_PER_HOUR

_FAR = 2**62
#: A prompt or an answer of more tokens is no request that can be played.
_MOST_PLAYED = 2**53
_TAKEN = frozenset(INPUT_CLASSES)
_MADE = frozenset(OUTPUT_CLASSES) - {"reasoning"}


class CallRows:
    """Asks an open ledger about calls."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def any(self) -> bool:
        """Whether there are calls."""
        return bool(self._con.execute("SELECT 1 FROM calls LIMIT 1").fetchall())

    def names(self) -> list[CallName]:
        """What calls say they called, each once."""
        sql = "SELECT DISTINCT coalesce(provider, ''), coalesce(model, ''), variant FROM calls ORDER BY ALL"
        return [CallName(provider=row[0], model=row[1], variant=row[2]) for row in self._con.execute(sql).fetchall()]

    def span(self) -> tuple[datetime, datetime] | None:
        """First and last moment of a call, UTC; None when no call has a time."""
        row = self._con.execute("SELECT min(called_at), max(called_at) FROM calls").fetchall()[0]
        return (row[0].replace(tzinfo=UTC), row[1].replace(tzinfo=UTC)) if row[0] else None

    def tag_keys(self) -> list[str]:
        """Keys of tags on calls, each once."""
        sql = "SELECT DISTINCT unnest(map_keys(tags)) AS key FROM calls WHERE tags IS NOT NULL ORDER BY key"
        return [row[0] for row in self._con.execute(sql).fetchall()]

    @property
    def doubts(self) -> CallDoubts:
        """Which calls may be told twice."""
        return CallDoubts(self._con)

    def repeating(self) -> int:
        """Rows that repeat what the calls below them state, and do not count beside them."""
        return int(
            self._con.execute("SELECT count(*) FROM calls WHERE contains(notes, 'repeats-children')").fetchall()[0][0]
        )

    def overlaps(self, question: CallQuestion) -> list[CallOverlap]:
        """Readers that seem to tell of the same calls without an id in common, and what these calls cost."""
        if not self.doubts.several_readers():
            return []
        return self.doubts.overlaps(question, priced=self._prepare(question, self._classes()))

    def busy_us(self, providers: Sequence[str], periods: Sequence[tuple[int, int]]) -> int:
        """How much of some periods lies in clock hours in which providers were called. [microseconds].

        Parameters
        ----------
        periods
            Beginnings and ends that do not overlap, since 1970-01-01 UTC. [microseconds]
        """
        hours = self._con.execute(
            "SELECT DISTINCT epoch_us(date_trunc('hour', called_at)) FROM counted_calls "
            "WHERE called_at IS NOT NULL AND coalesce(provider, '') IN (SELECT unnest(?::VARCHAR[])) ORDER BY 1",
            [list(providers)],
        ).fetchall()
        length = SECONDS_PER_HOUR * MICROSECONDS_PER_SECOND
        return sum(max(0, min(end, hour + length) - max(start, hour)) for start, end in periods for (hour,) in hours)

    def arrivals(self, models: Sequence[str] | None = None) -> list[CallArrival]:
        """Rows as requests over time, in the order of their files.

        Parameters
        ----------
        models
            Only calls of these, spelt as the calls spell them; None: all.
        """
        given = {"any_model": models is None, "models": list(models or ()), "most_tokens": _MOST_PLAYED}
        rows = self._con.execute(query("call_arrivals"), given).fetchall()
        return [CallArrival(*row) for row in rows]

    def sums(self, question: CallQuestion) -> list[CallSum]:
        """Tokens and costs by group, in a fixed order."""
        classes = self._classes()
        keys = _keys(question)
        priced = self._prepare(question, classes)
        rows = self._con.execute(_sums_of(keys, classes, priced), {"currency": question.currency}).fetchall()
        bounds = self._bounds(question, classes, priced)
        width = len(keys)
        return [_sum(row[:width], row[width:], classes, bounds.get(row[:width])) for row in rows]

    def rows(
        self, question: CallQuestion, wanted: Sequence[Sequence[CallGroup]], limit: int | None
    ) -> list[list[CallRow]]:
        """Rows of each of some sets of groups, the dearest first; at most `limit` of each."""
        found: list[list[CallRow]] = [[] for _ in wanted]
        if not any(wanted):
            return found
        classes = self._classes()
        keys = _keys(question)
        self._want(wanted, len(keys))
        on = " AND ".join(f"CAST(p.{key} AS VARCHAR) IS NOT DISTINCT FROM w.v{place}" for place, key in enumerate(keys))
        dearest = (
            f"SELECT p.*, l.file, w.number FROM ({self._prepare(question, classes)}) p JOIN call_wanted w ON {on} "
            f"JOIN loads l ON l.load_id = p.load_id QUALIFY row_number() OVER (PARTITION BY w.number "
            f"ORDER BY p.cost DESC, l.file, p.row_number) <= {_FAR if limit is None else limit}"
        )
        sql = _sums_of(("number", "file", "row_number", "called_at", *keys), classes, dearest)
        for number, file, row_number, called_at, *cells in self._con.execute(
            sql, {"currency": question.currency}
        ).fetchall():
            made = _sum(tuple(cells[: len(keys)]), tuple(cells[len(keys) :]), classes, None)
            moment = called_at.replace(tzinfo=UTC) if called_at else None
            found[number].append(CallRow(file=file, row_number=row_number, called_at=moment, sum=made))
        return [sorted(rows, key=lambda row: (-row.sum.cost, row.file, row.row_number)) for rows in found]

    def _want(self, wanted: Sequence[Sequence[CallGroup]], width: int) -> None:
        """Fill the table of the groups whose rows are asked for, each with the number of its set."""
        names = [f"v{place}" for place in range(width)]
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE call_wanted (number BIGINT, {', '.join(f'{name} VARCHAR' for name in names)})"
        )
        rows = [(number, *_values(group)) for number, groups in enumerate(wanted) for group in groups]
        columns: dict[str, list[Any]] = {"number": [row[0] for row in rows]}
        columns |= {name: [_text(row[place]) for row in rows] for place, name in enumerate(names, 1)}
        texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
        insert_columns(self._con, f"INSERT INTO call_wanted SELECT number, {texts} FROM given", columns)

    def _classes(self) -> list[TokenClass]:
        """Classes of tokens that occur."""
        largest = ", ".join(f"max({c}_tokens)" for c in TOKEN_CLASSES)
        row = self._con.execute(f"SELECT {largest} FROM calls").fetchall()[0]
        return [c for c, most in zip(TOKEN_CLASSES, row, strict=True) if most]

    def _has_sums(self) -> bool:
        """Whether a row stands for several calls."""
        return bool(self._con.execute("SELECT 1 FROM calls WHERE requests > 1 LIMIT 1").fetchall())

    def _bounds(
        self, question: CallQuestion, classes: Sequence[TokenClass], priced: str
    ) -> dict[tuple[Any, ...], tuple[Decimal, Decimal]]:
        """How far the cost of a group may be from what is taken, where it is not certain."""
        tiered = any(rate.tiered for rate in question.rates)
        if "cache_write" not in classes and not (tiered and self._has_sums()):
            return {}
        keys = [f"c.{key}" for key in _keys(question)]
        sql = query("call_bounds").format(keys=", ".join(keys), priced=priced, **call_pricing.bounds(classes))
        rows = self._con.execute(sql, {"currency": question.currency}).fetchall()
        return {row[: len(keys)]: (row[-2], row[-1]) for row in rows}

    def _prepare(self, question: CallQuestion, classes: Sequence[TokenClass]) -> str:
        """Fill the tables of names and rates, and make the query of priced calls."""
        call_pricing.fill_names(self._con, question)
        call_pricing.fill_rates(self._con, question.rates)
        reported = call_pricing.fill_views(self._con)
        if question.counts:
            call_pricing.fill_chosen(self._con, question.counts)
        return query("priced_calls").format(**call_pricing.parts(question, classes, reported=reported))


def _sums_of(keys: Sequence[str], classes: Sequence[TokenClass], priced: str) -> str:
    counts = "".join(f", CAST(sum({c}_tokens) AS HUGEINT)" for c in classes)
    return query("call_sums").format(keys=", ".join(keys), tokens=counts, priced=priced)


def _keys(question: CallQuestion) -> list[str]:
    """Expressions over a priced call that make its group, in the order of `CallGroup`."""
    tags = [f"tag{i}" for i in range(len(question.tag_keys))]
    return ["name", "rate", "period", "region", "key", "caller_name", *tags, "status", "retry", "state", "currency"]


def _values(group: CallGroup) -> tuple[Any, ...]:
    return (
        group.name, group.rate, group.period, group.region or None, group.key or None, group.caller or None, *group.tags,
        group.status, group.retry, group.state, group.currency,
    )  # fmt: skip


def _text(value: Any) -> str | None:
    """Value as the engine writes it; None stays."""
    return str(value).lower() if isinstance(value, bool) else value if value is None else str(value)


def _sum(
    keys: tuple[Any, ...], sums: tuple[Any, ...], classes: Sequence[TokenClass], bounds: tuple[Decimal, Decimal] | None
) -> CallSum:
    name, rate, period, region, key, caller, *tags, status, retry, state, currency = keys
    low, high = bounds or (Decimal(0), Decimal(0))
    tokens = {c: count or 0 for c, count in zip(classes, sums[15:], strict=True)}
    return CallSum(
        group=CallGroup(
            name=name, rate=rate, period=period, region=region or "", key=key or "", caller=caller or "", tags=tuple(tags),
            status=status, retry=retry, state=state, currency=currency,
        ),
        rows=sums[0], calls=sums[1], searches=sums[2], cost=sums[3], input_cost=sums[4], output_cost=sums[5],
        compared_reported=sums[6], compared_computed=sums[7], compared_rows=sums[8], avoided=sums[9], accepted=sums[10],
        judged=sums[11], broken_off=sums[12], lifetime_unknown=sums[13], uncounted_rows=sums[14],
        tokens=tokens,
        input_tokens=sum(tokens[c] for c in classes if c in _TAKEN), output_tokens=sum(tokens[c] for c in classes if c in _MADE),
        low_gap=low, high_gap=high,
    )  # fmt: skip
