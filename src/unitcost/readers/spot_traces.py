"""Recordings of spot capacity: one JSON a zone, a csv of counts, or a list of nodes that come and go.

The meaning of the numbers must be said: two public simulators use the same JSON, one with 1 for "available", the other with
1 for "preempted". A file that does not say it is refused with the question.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from unitcost.errors import BadFile, NeedsAnswer
from unitcost.facts.spot import SpotTrace
from unitcost.readers.planning_table import Line, read_lines
from unitcost.units import MIB, SECONDS_PER_MINUTE

Means = Literal["available", "preempted"]
#: A larger file is refused before it is read.
MOST_BYTES = 256 * MIB
#: A recording of more ticks than a year of eight seconds each is refused before it fills memory.
MOST_TICKS = 4_000_000
_UP = re.compile(r"\b(up|available|availability|launched|running)\b", re.I)
_DOWN = re.compile(r"preempt|\bdown\b|interrupt|unavailable", re.I)
#: A zone is its region and a letter: `us-east-1a`, `us-central1-b`.
_ZONE = re.compile(r"(?P<region>.*\d)-?[a-z]")
#: Machines with this many accelerators stand behind prices whose key ends so.
_PER_MACHINE = re.compile(r"_usd_h_(\d+)gpu")
#: Name of a column of counts that says what it counts.
_BY_COLUMN: Mapping[str, Means] = {"available": "available", "preempted": "preempted"}


def read(path: Path, *, means: Means | None = None, nodes: int | None = None, gap_s: float | None = None) -> SpotTrace:
    """Trace of a zone.

    Parameters
    ----------
    means
        What a 1 stands for, where the file does not say it.
    nodes
        How many nodes were asked for, where the file does not say it; by default the largest count.
    gap_s
        Length of a tick, [s], where the file does not say it.

    Raises
    ------
    BadFile
        When it is no trace, is empty, or is too large.
    NeedsAnswer
        When it does not say whether 1 is "available" or "preempted", or how long a tick is.
    """
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise BadFile(
            f"the trace has {path.stat().st_size // MIB} MiB; at most {MOST_BYTES // MIB} are read", where=path.name,
            mend="cut it to one zone and a few months, or make its ticks longer",
        )  # fmt: skip
    if path.suffix == ".json":
        return _of_json(path, means, nodes, gap_s)
    return _of_table(path, means, nodes, gap_s)


def region_of(zone: str) -> str:
    """Region that a zone lies in, by its name."""
    found = _ZONE.fullmatch(zone)
    return found["region"] if found else zone


def _of_json(path: Path, means: Means | None, nodes: int | None, gap_s: float | None) -> SpotTrace:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, OSError) as error:
        raise BadFile(f"the file is not JSON ({error})", where=path.name, mend="export it again") from error
    if not isinstance(found, dict) or not isinstance(found.get("data"), list):
        raise BadFile(
            "the JSON holds no `data` list", where=path.name,
            mend='give {"metadata": {"gap_seconds": ...}, "data": [counts], "prices": [USD per hour]}',
        )  # fmt: skip
    about = found.get("metadata") or {}
    counts = _whole(found["data"], path.name)
    asked = int(nodes or about.get("nodes") or max(counts, default=1) or 1)
    zone = str(about.get("zone") or path.stem)
    per_machine, machine_on_demand = _machine_prices(about)
    prices = found.get("prices")
    spot = _finite(prices, path.name) if prices else [per_machine] * len(counts) if per_machine else None
    return SpotTrace(
        zone=zone, region=region_of(zone), device=str(about.get("device", "")), nodes=asked,
        gap_s=_gap(about.get("gap_seconds") or gap_s, path.name),
        counts=_oriented(counts, asked, _meaning(about, means, path.name)), spot_usd_per_hour=spot,
        on_demand_usd_per_hour=about.get("on_demand_usd_h") or machine_on_demand,
        start=str(about.get("start", "")), source=str(path),
    )  # fmt: skip


def _machine_prices(about: dict[str, Any]) -> tuple[float | None, float | None]:
    """Spot and on-demand price of one node where the file has that of a machine of several accelerators. [USD / hour]."""
    device = re.search(r"_(\d+)$", str(about.get("device", "")))
    found: dict[str, float] = {}
    for key, value in about.items():
        per = _PER_MACHINE.search(key)
        if per and device and isinstance(value, int | float):
            found[key[: per.start()]] = float(value) * int(device[1]) / int(per[1])
    return found.get("spot"), found.get("on_demand")


def _meaning(about: dict[str, Any], means: Means | None, where: str) -> Means:
    said = str(about.get("convention", ""))
    up, down = bool(_UP.search(said)), bool(_DOWN.search(said))
    if up != down:
        return "available" if up else "preempted"
    if means:
        return means
    raise NeedsAnswer(
        "does a 1 mean that capacity was available, or that it was preempted?", where=where,
        mend="say it with --trace-means available or --trace-means preempted, or write it under metadata.convention",
    )  # fmt: skip


def _oriented(counts: Sequence[int], nodes: int, means: Means) -> Sequence[int]:
    return counts if means == "available" else array("q", (nodes - count for count in counts))


def _gap(said: Any, where: str) -> float:
    if said is None:
        raise NeedsAnswer("how long is a tick?", where=where, mend="say it with --gap-seconds")
    return float(said)


def _whole(values: Iterable[Any], where: str) -> array[int]:
    counts = array("q")
    for tick, value in enumerate(values):
        if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
            counts.append(int(value))
        else:
            raise BadFile(f"tick {tick} is {value!r}, not a count", where=where, mend="a count is a whole number")
    return counts


def _finite(values: Iterable[Any], where: str) -> array[float]:
    prices = array("d")
    for tick, value in enumerate(values):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise BadFile(f"the price of tick {tick} is {value!r}", where=where, mend="prices are USD per hour")
        prices.append(float(value))
    return prices


def _of_table(path: Path, means: Means | None, nodes: int | None, gap_s: float | None) -> SpotTrace:
    """Csv with `count` or `available` a tick, and perhaps `seconds` and `usd_per_hour`."""
    lines = iter(read_lines(path, needs=()))
    counts, prices, seconds = array("q"), array("d"), array("d")
    column = ""
    for line in lines:
        column = column or _count_column(line, path.name)
        counts.append(int(line.needed(column, least=0)))
        if line.text("usd_per_hour"):
            prices.append(line.needed("usd_per_hour", least=0))
        if line.text("seconds"):
            seconds.append(line.needed("seconds"))
        if len(counts) > MOST_TICKS:
            raise BadFile(f"the trace has more than {MOST_TICKS:,} ticks", where=path.name, mend="cut it")
    said = _BY_COLUMN.get(column, means)
    asked = nodes or max(counts, default=1) or 1
    return SpotTrace(
        zone=path.stem, region=region_of(path.stem), device="", nodes=asked,
        gap_s=_gap(gap_s or _even_gap(seconds, path.name), path.name),
        counts=_oriented(counts, asked, _meaning({}, said or ("available" if asked > 1 else None), path.name)),
        spot_usd_per_hour=prices or None, source=str(path),
    )  # fmt: skip


def _count_column(line: Line, where: str) -> str:
    for column in ("available", "preempted", "count"):
        if column in line.cells:
            return column
    raise BadFile(
        "there is no column `available`, `preempted` or `count`", where=where,
        mend="give a csv with one of them a tick, and perhaps `seconds` and `usd_per_hour`",
    )  # fmt: skip


def _even_gap(seconds: Sequence[float], where: str) -> float | None:
    if len(seconds) < 2:
        return None
    gap_s = seconds[1] - seconds[0]
    for tick in range(2, len(seconds)):
        if abs(seconds[tick] - seconds[tick - 1] - gap_s) > gap_s / SECONDS_PER_MINUTE:
            raise BadFile(
                f"tick {tick} comes {seconds[tick] - seconds[tick - 1]:g} s after the one before, others {gap_s:g} s",
                where=where, mend="give even ticks",
            )  # fmt: skip
    return gap_s
