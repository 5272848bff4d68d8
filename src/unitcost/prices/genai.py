"""Model prices of the package genai-prices, as price records.

Names match exactly: the id of a model, or a name that the list gives as another spelling. A dated snapshot leads to its
model only when the list itself takes it for that model. Names that merely begin alike never match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from unitcost.errors import BadPrice
from unitcost.facts.prices import PriceRecord, Source, Tier, flat, midnight
from unitcost.facts.tokens import UNITS, ModelPrice
from unitcost.prices.entries import Found, ModelEntry, provider_id, snapshot_of
from unitcost.units import PER_MILLION, PER_THOUSAND

if TYPE_CHECKING:
    from genai_prices import types

NAME = "genai-prices"
#: Where the newest data are, for a refresh that is asked for.
DATA_URL = "https://raw.githubusercontent.com/pydantic/genai-prices/refs/heads/main/prices/new_data/v2/data.json"
#: Version of the package -> day of its data.
_READ = {"0.2.3": "2026-11-09"}
#: Key of the list -> class of tokens or fee here.
_METERS = {
    "input_mtok": "input", "cache_read_mtok": "cache_read", "cache_write_mtok": "cache_write_5m",
    "cache_write_5m_mtok": "cache_write_5m", "cache_write_1h_mtok": "cache_write_1h",
    "input_audio_mtok": "input_audio", "cache_audio_read_mtok": "cache_read_audio",
    "input_image_mtok": "input_image", "cache_image_read_mtok": "cache_read_image",
    "input_video_mtok": "input_video", "output_mtok": "output", "output_reasoning_mtok": "reasoning",
    "output_citation_mtok": "citation", "output_audio_mtok": "output_audio", "output_image_mtok": "output_image",
    "output_video_mtok": "output_video", "requests_kcount": "request", "web_searches_kcount": "web_search",
}  # fmt: skip
_FEES = ("request", "web_search")
_BEDROCK_REGION = re.compile(r"^(us|us-gov|eu|apac|jp|au|in|ca)\.")
_BEDROCK_VERSION = re.compile(r"-v\d+(:\d+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    model: types.ModelInfo
    rule: str


class GenaiPrices:
    """The list, with its data as they were read on a day.

    Parameters
    ----------
    providers
        As the package gives them.
    source, observed
        Who says so, and when it was read.
    """

    name = NAME

    def __init__(self, providers: Iterable[types.Provider], source: Source, observed: str) -> None:
        self._providers = {provider.id: provider for provider in providers}
        self.source = source
        self.observed = observed

    @classmethod
    def bundled(cls, now: datetime) -> GenaiPrices:
        """The data that the installed package brings; no network."""
        from importlib.metadata import version

        from genai_prices.data import providers

        release = version("genai-prices")
        begun = [day for day in _beginnings(providers) if day <= now.date()]
        observed = _READ.get(release) or max(begun).isoformat()
        return cls(providers, Source(key=NAME, name=NAME, revision=release, licence="MIT"), observed)

    @classmethod
    def read(cls, data: bytes, *, revision: str, observed: str) -> GenaiPrices:
        """Data that a refresh fetched.

        Raises
        ------
        BadPrice
            When they are not of that form.
        """
        from genai_prices.types import _providers_from_raw

        try:
            providers = _providers_from_raw(json.loads(data))
        except (ValueError, TypeError) as error:
            raise BadPrice(f"cannot be read: {error}", where=NAME, mend="update the package genai-prices") from None
        return cls(providers, Source(key=NAME, name=NAME, revision=revision, licence="MIT"), observed)

    def entries(self) -> Iterable[ModelEntry]:
        """All models of the list that have a price."""
        made = (self._entry(p.id, model) for p in self._providers.values() for model in p.models)
        return [entry for entry in made if not entry.reason]

    def entry(self, provider: str, model: str) -> ModelEntry | None:
        """A model by its very id."""
        named = self._names.get(provider, {}).get(model.casefold())
        return self._entry(provider, named.model) if named is not None and named.rule == "exact" else None

    def names(self, provider: str) -> Iterable[str]:
        """Names of the models of a provider; of all, when none is named."""
        known = self.provider_of(provider)
        return [name for p, names in self._names.items() if known in ("", p) for name in names]

    def provider_of(self, spelling: str) -> str:
        """Provider of the list that a spelling means; the spelling itself when none is."""
        folded = spelling.strip().casefold()
        return folded if folded in self._providers else provider_id(spelling)

    def find(self, provider: str, model: str) -> Found | str:
        """The model of a name; else why there is none."""
        name = model.strip().casefold()
        known = self.provider_of(provider)
        if known and known not in self._providers:
            return f"{NAME} has no provider `{provider}`"
        prefix, slash, rest = name.partition("/")
        if slash and self.provider_of(prefix) in self._providers and (not known or self.provider_of(prefix) == known):
            found = self._in(self.provider_of(prefix), rest)
            if found is not None:
                return found
        if known:
            return self._in(known, name) or f"{NAME} lists no `{model}` of {known}"
        return self._anywhere(name)

    def _anywhere(self, name: str) -> Found | str:
        """A name without provider: that of its maker, else the only one who lists it."""
        for provider in self._providers.values():
            if provider.model_match is not None and provider.model_match.is_match(name):
                found = self._in(provider.id, name)
                if found is not None:
                    return found
                break
        sellers = {p: found for p in self._providers if (found := self._in(p, name)) is not None}
        if len(sellers) == 1:
            return next(iter(sellers.values()))
        return f"{', '.join(sellers)} list `{name}`; name the provider" if sellers else f"{NAME} lists no `{name}`"

    def _in(self, provider: str, name: str) -> Found | None:
        names = self._names[provider]
        for spelling in (name, *(_bedrock(name) if provider == "aws" else ())):
            named = names.get(spelling)
            if named is None:
                base = names.get(snapshot_of(spelling) or "")
                named = _Named(model=base.model, rule=f"snapshot of {base.model.id}") if base else None
            told = named is not None and named.rule == "exact" and spelling == name
            if named is not None and (told or self._own_match(provider, name) is named.model):
                rule = named.rule if spelling == name else f"Bedrock id of {named.model.id}"
                return Found(entry=self._entry(provider, named.model), rule=rule)
        return None

    def _own_match(self, provider: str, name: str) -> types.ModelInfo | None:
        """The model that the list's own matching takes a name for."""
        return next((model for model in self._providers[provider].models if model.is_match(name)), None)

    @cached_property
    def _names(self) -> dict[str, dict[str, _Named]]:
        """Provider -> name -> model; an id goes before another spelling, and the first before the next."""
        found: dict[str, dict[str, _Named]] = {}
        for provider in self._providers.values():
            names = found.setdefault(provider.id, {})
            for model in provider.models:
                names.setdefault(model.id.casefold(), _Named(model=model, rule="exact"))
            for model in provider.models:
                for spelling in _spellings(model.match):
                    names.setdefault(spelling, _Named(model=model, rule=f"alias of {model.id}"))
        return found

    def _entry(self, provider: str, model: types.ModelInfo) -> ModelEntry:
        names = {value for variant in model.price_variants or () for value in variant.when.values()}
        makers = {name: partial(self.prices, provider, model, name) for name in ("", *sorted(names))}
        return ModelEntry(
            provider=provider, model=model.id, variants=makers, reason="" if makers[""]() else _no_price(model)
        )  # fmt: skip

    def prices(self, provider: str, model: types.ModelInfo, variant: str) -> tuple[ModelPrice, ...]:
        """What a model charges in a variant, one per interval; empty when it lists no price for tokens."""
        made = []
        for cell in _joined(_cells(model, _context(model, variant) if variant else None)):
            rates = self._rates(provider, model.id, variant, cell)
            if any(record.meter not in _FEES for record in rates):
                meters = {record.meter for record in rates}
                made.append(
                    ModelPrice(
                        provider=provider, model=model.id, rates=rates, source=self.source, variant=variant,
                        effective_from=cell.start, effective_to=cell.end, hours=cell.hours,
                        standard=tuple(meter for meter in cell.usual if meter in meters),
                        uncounted=tuple(sorted(key for key in cell.listed if key not in _METERS)),
                    )
                )  # fmt: skip
        return tuple(made)

    def _rates(self, provider: str, model: str, variant: str, cell: _Cell) -> tuple[PriceRecord, ...]:
        keys = {_METERS[key]: price for key, price in sorted(cell.listed.items()) if key in _METERS}
        return tuple(
            PriceRecord(
                kind="model",
                provider=provider,
                sku=model,
                meter=meter,
                variant=variant,
                hours=cell.hours,
                unit=UNITS.get(meter, "tokens"),
                per=PER_THOUSAND if meter in _FEES else PER_MILLION,
                currency="USD",
                tiers=_tiers(price),
                mode="whole-request",
                effective_from=cell.start,
                dating="stated",
                observed=self.observed,
                source=self.source,
            )
            for meter, price in keys.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """An interval in which the prices of a model do not change.

    `listed` holds them by the keys of the list; `usual` the classes that the asked variant does not name.
    """

    start: datetime | None
    end: datetime | None
    hours: str
    listed: dict[str, Any]
    usual: tuple[str, ...]


def _listed(price: types.ModelPrice) -> dict[str, Any]:
    return {key: value for key, value in price.__dict__.items() if value is not None}


def _tiers(price: Any) -> tuple[Tier, ...]:
    if isinstance(price, Decimal):
        return flat(price)
    steps = [(Decimal(0), price.base), *((Decimal(tier.start), tier.price) for tier in price.tiers)]
    return tuple(Tier(over=over, price=amount) for over, amount in steps)


def _spellings(clause: Any) -> Iterator[str]:
    """Whole names that the matching of a model spells out; patterns give none."""
    for part in getattr(clause, "or_", [clause]):
        if part is not clause:
            yield from _spellings(part)
        elif hasattr(clause, "equals"):
            yield clause.equals.casefold()
        elif hasattr(clause, "starts_with") and clause.starts_with[-1:].isalnum():
            yield clause.starts_with.casefold()


def _bedrock(name: str) -> Iterator[str]:
    """Other spellings of a model id of Amazon Bedrock: the list writes one name for all regions of an id."""
    base = _BEDROCK_REGION.sub("", name)
    if not name.startswith("global."):
        yield f"regional.{base}"
    if base != name:
        yield base
    short = _BEDROCK_VERSION.sub("", base)
    if short != base:
        yield short


def _context(model: types.ModelInfo, variant: str) -> dict[str, str]:
    """What a call of a variant says of itself, in the words of the list."""
    whens = (when for v in model.price_variants or () for when in v.when.items())
    return {key: value for key, value in whens if variant and value == variant}


def _active(model: types.ModelInfo, context: Mapping[str, str], at: datetime) -> list[types.PriceVariant]:
    """Variants of the list that fit a call and hold at its time."""
    return [
        v
        for v in model.price_variants or ()
        if all(context.get(key) == value for key, value in v.when.items())
        and (v.constraint is None or v.constraint.active(at))
    ]


def _usual(model: types.ModelInfo, context: Mapping[str, str], at: datetime) -> tuple[str, ...]:
    """Classes that the active variants do not price."""
    own = {_METERS.get(key, key) for variant in _active(model, context, at) for key in _listed(variant.prices)}
    return tuple(meter for meter in dict.fromkeys(_METERS.values()) if meter not in own)


def _cells(model: types.ModelInfo, context: Mapping[str, str] | None) -> Iterator[_Cell]:
    """Prices of a model between all days and hours at which one may change; without a context the usual ones."""
    days: list[date | None] = [None, *sorted(set(_beginnings_of(model)))]
    clocks = sorted({clock for constraint in _constraints(model) for clock in _clocks(constraint)}) or [time()]
    for day, following in zip(days, [*days[1:], None], strict=True):
        start, end = (midnight(d) if d else None for d in (day, following))
        inside = start or (end - timedelta(days=1) if end else datetime(2020, 1, 1, tzinfo=UTC))
        for clock, until in zip(clocks, [*clocks[1:], *clocks[:1]], strict=True):
            at = datetime.combine(inside.date(), clock, UTC)
            if _is_priced(model, at) and (context is None or _active(model, context, at)):
                hours = f"{clock:%H:%M}-{until:%H:%M}" if len(clocks) > 1 else ""
                listed = _listed(model.get_prices(at, context))
                usual = _usual(model, context, at) if context is not None else ()
                yield _Cell(start=start, end=end, hours=hours, listed=listed, usual=usual)


def _joined(cells: Iterable[_Cell]) -> list[_Cell]:
    """Cells with those joined that follow each other, in the same hours, with the same prices."""
    last: dict[str, _Cell] = {}
    done = []
    for cell in cells:
        before = last.get(cell.hours)
        same = before is not None and (before.end, before.listed, before.usual) == (cell.start, cell.listed, cell.usual)
        if before is not None and same:
            last[cell.hours] = replace(before, end=cell.end)
        else:
            done += [before] if before is not None else []
            last[cell.hours] = cell
    return [*done, *last.values()]


def _is_priced(model: types.ModelInfo, at: datetime) -> bool:
    """Whether one of the listed prices holds then; the list itself would take the first, whenever it begins."""
    if not isinstance(model.prices, list):
        return True
    return any(price.constraint is None or price.constraint.active(at) for price in model.prices)


def _constraints(model: types.ModelInfo) -> Iterator[Any]:
    listed = model.prices if isinstance(model.prices, list) else []
    for holder in (*listed, *(model.price_variants or ())):
        if holder.constraint is not None:
            yield holder.constraint


def _beginnings_of(model: types.ModelInfo) -> Iterator[date]:
    return (c.start_date for c in _constraints(model) if hasattr(c, "start_date"))


def _beginnings(providers: Iterable[types.Provider]) -> Iterator[date]:
    return (day for provider in providers for model in provider.models for day in _beginnings_of(model))


def _clocks(constraint: Any) -> Iterator[time]:
    """Edges of a daily interval, UTC."""
    for edge in (getattr(constraint, "start_time", None), getattr(constraint, "end_time", None)):
        if edge is not None:
            aware = edge if edge.tzinfo else edge.replace(tzinfo=UTC)
            yield datetime.combine(date(2020, 1, 1), aware).astimezone(UTC).time()


def _no_price(model: types.ModelInfo) -> str:
    """Why there is no price for tokens."""
    listed = model.prices if not isinstance(model.prices, list) else model.prices[-1].prices
    others = ", ".join(sorted(_listed(listed)))
    return f"it charges by {others}, not by tokens" if others else "it is listed without any price"
