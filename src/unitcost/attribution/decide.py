"""Deciding, once per facet, whose it is and what it is for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from unitcost.attribution import drivers
from unitcost.attribution.drivers import driver_of
from unitcost.attribution.lines import line_of
from unitcost.attribution.owners import OwnerFinder
from unitcost.facts.charges import Facet
from unitcost.facts.rules import OWNER_KINDS, OwnerKind, OwnerRules, Settings
from unitcost.facts.spend import Attribution

#: Raised when decisions change though no rule does.
_REVISION = 1


def owner_rules(settings: Settings, kind: OwnerKind) -> OwnerRules:
    """Rules of the settings for one kind of owner, or the defaults."""
    return settings.owners.get(kind, OwnerRules(kind=kind, sources=()))


def decide(facets: Iterable[Facet], settings: Settings) -> list[Attribution]:
    """Owners, driver and line of each facet, in the order given."""
    listed = list(facets)
    finders = {kind: OwnerFinder.over(owner_rules(settings, kind), listed) for kind in OWNER_KINDS}
    decided: dict[tuple[object, ...], tuple[str, str]] = {}
    attributions = []
    for facet in listed:
        driver, rule = _driver(facet, settings, decided)
        attributions.append(
            Attribution(
                facet_id=facet.facet_id,
                owners={kind: finder.find(facet) for kind, finder in finders.items()},
                driver=driver,
                driver_rule=rule,
                line=line_of(facet),
            )
        )
    return attributions


def _driver(facet: Facet, settings: Settings, decided: dict[tuple[object, ...], tuple[str, str]]) -> tuple[str, str]:
    """Driver of a facet; facets that differ only in where they ran are decided once."""
    key = (tuple(sorted(facet.values.items())), tuple(sorted(facet.tags.items())))
    if key not in decided:
        decided[key] = driver_of(facet, settings.drivers)
    return decided[key]


def fingerprint(settings: Settings) -> str:
    """Hash of everything that decisions depend on besides the facets."""
    parts: list[object] = [_REVISION]
    for kind in OWNER_KINDS:
        rules = owner_rules(settings, kind)
        parts.append((
            kind, rules.sources, [(r.when.text, r.owner, r.name) for r in rules.rules], rules.known, rules.inherit,
            sorted(rules.lineage.items()), rules.ignore_case,
        ))  # fmt: skip
    parts.append([(r.when.text, r.driver, r.name) for r in (*settings.drivers, *drivers.SHIPPED)])
    parts.append((drivers.STAGE_KEYS, sorted(drivers.STAGE_VALUES.items())))
    return hashlib.sha256(repr(parts).encode()).hexdigest()
