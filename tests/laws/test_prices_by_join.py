"""Pricing many calls by a join with a small table of rates gives what pricing them one by one gives, exactly."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import duckdb

from unitcost.economics.token_prices import price_call, unit_rates
from unitcost.facts.prices import holds_at
from unitcost.facts.tokens import TokenClass, TokenCounts
from unitcost.money import add
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.models import ModelBook

CLASSES: tuple[TokenClass, ...] = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")
MODELS = ("gpt-5.5", "gpt-5.6-luna", "claude-sonnet-4-5", "gemini-2.5-pro", "deepseek/deepseek-v4-flash")
RATE = "decimal(38, 18)"
JOIN = f"""
    SELECT sum({" + ".join(f"calls.{c}::decimal(18, 0) * rates.{c}" for c in CLASSES)}), count(*)
    FROM calls JOIN rates USING (model)
    WHERE moment >= since AND moment < until AND prompt > over_tokens AND prompt <= up_to_tokens
      AND (hours_from = hours_to
           OR (hours_from < hours_to AND clock >= hours_from AND clock < hours_to)
           OR (hours_from > hours_to AND (clock >= hours_from OR clock < hours_to)))
"""


def test_a_join_with_the_rates_prices_each_call_exactly() -> None:
    book = ModelBook([GenaiPrices.bundled(datetime(2026, 11, 30, tzinfo=UTC))])
    matches = {name: book.match(name) for name in MODELS}
    random_ = random.Random(5)
    begin = datetime(2026, 6, 1, tzinfo=UTC)
    calls, expected = [], []
    for _ in range(400):
        name = random_.choice(MODELS)
        at = begin + timedelta(minutes=random_.randrange(260_000))
        output = random_.randrange(9_000)
        counts = {f"{c}_tokens": random_.randrange(120_000) for c in CLASSES[:4]}
        tokens = TokenCounts(**counts, output_tokens=output, reasoning_tokens=random_.randrange(output + 1))
        amount = price_call(tokens, book.price(matches[name], at)).amount
        assert amount is not None
        expected.append(amount)
        visible = tokens.output_tokens - tokens.reasoning_tokens
        cells = [tokens.of(c) for c in CLASSES[:4]] + [visible, tokens.reasoning_tokens]
        calls.append((name, at.replace(tzinfo=None), f"{at:%H:%M}", tokens.prompt_tokens, *cells))
    con = duckdb.connect()
    con.execute(f"CREATE TABLE calls (model text, moment timestamp, clock text, prompt bigint, {_columns('bigint')})")
    con.executemany(f"INSERT INTO calls VALUES ({', '.join('?' * (4 + len(CLASSES)))})", calls)
    con.execute(
        "CREATE TABLE rates (model text, since timestamp, until timestamp, hours_from text, hours_to text,"
        f" over_tokens bigint, up_to_tokens bigint, {_columns(RATE)})"
    )
    rates = [row for name, match in matches.items() for row in _rows(book, name, match)]
    con.executemany(f"INSERT INTO rates VALUES ({', '.join('?' * (7 + len(CLASSES)))})", rates)
    [(total, count)] = con.execute(JOIN).fetchall()
    assert count == len(calls)
    assert total == add(expected)
    assert (
        len({holds_at("01:00-04:00", call[1].replace(tzinfo=UTC)) for call in calls}) == 2
    )  # both sides of the hours are met


def _columns(kind: str) -> str:
    return ", ".join(f"{c} {kind}" for c in CLASSES)


def _rows(book: ModelBook, name: str, match) -> list[tuple[object, ...]]:  # type: ignore[no-untyped-def]
    far, none = datetime(9999, 1, 1), Decimal(0)
    rows: list[tuple[object, ...]] = []
    for price in book.intervals(match):
        for r in unit_rates(price):
            start, _, end = r.hours.partition("-")
            rows.append(
                (
                    name, _naive(r.effective_from, datetime(1970, 1, 1)), _naive(r.effective_to, far), start, end,
                    int(r.over_tokens) or -1, int(r.up_to_tokens) if r.up_to_tokens is not None else 2**62,
                    *(r.per_token.get(c, none) for c in CLASSES),
                )
            )  # fmt: skip
    return rows


def _naive(moment: datetime | None, otherwise: datetime) -> datetime:
    """A moment in UTC as the engine keeps it."""
    return moment.replace(tzinfo=None) if moment else otherwise
