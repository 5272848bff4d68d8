"""Calls that contain calls: which of them only repeat what those below them state."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Node:
    parent: Hashable
    usage: tuple[int, int] | None
    sums: bool


@dataclass(slots=True)
class Families:
    """Spans of a file by id.

    A span repeats those below it when it says that it sums them up (an agent, a chain), or when it states exactly as
    much input and output as they do together. A call in whose course another one was made states its own usage, and both
    count.
    """

    nodes: dict[Hashable, _Node] = field(default_factory=dict)

    def add(self, name: Hashable, parent: Hashable, usage: tuple[int, int] | None, *, sums: bool) -> None:
        """Note a span.

        Parameters
        ----------
        usage
            All input and all output of it, None when it states none. [tokens]
        sums
            Whether its kind is to sum up what is below it.
        """
        self.nodes[name] = _Node(parent, usage, sums)

    def repeating(self) -> set[Hashable]:
        """Spans that repeat what those below them state."""
        below: dict[Hashable, tuple[int, int]] = {}
        found = set()
        for name in self._upwards():
            node = self.nodes[name]
            under = below.pop(name, None)
            stated = node.usage
            if under is not None and (stated is None or node.sums or stated == under):
                if stated is not None:
                    found.add(name)
                stated = under
            if stated is not None and node.parent in self.nodes:
                known = below.get(node.parent, (0, 0))
                below[node.parent] = (known[0] + stated[0], known[1] + stated[1])
        return found

    def _upwards(self) -> Iterator[Hashable]:
        """All spans, each after those below it; those in a circle have no order and are left out."""
        waiting: dict[Hashable, int] = dict.fromkeys(self.nodes, 0)
        for node in self.nodes.values():
            if node.parent in waiting:
                waiting[node.parent] += 1
        ready = [name for name, count in waiting.items() if not count]
        while ready:
            name = ready.pop()
            yield name
            parent = self.nodes[name].parent
            if parent in waiting:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(parent)
