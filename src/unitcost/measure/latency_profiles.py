"""Measured latency by batch size, of models that answer in one step: a JSON document or a csv."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.errors import BadFile
from unitcost.units import MILLISECONDS_PER_SECOND

#: Batches above this are taken for a slip: their table of step times would not fit into memory.
_LARGEST_BATCH = 1_000_000
_MEND = "give option, batch, latency_ms (or latency_s) and perhaps usd_per_hour, a row for each batch size"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyProfile:
    """What was measured of a model on one kind of machine.

    Parameters
    ----------
    name
        The machine, or model and machine.
    latency_s
        Time of one batch by its size. [s]
    usd_per_hour
        Price of a replica; None: the file states none. [USD / hour]
    quality
        Of the answers; None: the file states none.
    """

    name: str
    latency_s: Mapping[int, float]
    usd_per_hour: Decimal | None = None
    quality: Decimal | None = None


def read_profiles(path: Path) -> list[LatencyProfile]:
    """Profiles of a file: a csv, or a JSON list of the same rows, or ``{"options": [{name, usd_per_hour, rows}]}``.

    Raises
    ------
    BadFile
        When it is neither, or a row has no batch size or no latency above zero.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot be read: {error}", where=str(path), mend="save it as UTF-8") from error
    rows = _json_rows(text, path) if text.lstrip()[:1] in ("{", "[") else list(csv.DictReader(text.splitlines()))
    if not rows:
        raise BadFile("there is no row in it", where=str(path), mend=_MEND)
    found: dict[str, LatencyProfile] = {}
    for number, row in enumerate(rows, start=1):
        name, where = str(row.get("option") or path.stem), f"{path}, row {number}"
        found[name] = _with_row(found.get(name, LatencyProfile(name=name, latency_s={})), row, where)
    return list(found.values())


def _with_row(profile: LatencyProfile, row: Mapping[str, Any], where: str) -> LatencyProfile:
    batch, latency_s, usd = _row(row, where)
    if batch in profile.latency_s:
        raise BadFile(f"batch size {batch} of {profile.name} stands twice", where=where, mend=_MEND)
    quality = _quality(row, where)
    if quality is not None and profile.quality not in (None, quality):
        raise BadFile(f"{profile.name} has two qualities", where=where, mend="give one quality for each option")
    return replace(
        profile, latency_s={**profile.latency_s, batch: latency_s},
        usd_per_hour=usd if usd is not None else profile.usd_per_hour,
        quality=quality if quality is not None else profile.quality,
    )  # fmt: skip


def _quality(row: Mapping[str, Any], where: str) -> Decimal | None:
    said = row.get("quality")
    if said in (None, ""):
        return None
    try:
        return money.parse_amount(str(said))
    except ValueError as error:
        raise BadFile(f"quality is {said!r}, not a number", where=where, mend="write it like 0.91") from error


def _json_rows(text: str, path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        plain = json.loads(text)
        if isinstance(plain, list):
            return [dict(row) for row in plain]
        options = plain.get("options", [plain])
        return [
            {"option": one.get("name"), "usd_per_hour": one.get("usd_per_hour"), "quality": one.get("quality"), **row}
            for one in options for row in one["rows"]
        ]  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"is no latency profile ({error})", where=str(path), mend=_MEND) from error


def _row(row: Mapping[str, Any], where: str) -> tuple[int, float, Decimal | None]:
    try:
        batch = int(str(row["batch"]))
        ms = row.get("latency_ms")
        latency_s = float(ms) / MILLISECONDS_PER_SECOND if ms not in (None, "") else float(row["latency_s"])
        said = row.get("usd_per_hour")
        usd = money.parse_amount(str(said)) if said not in (None, "") else None
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"a value is missing or is no number ({error})", where=where, mend=_MEND) from error
    if batch < 1 or not 0 < latency_s < math.inf or (usd is not None and usd < 0):
        raise BadFile("a batch size below 1, a latency not above zero, or a price below it", where=where, mend=_MEND)
    if batch > _LARGEST_BATCH:
        raise BadFile(f"a batch of {batch:,} is larger than can be played", where=where, mend=_MEND)
    return batch, latency_s, usd
