"""Kinds of work that rules of the settings tell, where the source does not."""

from __future__ import annotations

from unitcost.facts.charges import Facet
from unitcost.facts.rules import Settings
from unitcost.ledger import Ledger


def kind_by_rule(settings: Settings, facet: Facet) -> str:
    """Kind that the first matching rule of the settings gives; empty when none does."""
    return next((rule.driver for rule in settings.work.kinds if rule.when(facet)), "")


def kinds_by_rule(ledger: Ledger, settings: Settings) -> dict[str, str]:
    """Workload whose source does not tell its kind -> what a rule says that it is."""
    if not settings.work.kinds:
        return {}
    found = {}
    for key, facet in ledger.work.workload_facets():
        kind = "" if facet.get("resource_type") else kind_by_rule(settings, facet)
        if kind:
            found[key] = kind
    return found
