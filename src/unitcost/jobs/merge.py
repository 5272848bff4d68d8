"""Join sessions of many machines into one table, with prices; estimate machines that nobody measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from unitcost.errors import BadSetting
from unitcost.facts.options import Choice, Limits, Option
from unitcost.jobs.compare import Judging, PriceOf, Terms, compare
from unitcost.jobs.measured_options import options_of
from unitcost.measure.result_files import ResultFile, check_anchors, items_of, read_result, told_apart

#: An estimated speed may be so many times off: with the anchors run on that machine, and without.
ANCHORED, GUESSED = 1.3, 2.0
#: Two sessions on one kind of machine whose anchors differ by more were not alike.
_DRIFT = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Sessions joined, and their answer; the limits have the reference by its full name."""

    results: tuple[ResultFile, ...]
    choice: Choice
    limits: Limits
    anchors: tuple[tuple[str, dict[str, float]], ...]


def merge(
    files: Sequence[Path], terms: Terms, *, names: Mapping[str, str] | None = None,
    estimates: Mapping[str, str] | None = None, more: Sequence[Option] = (), are_versions_mixed: bool = False,
) -> Merged:  # fmt: skip
    """Rank the options of several files.

    Parameters
    ----------
    names
        Name of a file without its ending -> name of the machine.
    estimates
        Machine that nobody measured -> file of a session on it that ran the anchors, or empty.
    more
        Options from elsewhere, such as an API, that take part.
    are_versions_mixed
        Whether sessions may have run in other versions of a runtime.

    Raises
    ------
    BadFile
        When a session lacks the anchors or ran in another version: its speeds cannot be set beside others'.
    """
    results = told_apart([_named(read_result(file), names or {}) for file in files])
    check_anchors(results, are_versions_mixed=are_versions_mixed)
    limits, price = terms.limits, terms.price
    options = [option for result in results for option in options_of(result, limits, price)]
    guessed = [
        option
        for machine, file in (estimates or {}).items()
        for option in _estimated(machine, file, results, limits, price)
    ]
    items = items_of(results)
    limits = _full(limits, options, terms.judging)
    choice = compare([*options, *guessed, *more], items, terms.demand, limits, terms.judging)
    choice = replace(choice, notes=(*choice.notes, *_drift(results)))
    anchors = tuple((r.machine, _all_anchors(r)) for r in results)
    return Merged(results=tuple(results), choice=choice, limits=limits, anchors=anchors)


def _named(result: ResultFile, names: Mapping[str, str]) -> ResultFile:
    """The session with a name of its machine: the user's, its own, or that of the file."""
    name = names.get(result.path.stem) or result.machine or result.path.stem
    return replace(result, found={**result.found, "machine": {**result.found["machine"], "instance": name}})


def _full(limits: Limits, options: Sequence[Option], judging: Judging) -> Limits:
    """Limits whose reference is the full name of an option; a margin without one is held against the first."""
    asked = limits.reference
    if not asked and judging.margin is not None and options:
        return replace(limits, reference=options[0].name)
    found = next(
        (o.name for o in options if asked and (o.name == asked or o.name.startswith((f"{asked}/", f"{asked} ")))), asked
    )
    return replace(limits, reference=found)


def _estimated(machine: str, file: str, results: Sequence[ResultFile], limits: Limits, price: PriceOf) -> list[Option]:
    """Options of the first session as they may run on a machine where nobody ran them."""
    base = results[0]
    anchored = read_result(Path(file)) if file else None
    found = []
    for row in base.options:
        factor = _speed_up(base, anchored, row["runtime"]) if anchored else 1.0
        spread = ANCHORED if anchored else GUESSED
        [option] = options_of(_scaled(base, row, 1 / factor), limits, price)
        low, high = (option.per_s or 0) / spread, (option.per_s or 0) * spread
        found.append(
            replace(
                option, machine=machine, usd_per_hour=price(machine), basis="estimated",
                note=f"{low:,.0f} to {high:,.0f} per s: {'anchors' if anchored else 'a guess'} x/{spread:g}",
            )
        )  # fmt: skip
    return found


def _scaled(base: ResultFile, row: Mapping[str, Any], slower: float) -> ResultFile:
    """A session of one option whose times are so many times as long."""
    timing = dict(row["timing"])
    timing["quantiles_s"] = [value * slower for value in timing["quantiles_s"]]
    timing["per_s"] = timing["per_s"] / slower
    timing["percentiles"] = {
        name: {**late, "latency_s": late["latency_s"] * slower} for name, late in timing["percentiles"].items()
    }
    return replace(base, found={**base.found, "options": [{**row, "timing": timing}]})


def _speed_up(base: ResultFile, other: ResultFile, runtime: str) -> float:
    """How many times as fast the other machine ran the anchors: the median of the three."""
    ours, theirs = base.anchors(runtime), other.anchors(runtime)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        raise BadSetting(
            f"the anchors did not run in {runtime} there",
            mend="run `unitcost measure model` on that machine with --runtimes",
        )
    return median(ours[name] / theirs[name] for name in shared)


def _all_anchors(result: ResultFile) -> dict[str, float]:
    runtimes = dict.fromkeys(option["runtime"] for option in result.options)
    return {f"{name}/{runtime}": late for runtime in runtimes for name, late in result.anchors(runtime).items()}


def _drift(results: Sequence[ResultFile]) -> tuple[str, ...]:
    """Sessions on the same kind of machine whose anchors ran at another speed."""
    found = []
    for place, one in enumerate(results):
        for other in results[place + 1 :]:
            if one.found["machine"]["cpu"] != other.found["machine"]["cpu"]:
                continue
            ours, theirs = _all_anchors(one), _all_anchors(other)
            ratios = [ours[name] / theirs[name] for name in ours.keys() & theirs.keys()]
            ratio = median(ratios) if ratios else 1.0
            if not 1 / _DRIFT <= ratio <= _DRIFT:
                found.append(
                    f"{one.path.name} and {other.path.name} are from one kind of processor, but the anchors ran"
                    f" {max(ratio, 1 / ratio):.1f} times as fast in one: measure again when the machine is quiet"
                )
    return tuple(found)
