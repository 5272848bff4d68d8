"""Names that almost match: proposed to the user, never merged."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from unitcost.attribution.owners import DEFAULT_SOURCES, TAG, UNKNOWN_VALUE
from unitcost.attribution.tags import fold
from unitcost.errors import near_names
from unitcost.facts.answers import NearMiss
from unitcost.facts.drivers import SHIPPED_NAMES
from unitcost.facts.rules import DriverRule, OwnerRules

#: Two letters changed places, or one of four is another: that much alike, or more.
_ALIKE = 0.75
_SHORTEST = 4


def near_values(rules: OwnerRules, found: Iterable[tuple[str | None, str | None]]) -> list[NearMiss]:
    """Unknown owner values and the known names they look like; without a list of known names, other spellings.

    A value that looks like none is listed too, with nothing beside it.

    Parameters
    ----------
    found
        Owners and how each is known.
    """
    owners = {(name, how) for name, how in found if name is not None}
    if not rules.known:
        return _other_spellings(rules, sorted(name for name, how in owners if how == TAG))
    return [
        NearMiss(kind=rules.kind, what="value", found=name, near=tuple(near_names(name, rules.known)))
        for name, how in sorted(owners)
        if how == UNKNOWN_VALUE
    ]


def _other_spellings(rules: OwnerRules, names: list[str]) -> list[NearMiss]:
    """Values that differ in letter case and separators only: the first of them is what the others look like."""
    first: dict[str, str] = {}
    misses = []
    for name in names:
        kept = first.setdefault(fold(name) or name, name)
        if kept != name:
            misses.append(NearMiss(kind=rules.kind, what="value", found=name, near=(kept,)))
    return misses


def near_keys(rules: OwnerRules, seen: Iterable[Sequence[str]]) -> list[NearMiss]:
    """Tag keys that are spelt like no source, but nearly, on charges that no source knows.

    Parameters
    ----------
    seen
        Keys that stand on a charge together.
    """
    sources = rules.sources or DEFAULT_SOURCES[rules.kind]
    wanted = {fold(s.removeprefix("tags.")): s.removeprefix("tags.") for s in sources if s.startswith("tags.")}
    misses: dict[str, str] = {}
    for keys in seen:
        folded = {key: fold(key) for key in keys}
        if wanted.keys().isdisjoint(folded.values()):
            misses.update({key: near for key, name in folded.items() if (near := _near(name, wanted))})
    return [NearMiss(kind=rules.kind, what="key", found=key, near=(near,)) for key, near in sorted(misses.items())]


def near_drivers(rules: Iterable[DriverRule]) -> list[NearMiss]:
    """Drivers of the user's rules that are spelt like one that ships, but for a letter or two."""
    shipped = {fold(name): name for name in SHIPPED_NAMES}
    made = sorted({rule.driver for rule in rules} - set(shipped.values()))
    return [
        NearMiss(kind="driver", what="rule", found=name, near=(near,))
        for name in made
        if (near := _near(fold(name), shipped))
    ]


def _near(name: str, wanted: dict[str, str]) -> str:
    """The source that a folded key looks like; empty when it looks like none."""
    if len(name) < _SHORTEST:
        return ""
    found = difflib.get_close_matches(name, sorted(wanted), n=1, cutoff=_ALIKE)
    return wanted[found[0]] if found and len(found[0]) >= _SHORTEST else ""
