"""Which tokens a charge is for, as the name of its meter says, and how many."""

from __future__ import annotations

import re
from decimal import Decimal

from unitcost import money
from unitcost.facts.calls import Variant
from unitcost.facts.token_charges import MeteredQuantity, TokenMeter
from unitcost.facts.tokens import TokenClass
from unitcost.units import PER_MILLION, PER_THOUSAND

#: Words for one thing in the names of meters: Azure cuts its words short (`cchd Inp`, `Outp`, `aud`, `pp`).
_INPUT = frozenset({"input", "inp", "in", "prompt", "context"})
_OUTPUT = frozenset({"output", "outp", "opt", "out", "completion", "generated"})
_CACHE = frozenset({"cache", "cached", "cchd", "caching"})
_WRITE = frozenset({"write", "writes", "creation", "wr"})
_AUDIO, _IMAGE = frozenset({"audio", "aud", "speech"}), frozenset({"image", "img", "images"})
_TOKENS = frozenset({"token", "tokens", "tokencount"})
_VARIANTS: dict[str, Variant] = {"batch": "batch", "flex": "flex", "priority": "priority", "pp": "priority"}
#: Meters that speak of tokens and do not count those of calls: training, hosting, caches kept by the hour, capacity.
_OTHERS = frozenset(
    {"training", "train", "hosting", "storage", "provisioned", "ptu", "reserved", "grader", "customization"}
)
_LIFETIMES: tuple[tuple[frozenset[str], TokenClass], ...] = (
    (frozenset({"1h", "1hr", "1hour"}), "cache_write_1h"),
    (frozenset({"5m", "5min"}), "cache_write_5m"),
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+[a-z]*", re.ASCII)
#: Where the name of the model ends: at the first word that is about tokens.
_AFTER_MODEL = re.compile(
    r"[-_ ]+(cached?|cchd|prompt|input|inp|output|outp|opt|batch|flex|audio|aud|image|img|text|mantle|pp|tokens?)(?![a-z])",
    re.IGNORECASE,
)
_FOR_MODEL = re.compile(r"tokens? (?:for|of) (\S.*)$", re.IGNORECASE)
#: Words before `input` that are about tokens and name no model.
_NO_MODEL = _CACHE | _WRITE | _INPUT | _OUTPUT | {"read", "reads", "fresh", "uncached", "non", "regular"}
_REGION = re.compile(r"^(?:[A-Z]{2,4}[0-9]?[-_])(?:MP:[A-Z0-9]+_)?")
_EDITION = re.compile(r" *\((Amazon )?Bedrock Edition\)$", re.IGNORECASE)
_UNIT = re.compile(r"([0-9][0-9,]*)? *(k|m|thousand|million)? *(tokens?|units?|count)?", re.IGNORECASE)
_SIZES = {"": Decimal(1), "k": PER_THOUSAND, "thousand": PER_THOUSAND, "m": PER_MILLION, "million": PER_MILLION}


def token_meter(charge: MeteredQuantity) -> TokenMeter | None:
    """What the meter of a charge counts; None when it counts no tokens of calls, or does not say which.

    The first of meter, usage type and description that names a class decides.
    """
    for name in (charge.meter, charge.usage_type, charge.description):
        words = _words(name)
        token_class = _class_of(words)
        if token_class is None or not (words & _TOKENS or _words(charge.unit) & _TOKENS):
            continue
        if words & _OTHERS:
            return None
        variant: Variant = next((word for known, word in _VARIANTS.items() if known in words), "")
        model = _model_of(name) or _model_of(charge.description) or _EDITION.sub("", charge.service)
        return TokenMeter(model=model, token_class=token_class, variant=variant)
    return None


def tokens_of(charge: MeteredQuantity) -> Decimal | None:
    """How many tokens a charge is for; None when its units do not say [tokens]."""
    for unit, quantity in ((charge.unit, charge.quantity), (charge.pricing_unit, charge.pricing_quantity)):
        size = tokens_per_unit(unit)
        if size is not None and quantity is not None:
            return money.multiply(quantity, size)
    return None


def tokens_per_unit(unit: str) -> Decimal | None:
    """Tokens of one unit; None when it is no unit of tokens.

    `1K tokens`, `1000000 Tokens`, `1M` and `tokens` are; so is `Units`, with which the marketplace of AWS counts millions.
    """
    found = _UNIT.fullmatch(unit.strip())
    if found is None or not unit.strip():
        return None
    number, size, what = found.group(1), (found.group(2) or "").casefold(), (found.group(3) or "").casefold()
    if what.startswith("unit"):
        return PER_MILLION if not number and not size else None
    if not what and not size:
        return None
    return money.multiply(Decimal((number or "1").replace(",", "")), _SIZES[size])


def _words(name: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(name))


def _class_of(words: frozenset[str]) -> TokenClass | None:
    audio, image = bool(words & _AUDIO), bool(words & _IMAGE)
    if words & _CACHE and words & _WRITE:
        return next((found for known, found in _LIFETIMES if known & words), "cache_write")
    if words & _CACHE:
        return "cache_read_audio" if audio else "cache_read_image" if image else "cache_read"
    if words & _OUTPUT:
        return "output_audio" if audio else "output_image" if image else "output"
    if words & _INPUT:
        return "input_audio" if audio else "input_image" if image else "input"
    return None


def _model_of(name: str) -> str:
    named = _FOR_MODEL.search(name)
    bare = _REGION.sub("", name)
    found = _AFTER_MODEL.search(bare)
    model = named.group(1) if named else bare[: found.start()].strip(" -_") if found else ""
    return "" if _words(model) <= _NO_MODEL else model
