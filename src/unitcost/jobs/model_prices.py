"""Ask for prices of models: which model a name means, what it charges, what a call costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from unitcost.economics.token_prices import Cliff, PricedCall, cliff, price_call
from unitcost.errors import BadSetting, NoPrice, UnknownName
from unitcost.facts.prices import InForce, PriceRecord
from unitcost.facts.tokens import TOKEN_CLASSES, ModelMatch, ModelPrice, TokenCounts
from unitcost.prices.book import Wanted
from unitcost.prices.history import in_force
from unitcost.prices.models import ModelBook


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShown:
    """A model's price in force.

    Parameters
    ----------
    variants
        What it can also be called as, at another price.
    call, cliff
        What a call that was asked about costs, and the tier just above it.
    """

    match: ModelMatch
    price: ModelPrice
    variants: tuple[str, ...]
    call: PricedCall | None = None
    cliff: Cliff | None = None

    @property
    def items(self) -> list[InForce]:
        """Its records, in the order of the classes."""
        order: dict[str, int] = {meter: place for place, meter in enumerate(TOKEN_CLASSES)}
        records = sorted(self.price.rates, key=lambda record: order.get(record.meter, len(order)))
        return [InForce(record=record, last_seen=record.observed_on) for record in records]


def show_model(
    book: ModelBook, name: str, *, provider: str, at: datetime, variant: str = "", tokens: TokenCounts | None = None
) -> ModelShown:
    """A model's price at a moment.

    Raises
    ------
    UnknownName
        When no price list knows the name; the message names the near ones.
    NoPrice
        When it is known but has no price then, in that variant, or by tokens; or runs on own machines.
    """
    match = book.match(name, provider)
    if match.state == "unpriced" and not match.listed:
        mend = "give your own price under [prices]"
        raise UnknownName(
            f"price of a model of {provider}" if provider else "price of", name, book.near(match), mend=mend
        )
    if match.state != "priced":
        raise NoPrice(match.reason, where=name, mend="give your own price under [prices]")
    price = book.price(match, at, variant)
    call = price_call(tokens, price) if tokens else None
    return ModelShown(
        match=match, price=price, variants=book.variants(match), call=call,
        cliff=cliff(tokens, price) if tokens else None,
    )  # fmt: skip


def model_records(book: ModelBook, wanted: Wanted) -> list[PriceRecord]:
    """Records of all models that fit, called the usual way; the first list that knows a model gives them."""
    seen: set[tuple[str, str]] = set()
    found: list[PriceRecord] = []
    for known in book.lists:
        for entry in known.entries():
            key = (entry.provider.casefold(), entry.model.casefold())
            if key not in seen and _fits(entry.model, wanted.sku) and _fits(entry.provider, wanted.provider):
                seen.add(key)
                maker = entry.variants.get("")
                found += _records(maker() if maker else ())
    return found


def models_in_force(book: ModelBook, wanted: Wanted, at: datetime) -> list[InForce]:
    """Records in force of all models that fit."""
    return in_force(model_records(book, wanted), at)


def counts(text: str) -> TokenCounts:
    """Counts written `input=20000,cache_read=170000,output=1000`.

    Raises
    ------
    BadSetting
        When a class is not known or a count is no whole number.
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, count = part.strip().partition("=")
        if name not in TOKEN_CLASSES and name not in ("web_searches", "requests"):
            raise UnknownName("class of tokens", name, [*TOKEN_CLASSES, "web_searches", "requests"])
        if not count.isdecimal():
            raise BadSetting(f"`{part.strip()}` has no whole number", mend="write input=20000,output=1000")
        found[f"{name}_tokens" if name in TOKEN_CLASSES else name] = int(count)
    return TokenCounts(**found)


def _records(prices: Iterable[ModelPrice]) -> Iterator[PriceRecord]:
    return (record for price in prices for record in price.rates)


def _fits(value: str, glob: str) -> bool:
    return not glob or fnmatchcase(value.casefold(), glob.casefold())
