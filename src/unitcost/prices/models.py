"""Model prices of several lists, the user's own first: which model a name means, and what it charged when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase

from unitcost.errors import NoPrice, near_names
from unitcost.facts.prices import holds_at
from unitcost.facts.tokens import ModelMatch, ModelPrice
from unitcost.prices.entries import Found, ModelEntry, PriceList
from unitcost.prices.intervals import in_gaps

#: Variants that mean the usual way of calling.
USUAL = frozenset({"", "standard", "auto", "on-demand", "on_demand"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What the user says about names.

    Parameters
    ----------
    aliases
        Name in the calls -> `provider/model` or `model` of a price list.
    same_as
        Provider -> providers whose prices hold for it too.
    self_hosted
        Globs of models that run on own machines: their cost is in the machines' bill.
    """

    aliases: Mapping[str, str] = field(default_factory=dict)
    same_as: Mapping[str, Sequence[str]] = field(default_factory=dict)
    self_hosted: Sequence[str] = ()


class ModelBook:
    """Price lists in order: the first that knows a name prices it.

    Parameters
    ----------
    lists
        The user's own first.
    naming
        What the user says about names.
    """

    def __init__(self, lists: Sequence[PriceList], naming: Naming | None = None) -> None:
        self.lists = tuple(lists)
        self.naming = naming or Naming()
        self._aliases = {name.casefold(): meant for name, meant in self.naming.aliases.items()}
        self._found: dict[tuple[str, str], tuple[ModelMatch, tuple[ModelEntry, ...]]] = {}

    def match(self, model: str, provider: str = "") -> ModelMatch:
        """Find the model that a name means.

        Parameters
        ----------
        model, provider
            As a call names them; the provider may be empty or part of the name, `openai/gpt-4o`.

        Returns
        -------
        ModelMatch
            With the rule that matched; or unpriced, with the reason; or self-hosted.
        """
        return self._resolve(model, provider)[0]

    def intervals(self, match: ModelMatch, variant: str = "") -> tuple[ModelPrice, ...]:
        """All prices of a matched model in a variant, for pricing many calls; no two hold at one moment.

        Where the first list that knows the model has no price for a time, the next one fills in.

        Raises
        ------
        NoPrice
            When the model is not priced, or the first list that knows it names no such variant.
        """
        entries = self._resolve(match.asked_model, match.asked_provider)[1]
        if not entries:
            raise NoPrice(match.reason or f"it is {match.state}", where=match.asked_model, mend=_MEND)
        asked = "" if variant.casefold() in USUAL else variant.casefold()
        if asked not in entries[0].variants:
            others = ", ".join(self.variants(match)) or "none"
            raise NoPrice(
                f"{match.source} lists no `{variant}` price of {match.model}", where=match.asked_model,
                mend=f"it lists: {others}; give your own price under [prices]",
            )  # fmt: skip
        prices: list[ModelPrice] = []
        for entry in entries:
            maker = entry.variants.get(asked)
            prices += in_gaps(prices, maker() if maker else ())
        return tuple(prices)

    def price(self, match: ModelMatch, at: datetime, variant: str = "") -> ModelPrice:
        """What a matched model charged at a moment, in a variant.

        Raises
        ------
        NoPrice
            When it is not priced, has no such variant, or had no price then.
        """
        prices = self.intervals(match, variant)
        for price in prices:
            begun = price.effective_from is None or price.effective_from <= at
            if begun and (price.effective_to is None or at < price.effective_to) and holds_at(price.hours, at):
                return price
        first = min((p.effective_from for p in prices if p.effective_from), default=None)
        raise NoPrice(
            f"there is no {variant + ' ' if variant else ''}price for {at.date()}"
            + (f"; the first is from {first.date()}" if first and first > at else ""),
            where=match.asked_model, mend=_MEND,
        )  # fmt: skip

    def variants(self, match: ModelMatch) -> tuple[str, ...]:
        """Variants that are listed beside the usual way."""
        entries = self._resolve(match.asked_model, match.asked_provider)[1]
        return tuple(sorted(name for name in (entries[0].variants if entries else ()) if name))

    def near(self, match: ModelMatch) -> list[str]:
        """Known names that look like one that was asked for, nearest first; slow, so ask for few."""
        return near_names(match.asked_model, self.names(match.asked_provider))

    def names(self, provider: str = "") -> list[str]:
        """All names that the lists know."""
        return sorted({name for known in self.lists for name in known.names(provider)})

    def _resolve(self, model: str, provider: str) -> tuple[ModelMatch, tuple[ModelEntry, ...]]:
        key = (model, provider)
        if key not in self._found:
            self._found[key] = self._search(model, provider)
        return self._found[key]

    def _search(self, model: str, provider: str) -> tuple[ModelMatch, tuple[ModelEntry, ...]]:
        asked = ModelMatch(asked_provider=provider, asked_model=model, state="unpriced")
        if any(fnmatchcase(model.casefold(), glob.casefold()) for glob in self.naming.self_hosted):
            reason = "it runs on own machines, whose bill holds its cost"
            return replace(asked, state="self-hosted", rule="[prices] self_hosted", reason=reason), ()
        reason, listed = "", False
        for name, seller, how in self._spellings(model, provider):
            hits, why, known = self._hits(name, seller)
            reason, listed = (why, True) if known else (reason or why, listed)
            if hits:
                first, found = hits[0]
                rule = "; ".join(part for part in (how, found.rule) if part)
                entry = found.entry
                match = replace(
                    asked, state="priced", provider=entry.provider or seller, model=entry.model, rule=rule,
                    source=first.name,
                )  # fmt: skip
                return match, tuple(hit.entry for _, hit in hits)
        return replace(asked, reason=reason or "no price list knows it", listed=listed), ()

    def _spellings(self, model: str, provider: str) -> list[tuple[str, str, str]]:
        """Names to look for: (model, provider, how it was said), the user's alias before the name itself."""
        meant = self._aliases.get(model.casefold())
        if meant is not None:
            return [(meant, "", f"[prices.aliases] {model}")]
        others = [
            (model, other, f"[prices.same_as] {provider}") for other in self.naming.same_as.get(provider.casefold(), ())
        ]
        return [(model, provider, ""), *others]

    def _hits(self, name: str, provider: str) -> tuple[list[tuple[PriceList, Found]], str, bool]:
        """The lists that price a name, in order; why others do not; whether one of these knows it."""
        hits: list[tuple[PriceList, Found]] = []
        reason, listed = "", False
        for known in self.lists:
            found = known.find(provider, name)
            if isinstance(found, str):
                reason = reason or found
            elif not found.entry.reason:
                hits.append((known, found))
            elif not listed:
                reason, listed = f"{known.name}: {found.entry.reason}", True
        return hits, reason, listed


_MEND = "under [prices] give your own price, or say what is meant with aliases or same_as"
