"""Names that almost match: proposed to the user, never merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unitcost.attribution.drivers import fold
from unitcost.attribution.owners import DEFAULT_SOURCES
from unitcost.errors import near_names
from unitcost.facts.charges import Facet
from unitcost.facts.rules import OwnerRules
from unitcost.facts.spend import Attribution


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """A name in the bills that looks like a known one.

    `what` is `value` for an owner's name and `key` for a tag's key.
    """

    kind: str
    what: str
    found: str
    near: tuple[str, ...]


def near_values(rules: OwnerRules, attributions: Iterable[Attribution]) -> list[NearMiss]:
    """Unknown owner values and the known names they look like."""
    unknown = sorted({a.owners[rules.kind][0] for a in attributions if a.owners[rules.kind][1] == "unknown value"})
    return [
        NearMiss(kind=rules.kind, what="value", found=value, near=tuple(near_names(value, rules.known)))
        for value in unknown
    ]


def near_keys(rules: OwnerRules, facets: Iterable[Facet]) -> list[NearMiss]:
    """Tag keys that no source is spelt like, but nearly."""
    sources = [s.removeprefix("tags.") for s in (rules.sources or DEFAULT_SOURCES[rules.kind]) if s.startswith("tags.")]
    wanted = {fold(source): source for source in sources}
    keys = sorted({key for facet in facets for key in facet.tags})
    misses = []
    for key in keys:
        near = [wanted[name] for name in near_names(fold(key), wanted, most=1) if len(name) > 3]
        if near and fold(key) not in wanted:
            misses.append(NearMiss(kind=rules.kind, what="key", found=key, near=tuple(near)))
    return misses
