"""One name for each accelerator, whatever a source calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

from unitcost import money
from unitcost.errors import UnknownName
from unitcost.facts.accelerator_table import TABLE

#: Words of a spelling that do not tell one accelerator from another: who makes it, how it is plugged in.
_SILENT = frozenset(
    {
        "nvidia", "amd", "intel", "google", "aws", "tesla", "geforce", "quadro", "instinct", "radeon", "sxm", "sxm2",
        "sxm3", "sxm4", "sxm5", "pcie", "pci", "nvlink", "hgx", "oam", "hbm2", "hbm2e", "hbm3", "hbm3e", "blackwell",
        "server", "workstation", "edition", "gpu",
    }
)  # fmt: skip
#: Instance of a card at the end of its name: `-MIG-1g.10gb`, ` 3g.40gb`.
_PROFILE = re.compile(r"[-_. ]*(mig[-_. ]*)?(?<![A-Za-z0-9])\d+g\.\d+gb.*$", re.IGNORECASE)
#: Spellings that are kept in mind; an export has a handful.
_REMEMBERED = 4096
_WORD = re.compile(r"[A-Za-z0-9]+")
_MEMORY = re.compile(r"(?P<size>\d{2,3})(gb|g)")
#: Reported memory differs from the vendor's number by less: reserved memory, decimal against binary. [share]
_MEMORY_MARGIN = Decimal("0.08")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """An accelerator by its one name here.

    Parameters
    ----------
    name
        Canonical, such as `H100-80GB`.
    family
        What several memory sizes share: `H100`.
    vendor
        Who makes it.
    memory_gib
        Memory of one device [GiB]; None where the vendor states none.
    spellings
        Other spellings, compared without case, spaces and dashes.
    """

    name: str
    family: str
    vendor: str
    memory_gib: Decimal | None = None
    spellings: tuple[str, ...] = ()


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """All known accelerators."""
    return tuple(
        Accelerator(
            name=name, family=family, vendor=vendor, memory_gib=None if memory is None else Decimal(memory),
            spellings=spellings,
        )
        for name, family, vendor, memory, spellings in TABLE
    )  # fmt: skip


@lru_cache(maxsize=_REMEMBERED)
def accelerator_name(spelling: str) -> str:
    """The one name under which tables and joins have an accelerator.

    Its canonical name; the family where the source does not tell which of several memory sizes it is; the spelling
    itself where it is not known. A MIG profile at the end is left out, as an instance is a part of the card before it.
    """
    card = _PROFILE.sub("", spelling)
    exact = recognise(card)
    if exact is not None:
        return exact.name
    families = {found.family for found in candidates(card)}
    return families.pop() if len(families) == 1 else spelling


@cache
def family_of(name: str) -> str:
    """Family of an accelerator by its one name; the name itself where it has no other."""
    found = by_name().get(name)
    return found.family if found else name


def recognise(spelling: str, device_memory_gib: Decimal | None = None) -> Accelerator | None:
    """The accelerator that a source means; None when it is not known or the memory leaves a doubt.

    Parameters
    ----------
    spelling
        As the source writes it: `NVIDIA A100-SXM4-80GB`, `H100_PCIe`, `RTX A6000`.
    device_memory_gib
        Memory of one device, which tells A100-40GB from A100-80GB [GiB]; None = unknown.
    """
    found, named_memory = _find(spelling)
    memory = named_memory or device_memory_gib
    if len(found) <= 1:
        return found[0] if found else None
    if memory is None:
        return None
    fitting = [a for a in found if a.memory_gib is not None and is_near(memory, a.memory_gib)]
    return fitting[0] if len(fitting) == 1 else None


def candidates(spelling: str) -> tuple[Accelerator, ...]:
    """Accelerators that a spelling may mean when nothing is known of the memory."""
    return _find(spelling)[0] if spelling else ()


def meant_by(name: str) -> frozenset[str]:
    """Canonical names that a user means: one accelerator, or all memory sizes of a family.

    Raises
    ------
    UnknownName
        When there is none; the message names the near ones.
    """
    exact = recognise(name)
    if exact is not None:
        return frozenset({exact.name})
    family = frozenset(a.name for a in candidates(name))
    if not family:
        raise UnknownName("accelerator", name, {a.name for a in accelerators()} | {a.family for a in accelerators()})
    return family


def is_near(reported_gib: Decimal, known_gib: Decimal) -> bool:
    """Whether a reported memory is that of a device, within the margin by which reports differ."""
    difference = money.subtract(reported_gib, known_gib).copy_abs()
    return difference <= money.multiply(known_gib, _MEMORY_MARGIN)


@cache
def by_name() -> dict[str, Accelerator]:
    """Accelerators by canonical name."""
    return {accelerator.name: accelerator for accelerator in accelerators()}


@cache
def _by_spelling() -> dict[str, tuple[Accelerator, ...]]:
    """Accelerators by spelling, whole and folded; the family leads to all of its members."""
    found: dict[str, list[Accelerator]] = {}
    for accelerator in accelerators():
        names = (accelerator.name, accelerator.family, *accelerator.spellings)
        for spelling in sorted({_fold(n)[0] for n in names[:2]} | {_joined(n) for n in names}):
            found.setdefault(spelling, []).append(accelerator)
    return {spelling: tuple(members) for spelling, members in found.items()}


def _find(spelling: str) -> tuple[tuple[Accelerator, ...], Decimal | None]:
    """Accelerators that a spelling may mean, whole words first, and the memory that it names [GiB]."""
    folded, memory = _fold(spelling)
    table = _by_spelling()
    return table.get(_joined(spelling)) or table.get(folded, ()), memory


def _joined(spelling: str) -> str:
    return "".join(_WORD.findall(spelling.lower()))


def _fold(spelling: str) -> tuple[str, Decimal | None]:
    """Spelling without case, separators and silent words, and the memory that it names [GiB]."""
    memory = None
    kept = []
    for word in _WORD.findall(spelling.lower()):
        sized = _MEMORY.fullmatch(word)
        if sized:
            memory = Decimal(sized["size"])
        elif word not in _SILENT:
            kept.append(word)
    return "".join(kept), memory
