"""Model prices in the JSON form of litellm: one entry per model, prices per single token, read as exact decimals."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.prices import OWN, PriceRecord, Source, Tier
from unitcost.facts.tokens import UNITS, ModelPrice
from unitcost.prices.own_models import OwnModels
from unitcost.units import KB, PER_MILLION

#: Key of the form -> class of tokens or fee here.
_METERS = {
    "input_cost_per_token": "input",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write_5m",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
    "input_cost_per_audio_token": "input_audio",
    "cache_read_input_audio_token_cost": "cache_read_audio",
    "input_cost_per_image_token": "input_image",
    "input_cost_per_video_token": "input_video",
    "output_cost_per_token": "output",
    "output_cost_per_reasoning_token": "reasoning",
    "citation_cost_per_token": "citation",
    "output_cost_per_audio_token": "output_audio",
    "output_cost_per_image_token": "output_image",
    "input_cost_per_request": "request",
}
_FEES = ("request",)
#: Ends of keys -> variant.
_VARIANTS = {"_batches": "batch", "_batch": "batch", "_priority": "priority", "_flex": "flex"}
_ABOVE = re.compile(r"_above_(?P<thousands>\d+)k_tokens")
_SAMPLE = "sample_spec"


def read(path: Path, *, name: str, observed: str) -> OwnModels:
    """Price list of a file.

    Parameters
    ----------
    name
        How messages and sources call the file.
    observed
        Day on which the user vouches for it.

    Raises
    ------
    BadPrice
        When the file is not of that form.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal, parse_int=Decimal)
    except (OSError, ValueError) as error:
        raise BadPrice(f"cannot be read: {error}", where=name, mend="name a JSON file in litellm's form") from None
    if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
        raise BadPrice("is not an object of models", where=name, mend="name a JSON file in litellm's form")
    source = Source(key=name, name=name, licence=OWN)
    prices: list[ModelPrice] = []
    reasons: dict[str, str] = {}
    for model, entry in data.items():
        if model == _SAMPLE:
            continue
        made = list(_prices(model, entry, source, observed))
        if made:
            prices += made
        else:
            reasons[model] = "no price is stated but zero, which this form also writes for unknown"
    return OwnModels(name, prices, reasons)


def _prices(model: str, entry: Mapping[str, Any], source: Source, observed: str) -> Iterator[ModelPrice]:
    provider = str(entry.get("litellm_provider") or "")
    bare = model.removeprefix(f"{provider}/") if provider else model
    stated = _stated(entry, source.key, model)
    usual = stated.pop("", {})
    for variant, own in [("", usual), *stated.items()]:
        rates = {**usual, **own}
        if any(price for tiers in own.values() for price in tiers.values()):
            yield ModelPrice(
                provider=provider, model=bare, variant=variant, source=source,
                rates=tuple(_record(provider, bare, m, variant, tiers, source, observed) for m, tiers in rates.items()),
                standard=tuple(meter for meter in rates if variant and meter not in own),
                uncounted=tuple(sorted(key for key in entry if key.endswith(("_per_second", "_per_query")))),
            )  # fmt: skip


def _stated(entry: Mapping[str, Any], file: str, model: str) -> dict[str, dict[str, dict[Decimal, Decimal]]]:
    """Variant -> class -> threshold -> price of a token."""
    found: dict[str, dict[str, dict[Decimal, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for key, price in entry.items():
        above = _ABOVE.search(key)
        over = Decimal(int(above["thousands"]) * KB) if above else Decimal(0)
        plain = _ABOVE.sub("", key)
        end = next((end for end in _VARIANTS if plain.endswith(end)), "")
        meter = _METERS.get(plain.removesuffix(end))
        if meter is None or price is None:
            continue
        if not isinstance(price, Decimal) or not price.is_finite() or price < 0:
            raise BadPrice(f"`{key}` of {model} is {price!r}, not a price", where=file, mend="correct it there")
        found[_VARIANTS.get(end, "")][meter][over] = price
    return {v: {m: tiers for m, tiers in meters.items() if Decimal(0) in tiers} for v, meters in found.items()}


def _record(
    provider: str, model: str, meter: str, variant: str, tiers: Mapping[Decimal, Decimal], source: Source, observed: str
) -> PriceRecord:
    per = Decimal(1) if meter in _FEES else PER_MILLION
    steps = ((over, money.multiply(price, per)) for over, price in sorted(tiers.items()))
    return PriceRecord(
        kind="model", provider=provider, sku=model, meter=meter, variant=variant, currency="USD",
        unit=UNITS.get(meter, "tokens"), mode="whole-request", per=per, dating="stated",
        tiers=tuple(Tier(over=over, price=price) for over, price in steps), observed=observed,
        source=source,
    )  # fmt: skip
