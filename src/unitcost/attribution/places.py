"""One name for what is called differently by the bill, the scheduler and the monitoring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from unitcost import money
from unitcost.facts.capacity import KnownResource


def short_name(name: str | None) -> str:
    """Last part of a path or an id, in lower case: the same in an ARN, a provider id, a URL and by itself."""
    return (name or "").strip().rstrip("/").rpartition("/")[2].casefold()


@dataclass(slots=True)
class Places:
    """Finds the billed resource that a card, a node or an instance is part of.

    A place is named by the resource id of its charges. A card that is billed by itself is a place of its own;
    otherwise it belongs to its node, and a node to its instance.
    """

    _places: dict[str, str] = field(default_factory=dict)  # short name -> place
    _names: dict[str, set[str]] = field(default_factory=dict)  # short name -> the other short names of the same node
    _known: list[KnownResource] = field(default_factory=list)

    @classmethod
    def over(cls, known: Iterable[KnownResource], charged: Iterable[tuple[str, str | None]]) -> Places:
        """Places for what is known, among the charges.

        Parameters
        ----------
        known
            Cards, nodes and instances that somebody told of or held.
        charged
            Resource id and resource name of the charges.
        """
        found = cls(_known=list(known))
        for resource in found._known:
            names = {short_name(resource.node), short_name(resource.instance_id)} - {""}
            together = set(names).union(*(found._names.get(name, set()) for name in names))
            for name in together:
                found._names[name] = together
        wanted = {*found._names, *(short_name(resource.resource_id) for resource in found._known)} - {""}
        for resource_id, resource_name in sorted(charged, key=lambda pair: (pair[0], pair[1] or "")):
            for name in (short_name(resource_id), short_name(resource_name)):
                if name in wanted:
                    found._places.setdefault(name, resource_id)
        return found

    @property
    def charged(self) -> tuple[str, ...]:
        """Resource ids of the charges that are places of which somebody tells more than how busy they were."""
        told = (self.find(one.resource_id, one.node, one.instance_id) for one in self._known if one.told)
        return tuple(sorted({place for place in told if place is not None}))

    def find(self, *names: str | None) -> str | None:
        """Place of the first name that is one: a card before its node, a node before its instance."""
        for name in map(short_name, names):
            for other in (name, *sorted(self._names.get(name, ()))):
                if other and other in self._places:
                    return self._places[other]
        return None

    def capacities(self) -> dict[str, Decimal]:
        """Accelerators of each place for which they are known.

        What is said of the node as a whole counts before the sum of its cards.
        """
        wholes: dict[str, Decimal] = {}
        cards: dict[str, dict[str, Decimal]] = {}
        for resource in self._known:
            place = self.find(resource.resource_id, resource.node, resource.instance_id)
            if place is None or resource.quantity is None:
                continue
            name = short_name(resource.resource_id)
            if name and name not in self._names and short_name(place) != name:
                cards.setdefault(place, {})[name] = resource.quantity
            else:
                wholes[place] = max(resource.quantity, wholes.get(place, money.ZERO))
        return {place: money.add(found.values()) for place, found in cards.items()} | wholes
