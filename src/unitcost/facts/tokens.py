"""Tokens of calls in classes that do not overlap, and what a model charges for each class."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Literal

from unitcost.errors import BadPrice
from unitcost.facts.prices import PriceRecord, Source

#: Classes of tokens that a call may be charged for. `input` is fresh input. `cache_write` is written to a cache for a
#: time that nobody states. `output` holds the visible answer and what a model reasoned, `reasoning` is priced apart
#: only by models that say so.
TokenClass = Literal[
    "input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write", "input_audio", "cache_read_audio",
    "input_image", "cache_read_image", "input_video", "output", "reasoning", "citation", "output_audio",
    "output_image", "output_video",
]  # fmt: skip
INPUT_CLASSES: tuple[TokenClass, ...] = (
    "input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write", "input_audio", "cache_read_audio",
    "input_image", "cache_read_image", "input_video",
)  # fmt: skip
OUTPUT_CLASSES: tuple[TokenClass, ...] = (
    "output", "reasoning", "citation", "output_audio", "output_image", "output_video",
)  # fmt: skip
TOKEN_CLASSES = INPUT_CLASSES + OUTPUT_CLASSES
#: How long a cache is written for when the breakdown is missing: the default of the providers.
DEFAULT_LIFETIME: TokenClass = "cache_write_5m"
#: Whose rate holds for a class without its own, in this order: a provider that lists no price for cached tokens
#: charges them as input.
FALLBACKS: Mapping[TokenClass, tuple[TokenClass, ...]] = {
    "input": (),
    "cache_read": ("input",),
    "cache_write_5m": ("input",),
    "cache_write_1h": ("cache_write_5m", "input"),
    "cache_write": ("cache_write_5m", "input"),
    "input_audio": ("input",),
    "cache_read_audio": ("cache_read", "input_audio", "input"),
    "input_image": ("input",),
    "cache_read_image": ("cache_read", "input_image", "input"),
    "input_video": ("input",),
    "output": (),
    "reasoning": ("output",),
    "citation": ("output",),
    "output_audio": ("output",),
    "output_image": ("output",),
    "output_video": ("output",),
}
#: What is charged per call besides tokens.
Fee = Literal["request", "web_search"]
FEES: tuple[Fee, ...] = ("request", "web_search")
#: What is counted for a fee; everything else counts tokens.
UNITS: Mapping[str, str] = {"request": "requests", "web_search": "searches"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of a call, each counted in one class only.

    Parameters
    ----------
    input_tokens
        Fresh input: what is neither read from nor written to a cache, and neither audio, image nor video.
    cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens
        Read from a cache, written to it for five minutes, for an hour.
    cache_write_tokens
        Written to a cache for a time that is not stated.
    output_tokens
        The answer with all that was reasoned, but without audio, image and video.
    reasoning_tokens
        Those of `output_tokens` that were reasoned; they are not added to them.
    citation_tokens
        Cited text that some search models charge for.
    web_searches
        Searches that were charged.
    requests
        Calls that these counts are the sum of.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_write_tokens: int = 0
    input_audio_tokens: int = 0
    cache_read_audio_tokens: int = 0
    input_image_tokens: int = 0
    cache_read_image_tokens: int = 0
    input_video_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    citation_tokens: int = 0
    output_audio_tokens: int = 0
    output_image_tokens: int = 0
    output_video_tokens: int = 0
    web_searches: int = 0
    requests: int = 1

    def __post_init__(self) -> None:
        wrong = [field.name for field in fields(self) if getattr(self, field.name) < 0]
        if wrong:
            raise BadPrice(f"{', '.join(wrong)} is negative", mend="counts of tokens are not negative")
        if self.reasoning_tokens > self.output_tokens:
            raise BadPrice(
                f"{self.reasoning_tokens} reasoning tokens in {self.output_tokens} output tokens",
                mend="output includes what was reasoned",
            )  # fmt: skip

    def of(self, token_class: TokenClass) -> int:
        """Tokens of a class; `output` includes `reasoning`."""
        count: int = getattr(self, f"{token_class}_tokens")
        return count

    def fee(self, fee: Fee) -> int:
        """How often a fee is due."""
        return self.requests if fee == "request" else self.web_searches

    @property
    def prompt_tokens(self) -> int:
        """The whole prompt: every class of input. It chooses the tier of long-context prices."""
        return sum(self.of(token_class) for token_class in INPUT_CLASSES)

    @property
    def total_tokens(self) -> int:
        """All tokens, each once."""
        return self.prompt_tokens + sum(self.of(c) for c in OUTPUT_CLASSES if c != "reasoning")


#: What is counted of a call, by name: all tokens by class, and searches.
COUNTED = tuple(field.name for field in fields(TokenCounts) if field.name != "requests")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """What a model charges from one moment to another.

    Parameters
    ----------
    provider, model
        As the price list names them.
    variant
        How it was called when that changes the price: `batch`, `priority`; empty = the usual way.
    rates
        One record per class or fee that has its own price; its `meter` is the class or fee.
    effective_from, effective_to
        Half-open, UTC; None = no such bound.
    hours
        Hours of the day (UTC) in which it holds, such as `16:30-00:30`; empty = all day.
    standard
        Classes that the variant does not name: they cost what they cost the usual way.
    uncounted
        What the model charges for besides tokens, searches and requests; not part of any amount here.
    """

    provider: str
    model: str
    rates: tuple[PriceRecord, ...]
    source: Source
    variant: str = ""
    currency: str = "USD"
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    hours: str = ""
    standard: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        meters = [record.meter for record in self.rates]
        if len(set(meters)) != len(meters):
            raise BadPrice("a class has two prices", where=f"{self.provider} {self.model}", mend="leave one of them")

    @property
    def id(self) -> str:
        """Name made from its records: a call that it priced carries this name."""
        content = "\x1f".join(sorted(record.id for record in self.rates))
        return "model-" + hashlib.sha256(content.encode()).hexdigest()[:12]

    def rate(self, meter: TokenClass | Fee) -> PriceRecord | None:
        """The record of a class or fee itself, without fallback."""
        return next((record for record in self.rates if record.meter == meter), None)

    def charged_as(self, token_class: TokenClass) -> PriceRecord | None:
        """The record that prices a class: its own, or that of the class it falls back to."""
        for candidate in (token_class, *FALLBACKS[token_class]):
            found = self.rate(candidate)
            if found is not None:
                return found
        return None

    @property
    def thresholds(self) -> tuple[Decimal, ...]:
        """Sizes of the prompt above which a price changes, ascending; the first is 0."""
        return tuple(sorted({tier.over for record in self.rates for tier in record.tiers}))


#: priced: a price was found. unpriced: none was, the cost is unknown. self-hosted: the cost is in the machine's bill.
Hosting = Literal["priced", "unpriced", "self-hosted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMatch:
    """How a name that was asked for led to a model of a price list, or did not.

    Parameters
    ----------
    asked_provider, asked_model
        As the call names them.
    state
        Whether a price list knows it.
    provider, model
        As the price list names them.
    rule
        Which rule matched, in words.
    source
        Which list knows it.
    reason
        Why there is no price.
    listed
        Whether a list knows the name, though without a price for tokens.
    """

    asked_provider: str
    asked_model: str
    state: Hosting
    provider: str = ""
    model: str = ""
    rule: str = ""
    source: str = ""
    reason: str = ""
    listed: bool = False
