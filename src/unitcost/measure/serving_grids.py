"""Step times of many measured rows at once: each deployment worked out once, GPUs and engines side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from unitcost.errors import UnitcostError
from unitcost.machine.steps import Served, StepGrid
from unitcost.measure.labels import Modes
from unitcost.measure.serving_rows import ServingRow, Unused, grid_of

#: A deployment and the modes that its labels name.
Key = tuple[Served, tuple[Modes, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grids:
    """Step times by deployment, and why others have none."""

    found: dict[Key, StepGrid]
    refused: dict[Key, str]

    def usable(self, rows: Iterable[ServingRow]) -> tuple[list[ServingRow], list[Unused]]:
        """Rows with step times, and the others with the reason."""
        kept: list[ServingRow] = []
        unused: list[Unused] = []
        for row in rows:
            reason = self.refused.get(key_of(row))
            if reason is None:
                kept.append(row)
            else:
                unused.append(Unused(row=row.id, reason=reason))
        return kept, unused


def key_of(row: ServingRow) -> Key:
    """What the step times of a row depend on."""
    return row.served, row.modes


def grids_of(
    rows: Sequence[ServingRow], *, processes: int = 1, done: Callable[[int, int], None] = lambda made, of: None
) -> Grids:
    """Step times of all rows.

    Parameters
    ----------
    processes
        How many work at once. Each takes all deployments of a GPU and an engine, whose kernels take seconds to load.
    done
        Told the deployments that are made, of how many.
    """
    parts: dict[tuple[str, str], dict[Key, ServingRow]] = defaultdict(dict)
    for row in rows:
        parts[row.served.gpu, row.served.backend].setdefault(key_of(row), row)
    # The longest part first, so that none is left to run alone at the end.
    ordered = sorted(parts.values(), key=len, reverse=True)
    total, made = sum(map(len, ordered)), 0
    all_of = Grids(found={}, refused={})
    for part in _made([list(one.values()) for one in ordered], processes):
        all_of.found.update(part.found)
        all_of.refused.update(part.refused)
        made += len(part.found) + len(part.refused)
        done(made, total)
    return all_of


def _made(parts: Sequence[Sequence[ServingRow]], processes: int) -> Iterable[Grids]:
    if processes < 2:
        yield from map(_of_part, parts)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for finished in as_completed([pool.submit(_of_part, part) for part in parts]):
            yield finished.result()


def _of_part(rows: Sequence[ServingRow]) -> Grids:
    """Step times of rows with deployments of their own each."""
    part = Grids(found={}, refused={})
    for row in rows:
        try:
            part.found[key_of(row)] = grid_of(row)
        except UnitcostError as refusal:
            part.refused[key_of(row)] = refusal.what
    return part
