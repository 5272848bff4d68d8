"""Expressions and tables that price calls by a join: what one token costs, by name, interval and tier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.call_sums import MOST_TOKENS, RATE_PLACES, CallPeriod, CallQuestion, RateRow
from unitcost.facts.calls import SUM_OF_CALLS
from unitcost.facts.tokens import FEES, INPUT_CLASSES, OUTPUT_CLASSES, TOKEN_CLASSES, Fee, TokenClass
from unitcost.ledger.bulk import insert_columns

_FAR = 2**62
_FIRST, _LAST = "TIMESTAMP '-infinity'", "TIMESTAMP 'infinity'"
#: Whether a row is the sum of many calls, as a provider's usage report states it.
_IS_SUM = f"contains(c.notes, '{SUM_OF_CALLS}')"
_LOADS = "LEFT JOIN loads l ON l.load_id = c.load_id"
_REPORTS = "LEFT JOIN call_views v ON v.maker = n.maker AND v.day = CAST(c.called_at AS DATE)"
_CHOSEN = "LEFT JOIN call_chosen ch ON ch.called = n.called AND ch.day = CAST(c.called_at AS DATE)"
_NOTHING = f"CAST(0 AS DECIMAL(38, {RATE_PLACES}))"
_FEE_COUNTS: dict[Fee, str] = {"request": "{0}.calls", "web_search": "coalesce({0}.web_searches, 0)"}


def parts(question: CallQuestion, classes: Sequence[TokenClass], *, reported: bool) -> dict[str, Any]:
    """What the query of priced calls is filled with.

    Parameters
    ----------
    classes
        Classes of tokens that occur; the others cost nothing to leave out.
    reported
        Whether there are usage reports of providers.
    """
    unknown = " AND ".join(f"{c}_tokens IS NULL" for c in TOKEN_CLASSES)
    tags = "".join(f", tags[{_literal(key)}] AS tag{place}" for place, key in enumerate(question.tag_keys))
    return {
        "prompt": _summed(c for c in INPUT_CLASSES if c in classes),
        "answer": _summed(c for c in OUTPUT_CLASSES if c in classes and c != "reasoning"),
        "no_tokens": f"({unknown} AND web_searches IS NULL)", "most": MOST_TOKENS,
        "period": _period(question.periods, question.undated), "missing": _missing(classes, question.rates),
        "input": f"{_costs('r', INPUT_CLASSES, classes)} + {_fees('r')}", "output": _costs("r", OUTPUT_CLASSES, classes),
        "caller": "caller" if question.by_caller else "CAST(NULL AS VARCHAR)", "tags": tags,
        **_again(question, reported=reported),
    }  # fmt: skip


def _again(question: CallQuestion, *, reported: bool) -> dict[str, str]:
    """Joins, and whether a row tells of what another source tells of too and counts for."""
    joins = [_LOADS] * (reported or bool(question.counts)) + [_REPORTS] * reported + [_CHOSEN] * bool(question.counts)
    again = "false"
    if reported:
        again = f"(coalesce({_IS_SUM}, false) AND NOT n.self_hosted AND v.view IS NOT NULL AND v.view <> l.reader)"
    if question.counts:
        again = f"CASE WHEN ch.day IS NOT NULL THEN l.reader <> {_literal(question.counts)} ELSE {again} END"
    return {"reports": " ".join(joins), "again": again}


def bounds(classes: Sequence[TokenClass]) -> dict[str, str]:
    """What the query of bounds is filled with: the cost in another tier, and what another lifetime of a cache adds."""
    written = "CAST(coalesce(c.cache_write_tokens, 0) AS DECIMAL(18, 0))"
    lives = {"shorter": "cache_write_5m", "longer": "cache_write_1h"}
    tiers = {"lowest": "l", "highest": "h"}
    return {
        **{name: f"{written} * (coalesce(r.{life}, 0) - coalesce(r.cache_write, 0))" for name, life in lives.items()},
        **{
            name: f"({_costs(rates, INPUT_CLASSES, classes)} + {_costs(rates, OUTPUT_CLASSES, classes)} + {_fees(rates)})"
            for name, rates in tiers.items()
        },
    }


def fill_names(con: duckdb.DuckDBPyConnection, question: CallQuestion) -> None:
    """Fill the table of names that calls are joined with."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE call_names (number BIGINT, provider VARCHAR, model VARCHAR, variant VARCHAR, "
        "maker VARCHAR, called VARCHAR, self_hosted BOOLEAN)"
    )
    numbers = range(len(question.names))
    given: dict[str, list[Any]] = {
        "number": list(numbers), "provider": [n.provider for n in question.names],
        "model": [n.model for n in question.names], "variant": [n.variant for n in question.names],
        "maker": list(question.makers) or [n.provider for n in question.names],
        "called": list(question.called) or [n.model for n in question.names],
        "own": [int(number in question.self_hosted) for number in numbers],
    }  # fmt: skip
    insert_columns(
        con,
        "INSERT INTO call_names SELECT number, provider, model, variant, maker, called, CAST(own AS BOOLEAN) FROM given",
        given,
    )


def fill_views(con: duckdb.DuckDBPyConnection) -> bool:
    """Fill the table of the view that counts, by provider and UTC day; False where no usage report is loaded.

    Calls (view '') count before sums of them, for they tell more; of several usage reports one counts. Answers of a
    gateway's own cache and models on own machines never reached a provider.
    """
    if not con.execute(f"SELECT 1 FROM calls c WHERE {_IS_SUM} LIMIT 1").fetchall():
        return False
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE call_views AS SELECT maker, CAST(called_at AS DATE) AS day, "
        f"CASE WHEN bool_or(NOT coalesce({_IS_SUM}, false)) THEN '' ELSE max(reader) END AS view "
        "FROM counted_calls c JOIN loads USING (load_id) "
        "JOIN call_names n ON n.provider = coalesce(c.provider, '') AND n.model = coalesce(c.model, '') AND n.variant = c.variant "
        "WHERE called_at IS NOT NULL AND status <> 'cached' AND NOT n.self_hosted GROUP BY ALL"
    )
    return True


def fill_chosen(con: duckdb.DuckDBPyConnection, reader: str) -> None:
    """Fill the table of the models and UTC days that a reader tells of; the names must have been filled before."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE call_chosen AS SELECT DISTINCT n.called, CAST(c.called_at AS DATE) AS day "
        "FROM counted_calls c JOIN loads l USING (load_id) "
        "JOIN call_names n ON n.provider = coalesce(c.provider, '') AND n.model = coalesce(c.model, '') AND n.variant = c.variant "
        "WHERE c.called_at IS NOT NULL AND l.reader = ?",
        [reader],
    )


def fill_rates(con: duckdb.DuckDBPyConnection, rates: Sequence[RateRow]) -> None:
    """Fill the table of prices that calls are joined with.

    Raises
    ------
    BadPrice
        When a price has more places than the engine multiplies with.
    """
    amount = f"DECIMAL(38, {RATE_PLACES})"
    prices: dict[str, list[str | None]] = {
        c: [_exact(rate, rate.per_token.get(c)) for rate in rates] for c in TOKEN_CLASSES
    }
    prices |= {f"fee_{fee}": [_exact(rate, rate.per_fee.get(fee)) for rate in rates] for fee in FEES}
    hours = [(rate.hours or "00:00-00:00").split("-") for rate in rates]
    columns: dict[str, tuple[str, list[Any]]] = {
        "number": ("BIGINT", list(range(len(rates)))), "name": ("BIGINT", [r.name for r in rates]),
        "lowest": ("BIGINT", [r.lowest for r in rates]), "tiered": ("BOOLEAN", [int(r.tiered) for r in rates]),
        "currency": ("VARCHAR", [r.currency for r in rates]),
        "since": ("TIMESTAMP", [_plain(r.since, "-infinity") for r in rates]),
        "until": ("TIMESTAMP", [_plain(r.until, "infinity") for r in rates]),
        "always": ("BOOLEAN", [int(r.since is None and r.until is None and not r.hours) for r in rates]),
        "hours_from": ("TIME", [first for first, _ in hours]), "hours_to": ("TIME", [last for _, last in hours]),
        "over_tokens": ("HUGEINT", [r.over_tokens or -1 for r in rates]),
        "up_to_tokens": ("HUGEINT", [_FAR if r.up_to_tokens is None else r.up_to_tokens for r in rates]),
        **{name: (amount, texts) for name, texts in prices.items()},
    }  # fmt: skip
    kinds = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
    casts = ", ".join(f"CAST({name} AS {kind})" for name, (kind, _) in columns.items())
    con.execute(f"CREATE OR REPLACE TEMP TABLE call_rates ({kinds})")
    insert_columns(con, f"INSERT INTO call_rates SELECT {casts} FROM given", {n: v for n, (_, v) in columns.items()})


def _summed(classes: Iterable[TokenClass]) -> str:
    return " + ".join(f"CAST(coalesce({c}_tokens, 0) AS HUGEINT)" for c in classes) or "CAST(0 AS HUGEINT)"


def _costs(rates: str, side: Iterable[TokenClass], classes: Sequence[TokenClass]) -> str:
    """What the tokens of one side of a call cost at the rates of a table."""
    terms = []
    for c in side:
        if c in classes:
            reasoned = c == "output" and "reasoning" in classes
            count = f"coalesce(c.{c}_tokens, 0)" + (" - coalesce(c.reasoning_tokens, 0)" if reasoned else "")
            terms.append(f"CAST({count} AS DECIMAL(18, 0)) * coalesce({rates}.{c}, 0)")
    return " + ".join(terms) or _NOTHING


def _fees(rates: str) -> str:
    return " + ".join(
        f"CAST({count.format('c')} AS DECIMAL(18, 0)) * coalesce({rates}.fee_{fee}, 0)"
        for fee, count in _FEE_COUNTS.items()
    )


def _missing(classes: Sequence[TokenClass], rates: Sequence[RateRow]) -> str:
    """Whether a call has tokens of a class that its price does not name."""
    doubtful = [c for c in classes if any(c not in rate.per_token for rate in rates)]
    return " OR ".join(f"(coalesce(c.{c}_tokens, 0) > 0 AND r.{c} IS NULL)" for c in doubtful) or "false"


def _period(periods: Sequence[CallPeriod], undated: bool) -> str:
    """Place of the period that a call was made in; null outside of all."""
    whens = [f"WHEN called_at IS NULL THEN {0 if undated else 'NULL'}"]
    if periods and periods[0].since is not None:
        whens.append(f"WHEN called_at < {_moment(periods[0].since, _FIRST)} THEN NULL")
    whens += [f"WHEN called_at < {_moment(period.until, _LAST)} THEN {place}" for place, period in enumerate(periods)]
    return f"CASE {' '.join(whens)} END"


def _moment(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else f"TIMESTAMP '{_plain(moment, '')}'"


def _plain(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _exact(rate: RateRow, price: Decimal | None) -> str | None:
    """Price of one token as text, with as many places as the engine multiplies with at most."""
    if price is None:
        return None
    text = money.text(price)
    if len(text.partition(".")[2]) > RATE_PLACES:
        raise BadPrice(
            f"the price {text} of one token has more than {RATE_PLACES} places", where=rate.price_id,
            mend="write it with fewer places",
        )  # fmt: skip
    return text
