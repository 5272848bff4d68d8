"""How much of the use of models has a price. What has none is unknown, and is said beside every total."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from unitcost import money
from unitcost.facts.tokens import Hosting


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """Tokens of one model, and whether a price was found.

    `state` is `unpriced` too when the model is known but not at that time, in that variant or for a class of its tokens.
    """

    model: str
    tokens: int
    state: Hosting


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Tokens by what is known of their price.

    Parameters
    ----------
    unpriced, self_hosted
        Tokens by model, most first.
    share
        Priced tokens over those of APIs, self-hosted ones apart; None when no API was used.
    """

    priced_tokens: int
    unpriced: dict[str, int]
    self_hosted: dict[str, int]
    share: Decimal | None


def price_coverage(uses: Iterable[TokenUse]) -> Coverage:
    """Coverage of the price lists over what was used."""
    by_state: dict[Hosting, dict[str, int]] = {"priced": {}, "unpriced": {}, "self-hosted": {}}
    for use in uses:
        models = by_state[use.state]
        models[use.model] = models.get(use.model, 0) + use.tokens
    priced, unpriced = (sum(by_state[state].values()) for state in ("priced", "unpriced"))
    return Coverage(
        priced_tokens=priced, unpriced=_most_first(by_state["unpriced"]),
        self_hosted=_most_first(by_state["self-hosted"]),
        share=money.divide(Decimal(priced), Decimal(priced + unpriced)) if priced + unpriced else None,
    )  # fmt: skip


def _most_first(models: dict[str, int]) -> dict[str, int]:
    return dict(sorted(models.items(), key=lambda pair: (-pair[1], pair[0])))
