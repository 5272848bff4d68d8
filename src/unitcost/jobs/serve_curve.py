"""Requests that are drawn from a rate over time and quantiles of lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from unitcost.errors import BadSetting
from unitcost.facts.arrivals import LengthQuantiles
from unitcost.readers.traces import servegen
from unitcost.serving.synthetic import from_curve
from unitcost.serving.traces import Trace
from unitcost.units import SECONDS_PER_DAY


def requests_of_curve(
    curve: Path, lengths: Path, *, group: str, per_day: float, duration_s: float
) -> tuple[Trace, list[str]]:
    """Requests of the first part of a rate curve, and what was found.

    Parameters
    ----------
    group
        Set of the lengths; empty: the only one, or that which the name of the curve has in it.
    per_day
        Requests that a mean day is scaled to; 0: as the curve says.
    duration_s
        How much of the curve; 0: all. [s]

    Raises
    ------
    BadFile
        When a file cannot be read.
    BadSetting
        When the lengths are of several sets and none is meant.
    """
    rates = servegen.read_rates(curve)
    steps = math.ceil(duration_s / rates.step_s) if duration_s else len(rates.per_s)
    part = replace(rates, per_s=rates.per_s[:steps])
    mean_per_day = sum(part.per_s) / len(part.per_s) * SECONDS_PER_DAY
    quantiles, findings = _of_one_set(servegen.read_quantiles(lengths, group=group), curve, lengths)
    inputs = [one for one in quantiles if one.field == "input_tokens"]
    outputs = [one for one in quantiles if one.field == "output_tokens"]
    return from_curve(part, inputs, outputs, scale=per_day / mean_per_day if per_day else 1.0), findings


def _of_one_set(
    quantiles: Sequence[LengthQuantiles], curve: Path, lengths: Path
) -> tuple[Sequence[LengthQuantiles], list[str]]:
    """Clients of one set: two sets may give one name to clients that are not the same."""
    names = sorted({one.group for one in quantiles})
    if len(names) == 1:
        return quantiles, []
    meant = [name for name in names if name and name in curve.name]
    if len(meant) != 1:
        raise BadSetting(
            f"the lengths are of {len(names)} sets", where=lengths.name,
            mend=f"name one with --lengths-group: {', '.join(filter(None, names))}",
        )  # fmt: skip
    chosen = [one for one in quantiles if one.group == meant[0]]
    return chosen, [f"lengths are those of {meant[0]}, which the name of {curve.name} has in it"]
