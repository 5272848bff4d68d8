"""What a prefix cache saved: prompt tokens that were found in it and not computed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.errors import BadBill, NeedsAnswer

TOKENS, BLOCKS = "tokens", "blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixCache:
    """Share of the queried tokens that were found, and prompt tokens that had to be computed."""

    hit_share: Decimal | None
    computed_prompt_tokens: Decimal


def prefix_cache(
    *, prompt_tokens: Decimal, queries: Decimal, hits: Decimal, unit: str, block_tokens: int | None = None, where: str = ""
) -> PrefixCache:  # fmt: skip
    """What a prefix cache saved in a window.

    Parameters
    ----------
    prompt_tokens
        Tokens of prompts in the window, those found in the cache included. [tokens]
    queries, hits
        What was looked up in the cache, and found. [unit]
    unit
        What queries and hits count: `tokens` or `blocks`. vLLM V1 counts tokens; its first releases counted blocks.
    block_tokens
        Size of a block; needed only where blocks are counted. [tokens]
    where
        What the numbers are about, for messages.

    Raises
    ------
    NeedsAnswer
        When it is not known whether tokens or blocks are counted, or how large a block is.
    BadBill
        When there are more hits than queries, or more tokens found than there were.

    Notes
    -----
    ``hit_share = hits / queries``; ``computed = prompt_tokens - hits`` (in tokens).
    """
    if unit not in (TOKENS, BLOCKS) or (unit == BLOCKS and not block_tokens):
        raise NeedsAnswer(
            f"the prefix cache counts {unit or 'something unknown'}" + (" of unknown size" if unit == BLOCKS else ""),
            where=where, mend="load a text scrape of the server too: its help text and vllm:cache_config_info tell",
        )  # fmt: skip
    if not 0 <= hits <= queries:
        raise BadBill(
            f"the prefix cache has {money.text(hits)} hits of {money.text(queries)} queries", where=where,
            mend="check that both counters are of the same servers and the same time",
        )  # fmt: skip
    found_tokens = money.multiply(hits, Decimal(block_tokens or 1)) if unit == BLOCKS else hits
    if found_tokens > prompt_tokens:
        raise BadBill(
            f"{money.text(found_tokens)} tokens were found in the prefix cache of {money.text(prompt_tokens)} in prompts",
            where=where, mend="check whether hits count tokens or blocks, and that all counters cover the same time",
        )  # fmt: skip
    return PrefixCache(
        hit_share=money.divide(hits, queries) if queries else None,
        computed_prompt_tokens=money.subtract(prompt_tokens, found_tokens),
    )
