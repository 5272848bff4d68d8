"""A price list of models that the user gives: entries by name, an exact name matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from unitcost.errors import BadPrice
from unitcost.facts.tokens import ModelPrice
from unitcost.prices.entries import Found, ModelEntry, provider_id


class OwnModels:
    """Model prices from one file, by exact name.

    Parameters
    ----------
    name
        Of the file, for the rule that matched.
    prices
        One per model, variant and interval.
    reasons
        Why other models of the file have no price, by name.
    """

    def __init__(self, name: str, prices: Iterable[ModelPrice], reasons: dict[str, str] | None = None) -> None:
        self.name = name
        self._reasons = {model.casefold(): reason for model, reason in (reasons or {}).items()}
        self._entries: dict[str, dict[str, ModelEntry]] = defaultdict(dict)
        by_model = sorted(prices, key=lambda p: (p.model, p.provider, p.variant))
        for (model, provider), group in groupby(by_model, key=lambda p: (p.model, p.provider)):
            makers = {
                variant: _constant(_successive(list(some))) for variant, some in groupby(group, lambda p: p.variant)
            }
            entry = ModelEntry(provider=provider, model=model, variants=makers)
            self._entries[model.casefold()][provider_id(provider)] = entry

    def entries(self) -> Iterable[ModelEntry]:
        """All models of the file."""
        return [entry for entries in self._entries.values() for entry in entries.values()]

    def names(self, provider: str) -> Iterable[str]:
        """Names of the models of the file, of a provider or of any."""
        wanted = provider_id(provider)
        return [name for name, entries in self._entries.items() if not wanted or {wanted, ""} & entries.keys()]

    def find(self, provider: str, model: str) -> Found | str:
        """The model of that very name, of that provider or of none."""
        name, seller = model.strip().casefold(), provider_id(provider)
        prefix, slash, rest = name.partition("/")
        found = self._entry(name, seller)
        if found is None and slash and seller in ("", provider_id(prefix)):
            found = self._entry(rest, provider_id(prefix))
        if found is not None:
            return Found(entry=found, rule="exact")
        if name in self._reasons:
            return Found(entry=ModelEntry(provider=provider, model=model, reason=self._reasons[name]), rule="exact")
        return ""

    def _entry(self, name: str, seller: str) -> ModelEntry | None:
        entries = self._entries.get(name, {})
        if seller:
            return entries.get(seller) or entries.get("")
        return entries.get("") or (next(iter(entries.values())) if len(entries) == 1 else None)


def _successive(prices: Sequence[ModelPrice]) -> tuple[ModelPrice, ...]:
    """Prices of one model in the order of time, each ended by the next."""
    ordered = sorted(prices, key=lambda p: (p.effective_from is not None, p.effective_from))
    ended = []
    for price, following in pairwise([*ordered, None]):
        assert price is not None
        start = following.effective_from if following else None
        if following is not None and start == price.effective_from:
            raise BadPrice(f"{price.model} has two prices from one moment", mend="leave one of them")
        ends = [end for end in (price.effective_to, start) if end is not None]
        ended.append(replace(price, effective_to=min(ends, default=None)))
    return tuple(ended)


def _constant(prices: tuple[ModelPrice, ...]) -> Callable[[], tuple[ModelPrice, ...]]:
    return lambda: prices
