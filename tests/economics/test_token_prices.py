"""Prices of calls: each token once, one tier for all classes, unknown is not zero."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitcost import money
from unitcost.economics.token_prices import UnitRates, cliff, price_call, unit_rates
from unitcost.errors import BadPrice
from unitcost.facts.prices import PriceRecord, Source, Tier
from unitcost.facts.tokens import FEES, TOKEN_CLASSES, UNITS, ModelPrice, TokenCounts

SOURCE = Source(key="test", licence="MIT")
PER = Decimal(1_000_000)


def price(rates: Mapping[str, Mapping[int, str]], **other: object) -> ModelPrice:
    """Model price of class -> threshold -> USD per million tokens (per 1,000 for fees)."""
    records = tuple(
        PriceRecord(
            kind="model", provider="p", sku="m", meter=meter, unit=UNITS.get(meter, "tokens"), currency="USD",
            per=Decimal(1000) if meter in UNITS else PER, mode="whole-request", observed="2026-11-09", source=SOURCE,
            tiers=tuple(Tier(over=Decimal(over), price=Decimal(usd)) for over, usd in tiers.items()),
        )
        for meter, tiers in rates.items()
    )  # fmt: skip
    return ModelPrice(provider="p", model="m", rates=records, source=SOURCE, **other)  # type: ignore[arg-type]


FULL = price(
    {
        "input": {0: "3", 200_000: "6"}, "cache_read": {0: "0.30", 200_000: "0.60"},
        "cache_write_5m": {0: "3.75", 200_000: "7.50"}, "cache_write_1h": {0: "6", 200_000: "12"},
        "output": {0: "15", 200_000: "22.5"},
    }
)  # fmt: skip


def by_rates(tokens: TokenCounts, rates: tuple[UnitRates, ...]) -> Decimal:
    """What a join of counts with unit rates gives."""
    prompt = tokens.prompt_tokens
    [row] = [
        r
        for r in rates
        if (prompt > r.over_tokens or not r.over_tokens) and (r.up_to_tokens is None or prompt <= r.up_to_tokens)
    ]
    counts = {c: tokens.of(c) - (tokens.reasoning_tokens if c == "output" else 0) for c in TOKEN_CLASSES}
    amounts = [money.multiply(Decimal(counts[c]), rate) for c, rate in row.per_token.items()]
    fees = [money.multiply(Decimal(tokens.fee(fee)), rate) for fee, rate in row.per_fee.items()]
    return money.add([*amounts, *fees])


def test_case_04_the_tier_is_chosen_by_the_whole_prompt_for_every_class(shared_cases: Path) -> None:
    folder = shared_cases / "04-long-context-tier-by-whole-prompt"
    data = json.loads((folder / "input.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    names = {"input": "input", "cache_read": "cache_read", "cache_write": "cache_write_5m", "output": "output"}
    rates = {
        ours: {tier["prompt_tokens_over"]: tier["usd_per_mtok"][theirs] for tier in data["tiers"]}
        for theirs, ours in names.items()
    }
    listed = price(rates)
    calls = {
        call["id"]: TokenCounts(**{f"{ours}_tokens": call[theirs] for theirs, ours in names.items()})
        for call in data["calls"]
    }
    found = {name: price_call(tokens, listed).amount for name, tokens in calls.items()}
    assert found == {name: Decimal(amount) for name, amount in expected.items()}
    told = cliff(calls["c1"], listed)
    assert told is not None
    assert told.over_tokens == 200_000
    assert told.growth < Decimal("0.13")
    assert told.ratio > 2
    assert cliff(calls["c2"], listed) is None


counts = st.builds(
    TokenCounts,
    **{f"{c}_tokens": st.integers(0, 300_000) for c in TOKEN_CLASSES if c not in ("output", "reasoning")},
    output_tokens=st.integers(1000, 50_000),
    reasoning_tokens=st.integers(0, 1000),
    web_searches=st.integers(0, 5),
)
thresholds = st.lists(st.integers(1, 10**6), max_size=2, unique=True)
rate_tables = thresholds.flatmap(
    lambda edges: st.dictionaries(
        st.sampled_from([c for c in TOKEN_CLASSES if c != "cache_write"]),
        st.lists(st.integers(0, 10**5), min_size=len(edges) + 1, max_size=len(edges) + 1).map(
            lambda prices: {over: str(Decimal(p) / 1000) for over, p in zip([0, *sorted(edges)], prices, strict=True)}
        ),
        min_size=1,
    )
)


@given(counts, rate_tables)
def test_each_token_is_priced_once_or_named_as_missing(tokens: TokenCounts, rates: dict[str, dict[int, str]]) -> None:
    call = price_call(tokens, price(rates))
    meters = [part.meter for part in call.parts]
    assert len(set(meters)) == len(meters)
    priced = sum(part.quantity for part in call.parts if part.meter not in FEES)
    missing = sum(tokens.of(c) for c in call.missing)
    if ("output" in call.missing and "reasoning" in meters) or "reasoning" in call.missing:
        missing -= tokens.reasoning_tokens
    assert priced + missing == tokens.total_tokens
    assert (call.amount is None) == bool(call.missing)


@given(counts, rate_tables)
def test_the_amount_is_the_sum_of_its_parts_and_that_of_the_join(
    tokens: TokenCounts, rates: dict[str, dict[int, str]]
) -> None:
    listed = price({"input": {0: "1"}, "output": {0: "2"}, **rates})
    call = price_call(tokens, listed)
    assert call.amount == money.add(part.amount for part in call.parts)
    assert call.amount == by_rates(tokens, unit_rates(listed))
    assert call.high is not None
    assert call.low <= call.amount <= call.high


def test_a_class_without_a_rate_is_charged_as_the_class_it_belongs_to() -> None:
    bare = price({"input": {0: "2"}, "output": {0: "8"}})
    call = price_call(TokenCounts(cache_read_tokens=1_000_000, input_audio_tokens=500_000), bare)
    assert call.amount == 3
    assert {part.meter: part.charged_as for part in call.parts} == {"cache_read": "input", "input_audio": "input"}
    cached_audio = price_call(TokenCounts(cache_read_audio_tokens=1_000_000), FULL)
    assert cached_audio.parts[0].charged_as == "cache_read"


def test_reasoning_is_inside_output_and_priced_apart_only_where_listed() -> None:
    tokens = TokenCounts(output_tokens=1_000_000, reasoning_tokens=400_000)
    assert price_call(tokens, price({"output": {0: "10"}})).amount == 10
    assert price_call(tokens, price({"output": {0: "10"}, "reasoning": {0: "5"}})).amount == 8
    assert tokens.total_tokens == 1_000_000


def test_no_price_is_unknown_not_zero() -> None:
    call = price_call(TokenCounts(input_tokens=10, output_tokens=5), price({"input": {0: "1"}}))
    assert call.amount is None
    assert call.high is None
    assert call.low == Decimal("0.00001")
    assert call.missing == ("output",)
    assert call.flags == ("no price for output tokens",)


def test_a_cache_written_for_an_unstated_time_has_a_range() -> None:
    call = price_call(TokenCounts(cache_write_tokens=1_000_000, output_tokens=0), replace(FULL, rates=FULL.rates))
    assert (call.low, call.amount, call.high) == (Decimal("7.50"), Decimal("7.50"), Decimal(12))
    assert "not stated" in call.flags[0]
    stated = price_call(TokenCounts(cache_write_5m_tokens=10, cache_write_1h_tokens=5), FULL)
    assert stated.low == stated.amount == stated.high
    assert stated.flags == ()


def test_a_sum_of_calls_is_priced_by_their_mean_prompt_with_bounds() -> None:
    many = price_call(TokenCounts(input_tokens=400_000, requests=4), FULL)
    assert many.over_tokens == 0
    assert (many.low, many.amount, many.high) == (Decimal("1.2"), Decimal("1.2"), Decimal("2.4"))
    assert "mean prompt" in many.flags[0]
    assert price_call(TokenCounts(input_tokens=400_000), FULL).amount == Decimal("2.4")


def test_fees_are_due_per_request_and_search() -> None:
    listed = price({"input": {0: "1"}, "request": {0: "5"}, "web_search": {0: "10"}})
    call = price_call(TokenCounts(input_tokens=1_000_000, web_searches=3, requests=2), listed)
    assert call.amount == Decimal("1.04")


def test_a_variant_says_what_it_leaves_at_the_usual_rate() -> None:
    batch = replace(FULL, variant="batch", standard=("output",))
    assert price_call(TokenCounts(input_tokens=1), batch).flags == ()
    [flag] = price_call(TokenCounts(output_tokens=1), batch).flags
    assert flag == "output at the usual rate: batch names none"


def test_unit_rates_tell_their_band() -> None:
    low, high = unit_rates(FULL)
    assert (low.over_tokens, low.up_to_tokens, high.over_tokens, high.up_to_tokens) == (0, 200_000, 200_000, None)
    assert low.per_token["cache_write"] == low.per_token["cache_write_5m"] == Decimal("0.00000375")
    assert high.per_token["reasoning"] == high.per_token["output"] == Decimal("0.0000225")
    assert low.price_id == FULL.id


@pytest.mark.parametrize("wrong", [{"input_tokens": -1}, {"output_tokens": 5, "reasoning_tokens": 6}, {"requests": -1}])
def test_impossible_counts_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BadPrice):
        TokenCounts(**wrong)


def test_a_class_has_one_price() -> None:
    record = FULL.rates[0]
    with pytest.raises(BadPrice, match="two prices"):
        replace(FULL, rates=(record, record))
