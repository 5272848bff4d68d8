"""Measured latency by batch size, of models that answer in one step: a JSON document or a csv."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from unitcost import money
from unitcost.errors import BadFile
from unitcost.units import MILLISECONDS_PER_SECOND

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
    """

    name: str
    latency_s: Mapping[int, float]
    usd_per_hour: Decimal | None = None


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
        raise BadFile(f"cannot be read: {error}", where=str(path)) from error
    rows = _json_rows(text, path) if text.lstrip()[:1] in ("{", "[") else list(csv.DictReader(text.splitlines()))
    if not rows:
        raise BadFile("there is no row in it", where=str(path), mend=_MEND)
    found: dict[str, tuple[dict[int, float], Decimal | None]] = {}
    for number, row in enumerate(rows, start=1):
        name = str(row.get("option") or path.stem)
        batch, latency_s, usd = _row(row, f"{path}, row {number}")
        latencies, known = found.get(name, ({}, None))
        if batch in latencies:
            raise BadFile(f"batch size {batch} of {name} stands twice", where=f"{path}, row {number}", mend=_MEND)
        found[name] = ({**latencies, batch: latency_s}, usd if usd is not None else known)
    return [LatencyProfile(name=name, latency_s=rows, usd_per_hour=usd) for name, (rows, usd) in found.items()]


def _json_rows(text: str, path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        plain = json.loads(text)
        if isinstance(plain, list):
            return [dict(row) for row in plain]
        options = plain.get("options", [plain])
        return [
            {"option": one.get("name"), "usd_per_hour": one.get("usd_per_hour"), **row}
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
    return batch, latency_s, usd
