"""What a provider's prompt cache saved: its ceiling, what came of it, and what was lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from unitcost import money
from unitcost.facts.tokens import TokenClass

#: `provider`: it caches by itself and charges nothing for writes. `caller`: somebody marked what to keep, and paid for it.
EarnedBy = Literal["provider", "caller", "nobody"]
#: Classes of a prompt that a cache is about.
PROMPT: tuple[TokenClass, ...] = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write")
_WRITES = PROMPT[2:]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCache:
    """Amounts in the currency of the prices, tokens once each.

    Parameters
    ----------
    ceiling
        Saving if all of the prompts had been read from the cache: no provider reaches it, as what is new must be read once.
    saved
        What was saved against sending everything as fresh input; negative when writes were never read.
    lost
        ``ceiling - saved``.
    hit_share
        Tokens read over tokens of prompts; None when there were none.
    """

    prompt_tokens: int
    read_tokens: int
    hit_share: Decimal | None
    ceiling: Decimal
    saved: Decimal
    lost: Decimal
    earned_by: EarnedBy


def prompt_cache(tokens: Mapping[TokenClass, int], per_token: Mapping[TokenClass, Decimal]) -> PromptCache | None:
    """Account of a prompt cache over calls at the same prices.

    Parameters
    ----------
    tokens
        Class -> tokens, in classes that do not overlap.
    per_token
        Class -> price of one token.

    Returns
    -------
    PromptCache or None
        None where fresh input has no price.

    Notes
    -----
    ``saved = read x (input - cache_read) - sum over writes of written x (write - input)``;
    ``ceiling = prompt x (input - cache_read)``.
    """
    fresh = per_token.get("input")
    if fresh is None:
        return None
    counts = {c: tokens.get(c, 0) for c in PROMPT}
    gains = [_gain(count, fresh, per_token.get(c, fresh)) for c, count in counts.items()]
    saved, prompt = money.add(gains), sum(counts.values())
    ceiling = _gain(prompt, fresh, per_token.get("cache_read", fresh))
    return account(
        prompt=prompt, read=counts["cache_read"], wrote=any(counts[c] for c in _WRITES), ceiling=ceiling, saved=saved
    )


def account(*, prompt: int, read: int, wrote: bool, ceiling: Decimal, saved: Decimal) -> PromptCache:
    """Account of sums: of several models, or of one at several prices."""
    earned_by: EarnedBy = "caller" if wrote else "provider" if read else "nobody"
    return PromptCache(
        prompt_tokens=prompt, read_tokens=read,
        hit_share=money.divide(Decimal(read), Decimal(prompt)) if prompt else None, ceiling=ceiling, saved=saved,
        lost=money.subtract(ceiling, saved), earned_by=earned_by,
    )  # fmt: skip


def _gain(tokens: int, fresh: Decimal, price: Decimal) -> Decimal:
    return money.multiply(Decimal(tokens), money.subtract(fresh, price))
