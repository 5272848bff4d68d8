"""Slurm's lists of resources: `billing=12,cpu=12,gres/gpu:h100=4,gres/gpu=4,mem=62.50G,node=1`."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from unitcost.facts.slices import profile_in, slice_share
from unitcost.facts.work import ANY_GPU
from unitcost.money import parse_amount
from unitcost.units import KIB, LEDGER_PLACES, MIB

_REMEMBERED = 20_000
#: More than any job has, and less than the ledger can hold.
_TOO_MANY = 10**11
_GPU = "gres/gpu"
_PARTS_OF_CARDS = ("gres/shard", "gres/mps")
_COUNTED = ("cpu", "node", "billing")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)[nc]?", re.ASCII)
#: Unit of a size -> how many MiB; without one it is MiB.
_MIB_OF = {
    "K": Fraction(1, KIB),
    **{unit: Fraction(KIB**n) for unit, n in (("", 0), ("M", 0), ("G", 1), ("T", 2), ("P", 3))},
}
_GRES = re.compile(r"(?:gres[:/])?(\w+)(?::([^:=(]*[^\d:=(][^:=(]*))?(?:[:=](\d+))?(?:\(.*\))?", re.ASCII)
#: From here on a size of an old Slurm has the bit that means "per core" and is no size of its own.
_PER_CORE_BIT_MIB = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Tres:
    """What an allocation holds.

    Parameters
    ----------
    cpus
        Processor cores; None when the list does not name them.
    gpus
        Accelerator -> how many cards; instances of a card count as their part of it.
    billing
        What Slurm bills the allocation as, by the weights of its partition.
    memory_bytes
        Memory of all nodes together.
    parts
        Whether it holds shards of cards (`gres/shard`, `gres/mps`): how large they are, the list does not say.
    unknown_slices
        Whether it holds instances of a card of a size that nobody here knows; they count as whole cards.
    """

    cpus: Decimal | None = None
    gpus: tuple[tuple[str, Decimal], ...] = ()
    billing: Decimal | None = None
    memory_bytes: int | None = None
    parts: bool = False
    unknown_slices: bool = False


NOTHING = Tres()


@lru_cache(maxsize=_REMEMBERED)
def tres_of(text: str) -> Tres:
    """What a list of trackable resources says.

    `gres/gpu` counts all cards, `gres/gpu:TYPE` those of a type: `gres/gpu:h100=4,gres/gpu=4` is four cards. Cards
    that no type counts are of an unknown one.

    Raises
    ------
    ValueError
        When an entry is not `name=count`, or a count is negative.
    """
    counts: dict[str, Decimal] = defaultdict(Decimal)
    memory_bytes = None
    parts = False
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, sign, value = entry.partition("=")
        if not sign:
            raise ValueError(f"{entry!r} is not a resource and its count, such as cpu=8")
        name = name.casefold()
        if name == "mem":
            memory_bytes = _size_bytes(value)
        elif name in _COUNTED or name == _GPU or name.startswith(f"{_GPU}:"):
            counts[name] += _count(entry, value)
        parts = parts or (name.startswith(_PARTS_OF_CARDS) and _count(entry, value) > 0)
    typed = {name.partition(":")[2]: count for name, count in counts.items() if name.startswith(f"{_GPU}:")}
    gpus, unknown = _cards(typed, counts.get(_GPU, Decimal(0)))
    return Tres(
        cpus=counts.get("cpu"), gpus=gpus, billing=counts.get("billing"), memory_bytes=memory_bytes, parts=parts,
        unknown_slices=unknown,
    )  # fmt: skip


@lru_cache(maxsize=_REMEMBERED)
def gres_of(text: str) -> tuple[tuple[str, Decimal], ...]:
    """Cards of an old list of generic resources, of all nodes together: `gpu:h100:4`, `gres:gpu:2`, `gpu`.

    Raises
    ------
    ValueError
        When an entry cannot be understood.
    """
    typed: dict[str, Decimal] = defaultdict(Decimal)
    for entry in filter(None, (part.strip() for part in re.sub(r"\([^)]*\)", "", text).split(","))):
        if entry.casefold() in ("(null)", "none", "n/a"):
            continue
        found = _GRES.fullmatch(entry)
        if not found:
            raise ValueError(f"{entry!r} is not a generic resource, such as gpu:4")
        if found[1].casefold() == "gpu":
            typed[(found[2] or "").casefold()] += _count(entry, found[3] or "1")
    total = sum(typed.values(), Decimal(0))
    typed.pop("", None)
    return _cards(typed, total)[0]


def size_bytes(text: str, *, nodes: int | None, cpus: int | None) -> int | None:
    """Memory that was asked for, of all nodes together [bytes]: `31000Mn` is per node, `4Gc` per core, `64G` all.

    None when it is not known, such as a number with the bit of an old Slurm that means "per core".

    Raises
    ------
    ValueError
        When it is not a size.
    """
    written = text.strip()
    if not written or written in ("0", "?"):
        return None
    times = {"n": nodes, "c": cpus}.get(written[-1], 1)
    whole = _size_bytes(written)
    if times is None or whole >= _PER_CORE_BIT_MIB * MIB:
        return None
    return whole * times


def _size_bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a size of memory, such as 64G")
    return int(Fraction(found[1]) * _MIB_OF[found[2]] * MIB)


def _count(entry: str, value: str) -> Decimal:
    count = parse_amount(value)
    if not 0 <= count < _TOO_MANY:
        raise ValueError(f"{entry!r} is {'negative' if count < 0 else 'more than there can be'}")
    return count


def _cards(typed: dict[str, Decimal], total: Decimal) -> tuple[tuple[tuple[str, Decimal], ...], bool]:
    """Cards by accelerator, and whether some are instances of an unknown size."""
    cards: dict[str, Decimal] = defaultdict(Decimal)
    unknown = False
    rest = total - sum(typed.values())
    for name, count in [*sorted(typed.items()), (ANY_GPU, rest)]:
        if count <= 0:
            continue
        profile = profile_in(name)
        share = slice_share(profile, name) if profile else None
        unknown = unknown or (bool(profile) and share is None)
        card = name.partition(profile)[0].strip("_-:.") or ANY_GPU if share else name
        cards[card] += _part(count, share)
    return tuple(cards.items()), unknown


def _part(count: Decimal, share: Fraction | None) -> Decimal:
    if share is None or share == 1:
        return count
    exact = Fraction(count) * share
    return Decimal(round(exact * 10**LEDGER_PLACES)).scaleb(-LEDGER_PLACES)
