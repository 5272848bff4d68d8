"""What the ledger adds up for calls is what pricing each call by itself gives, exactly."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.call_files import load_calls

from unitcost import money
from unitcost.economics.token_prices import price_call
from unitcost.errors import NoPrice
from unitcost.facts.rules import Settings
from unitcost.facts.spend import Selection
from unitcost.facts.tokens import COUNTED, TokenCounts
from unitcost.jobs.calls import priced_calls
from unitcost.ledger import Ledger
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.models import ModelBook

BOOK = ModelBook([GenaiPrices.bundled(datetime(2026, 11, 30, tzinfo=UTC))])
NAMES = [
    ("openai", "gpt-5.5", ""), ("openai", "gpt-5.5", "batch"), ("anthropic", "claude-sonnet-4-5", ""),
    ("", "gemini-2.5-pro", ""), ("deepseek", "deepseek-v4-flash", ""), ("openai", "gpt-5.5", "flex"),
    ("nobody", "lab-special", ""),
]  # fmt: skip
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
COUNTS = st.one_of(st.just(0), st.integers(0, 250_000), st.sampled_from([199_999, 200_000, 200_001, 272_000, 272_001]))


@st.composite
def a_call(draw: st.DrawFn) -> dict[str, Any]:
    provider, model, variant = draw(st.sampled_from(NAMES))
    counts = {name: draw(COUNTS) for name in COUNTED if name != "reasoning_tokens" and draw(st.booleans())}
    counts["web_searches"] = draw(st.integers(0, 3))
    if "output_tokens" in counts:
        counts["reasoning_tokens"] = draw(st.integers(0, counts["output_tokens"]))
    return {
        "provider": provider, "model": model, "variant": variant, "requests": draw(st.integers(1, 5)), **counts,
        "called_at": BEGIN + timedelta(minutes=draw(st.integers(0, 470_000))),
    }  # fmt: skip


def one_by_one(call: dict[str, Any]) -> tuple[Decimal, Decimal, Decimal] | None:
    """Cost of a call with its bounds, priced alone; None when it has no price."""
    match = BOOK.match(call["model"], call["provider"])
    if match.state != "priced":
        return None
    try:
        price = BOOK.price(match, call["called_at"], call["variant"])
    except NoPrice:
        return None
    priced = price_call(TokenCounts(requests=call["requests"], **{n: call[n] for n in COUNTED if n in call}), price)
    if priced.amount is None:
        return None
    assert priced.high is not None
    return priced.amount, priced.low, priced.high


@settings(max_examples=25, deadline=None)
@given(st.lists(a_call(), min_size=1, max_size=30))
def test_sums_of_the_ledger_are_sums_of_calls(calls: Sequence[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder) / "ledger.duckdb") as ledger:
        load_calls(ledger, Path(folder), calls)
        found = priced_calls(ledger, BOOK, Settings(), Selection())
    assert found is not None
    alone = [one_by_one(call) for call in calls]
    known = [costs for costs in alone if costs is not None]
    sums = [group.sum for group in found.groups]
    assert money.add(s.cost for s in sums) == money.add(amount for amount, _, _ in known)
    assert money.add(money.add([s.cost, s.low_gap]) for s in sums) == money.add(low for _, low, _ in known)
    assert money.add(money.add([s.cost, s.high_gap]) for s in sums) == money.add(high for _, _, high in known)
    assert sum(s.rows for s in sums) == len(calls)
    assert sum(s.rows for s in sums if s.group.state == "computed") == len(known)
    for name in ("input", "cache_read", "output", "reasoning"):
        counted = sum(s.tokens.get(name, 0) for s in sums)  # type: ignore[call-overload]
        assert counted == sum(call.get(f"{name}_tokens", 0) for call in calls)
    parts = money.add(money.add([s.input_cost, s.output_cost]) for s in sums)
    assert parts == money.add(amount for amount, _, _ in known)
