"""Laws over all model prices that ship, and the same calls priced by genai-prices itself."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import pytest

from unitcost import money
from unitcost.economics.token_prices import price_call, unit_rates
from unitcost.facts.tokens import FEES, TOKEN_CLASSES, ModelPrice, TokenClass, TokenCounts
from unitcost.prices.genai import GenaiPrices

NOW = datetime(2026, 11, 30, tzinfo=UTC)
AUDIO_IMAGE_VIDEO = ("audio", "image", "video")


@pytest.fixture(scope="module")
def shipped() -> list[ModelPrice]:
    entries = GenaiPrices.bundled(NOW).entries()
    return [price for entry in entries for maker in entry.variants.values() for price in maker()]


def some_tokens(price: ModelPrice, random_: random.Random, prompt: int | None = None) -> TokenCounts:
    """Counts in each class that the model prices itself; the whole prompt of a given size."""
    classes = [c for c in TOKEN_CLASSES if price.rate(c) is not None and c != "reasoning"]
    inputs = [
        c
        for c in classes
        if c in ("input", "cache_read", "cache_write_5m", "cache_write_1h") or c.startswith(("input_", "cache_read_"))
    ]
    counts = {c: random_.randint(1, 40_000) for c in classes}
    if prompt is not None and inputs:
        left = prompt
        for c in inputs[1:]:
            counts[c] = random_.randint(0, left // 2)
            left -= counts[c]
        counts[inputs[0]] = left
    reasoning = random_.randint(0, counts["output"]) if "output" in counts else 0
    return TokenCounts(
        **{f"{c}_tokens": n for c, n in counts.items()}, reasoning_tokens=reasoning, web_searches=random_.randint(0, 3)
    )


def test_there_are_many_prices_and_each_has_its_own_name(shipped: list[ModelPrice]) -> None:
    assert len(shipped) > 2000
    records = {record.id: record for price in shipped for record in price.rates}
    assert len(records) == len({(r.key, r.effective_from) for price in shipped for r in price.rates})
    assert all(record.price > 0 for record in records.values())


def test_total_is_the_sum_over_disjoint_classes(shipped: list[ModelPrice]) -> None:
    random_ = random.Random(4)
    for price in shipped:
        tokens = some_tokens(price, random_)
        call = price_call(tokens, price)
        meters = [part.meter for part in call.parts]
        assert len(set(meters)) == len(meters), price
        assert sum(p.quantity for p in call.parts if p.meter not in FEES) == tokens.total_tokens, price
        assert call.amount == money.add(part.amount for part in call.parts), price
        assert call.amount == call.low == call.high, price


def test_tier_edges_and_the_rates_of_the_join(shipped: list[ModelPrice]) -> None:
    random_ = random.Random(5)
    edges = 0
    for price in shipped:
        rates = unit_rates(price)
        assert [r.up_to_tokens for r in rates] == [*(r.over_tokens for r in rates[1:]), None]
        for lower, upper in pairwise(rates):
            edge = int(upper.over_tokens)
            for prompt, band in ((edge, lower), (edge + 1, upper)):
                tokens = some_tokens(price, random_, prompt)
                assert tokens.prompt_tokens == prompt, price
                call = price_call(tokens, price)
                assert call.over_tokens == band.over_tokens
                assert call.amount == joined(tokens, band.per_token, band.per_fee), price
                edges += 1
    assert edges > 400


def joined(tokens: TokenCounts, per_token: dict[TokenClass, Decimal], per_fee: dict[str, Decimal]) -> Decimal:
    counts = {c: tokens.of(c) - (tokens.reasoning_tokens if c == "output" else 0) for c in per_token}
    parts = [money.multiply(Decimal(counts[c]), rate) for c, rate in per_token.items()]
    fees = [money.multiply(Decimal(tokens.fee(fee)), rate) for fee, rate in per_fee.items()]  # type: ignore[arg-type]
    return money.add([*parts, *fees])


def test_200_calls_cost_what_the_package_itself_says() -> None:
    from genai_prices import Usage
    from genai_prices.data import providers

    listed = GenaiPrices.bundled(NOW)
    random_ = random.Random(20261109)
    pairs = [(p, m) for p in providers for m in p.models if p.find_model(m.id) is m]
    checked = 0
    while checked < 200:
        provider, model = random_.choice(pairs)
        variants = [
            ("", None),
            *((v, {k: v}) for variant in model.price_variants or () for k, v in variant.when.items()),
        ]
        variant, context = random_.choice(variants)
        at = datetime(2026, random_.randint(1, 11), random_.randint(1, 28), random_.randint(0, 23), tzinfo=UTC)
        price = at_time(listed.prices(provider.id, model, variant), at)
        if price is None:
            continue
        tokens = some_tokens(price, random_, random_.choice([None, 90_000, 210_000, 300_000]))
        ours = price_call(tokens, price)
        theirs = model.calc_price(Usage(**usage(tokens)), provider, genai_request_timestamp=at, price_context=context)
        assert ours.amount is not None
        # their sums round to 28 digits
        assert abs(ours.amount - theirs.total_price) < Decimal("1e-20"), (provider.id, model.id, variant, at)
        checked += 1


def at_time(prices: tuple[ModelPrice, ...], at: datetime) -> ModelPrice | None:
    from unitcost.facts.prices import holds_at

    held = [
        p for p in prices
        if (p.effective_from is None or p.effective_from <= at) and (p.effective_to is None or at < p.effective_to)
        and holds_at(p.hours, at)
    ]  # fmt: skip
    assert len(held) <= 1
    return held[0] if held else None


def usage(tokens: TokenCounts) -> dict[str, int]:
    """Counts as the package wants them: each total includes its parts."""
    return {
        "input_tokens": tokens.prompt_tokens,
        "output_tokens": tokens.total_tokens - tokens.prompt_tokens,
        "cache_read_tokens": tokens.cache_read_tokens + tokens.cache_read_audio_tokens + tokens.cache_read_image_tokens,
        "cache_write_tokens": tokens.cache_write_5m_tokens + tokens.cache_write_1h_tokens,
        "cache_write_1h_tokens": tokens.cache_write_1h_tokens,
        "input_audio_tokens": tokens.input_audio_tokens + tokens.cache_read_audio_tokens,
        "cache_audio_read_tokens": tokens.cache_read_audio_tokens,
        "input_image_tokens": tokens.input_image_tokens + tokens.cache_read_image_tokens,
        "cache_image_read_tokens": tokens.cache_read_image_tokens,
        "input_video_tokens": tokens.input_video_tokens,
        "output_audio_tokens": tokens.output_audio_tokens,
        "output_image_tokens": tokens.output_image_tokens,
        "output_video_tokens": tokens.output_video_tokens,
        "output_reasoning_tokens": tokens.reasoning_tokens,
        "output_citation_tokens": tokens.citation_tokens,
        "web_searches": tokens.web_searches,
    }  # fmt: skip
