"""Which team, project and experiment a charge belongs to, and how that is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unitcost.attribution.drivers import fold
from unitcost.facts.charges import Facet
from unitcost.facts.rules import UNTAGGED, OwnerRules

#: How an owner was found.
TAG, RULE, INHERITED, UNKNOWN_VALUE = "tag", "rule", "inherited", "unknown value"
_SCOPES = {"account": "sub_account_id", "resource_group": "resource_group"}
#: Tag keys that are looked at when the settings name none.
DEFAULT_SOURCES: dict[str, tuple[str, ...]] = {
    "team": ("tags.team", "tags.owner-team", "tags.squad", "tags.cost-center", "tags.costcenter"),
    "project": ("tags.project", "tags.application", "tags.app"),
    "experiment": ("tags.experiment", "tags.experiment-id", "tags.run"),
}

#: (owner, how, source or rule)
Found = tuple[str, str, str]
_NOBODY: Found = (UNTAGGED, UNTAGGED, "")


@dataclass(frozen=True, slots=True)
class OwnerFinder:
    """Finds owners of one kind among many facets.

    `direct` is what a facet says itself, per facet id; inheritance looks at the others.
    """

    rules: OwnerRules
    direct: Mapping[int, Found]
    by_resource: Mapping[str, Found]
    by_scope: Mapping[tuple[str, str], Found]

    @classmethod
    def over(cls, rules: OwnerRules, facets: Iterable[Facet]) -> OwnerFinder:
        """Look at all facets once, so that owners can be inherited among them."""
        known = {name.casefold() if rules.ignore_case else name: name for name in rules.known}
        direct: dict[int, Found] = {}
        resources: dict[str, set[str]] = defaultdict(set)
        scopes: dict[tuple[str, str], set[str]] = defaultdict(set)
        for facet in facets:
            found = _direct(facet, rules, known)
            direct[facet.facet_id] = found
            if found[1] not in (TAG, RULE):
                continue
            resource = facet.get("resource_id")
            if resource:
                resources[resource].add(found[0])
            for scope in rules.inherit:
                place = facet.get(_SCOPES[scope])
                if place:
                    scopes[scope, place].add(found[0])
        return cls(
            rules=rules,
            direct=direct,
            by_resource={
                r: (min(names), INHERITED, f"lineage {r}") for r, names in resources.items() if len(names) == 1
            },
            by_scope={
                (scope, place): (min(names), INHERITED, f"{scope} {place}")
                for (scope, place), names in scopes.items()
                if len(names) == 1
            },
        )

    def find(self, facet: Facet) -> Found:
        """Owner of a facet: its own, else the one of what it was made from, else the only one around it."""
        found = self.direct[facet.facet_id]
        if found[1] != UNTAGGED:
            return found
        lineage = self._from_lineage(facet.get("resource_id"))
        if lineage:
            return lineage
        for scope in self.rules.inherit:
            place = facet.get(_SCOPES[scope])
            inherited = self.by_scope.get((scope, place)) if place else None
            if inherited:
                return inherited
        return _NOBODY

    def _from_lineage(self, resource: str | None) -> Found | None:
        seen = set()
        while resource in self.rules.lineage and resource not in seen:
            seen.add(resource)
            resource = self.rules.lineage[resource]
            if resource in self.by_resource:
                return self.by_resource[resource]
        return None


def _direct(facet: Facet, rules: OwnerRules, known: Mapping[str, str]) -> Found:
    for rule in rules.rules:
        if rule.when(facet):
            return rule.owner, RULE, rule.name
    value, source = value_of(facet, rules)
    if not value:
        return _NOBODY
    if not rules.known:
        return value, TAG, source
    name = known.get(value.casefold() if rules.ignore_case else value)
    return (name, TAG, source) if name else (value, UNKNOWN_VALUE, source)


def value_of(facet: Facet, rules: OwnerRules) -> tuple[str, str]:
    """First value that the sources hold, and the source; both empty when there is none.

    A tag is found under its exact key first, then under any spelling of it: case, separators and the
    prefix that a provider puts before it do not matter.
    """
    sources = rules.sources or DEFAULT_SOURCES[rules.kind]
    folded: dict[str, str] = {}
    for source in sources:
        value = (facet.get(source) or "").strip()
        if value:
            return value, source
        if source.startswith("tags.") and facet.tags:
            folded = folded or {fold(key): key for key in sorted(facet.tags, reverse=True)}
            key = folded.get(fold(source.removeprefix("tags.")))
            value = facet.tags[key].strip() if key is not None else ""
            if value:
                return value, f"tags.{key}"
    return "", ""
