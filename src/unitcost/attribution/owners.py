"""Which team, project and experiment a charge belongs to, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unitcost.attribution.tags import values_of
from unitcost.facts.answers import Owned
from unitcost.facts.charges import Facet
from unitcost.facts.rules import UNTAGGED, OwnerRules
from unitcost.facts.spend import Line
from unitcost.figure import Figure, figure_id, ratio, total

#: How an owner was found.
TAG, RULE, INHERITED, UNKNOWN_VALUE = "tag", "rule", "inherited", "unknown value"
#: Those that say so themselves, and all that make a charge owned.
DIRECT, OWNED = (TAG, RULE), (TAG, RULE, INHERITED)
#: Places to look when the settings name none.
DEFAULT_SOURCES: dict[str, tuple[str, ...]] = {
    "team": ("tags.team", "tags.team-name", "tags.owner-team", "tags.squad", "tags.cost-center", "tags.cost-centre"),
    "project": ("tags.project", "tags.project-name", "tags.application", "tags.app"),
    "experiment": ("tags.experiment", "tags.experiment-id", "tags.experiment-name", "tags.run", "tags.run-id"),
}
#: Lines that no one around them makes anybody's: what is bought for all, and what nobody used of it.
_NEVER_INHERIT: tuple[Line, ...] = ("unused commitment", "purchase")

#: (owner, how, source or rule); no owner = None, however anybody spells that.
Found = tuple[str | None, str, str]
_NOBODY: Found = (None, UNTAGGED, "")
_SEVERAL = ""


@dataclass(slots=True)
class OwnerFinder:
    """Finds owners of one kind among many facets.

    Parameters
    ----------
    direct
        What a facet says itself, per facet id.
    by_resource, by_scope
        Resource, or (scope, place), to the one owner there; the empty name where there are several.
    """

    rules: OwnerRules
    known: Mapping[str, str]
    by_tags_alone: bool
    direct: dict[int, Found] = field(default_factory=dict)
    by_resource: dict[str, str] = field(default_factory=dict)
    by_scope: dict[tuple[str, ...], str] = field(default_factory=dict)
    _by_tags: dict[tuple[tuple[str, str], ...], Found] = field(default_factory=dict)

    @classmethod
    def over(cls, rules: OwnerRules, facets: Iterable[tuple[Facet, Line]]) -> OwnerFinder:
        """Look at all facets once, so that owners can be inherited among them."""
        known = {name.casefold() if rules.ignore_case else name: name for name in rules.known}
        finder = cls(rules, known, all(source.startswith("tags.") for source in rules.sources))
        for facet, _ in facets:
            found = finder._direct(facet)
            finder.direct[facet.facet_id] = found
            if found[1] != UNTAGGED:
                finder._note(facet, found)
        return finder

    def find(self, facet: Facet, line: Line) -> Found:
        """Owner of a facet: its own, else that of what it was made from, else the only one around it."""
        found = self.direct[facet.facet_id]
        if found[1] != UNTAGGED:
            return found
        lineage = self._from_lineage(facet.get("resource_id")) if self.rules.lineage else None
        if lineage:
            return lineage
        if line in _NEVER_INHERIT:
            return _NOBODY
        for scope in self.rules.inherit:
            place = _place(scope, facet)
            owner = self.by_scope.get(place, _SEVERAL) if place else _SEVERAL
            if owner:
                return owner, INHERITED, f"{scope} {facet.get(_column(scope))}"
        return _NOBODY

    def _direct(self, facet: Facet) -> Found:
        for rule in self.rules.rules:
            if rule.when(facet):
                return rule.owner, RULE, rule.name
        if not self.by_tags_alone:
            return self._said(facet)
        key = tuple(facet.tags.items())
        if key not in self._by_tags:
            self._by_tags[key] = self._said(facet)
        return self._by_tags[key]

    def _said(self, facet: Facet) -> Found:
        value, source = value_of(facet, self.rules)
        if not value:
            return _NOBODY
        if not self.known:
            return value, TAG, source
        name = self.known.get(value.casefold() if self.rules.ignore_case else value)
        return (name, TAG, source) if name else (value, UNKNOWN_VALUE, source)

    def _note(self, facet: Facet, found: Found) -> None:
        """Remember who is where. A value that is not known is somebody else, whom nobody inherits from."""
        owner = found[0] if found[0] is not None and found[1] in DIRECT else _SEVERAL
        resource = facet.get("resource_id")
        if resource and self.rules.lineage:
            self.by_resource[resource] = owner if self.by_resource.get(resource, owner) == owner else _SEVERAL
        for scope in self.rules.inherit:
            place = _place(scope, facet)
            if place:
                self.by_scope[place] = owner if self.by_scope.get(place, owner) == owner else _SEVERAL

    def _from_lineage(self, resource: str | None) -> Found | None:
        seen = set()
        while resource in self.rules.lineage and resource not in seen:
            seen.add(resource)
            resource = self.rules.lineage[resource]
            owner = self.by_resource.get(resource)
            if owner:
                return owner, INHERITED, f"lineage {resource}"
        return None


def _column(scope: str) -> str:
    return "sub_account_id" if scope == "account" else scope


def _place(scope: str, facet: Facet) -> tuple[str, ...] | None:
    """Account, or resource group within its account, that a facet lies in; None when it lies in none."""
    name = facet.get(_column(scope))
    if not name:
        return None
    return (scope, name) if scope == "account" else (scope, facet.get("sub_account_id") or "", name.casefold())


def value_of(facet: Facet, rules: OwnerRules) -> tuple[str, str]:
    """First value that the sources hold, and the source; both empty when there is none.

    A tag is found under its exact key first, then under any spelling of it: letter case, separators and the
    prefix that a provider puts before it do not matter. An empty value is no value.
    """
    for source in rules.sources or DEFAULT_SOURCES[rules.kind]:
        if not source.startswith("tags."):
            value = (facet.get(source) or "").strip()
            if value:
                return value, source
            continue
        for key, written in values_of(facet.tags, source.removeprefix("tags.")):
            if written.strip():
                return written.strip(), f"tags.{key}"
    return "", ""


def known_name(rules: OwnerRules, value: str) -> str:
    """A value as the list of known names spells it; as it is where it is not among them."""
    if not rules.ignore_case:
        return value
    return next((name for name in rules.known if name.casefold() == value.casefold()), value)


def owned_shares(by_how: Mapping[str, Figure], *, unit: str, at: str, kind: str) -> Owned:
    """Shares [0 to 1] of the spend that has an owner at all, and that is tagged with one.

    Parameters
    ----------
    by_how
        How an owner is known (`tag`, `rule`, `inherited`, `unknown value`, `untagged`) -> spend.
    unit, at, kind
        Currency, tag of the selection and kind of owner, for figure ids.
    """

    def sum_of(name: str, ways: Iterable[str]) -> Figure:
        inputs = tuple(by_how[how] for how in ways if how in by_how)
        return total(figure_id(f"{name}-{kind}", "total", unit, at=at), inputs, unit=unit, label=name)

    whole = sum_of("all", sorted(by_how))
    owned, tagged = (
        ratio(
            figure_id(f"{name}-share", kind, unit, at=at), sum_of(name, ways), whole, unit="share", label=f"{name} share",
            empty="the total is zero",
        )
        for name, ways in (("owned", OWNED), ("tagged", (TAG,)))
    )  # fmt: skip
    return Owned(owned=owned, tagged=tagged)
