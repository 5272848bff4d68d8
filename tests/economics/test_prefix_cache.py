"""What a prefix cache saved, and numbers that cannot be true."""

from __future__ import annotations

from decimal import Decimal

import pytest

from unitcost.economics.prefix_cache import prefix_cache
from unitcost.errors import BadBill, NeedsAnswer


def found(prompt: int, queries: int, hits: int, unit: str = "tokens", block: int | None = None):
    return prefix_cache(
        prompt_tokens=Decimal(prompt), queries=Decimal(queries), hits=Decimal(hits), unit=unit, block_tokens=block
    )  # fmt: skip


def test_hits_in_tokens_are_subtracted_as_they_are() -> None:
    cache = found(1_000, 1_000, 250)
    assert (cache.hit_share, cache.computed_prompt_tokens) == (Decimal("0.25"), 750)


def test_hits_in_blocks_are_worth_a_block_each() -> None:
    assert found(1_000, 62, 10, "blocks", 16).computed_prompt_tokens == 840


def test_without_queries_there_is_no_share() -> None:
    assert found(10, 0, 0).hit_share is None


@pytest.mark.parametrize(("queries", "hits"), [(5, 6), (5, -1)])
def test_more_hits_than_queries_are_refused(queries: int, hits: int) -> None:
    with pytest.raises(BadBill, match=f"{hits} hits of {queries} queries"):
        found(10, queries, hits)


def test_more_tokens_found_than_there_were_are_refused() -> None:
    with pytest.raises(BadBill, match="160 tokens were found"):
        found(100, 100, 10, "blocks", 16)


@pytest.mark.parametrize(("unit", "block"), [("tokens or blocks", 16), ("", None), ("blocks", None)])
def test_an_unknown_unit_asks(unit: str, block: int | None) -> None:
    with pytest.raises(NeedsAnswer):
        found(100, 100, 10, unit, block)
