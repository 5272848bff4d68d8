"""Deciding, once per facet, whose it is and what it is for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from unitcost.attribution import owners, tags
from unitcost.attribution.drivers import SHIPPED, DriverFinder
from unitcost.attribution.lines import line_of
from unitcost.attribution.owners import OwnerFinder
from unitcost.facts.charges import Facet
from unitcost.facts.rules import OWNER_KINDS, OwnerKind, OwnerRules, Settings
from unitcost.facts.spend import Attribution

#: Raised when decisions change though no rule does.
_REVISION = 3


def owner_rules(settings: Settings, kind: OwnerKind) -> OwnerRules:
    """Rules of the settings for one kind of owner, or the defaults."""
    return settings.owners.get(kind, OwnerRules(kind=kind, sources=()))


def decide(facets: Iterable[Facet], settings: Settings) -> list[Attribution]:
    """Owners, driver and line of each facet, in the order given.

    Owners are inherited among the facets given, so these must be all that there are.
    """
    listed = [(facet, line_of(facet)) for facet in facets]
    finders = {kind: OwnerFinder.over(owner_rules(settings, kind), listed) for kind in OWNER_KINDS}
    drivers = DriverFinder.over(settings.drivers)
    attributions = []
    for facet, line in listed:
        driver, rule = drivers.find(facet, line)
        attributions.append(
            Attribution(
                facet_id=facet.facet_id,
                owners={kind: finder.find(facet, line) for kind, finder in finders.items()},
                driver=driver,
                driver_rule=rule,
                line=line,
            )
        )
    return attributions


def fingerprint(settings: Settings) -> str:
    """Hash of everything that decisions depend on besides the facets: rules of the user, and those that ship."""
    parts: list[object] = [_REVISION]
    for kind in OWNER_KINDS:
        rules = owner_rules(settings, kind)
        parts.append((
            kind, rules.sources or owners.DEFAULT_SOURCES[kind], [(r.when.text, r.owner, r.name) for r in rules.rules],
            rules.known, rules.inherit, sorted(rules.lineage.items()), rules.ignore_case,
        ))  # fmt: skip
    parts.append([(r.when.text, r.driver, r.name) for r in (*settings.drivers, *SHIPPED)])
    parts.append((tags.PURPOSE_KEYS, tags.ENVIRONMENT_KEYS, sorted(tags.PURPOSES.items())))
    return hashlib.sha256(repr(parts).encode()).hexdigest()
