"""Calls that contain calls: which of them only repeat what those below them state."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Protocol

from unitcost.facts.calls import REPEATS_CHILDREN
from unitcost.readers.tables import Broken, Row

#: Rows that are put aside at once.
_TOGETHER = 1_000


class Member(Protocol):
    """A span or an observation of a file."""

    @property
    def key(self) -> Hashable:
        """Which one it is, among all of the file."""

    @property
    def parent_key(self) -> Hashable:
        """Which one it is part of."""

    @property
    def is_call(self) -> bool:
        """Whether it calls a model, or states usage."""

    @property
    def sums(self) -> bool:
        """Whether its kind is to sum up what is below it."""

    @property
    def usage(self) -> tuple[int, int] | None:
        """All input and output; None where none is stated."""

    def cells(self) -> list[str]:
        """Cells of its row, without a note that it repeats others."""


def rows_of_calls(found: Iterable[Member | Broken], said: list[str], *, notes: int, kind: str) -> Iterator[Row]:
    """Rows of those that call a model, in order; what repeats those below it says so.

    The file is read once: which spans repeat others is known at its end, so the rows wait in a file until then.

    Parameters
    ----------
    said
        Gets how many were left out, and how many repeat others.
    notes
        Place of the cell for notes in a row.
    kind
        What these are called: `Spans`.
    """
    families, others, repeats = Families(), 0, 0
    with tempfile.TemporaryFile() as aside:
        waiting: list[tuple[Hashable, Row]] = []
        for one in found:
            if isinstance(one, Broken):
                waiting.append((None, one))
            else:
                families.add(one.key, one.parent_key, one.usage, sums=one.sums)
                if one.is_call:
                    waiting.append((one.key, one.cells()))
                else:
                    others += 1
            if len(waiting) == _TOGETHER:
                pickle.dump(waiting, aside)
                waiting = []
        pickle.dump(waiting, aside)
        repeating = families.repeating()
        for key, row in _put_aside(aside):
            if not isinstance(row, Broken) and key in repeating:
                row[notes] = REPEATS_CHILDREN
                repeats += 1
            yield row
    if others:
        said.append(f"{kind} that call no model are left out: {others:,}.")
    if repeats:
        said.append(f"{kind} that repeat what those below them state do not count: {repeats:,}.")


def _put_aside(aside: IO[bytes]) -> Iterator[tuple[Hashable, Row]]:
    end = aside.tell()
    aside.seek(0)
    while aside.tell() < end:
        yield from pickle.load(aside)


#: Parent, usage, and whether its kind is to sum up what is below it.
_Node = tuple[Hashable, "tuple[int, int] | None", bool]


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
        self.nodes[name] = (parent, usage, sums)

    def repeating(self) -> set[Hashable]:
        """Spans that repeat what those below them state."""
        below: dict[Hashable, tuple[int, int]] = {}
        found = set()
        for name in self._upwards():
            parent, stated, sums = self.nodes[name]
            under = below.pop(name, None)
            if under is not None and (stated is None or sums or stated == under):
                if stated is not None:
                    found.add(name)
                stated = under
            if stated is not None and parent in self.nodes:
                known = below.get(parent, (0, 0))
                below[parent] = (known[0] + stated[0], known[1] + stated[1])
        return found

    def _upwards(self) -> Iterator[Hashable]:
        """All spans, each after those below it; those in a circle have no order and are left out."""
        waiting: dict[Hashable, int] = dict.fromkeys(self.nodes, 0)
        for parent, _, _ in self.nodes.values():
            if parent in waiting:
                waiting[parent] += 1
        ready = [name for name, count in waiting.items() if not count]
        while ready:
            name = ready.pop()
            yield name
            parent = self.nodes[name][0]
            if parent in waiting:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(parent)
