"""What the money is for: the user's rules, then tags, then the shipped rules; the first match wins.

A rule only ever states what the bill itself says. An accelerator machine without a tag is not guessed to be
training or serving, nor is anything read from a resource's name: it stays unknown, and the report says what
that could change. A line that is no usage (tax, credit, purchase ...) stands under its own name unless a rule
of the user says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from unitcost.attribution import drivers_aws, drivers_azure, drivers_gcp, drivers_generic
from unitcost.attribution.tags import environment_of, purpose_of
from unitcost.facts.charges import Facet
from unitcost.facts.rules import STATED_PROVIDER, UNKNOWN_DRIVER, DriverRule
from unitcost.facts.spend import USAGE_LINES, Line
from unitcost.facts.when import parse

#: Rules that ship with unitcost, in the order they are tried.
SHIPPED: tuple[DriverRule, ...] = tuple(
    DriverRule(when=parse(when, where=name), driver=driver, name=name)
    for rules in (drivers_aws.RULES, drivers_gcp.RULES, drivers_azure.RULES, drivers_generic.RULES)
    for name, driver, when in rules
)
NO_RULE = "no rule matched"
STATED = "[[charge]] of the settings"
#: Columns that nearly every facet has another value in; conditions on them are not worth remembering.
_OWN = {"resource_id", "resource_name"}


@dataclass(slots=True)
class FirstMatch:
    """Finds the first rule that matches, remembering the answer for all facets that agree in what rules look at."""

    rules: Sequence[DriverRule]
    columns: tuple[str, ...] = ()
    tag_keys: tuple[str, ...] = ()
    remembered: dict[tuple[str | None, ...], tuple[DriverRule, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        used = {column for rule in self.rules for column in rule.when.columns}
        self.columns = tuple(sorted(c for c in used - _OWN if not c.startswith("tags.")))
        self.tag_keys = tuple(sorted(c.removeprefix("tags.") for c in used if c.startswith("tags.")))

    def find(self, facet: Facet) -> DriverRule | None:
        """First rule that matches the facet; None when none does."""
        key = (*map(facet.values.get, self.columns), *map(facet.tags.get, self.tag_keys))
        candidates = self.remembered.get(key)
        if candidates is None:
            candidates = self.remembered[key] = self._candidates(facet)
        for rule in candidates:
            if rule.when.columns.isdisjoint(_OWN) or rule.when(facet):
                return rule
        return None

    def _candidates(self, facet: Facet) -> tuple[DriverRule, ...]:
        """Rules that may still match: those that look at the resource itself, up to the first that matches anyway."""
        candidates = []
        for rule in self.rules:
            if not rule.when.columns.isdisjoint(_OWN):
                candidates.append(rule)
            elif rule.when(facet):
                return (*candidates, rule)
        return tuple(candidates)


@dataclass(slots=True)
class DriverFinder:
    """Finds the driver of a facet, and the name of the rule that said so."""

    user: FirstMatch
    shipped: FirstMatch
    by_tags: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str] | None, tuple[str, str] | None]]

    @classmethod
    def over(cls, rules: Sequence[DriverRule]) -> DriverFinder:
        """Finder with the user's rules before everything shipped."""
        return cls(user=FirstMatch(rules), shipped=FirstMatch(SHIPPED), by_tags={})

    def find(self, facet: Facet, line: Line) -> tuple[str, str]:
        """Driver of a facet that is such a line of the bill, and the rule."""
        if facet.values.get("service_provider_name") == STATED_PROVIDER and facet.tags.get("driver"):
            return facet.tags["driver"], STATED
        rule = self.user.find(facet)
        if rule is not None:
            return rule.driver, rule.name
        if line not in USAGE_LINES:
            return line, f"line {line}"
        purpose, environment = self._of_tags(facet) if facet.tags else (None, None)
        if purpose:
            return purpose
        rule = self.shipped.find(facet)
        if rule is not None:
            return rule.driver, rule.name
        return environment or (UNKNOWN_DRIVER, NO_RULE)

    def _of_tags(self, facet: Facet) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
        key = tuple(facet.tags.items())
        if key not in self.by_tags:
            self.by_tags[key] = (purpose_of(facet.tags), environment_of(facet.tags))
        return self.by_tags[key]
